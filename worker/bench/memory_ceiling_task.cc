#include "worker/bench/memory_ceiling_task.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "allreduce/bench/stopwatch.h"
#include "common/arena.h"
#include "common/element_range.h"
#include "common/reduction.h"
#include "common/status_macros.h"
#include "common/unit_table.h"

namespace ringside {
namespace {

class MemoryCeilingTask final : public MemberTask {
 public:
  // `inputs`: the gradients of all workers in a shard, the sum in a worker.
  MemoryCeilingTask(const BenchMember* member, int64_t unit_elements,
                    std::vector<std::unique_ptr<Arena>> inputs, std::unique_ptr<Arena> output)
      : member_(*member),
        unit_elements_(unit_elements),
        inputs_(std::move(inputs)),
        output_(std::move(output)) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      std::fill(inputs_[i]->span().begin(), inputs_[i]->span().end(), static_cast<float>(i + 1));
      terms_.push_back(inputs_[i]->span().data());
    }
  }

  absl::Status Run(const RankRun& run, RankDone* done) override {
    RINGSIDE_RETURN_IF_ERROR(member_.Meet());
    if (!member_.is_worker()) {
      Time(
          run, member_.shard(), member_.shards, [this] { Fold(); }, done);
    }
    RINGSIDE_RETURN_IF_ERROR(member_.Meet());
    if (member_.is_worker()) {
      Time(
          run, member_.rank, member_.workers, [this] { Copy(); }, done);
    }
    return member_.Meet();
  }

 private:
  static void Time(const RankRun& run, int index, int processes, const std::function<void()>& work,
                   RankDone* done) {
    const int active = std::min(processes, UsableCores());
    if (index >= active) return;
    const double turns = static_cast<double>(processes) / active;
    for (int i = 0; i < run.warmup(); ++i) work();
    for (int i = 0; i < run.iterations(); ++i) done->add_durations_s(turns * SecondsOf(work));
  }

  int64_t elements() const { return static_cast<int64_t>(output_->span().size()); }

  template <typename Work>
  void ForEachUnit(Work work) const {
    for (int64_t begin = 0; begin < elements(); begin += unit_elements_) {
      work(ElementRange{begin, std::min(unit_elements_, elements() - begin)});
    }
  }

  void Fold() {
    ForEachUnit([this](const ElementRange& unit) {
      FoldRangeInLawOrder(terms_, elements(), unit,
                          output_->span().subspan(unit.begin, unit.length));
    });
  }

  void Copy() {
    ForEachUnit([this](const ElementRange& unit) {
      CopyPart(inputs_[0]->span().subspan(unit.begin, unit.length),
               output_->span().subspan(unit.begin, unit.length), elements());
    });
  }

  const BenchMember& member_;
  const int64_t unit_elements_;
  const std::vector<std::unique_ptr<Arena>> inputs_;
  const std::unique_ptr<Arena> output_;
  std::vector<const float*> terms_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MemberTask>> MakeMemoryCeilingTask(const BenchMember* member,
                                                                  const BenchPlan& plan) {
  const bool is_worker = member->is_worker();
  const int64_t elements = is_worker
                               ? plan.plan.total_elements()
                               : UnitTable(plan.plan, plan.layout, member->shard()).elements();
  std::vector<std::unique_ptr<Arena>> inputs(is_worker ? 1 : member->workers);
  for (std::unique_ptr<Arena>& input : inputs) {
    RINGSIDE_ASSIGN_OR_RETURN(input, Arena::Create(elements, Arena::Placement::kShared));
  }
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> output,
                            Arena::Create(elements, Arena::Placement::kShared));
  return std::unique_ptr<MemberTask>(std::make_unique<MemoryCeilingTask>(
      member, plan.layout.max_unit_elements(), std::move(inputs), std::move(output)));
}

}  // namespace ringside
