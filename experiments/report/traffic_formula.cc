#include "experiments/report/traffic_formula.h"

#include "absl/strings/str_cat.h"
#include "experiments/report/number_text.h"
#include "experiments/report/series.h"
#include "experiments/report/server_mode.h"

namespace ringside {

absl::optional<int64_t> WorkersPayloadBytes(const RunResult& run) {
  const int64_t gradient_bytes = WireBytesPerElement(run) * run.parameter_elements();
  const int64_t steps = run.total_steps() - run.resumed_from_step();
  if (run.strategy() == "ring") return 2 * (run.workers() - 1) * gradient_bytes * steps;
  if (IsParameterServer(run.strategy()) && !MaySkipSteps(run))
    return run.workers() * gradient_bytes * steps;
  if (IsOneProcess(run.strategy())) return 0;
  return absl::nullopt;
}

int64_t WireBytesPerElement(const RunResult& run) {
  const auto dtype = run.settings().find("wire_dtype");
  const bool halved =
      dtype != run.settings().end() && (dtype->second == "bf16" || dtype->second == "fp16");
  return halved ? 2 : 4;
}

std::string FirstDifference(const Traffic& counted, const Traffic& formula) {
  struct Pair {
    const char* name;
    int64_t counted;
    int64_t formula;
  };
  const Pair pairs[] = {
      {"payload bytes sent", counted.payload_bytes_sent(), formula.payload_bytes_sent()},
      {"payload bytes received", counted.payload_bytes_received(),
       formula.payload_bytes_received()},
      {"messages sent", counted.messages_sent(), formula.messages_sent()},
      {"messages received", counted.messages_received(), formula.messages_received()},
      {"header bytes sent", counted.header_bytes_sent(), formula.header_bytes_sent()},
      {"header bytes received", counted.header_bytes_received(), formula.header_bytes_received()},
  };
  for (const Pair& pair : pairs) {
    if (pair.counted != pair.formula) {
      return absl::StrCat(pair.name, ": counted ", WholeNumber(pair.counted), ", formula ",
                          WholeNumber(pair.formula));
    }
  }
  return "";
}

}  // namespace ringside
