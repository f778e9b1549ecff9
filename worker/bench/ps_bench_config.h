// What ps_bench is told, as one plain struct. Flags fill it (ps_bench_flags.h). Pure.
#ifndef RINGSIDE_WORKER_BENCH_PS_BENCH_CONFIG_H_
#define RINGSIDE_WORKER_BENCH_PS_BENCH_CONFIG_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ringside {

struct PsShape {
  int workers = 2;
  int shards = 1;
};
// "2/1". INVALID_ARGUMENT: no such pair of positive numbers.
absl::StatusOr<PsShape> ParsePsShape(absl::string_view text);
std::string ToString(const PsShape& shape);

struct PsBenchConfig {
  std::vector<PsShape> shapes = {{2, 1}, {2, 2}, {4, 2}};
  std::vector<int64_t> sizes_bytes = {4 << 10, 1 << 20, 16 << 20, 100 << 20};
  std::vector<std::string> links = {"grpc_tcp", "grpc_uds", "shm"};
  std::vector<std::string> contenders;  // only these; empty: all
  int rounds = 5;
  int iterations = 0;                                // of a turn; 0: by size and min_time
  absl::Duration min_time = absl::Milliseconds(50);  // of a turn
  // Of all rounds of one shape and size, about; see FitTurns. Not where iterations is given.
  absl::Duration max_time = absl::Seconds(20);
  bool targets = false;
  std::string out;                             // folder of the csv and json files; empty: none
  absl::Duration timeout = absl::Seconds(60);  // for one turn

  // INVALID_ARGUMENT: names the flag, the value and what is allowed.
  absl::Status Validate() const;
  // Flag name -> value, for the results.
  std::map<std::string, std::string> Settings() const;
  int64_t max_bytes() const;
};

// Seconds instead of minutes: shows that everything works, and nothing about speed.
PsBenchConfig SmokeConfig();

}  // namespace ringside

#endif  // RINGSIDE_WORKER_BENCH_PS_BENCH_CONFIG_H_
