#include "worker/bench/fold_task.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "allreduce/bench/stopwatch.h"
#include "allreduce/bench/test_vector.h"
#include "common/arena.h"
#include "common/frame_codec.h"
#include "common/frame_payload.h"
#include "common/reduction.h"
#include "common/status_macros.h"
#include "common/unit_table.h"
#include "ps_server/parameter_shard.h"

namespace ringside {
namespace {

// The longest piece of what gRPC delivers, and what HTTP/2 puts between two of them: neither is a
// multiple of a float.
constexpr size_t kPieceBytes = (64 << 10) - 9;
constexpr size_t kBetweenPieces = 9;

// One shard that owns everything.
BenchPlan OfOneShard(BenchPlan plan) {
  plan.layout.num_shards = 1;
  return plan;
}

struct Push {
  FrameHeader header;
  std::vector<FramePayload::Piece> pieces;
};

// The bytes of one worker's frames as they lie in a receiver's memory.
class ReceivedFrames {
 public:
  static absl::StatusOr<ReceivedFrames> Create(const BenchPlan& plan, const UnitTable& table,
                                               int worker) {
    const int64_t bytes = plan.plan.total_elements() * int64_t{sizeof(float)};
    const int64_t between =
        (bytes / int64_t{kPieceBytes} + 2 * int64_t{table.size()} + 2) * int64_t{kBetweenPieces};
    ReceivedFrames frames;
    RINGSIDE_ASSIGN_OR_RETURN(
        frames.memory_,
        Arena::Create((bytes + between) / int64_t{sizeof(float)} + 1, Arena::Placement::kHeap));
    RINGSIDE_ASSIGN_OR_RETURN(const std::unique_ptr<Arena> values,
                              Arena::Create(plan.plan.total_elements(), Arena::Placement::kHeap));
    FillTestVector(worker, values->span());
    for (int unit = 0; unit < table.size(); ++unit) {
      frames.Add(plan, table.unit(unit), worker, values->span());
    }
    return frames;
  }

  const Push& push(int unit) const { return pushes_[unit]; }

 private:
  void Add(const BenchPlan& plan, const UnitTable::Unit& unit, int worker,
           absl::Span<const float> values) {
    Push push;
    push.header.bucket = static_cast<uint32_t>(unit.bucket);
    push.header.sender = static_cast<uint32_t>(worker);
    push.header.offset = static_cast<uint64_t>(unit.range.begin);
    push.header.elements = static_cast<uint32_t>(unit.range.length);
    const auto* from = reinterpret_cast<const uint8_t*>(
        &values[plan.plan.bucket(unit.bucket).begin + unit.range.begin]);
    auto* const memory = reinterpret_cast<uint8_t*>(memory_->span().data());
    size_t left = unit.range.length * sizeof(float);
    while (left > 0) {
      used_ += kBetweenPieces;
      const size_t length = std::min(left, kPieceBytes);
      std::memcpy(memory + used_, from, length);
      push.pieces.emplace_back(memory + used_, length);
      used_ += length;
      from += length;
      left -= length;
    }
    pushes_.push_back(std::move(push));
  }

  std::unique_ptr<Arena> memory_;
  size_t used_ = 0;
  std::vector<Push> pushes_;  // by unit
};

class FoldTask final : public MemberTask {
 public:
  FoldTask(BenchPlan plan, std::unique_ptr<ParameterShard> shard,
           std::vector<ReceivedFrames> received)
      : plan_(std::move(plan)),
        table_(plan_.plan, plan_.layout, 0),
        shard_(std::move(shard)),
        received_(std::move(received)) {}

  absl::Status Run(const RankRun& run, RankDone* done) override {
    done->set_verified(true);
    const int steps = run.warmup() + run.iterations();
    for (int step = 0; step < steps; ++step) {
      std::vector<std::pair<FrameHeader, FramePayload>> frames = NextFrames();
      results_.clear();
      absl::Status status;
      const double seconds = SecondsOf([&] { status = PushAll(&frames); });
      RINGSIDE_RETURN_IF_ERROR(status);
      if (step >= run.warmup()) done->add_durations_s(seconds);
      if (step == 0 || step == steps - 1) done->set_wrong(done->wrong() + CountWrong());
    }
    return absl::OkStatus();
  }

 private:
  std::vector<std::pair<FrameHeader, FramePayload>> NextFrames() const {
    std::vector<std::pair<FrameHeader, FramePayload>> frames;
    for (int unit = 0; unit < table_.size(); ++unit) {
      for (const ReceivedFrames& worker : received_) {
        frames.emplace_back(worker.push(unit).header,
                            FramePayload(worker.push(unit).pieces, nullptr));
        frames.back().first.step = shard_->open_step();
      }
    }
    return frames;
  }

