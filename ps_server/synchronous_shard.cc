#include "ps_server/synchronous_shard.h"

#include <algorithm>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/payload_fold.h"
#include "common/status_macros.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<ParameterShard>> SynchronousShard::Create(Config config) {
  const int64_t elements = UnitTable(config.plan, config.layout, config.shard).elements();
  RINGSIDE_ASSIGN_OR_RETURN(std::shared_ptr<Arena> even, Arena::Create(elements, config.placement));
  RINGSIDE_ASSIGN_OR_RETURN(std::shared_ptr<Arena> odd, Arena::Create(elements, config.placement));
  std::unique_ptr<ServerOptimizer> optimizer;
  if (config.policy.update_on_server) {
    RINGSIDE_ASSIGN_OR_RETURN(
        optimizer, ServerOptimizer::Create(config.optimizer, config.learning_rate, elements,
                                           config.layout.max_unit_elements()));
  }
  return absl::WrapUnique(
      new SynchronousShard(config, std::move(even), std::move(odd), std::move(optimizer)));
}

SynchronousShard::SynchronousShard(const Config& config, std::shared_ptr<Arena> even,
                                   std::shared_ptr<Arena> odd,
                                   std::unique_ptr<ServerOptimizer> optimizer)
    : ParameterShard(config),
      arenas_{std::move(even), std::move(odd)},
      optimizer_(std::move(optimizer)),
      open_step_(config.first_step),
      parked_(table().size(), world_size()),
      complete_(table().size(), false) {
  if (config.resumption.has_value()) Resume(*config.resumption);
}

void SynchronousShard::Resume(const Resumption& resumption) {
  RINGSIDE_CHECK(static_cast<int>(resumption.lacking.size()) == world_size());
  for (const std::vector<bool>& units : resumption.lacking) {
    RINGSIDE_CHECK(static_cast<int>(units.size()) == table().size());
  }
  resumed_step_ = open_step_;
  lacking_ = resumption.lacking;
  for (int unit = 0; unit < table().size(); ++unit) {
    complete_[unit] = std::none_of(lacking_.begin(), lacking_.end(),
                                   [unit](const std::vector<bool>& units) { return units[unit]; });
    if (complete_[unit]) ++complete_units_;
  }
  if (complete_units_ == table().size()) OpenNextStep();
}

std::vector<const Arena*> SynchronousShard::result_arenas() const {
  return {arenas_[0].get(), arenas_[1].get()};
}

absl::optional<ParameterShard::State> SynchronousShard::MutableState() {
  // Where some units are updated already, their optimizer state is of the open step.
  if (optimizer_ == nullptr || open_step_ == 0 || complete_units_ > 0) return absl::nullopt;
  State state;
  state.step = open_step_ - 1;
  state.parameters = arenas_[state.step % 2]->span();
  state.optimizer = optimizer_->State();
  return state;
}

// Of a sum that somebody has got, those who have are waited for: they restore it.
bool SynchronousShard::HasPushed(int unit, int worker) const {
  if (complete_[unit] || parked_.Has(unit, worker)) return true;
  const bool restorable =
      std::any_of(lacking_.begin(), lacking_.end(),
                  [unit](const std::vector<bool>& units) { return !units[unit]; });
  return restorable && lacking_[worker][unit];
}

absl::Status SynchronousShard::TakePush(int unit, const FrameHeader& header, FramePayload payload,
                                        std::vector<Result>* results) {
  const auto sender = static_cast<int>(header.sender);
  if (header.step < open_step_) {
    // Pushed again, though somebody has restored the sum: it has been answered.
    return resumed_step_ == header.step ? absl::OkStatus() : RefusalOfClosed(header);
  }
  if (header.step > open_step_) {
    return Defer(unit, header, std::move(payload));
  }
  if (parked_.Has(unit, sender)) {
    return Refuse(absl::StatusCode::kAlreadyExists, header, "it is a duplicate");
  }
  if (complete_[unit]) return absl::OkStatus();  // restored, as above
  parked_.Park(unit, header, std::move(payload));
  if (parked_.pushes_of_worker(sender) == table().size()) ++complete_workers_;
  if (parked_.pushes_of_unit(unit) < world_size()) return absl::OkStatus();

  FrameHeader sum = ResultHeader(unit, open_step_);
  for (int worker = 0; worker < world_size(); ++worker) {
    sum.finite = sum.finite && parked_.push(unit, worker).finite;
    sum.weight += parked_.push(unit, worker).weight;
  }
  FoldUnit(unit);
  Complete(unit, sum, results);
  TakeDeferred(results);
  return absl::OkStatus();
}

