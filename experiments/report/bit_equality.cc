#include "experiments/report/bit_equality.h"

#include "absl/strings/str_cat.h"
#include "experiments/report/series.h"
#include "experiments/report/traffic_formula.h"

namespace ringside {

std::string BitExemption(const RunResult& run) {
  if (IsForeign(run.strategy()))
    return absl::StrCat(run.strategy(), " adds in an order of its own");
  if (run.strategy() == "ps" && WireBytesPerElement(run) < 4) {
    return absl::StrCat(run.strategy(), " rounds to ", run.settings().at("wire_dtype"),
                        " only what arrives and what leaves, a ring its partial sums too");
  }
  return "";
}

std::string BitEqualityKey(const RunResult& run) {
  return absl::StrCat(run.workers(), " ", run.global_batch_size(), " ",
                      BitExemption(run).empty() ? "" : run.strategy());
}

}  // namespace ringside
