#include "ps_server/shard_maker.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/logging.h"
#include "common/recovery_plan.h"
#include "common/sha256.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// Of everything that a snapshot depends on beside the plan.
std::string SettingsHash(const Membership& membership) {
  std::string text;
  for (const auto& name :
       {"ps_mode",        "update",      "optimizer",       "momentum",       "nesterov",
        "beta1",          "beta2",       "epsilon",         "learning_rate",  "lr_scaling",
        "weight_decay",   "lr_schedule", "lr_warmup_steps", "lr_decay_steps", "lr_decay_factor",
        "lr_total_steps", "lr_final",    "frame_bytes",     "workers",        "batch_size",
        "accumulate"}) {
    const auto found = membership.settings().find(name);
    absl::StrAppend(&text, name, "=",
                    found == membership.settings().end() ? "" : found->second.c_str(), "\n");
  }
  return Sha256Hex(absl::string_view(text));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ShardMaker>> ShardMaker::Create(Config config,
                                                               const Membership& membership) {
  RINGSIDE_ASSIGN_OR_RETURN(ShardSettings settings, ReadShardSettings(membership));
  std::vector<ParameterSpec> parameters;
  for (const ParameterDescription& parameter : membership.parameters()) {
    parameters.push_back({parameter.name(),
                          {parameter.shape().begin(), parameter.shape().end()},
                          parameter.dtype()});
  }
  RINGSIDE_ASSIGN_OR_RETURN(
      BucketPlan plan,
      BucketPlan::Create(parameters, settings.first_bucket_bytes, settings.bucket_bytes));
  const ShardLayout layout{membership.workers_size(), membership.shards_size(),
                           settings.frame_bytes};
  absl::optional<SnapshotStore> store;
  if (settings.snapshot_steps > 0 && settings.policy.server_has_parameters()) {
    const SnapshotIdentity identity{config.job, config.shard, layout.num_shards, plan.hash(),
                                    SettingsHash(membership)};
    RINGSIDE_ASSIGN_OR_RETURN(store, SnapshotStore::Create({config.snapshot_folder, identity}));
  }
  return absl::WrapUnique(new ShardMaker(std::move(config), std::move(settings), std::move(plan),
                                         layout, membership.generation(), std::move(store)));
}

ShardMaker::ShardMaker(Config config, ShardSettings settings, BucketPlan plan, ShardLayout layout,
                       uint32_t generation, absl::optional<SnapshotStore> store)
    : config_(std::move(config)),
      settings_(std::move(settings)),
      plan_(std::move(plan)),
      layout_(layout),
      generation_(generation),
      store_(std::move(store)) {}

ParameterShard::Config ShardMaker::ShardConfig() const {
  ParameterShard::Config config{plan_, layout_, config_.shard};
  config.generation = generation_;
  config.policy = settings_.policy;
  config.optimizer = settings_.optimizer;
  config.learning_rate = settings_.learning_rate;
  config.full_batch = settings_.full_batch;
  config.placement = config_.placement;
  config.threads = config_.threads;
  config.on_election = config_.on_election;
  return config;
}

absl::StatusOr<std::unique_ptr<ParameterShard>> ShardMaker::MakeFresh() {
  // The one of step 0 is replaced before any other is saved.
  if (store_.has_value()) RINGSIDE_RETURN_IF_ERROR(store_->RemoveAfter(0));
  ParameterShard::Config config = ShardConfig();
  config.first_step = static_cast<uint64_t>(settings_.resumed_step);
  return ParameterShard::Create(std::move(config));
}

std::string ShardMaker::OwnState() const {
  std::vector<uint64_t> steps;
  if (store_.has_value()) {
    for (uint64_t step : store_->List()) {
      const auto loaded = store_->Load(step);
      if (loaded.ok()) {
        steps.push_back(step);
      } else {
        LogWarning(absl::StrCat("leaves a snapshot aside: ", loaded.status().message()));
      }
    }
  }
  return EncodeSnapshots(steps);
}

absl::StatusOr<std::unique_ptr<ParameterShard>> ShardMaker::MakeRecovered(const States& states) {
  return settings_.policy.server_has_parameters() ? Restore(states) : Resume(states);
}

absl::StatusOr<std::unique_ptr<ParameterShard>> ShardMaker::Resume(const States& states) {
  std::vector<int> units;
  for (int shard = 0; shard < layout_.num_shards; ++shard) {
    units.push_back(UnitTable(plan_, layout_, shard).size());
  }
  RINGSIDE_ASSIGN_OR_RETURN(const SumRecovery plan,
                            ReadSumRecovery(states.workers, layout_.world_size, units));
  ParameterShard::Config config = ShardConfig();
  config.first_step = static_cast<uint64_t>(plan.step());
  ParameterShard::Resumption resumption;
  for (int worker = 0; worker < layout_.world_size; ++worker) {
    resumption.lacking.emplace_back();
    for (int unit = 0; unit < units[config_.shard]; ++unit) {
      resumption.lacking.back().push_back(plan.Lacks(worker, config_.shard, unit));
    }
  }
  config.resumption = std::move(resumption);
  return ParameterShard::Create(std::move(config));
}

absl::StatusOr<std::unique_ptr<ParameterShard>> ShardMaker::Restore(const States& states) {
  RINGSIDE_ASSIGN_OR_RETURN(const uint64_t step, ReadCommonSnapshot(states.snapshots));
  if (!store_.has_value()) return absl::InternalError("a snapshot to load, but none are kept");
  RINGSIDE_ASSIGN_OR_RETURN(const ShardSnapshot snapshot, store_->Load(step));
  RINGSIDE_RETURN_IF_ERROR(store_->RemoveAfter(step));
  ParameterShard::Config config = ShardConfig();
  config.first_step = step + 1;
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<ParameterShard> shard,
                            ParameterShard::Create(std::move(config)));
  const absl::optional<ParameterShard::State> state = shard->MutableState();
  bool fits = state.has_value() && snapshot.parameters.size() == state->parameters.size() &&
              snapshot.optimizer_state.size() == state->optimizer.size() &&
              snapshot.versions.size() == state->versions.size();
  for (size_t i = 0; fits && i < state->optimizer.size(); ++i) {
    fits = snapshot.optimizer_state[i].size() == state->optimizer[i].size();
  }
  if (!fits) {
    return absl::DataLossError(
        absl::StrCat(store_->PathOf(step), ": it is not of this shard's shape"));
  }
  std::copy(snapshot.parameters.begin(), snapshot.parameters.end(), state->parameters.begin());
  std::copy(snapshot.versions.begin(), snapshot.versions.end(), state->versions.begin());
  for (size_t i = 0; i < state->optimizer.size(); ++i) {
    std::copy(snapshot.optimizer_state[i].begin(), snapshot.optimizer_state[i].end(),
              state->optimizer[i].begin());
  }
  LogInfo(absl::StrCat("goes on after step ", step, ", from ", store_->PathOf(step)));
  return shard;
}

absl::Status ShardMaker::SaveIfDue(uint64_t step, bool now, ParameterShard* shard) {
  if (!store_.has_value()) return absl::OkStatus();
  if (!now && step % static_cast<uint64_t>(settings_.snapshot_steps) != 0) return absl::OkStatus();
  const absl::optional<ParameterShard::State> state = shard->MutableState();
  if (!state.has_value() || state->step != step) return absl::OkStatus();
  SnapshotView view;
  view.step = step;
  view.generation = generation_;
  view.parameters = state->parameters;
  view.optimizer_state.assign(state->optimizer.begin(), state->optimizer.end());
  view.versions = state->versions;
  const absl::Time start = MonotonicNow();
  RINGSIDE_RETURN_IF_ERROR(store_->Save(view).status());
  snapshot_time_ += MonotonicNow() - start;
  ++snapshots_;
  return absl::OkStatus();
}

}  // namespace ringside