// Of a worker that has all results of the open step, though others do not.
absl::Status SynchronousShard::Defer(int unit, const FrameHeader& header, FramePayload payload) {
  if (!resuming() || header.step != open_step_ + 1) return RefusalOfFuture(header);
  const auto sender = static_cast<int>(header.sender);
  for (int other = 0; other < table().size(); ++other) {
    if (lacking_[sender][other] && !complete_[other]) return RefusalOfFuture(header);
  }
  for (const Deferred& deferred : deferred_) {
    if (deferred.unit == unit && deferred.header.sender == header.sender) {
      return Refuse(absl::StatusCode::kAlreadyExists, header, "it is a duplicate");
    }
  }
  deferred_.push_back({unit, header, std::move(payload)});
  return absl::OkStatus();
}

absl::Status SynchronousShard::TakeRestored(int unit, const FrameHeader& header,
                                            FramePayload payload, std::vector<Result>* results) {
  if (!resumed_step_.has_value() || header.step != *resumed_step_) {
    return ParameterShard::TakeRestored(unit, header, std::move(payload), results);
  }
  if (!resuming() || complete_[unit]) return absl::OkStatus();
  if (lacking_[header.sender][unit]) {
    return Refuse(absl::StatusCode::kInvalidArgument, header,
                  "the worker has not got this sum itself");
  }
  payload.CopyTo(Values(unit, open_step_));
  FrameHeader sum = ResultHeader(unit, open_step_);
  sum.finite = header.finite;
  sum.weight = header.weight;
  Complete(unit, sum, results);
  TakeDeferred(results);
  return absl::OkStatus();
}

absl::Status SynchronousShard::TakePull(const FrameHeader& header, std::vector<Result>* results) {
  if (optimizer_ == nullptr) return ParameterShard::TakePull(header, results);
  if (table().size() == 0) return absl::OkStatus();  // and no push ever opens a step
  if (header.step >= open_step_) return RefusalOfFuture(header);
  for (int unit = 0; unit < table().size(); ++unit) {
    Result result = ResultOf(unit, open_step_ - 1);
    result.worker = static_cast<int>(header.sender);
    results->push_back(std::move(result));
  }
  return absl::OkStatus();
}

void SynchronousShard::FoldUnit(int unit) {
  in_order_.clear();
  for (int k = 0; k < world_size(); ++k) {
    const int worker = (table().unit(unit).chunk + k) % world_size();
    in_order_.push_back(&parked_.push(unit, worker).payload);
  }
  const bool update = optimizer_ != nullptr && open_step_ > 0;
  const absl::Span<float> values = Values(unit, open_step_);
  FoldPayloads(in_order_, fork_join(), update ? optimizer_->gradient(values.size()) : values);
  parked_.Release(unit);
  if (update) UpdateUnit(unit);
}

// In a copy: the parameters before may still be on their way to a slow worker.
void SynchronousShard::UpdateUnit(int unit) {
  const absl::Span<float> values = Values(unit, open_step_);
  CopyWith(fork_join(), Values(unit, open_step_ - 1), values);
  const auto step = static_cast<int64_t>(open_step_);
  optimizer_->Update(step, step, /*share=*/1, table().unit(unit).position, values, fork_join());
  ++mutable_statistics().updates;
}

void SynchronousShard::Complete(int unit, FrameHeader header, std::vector<Result>* results) {
  complete_[unit] = true;
  ++complete_units_;
  parked_.Release(unit);
  Result result = ResultOf(unit, open_step_);
  result.header = header;
  if (!resuming()) results->push_back(std::move(result));
  for (int worker = 0; worker < static_cast<int>(lacking_.size()); ++worker) {
    if (!lacking_[worker][unit]) continue;
    result.worker = worker;
    results->push_back(result);
  }
  if (complete_units_ == table().size()) OpenNextStep();
}

void SynchronousShard::OpenNextStep() {
  ++open_step_;
  parked_.Clear();
  std::fill(complete_.begin(), complete_.end(), false);
  complete_units_ = 0;
  complete_workers_ = 0;
  lacking_.clear();
}

void SynchronousShard::TakeDeferred(std::vector<Result>* results) {
  if (resuming() || deferred_.empty()) return;
  std::vector<Deferred> frames;
  frames.swap(deferred_);
  for (Deferred& frame : frames) {
    const absl::Status status =
        TakePush(frame.unit, frame.header, std::move(frame.payload), results);
    RINGSIDE_CHECK(status.ok());  // Defer has checked it
  }
}

absl::Span<float> SynchronousShard::Values(int unit, uint64_t step) {
  const UnitTable::Unit& place = table().unit(unit);
  return arenas_[step % 2]->span().subspan(place.position, place.range.length);
}

ParameterShard::Result SynchronousShard::ResultOf(int unit, uint64_t step) {
  Result result;
  result.header = ResultHeader(unit, step);
  result.values = Values(unit, step);
  result.owner = arenas_[step % 2];
  return result;
}

}  // namespace ringside
