#include "ps_server/backup_shard.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/payload_fold.h"
#include "common/status_macros.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<ParameterShard>> BackupShard::Create(Config config) {
  const int backups = config.policy.backup_workers;
  if (backups < 0 || backups >= config.layout.world_size) {
    return absl::InvalidArgumentError(
        absl::StrCat("--backup_workers=", backups, ": must be from 0 to ",
                     config.layout.world_size - 1, " with ", config.layout.world_size, " workers"));
  }
  if (config.full_batch < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a full batch of ", config.full_batch, " samples: must be at least 1"));
  }
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<ServedParameters> served,
                            ServedParameters::Create(config));
  return absl::WrapUnique(new BackupShard(config, std::move(served)));
}

BackupShard::BackupShard(const Config& config, std::unique_ptr<ServedParameters> served)
    : ParameterShard(config),
      backup_workers_(config.policy.backup_workers),
      full_batch_(config.full_batch),
      on_election_(config.on_election),
      served_(std::move(served)),
      open_step_(config.first_step),
      parked_(table().size(), world_size()),
      unit_step_(table().size(), config.first_step - 1),  // kNoStep before step 0
      pushed_(static_cast<size_t>(table().size()) * world_size(), kNoStep),
      last_late_(world_size(), kNoStep),
      pulls_(world_size(), kNoStep) {}

absl::optional<ParameterShard::State> BackupShard::MutableState() {
  // Some units may be updated already.
  if (open_step_ == 0 || updated_units_ > 0) return absl::nullopt;
  State state;
  state.step = open_step_ - 1;
  state.parameters = served_->all();
  state.optimizer = served_->optimizer().State();
  return state;
}

absl::Status BackupShard::TakePush(int unit, const FrameHeader& header, FramePayload payload,
                                   std::vector<Result>* results) {
  const auto worker = static_cast<int>(header.sender);
  if (header.step > open_step_) return RefusalOfFuture(header);
  uint64_t& pushed = pushed_[static_cast<size_t>(unit) * world_size() + worker];
  if (pushed != kNoStep && header.step == pushed) {
    return Refuse(absl::StatusCode::kAlreadyExists, header, "it is a duplicate");
  }
  if (pushed != kNoStep && header.step < pushed) {
    return Refuse(absl::StatusCode::kFailedPrecondition, header,
                  absl::StrCat("the worker has pushed step ", pushed, " of it"));
  }
  if (header.step == 0 && open_step_ > 0) {
    return RefusalOfClosed(header);  // the initial parameters take everybody
  }
  pushed = header.step;
  if (header.step < open_step_) {
    CountLate(worker, header.step);
    Answer(unit, worker, results);
    return absl::OkStatus();
  }
  ParkPush(unit, header, std::move(payload), results);
  return absl::OkStatus();
}

void BackupShard::ParkPush(int unit, const FrameHeader& header, FramePayload payload,
                           std::vector<Result>* results) {
  const auto worker = static_cast<int>(header.sender);
  parked_.Park(unit, header, std::move(payload));
  if (unit_step_[unit] == open_step_) {  // updated without it
    parked_.Release(unit);
    CountLate(worker, header.step);
    Answer(unit, worker, results);
  }
  if (parked_.pushes_of_worker(worker) == table().size()) {
    ++complete_workers_;
    arrived_.push_back(worker);
  }
  const int wanted = open_step_ == 0 ? world_size() : needed();
  const bool elects = shard() == 0 || open_step_ == 0;
  if (elects && elected_.empty() && static_cast<int>(arrived_.size()) == wanted) {
    elected_ = arrived_;
    std::sort(elected_.begin(), elected_.end());
    if (open_step_ > 0 && on_election_ != nullptr) on_election_({open_step_, elected_});
    UpdateReady(results);
  } else if (!elected_.empty() && IsReady(unit)) {
    Update(unit, results);
  }
}

absl::Status BackupShard::Elect(const Election& election, std::vector<Result>* results) {
  const std::vector<int>& workers = election.workers;
  const bool fits =
      static_cast<int>(workers.size()) == needed() && workers.front() >= 0 &&
      workers.back() < world_size() &&
      std::adjacent_find(workers.begin(), workers.end(), std::greater_equal<>()) == workers.end();
  // A shard without elements gets no pushes, so that no step of it ever opens or closes.
  const bool open = election.step > 0 && election.step == open_step_ && elected_.empty();
  if (shard() > 0 && fits && table().size() == 0) return absl::OkStatus();
  if (shard() == 0 || !open || !fits) {
    return absl::FailedPreconditionError(absl::StrCat(
        "shard ", shard(), " was told that ", election.workers.size(), " workers count in step ",
        election.step, "; step ", open_step_, " is open, and ", needed(), " count"));
  }
  elected_ = workers;
  const size_t before = results->size();
  UpdateReady(results);
  CountAnswers(*results, before);
  return absl::OkStatus();
}

