#include "experiments/report/bit_equality.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "experiments/report/point.h"
#include "experiments/report/series.h"
#include "experiments/report/server_mode.h"
#include "experiments/report/traffic_formula.h"

namespace ringside {

namespace {

bool DependsOnTiming(const RunResult& run) { return PolicyOf(run).mode != PsMode::kSync; }

template <typename Decides>
std::string ClassBy(const RunResult& run, Decides decides) {
  const std::map<std::string, std::string> ordered(run.settings().begin(), run.settings().end());
  std::string text;
  for (const auto& [name, value] : ordered) {
    if (decides(name)) absl::StrAppend(&text, name, "=", value, "\n");
  }
  return text;
}

}  // namespace

bool DecidesBits(absl::string_view setting) {
  // How gradients travel, when, and what is recorded; the batch is in the key of its own.
  static const auto* const others = new std::set<std::string, std::less<>>{
      "strategy",       "workers",          "trial",        "out",          "data_dir",
      "lease",          "step_timeout",     "join_timeout", "batch_size",   "tensorboard_dir",
      "checkpoint_dir", "keep_checkpoints", "resume",       "data_threads", "checkpoint_steps",
      "evaluate",       "warmup_steps",     "trace_steps",  "stragglers",   "restart_shards"};
  return others->count(setting) == 0 && !IsOfTransportOnly(setting);
}

std::string BitClass(const RunResult& run) { return ClassBy(run, DecidesBits); }

std::string InitialBitClass(const RunResult& run) {
  static const auto* const names = new std::set<std::string, std::less<>>{
      "seed", "model", "model_args", "hidden", "dataset", "dataset_args"};
  return ClassBy(run, [](const std::string& name) { return names->count(name) > 0; });
}

std::string BitExemption(const RunResult& run) {
  if (IsForeign(run.strategy()))
    return absl::StrCat(run.strategy(), " adds in an order of its own");
  if (DependsOnTiming(run)) {
    return absl::StrCat(run.strategy(),
                        PolicyOf(run).mode == PsMode::kBackup
                            ? " takes the gradients that are there first"
                            : " applies gradients in the order in which they arrive",
                        ", so that every run ends with bits of its own");
  }
  if (IsParameterServer(run.strategy()) && WireBytesPerElement(run) < 4) {
    return absl::StrCat(run.strategy(), " rounds to ", run.settings().at("wire_dtype"),
                        " only what arrives and what leaves, a ring its partial sums too");
  }
  return "";
}

std::string BitEqualityKey(const RunResult& run, size_t index) {
  if (DependsOnTiming(run)) return absl::StrCat("run ", index);
  return absl::StrCat(run.workers(), " ", run.global_batch_size(), " ",
                      BitExemption(run).empty() ? "" : run.strategy(), "\n", BitClass(run));
}

}  // namespace ringside