  absl::Status PushAll(std::vector<std::pair<FrameHeader, FramePayload>>* frames) {
    for (auto& [header, payload] : *frames) {
      RINGSIDE_RETURN_IF_ERROR(shard_->Push(header, std::move(payload), &results_));
    }
    return absl::OkStatus();
  }

  int64_t CountWrong() const {
    std::vector<float> sums(plan_.plan.total_elements(), -1);
    for (const ParameterShard::Result& result : results_) {
      const int64_t begin = plan_.plan.bucket(static_cast<int>(result.header.bucket)).begin +
                            static_cast<int64_t>(result.header.offset);
      std::copy(result.values.begin(), result.values.end(), sums.begin() + begin);
    }
    return CountWrongSums(plan_.layout.world_size, sums);
  }

  const BenchPlan plan_;
  const UnitTable table_;
  const std::unique_ptr<ParameterShard> shard_;
  const std::vector<ReceivedFrames> received_;  // by worker
  std::vector<ParameterShard::Result> results_;
};

class AddTask final : public MemberTask {
 public:
  AddTask(BenchPlan plan, std::vector<std::unique_ptr<Arena>> gradients,
          std::unique_ptr<Arena> sums)
      : plan_(std::move(plan)),
        table_(plan_.plan, plan_.layout, 0),
        gradients_(std::move(gradients)),
        sums_(std::move(sums)) {
    for (size_t worker = 0; worker < gradients_.size(); ++worker) {
      FillTestVector(static_cast<int>(worker), gradients_[worker]->span());
    }
  }

  absl::Status Run(const RankRun& run, RankDone* done) override {
    for (int step = 0; step < run.warmup() + run.iterations(); ++step) {
      const double seconds = SecondsOf([this] { AddAll(); });
      if (step >= run.warmup()) done->add_durations_s(seconds);
    }
    done->set_verified(true);
    done->set_wrong(CountWrongSums(plan_.layout.world_size, sums_->span()));
    return absl::OkStatus();
  }

 private:
  void AddAll() {
    for (int index = 0; index < table_.size(); ++index) {
      const UnitTable::Unit& unit = table_.unit(index);
      const int64_t begin = plan_.plan.bucket(unit.bucket).begin + unit.range.begin;
      const absl::Span<float> sum = sums_->span().subspan(begin, unit.range.length);
      for (size_t turn = 0; turn < gradients_.size(); ++turn) {
        const size_t worker = (unit.chunk + turn) % gradients_.size();
        const absl::Span<const float> gradient =
            gradients_[worker]->span().subspan(begin, unit.range.length);
        if (turn == 0) {
          Copy(gradient, sum);
        } else {
          Add(sum, gradient, sum);
        }
      }
    }
  }

  const BenchPlan plan_;
  const UnitTable table_;
  const std::vector<std::unique_ptr<Arena>> gradients_;  // by worker
  const std::unique_ptr<Arena> sums_;
};

class IdleTask final : public MemberTask {
 public:
  absl::Status Run(const RankRun& /*run*/, RankDone* /*done*/) override { return absl::OkStatus(); }
};

bool Measures(const BenchMember& member) { return member.rank == member.workers; }

}  // namespace

absl::StatusOr<std::unique_ptr<MemberTask>> MakeFoldTask(const BenchMember* member,
                                                         const BenchPlan& plan) {
  if (!Measures(*member)) return std::unique_ptr<MemberTask>(std::make_unique<IdleTask>());
  BenchPlan whole = OfOneShard(plan);
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<ParameterShard> shard,
                            ParameterShard::Create({whole.plan, whole.layout, /*shard=*/0}));
  const UnitTable table(whole.plan, whole.layout, 0);
  std::vector<ReceivedFrames> received;
  for (int worker = 0; worker < member->workers; ++worker) {
    RINGSIDE_ASSIGN_OR_RETURN(ReceivedFrames frames, ReceivedFrames::Create(whole, table, worker));
    received.push_back(std::move(frames));
  }
  return std::unique_ptr<MemberTask>(
      std::make_unique<FoldTask>(std::move(whole), std::move(shard), std::move(received)));
}

absl::StatusOr<std::unique_ptr<MemberTask>> MakeAddTask(const BenchMember* member,
                                                        const BenchPlan& plan) {
  if (!Measures(*member)) return std::unique_ptr<MemberTask>(std::make_unique<IdleTask>());
  const int64_t elements = plan.plan.total_elements();
  std::vector<std::unique_ptr<Arena>> gradients(member->workers);
  for (std::unique_ptr<Arena>& gradient : gradients) {
    RINGSIDE_ASSIGN_OR_RETURN(gradient, Arena::Create(elements, Arena::Placement::kHeap));
  }
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> sums,
                            Arena::Create(elements, Arena::Placement::kHeap));
  return std::unique_ptr<MemberTask>(
      std::make_unique<AddTask>(OfOneShard(plan), std::move(gradients), std::move(sums)));
}

}  // namespace ringside