void BackupShard::CountLate(int worker, uint64_t step) {
  if (last_late_[worker] == step) return;
  last_late_[worker] = step;
  ++mutable_statistics().late_pushes;
}

// Or is not waited for: others count in the open step, or enough have pushed all of it here, and
// shard 0 has yet to say who counts.
bool BackupShard::HasPushed(int unit, int worker) const {
  if (has_finished(worker) || parked_.Has(unit, worker)) return true;
  if (open_step_ == 0) return false;
  return elected_.empty() ? complete_workers_ >= needed()
                          : !std::binary_search(elected_.begin(), elected_.end(), worker);
}

bool BackupShard::IsReady(int unit) const {
  return unit_step_[unit] != open_step_ &&
         std::all_of(elected_.begin(), elected_.end(),
                     [&](int worker) { return parked_.Has(unit, worker); });
}

void BackupShard::UpdateReady(std::vector<Result>* results) {
  const uint64_t step = open_step_;
  for (int unit = 0; unit < table().size() && open_step_ == step; ++unit) {
    if (IsReady(unit)) Update(unit, results);
  }
}

void BackupShard::Update(int unit, std::vector<Result>* results) {
  in_order_.clear();
  uint64_t samples = 0;
  for (int k = 0; k < world_size(); ++k) {
    const int worker = (table().unit(unit).chunk + k) % world_size();
    if (!std::binary_search(elected_.begin(), elected_.end(), worker)) continue;
    in_order_.push_back(&parked_.push(unit, worker).payload);
    samples += parked_.push(unit, worker).weight;
  }
  const absl::Span<float> values = served_->values(table().unit(unit));
  if (open_step_ == 0) {
    FoldPayloads(in_order_, fork_join(), values);
  } else if (samples > 0) {
    const absl::Span<float> gradient = served_->optimizer().gradient(values.size());
    FoldPayloads(in_order_, fork_join(), gradient);
    const auto scale =
        static_cast<float>(static_cast<double>(full_batch_) / static_cast<double>(samples));
    if (scale != 1) {
      fork_join()->Run(static_cast<int64_t>(gradient.size()), [&](const ElementRange& range) {
        for (float& element : gradient.subspan(range.begin, range.length)) element *= scale;
      });
    }
    const auto step = static_cast<int64_t>(open_step_);
    served_->optimizer().Update(step, step, /*share=*/1, table().unit(unit).position, values,
                                fork_join());
    ++mutable_statistics().updates;
  }
  unit_step_[unit] = open_step_;
  for (int worker = 0; worker < world_size(); ++worker) {
    if (!parked_.Has(unit, worker)) continue;
    if (!std::binary_search(elected_.begin(), elected_.end(), worker)) {
      CountLate(worker, open_step_);
    }
    Answer(unit, worker, results);
  }
  parked_.Release(unit);
  if (++updated_units_ == table().size()) OpenNextStep(results);
}

void BackupShard::Answer(int unit, int worker, std::vector<Result>* results) {
  results->push_back(served_->CopyFor(worker, table().unit(unit),
                                      ResultHeader(unit, unit_step_[unit]), fork_join()));
}

void BackupShard::OpenNextStep(std::vector<Result>* results) {
  ++open_step_;
  parked_.Clear();
  updated_units_ = 0;
  complete_workers_ = 0;
  arrived_.clear();
  elected_.clear();
  AnswerPulls(results);
}

absl::Status BackupShard::TakePull(const FrameHeader& header, std::vector<Result>* results) {
  if (table().size() == 0) return absl::OkStatus();
  const auto worker = static_cast<int>(header.sender);
  if (pulls_[worker] != kNoStep) {
    return Refuse(absl::StatusCode::kAlreadyExists, header, "the worker pulls already");
  }
  pulls_[worker] = header.step;
  ++pulling_;
  AnswerPulls(results);
  return absl::OkStatus();
}

void BackupShard::AnswerPulls(std::vector<Result>* results) {
  for (int worker = 0; worker < world_size() && pulling_ > 0; ++worker) {
    if (pulls_[worker] == kNoStep || pulls_[worker] >= open_step_) continue;
    pulls_[worker] = kNoStep;
    --pulling_;
    for (int unit = 0; unit < table().size(); ++unit) Answer(unit, worker, results);
  }
}

}  // namespace ringside
