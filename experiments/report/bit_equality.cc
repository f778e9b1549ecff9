#include "experiments/report/bit_equality.h"

#include "absl/strings/str_cat.h"
#include "experiments/report/series.h"
#include "experiments/report/server_mode.h"
#include "experiments/report/traffic_formula.h"

namespace ringside {

namespace {

bool DependsOnTiming(const RunResult& run) { return PolicyOf(run).mode != PsMode::kSync; }

}  // namespace

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
                      BitExemption(run).empty() ? "" : run.strategy());
}

}  // namespace ringside
