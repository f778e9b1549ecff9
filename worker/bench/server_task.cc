#include "worker/bench/server_task.h"

#include <algorithm>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "allreduce/bench/stopwatch.h"
#include "allreduce/bench/test_vector.h"
#include "common/arena.h"
#include "common/status_macros.h"
#include "common/unit_table.h"
#include "worker/bench/ps_endpoints.h"

namespace ringside {
namespace {

// Of the timed exchanges, on every worker: sums are then the number of workers everywhere.
constexpr float kTimedValue = 1;

// A line of /proc/self/status, in bytes; 0 where the kernel does not tell. Not from getrusage,
// whose peak a child inherits from the process that has started it.
int64_t StatusBytes(absl::string_view name) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    int64_t kib = 0;
    if (words.size() >= 2 && words[0] == absl::StrCat(name, ":") &&
        absl::SimpleAtoi(words[1], &kib)) {
      return kib << 10;
    }
  }
  return 0;
}

class WorkerTask final : public MemberTask {
 public:
  WorkerTask(const BenchMember* member, const BenchPlan& plan, std::unique_ptr<Arena> values,
             std::unique_ptr<Arena> timed, std::unique_ptr<GradientSummer> summer)
      : member_(*member),
        plan_(plan.plan),
        values_(std::move(values)),
        timed_(std::move(timed)),
        summer_(std::move(summer)) {
    FillTestVector(member_.rank, values_->span());
    std::fill(timed_->span().begin(), timed_->span().end(), kTimedValue);
  }

  absl::Status Run(const RankRun& run, RankDone* done) override {
    done->set_verified(true);
    RINGSIDE_RETURN_IF_ERROR(Verify(done));
    for (int i = 0; i < run.warmup(); ++i) RINGSIDE_RETURN_IF_ERROR(Exchange(*timed_).status());
    for (int i = 0; i < run.iterations(); ++i) {
      absl::StatusOr<absl::Span<const float>> sums;
      const double seconds = SecondsOf([&] { sums = Exchange(*timed_); });
      RINGSIDE_RETURN_IF_ERROR(sums.status());
      done->add_durations_s(seconds);
      if (i == run.iterations() - 1) CountWrong(*sums, done);
    }
    RINGSIDE_RETURN_IF_ERROR(Verify(done));
    return member_.Meet();
  }

  absl::Status HangUp() override { return summer_->Shutdown(); }

 private:
  absl::StatusOr<absl::Span<const float>> Exchange(const Arena& gradients) {
    const int64_t step = next_step_++;
    for (int bucket = 0; bucket < plan_.size(); ++bucket) {
      const ElementRange& range = plan_.bucket(bucket);
      summer_->Submit({step, member_.rank, bucket,
                       gradients.span().subspan(range.begin, range.length), /*samples=*/1,
                       /*after_backward=*/true});
    }
    return summer_->Finish(step);
  }

  absl::Status Verify(RankDone* done) {
    RINGSIDE_ASSIGN_OR_RETURN(const absl::Span<const float> sums, Exchange(*values_));
    done->set_wrong(done->wrong() + CountWrongSums(member_.workers, sums));
    return absl::OkStatus();
  }

  void CountWrong(absl::Span<const float> sums, RankDone* done) const {
    const auto expected = static_cast<float>(member_.workers) * kTimedValue;
    const auto right = std::count(sums.begin(), sums.end(), expected);
    done->set_wrong(done->wrong() + static_cast<int64_t>(sums.size()) - right);
  }

  const BenchMember& member_;
  const BucketPlan plan_;
  const std::unique_ptr<Arena> values_;
  const std::unique_ptr<Arena> timed_;
  const std::unique_ptr<GradientSummer> summer_;  // refers to both
  int64_t next_step_ = 0;
};

class ShardTask final : public MemberTask {
 public:
  // `shares`: its arenas are shared memory, and it has mapped the workers'.
  ShardTask(const BenchMember* member, int64_t elements, bool shares, std::unique_ptr<ShardEnd> end)
      : member_(*member), elements_(elements), shares_(shares), end_(std::move(end)) {}

  absl::Status Run(const RankRun& run, RankDone* done) override {
    static_cast<void>(run);
    RINGSIDE_RETURN_IF_ERROR(member_.Meet());
    const auto bytes = static_cast<double>(elements_ * int64_t{sizeof(float)});
    auto& numbers = *done->mutable_numbers();
    numbers["peak_rss_bytes"] = static_cast<double>(StatusBytes("VmHWM") - PeersResidentBytes());
    numbers["arena_bytes"] = static_cast<double>(end_->arena_bytes());
    numbers["parked_bytes"] = member_.workers * bytes;
    return absl::OkStatus();
  }

 private:
  // What is mapped here and belongs to the workers: of all shared memory, what is not this shard's
  // own arenas, which are resident since they were made. Read while they are mapped, at the end of
  // a turn, when all of them has been read.
  int64_t PeersResidentBytes() const {
    const int64_t own = shares_ ? end_->arena_bytes() : 0;
    return std::max<int64_t>(0, StatusBytes("RssShmem") - own);
  }

  const BenchMember& member_;
  const int64_t elements_;
  const bool shares_;
  const std::unique_ptr<ShardEnd> end_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MemberTask>> MakeServerTask(const BenchMember* member,
                                                           const std::string& link,
                                                           const BenchPlan& plan) {
  if (!member->is_worker()) {
    RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<ShardEnd> end,
                              ShardEnd::Create(link, plan, member->shard(), member->timeout));
    RINGSIDE_RETURN_IF_ERROR(member->exchange(end->address()).status());
    const UnitTable table(plan.plan, plan.layout, member->shard());
    return std::unique_ptr<MemberTask>(
        std::make_unique<ShardTask>(member, table.elements(), link == "shm", std::move(end)));
  }
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<std::string> addresses, member->exchange(""));
  const int64_t elements = plan.plan.total_elements();
  const Arena::Placement placement =
      link == "shm" ? Arena::Placement::kShared : Arena::Placement::kHeap;
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> values,
                            Arena::Create(elements, Arena::Placement::kHeap));
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> timed, Arena::Create(elements, placement));
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<GradientSummer> summer,
                            ConnectWorkerEnd(link, plan, member->rank,
                                             {addresses.begin() + member->workers, addresses.end()},
                                             timed.get(), member->timeout));
  return std::unique_ptr<MemberTask>(std::make_unique<WorkerTask>(
      member, plan, std::move(values), std::move(timed), std::move(summer)));
}

}  // namespace ringside
