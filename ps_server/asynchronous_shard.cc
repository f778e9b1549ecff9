#include "ps_server/asynchronous_shard.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/payload_fold.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// The last entry of the histogram counts this and more.
constexpr uint64_t kMaxCountedStaleness = 64;

}  // namespace

absl::StatusOr<std::unique_ptr<ParameterShard>> AsynchronousShard::Create(Config config) {
  if (config.policy.staleness < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--staleness=", config.policy.staleness, ": must be at least 0"));
  }
  if (config.full_batch < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a full batch of ", config.full_batch, " samples: must be at least 1"));
  }
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<ServedParameters> served,
                            ServedParameters::Create(config));
  return absl::WrapUnique(new AsynchronousShard(config, std::move(served)));
}

AsynchronousShard::AsynchronousShard(const Config& config, std::unique_ptr<ServedParameters> served)
    : ParameterShard(config),
      bounded_(config.policy.mode == PsMode::kSsp),
      staleness_(static_cast<uint64_t>(config.policy.staleness)),
      full_batch_(static_cast<double>(config.full_batch)),
      first_step_(config.first_step),
      served_(std::move(served)),
      versions_(table().size(), 0),
      initialized_(table().size(), config.first_step > 0),
      exchanges_(static_cast<size_t>(table().size()) * world_size()),
      steps_(world_size(), 0),
      units_of_step_(world_size(), 0) {
  mutable_statistics().staleness.assign(kMaxCountedStaleness + 1, 0);
}

uint64_t AsynchronousShard::open_step() const {
  return first_step_ + *std::min_element(steps_.begin(), steps_.end());
}

absl::optional<ParameterShard::State> AsynchronousShard::MutableState() {
  if (open_step() == 0) return absl::nullopt;
  State state;
  state.step = open_step() - 1;
  state.parameters = served_->all();
  state.optimizer = served_->optimizer().State();
  state.versions = absl::MakeSpan(versions_);
  return state;
}

bool AsynchronousShard::HasPushed(int unit, int worker) const {
  return has_finished(worker) || first_step_ + exchange(unit, worker).pushed > open_step();
}

absl::Status AsynchronousShard::TakePush(int unit, const FrameHeader& header, FramePayload payload,
                                         std::vector<Result>* results) {
  const auto worker = static_cast<int>(header.sender);
  Exchange& own = exchange(unit, worker);
  const uint64_t expected = first_step_ + own.pushed;
  if (header.step + 1 == expected && own.pushed > steps_[worker]) {
    return Refuse(absl::StatusCode::kAlreadyExists, header, "it is a duplicate");
  }
  if (header.step < expected) {
    return Refuse(absl::StatusCode::kFailedPrecondition, header,
                  absl::StrCat("the worker has pushed it before, its next step is ", expected));
  }
  // The unit may be pushed again only after the whole step, and after its answer.
  if (header.step > expected || own.held || own.pushed > steps_[worker]) {
    return Refuse(
        absl::StatusCode::kOutOfRange, header,
        absl::StrCat("the worker's step ", own.held ? expected - 1 : first_step_ + steps_[worker],
                     " is not over"));
  }
  ++own.pushed;
  own.held = true;
  if (header.step == 0) {
    TakeInitial(unit, worker, payload, results);
  } else {
    ++held_;
    Apply(unit, worker, header, payload);
  }
  if (++units_of_step_[worker] == table().size()) CountStep(worker);
  if (units_of_step_[worker] == 0) AnswerHeld(results);  // the slowest may have come on
  if (header.step > 0 && own.held && MayGoOn(worker)) Answer(unit, worker, results);
  return absl::OkStatus();
}

void AsynchronousShard::TakeInitial(int unit, int worker, const FramePayload& payload,
                                    std::vector<Result>* results) {
  ++waiting_for_parameters_;
  if (worker == 0) {
    payload.CopyTo(served_->values(table().unit(unit)));
    initialized_[unit] = true;
  }
  if (!initialized_[unit]) return;
  // Worker 0 was waited for by whoever came before it; of those who come later, others may be held
  // in a later step already.
  for (int other = 0; other < world_size(); ++other) {
    if ((worker == 0 || other == worker) && exchange(unit, other).held) {
      Answer(unit, other, results);
    }
  }
}

void AsynchronousShard::Apply(int unit, int worker, const FrameHeader& header,
                              const FramePayload& payload) {
  CountStaleness(versions_[unit] - exchange(unit, worker).version_sent);
  if (header.weight == 0) return;
  const absl::Span<float> values = served_->values(table().unit(unit));
  const FramePayload* const payloads[] = {&payload};
  FoldPayloads(payloads, fork_join(), served_->optimizer().gradient(values.size()));
  const auto update = static_cast<int64_t>(++versions_[unit]);
  served_->optimizer().Update(update, (update - 1) / world_size() + 1,
                              static_cast<double>(header.weight) / full_batch_,
                              table().unit(unit).position, values, fork_join());
  ++mutable_statistics().updates;
}

void AsynchronousShard::CountStaleness(uint64_t missed) {
  ++mutable_statistics().staleness[std::min(missed, kMaxCountedStaleness)];
}

void AsynchronousShard::CountStep(int worker) {
  ++steps_[worker];
  units_of_step_[worker] = 0;
}

// The worker has pushed step t, or is about to have. `steps_` counts what all others have.
bool AsynchronousShard::MayGoOn(int worker) const {
  if (!bounded_) return true;
  const uint64_t pushing = steps_[worker] + (units_of_step_[worker] > 0 ? 1 : 0);
  const uint64_t slowest = *std::min_element(steps_.begin(), steps_.end());
  return pushing <= slowest + staleness_;
}

void AsynchronousShard::Answer(int unit, int worker, std::vector<Result>* results) {
  Exchange& own = exchange(unit, worker);
  own.held = false;
  own.version_sent = versions_[unit];
  const uint64_t step = first_step_ + own.pushed - 1;
  --(step == 0 ? waiting_for_parameters_ : held_);
  FrameHeader header = ResultHeader(unit, step);
  header.weight = versions_[unit];
  results->push_back(served_->CopyFor(worker, table().unit(unit), header, fork_join()));
}

void AsynchronousShard::AnswerHeld(std::vector<Result>* results) {
  if (held_ == 0) return;
  for (int worker = 0; worker < world_size(); ++worker) {
    if (!MayGoOn(worker)) continue;
    for (int unit = 0; unit < table().size(); ++unit) {
      if (exchange(unit, worker).held && initialized_[unit]) Answer(unit, worker, results);
    }
  }
}

absl::Status AsynchronousShard::TakePull(const FrameHeader& header, std::vector<Result>* results) {
  const auto worker = static_cast<int>(header.sender);
  if (header.step >= first_step_) return RefusalOfFuture(header);
  for (int unit = 0; unit < table().size(); ++unit) {
    exchange(unit, worker).version_sent = versions_[unit];
    results->push_back(
        served_->CopyFor(worker, table().unit(unit), ResultHeader(unit, header.step), fork_join()));
  }
  return absl::OkStatus();
}

void AsynchronousShard::AppendFinal(std::vector<Result>* results) {
  for (int worker = 0; worker < world_size(); ++worker) {
    const uint64_t next = first_step_ + steps_[worker];
    const uint64_t last = next == 0 ? 0 : next - 1;  // as a worker without steps counts
    for (int unit = 0; unit < table().size(); ++unit) {
      results->push_back(
          served_->CopyFor(worker, table().unit(unit), ResultHeader(unit, last), fork_join()));
    }
  }
}

}  // namespace ringside
