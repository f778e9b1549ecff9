// What allreduce_bench is told, as one plain struct. Flags fill it (bench_flags.h). Pure.
#ifndef RINGSIDE_ALLREDUCE_BENCH_BENCH_CONFIG_H_
#define RINGSIDE_ALLREDUCE_BENCH_BENCH_CONFIG_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ringside {

struct BenchConfig {
  std::vector<std::string> contenders;  // empty: every one that is built, as installed ones apart
  std::vector<int> world_sizes = {2, 4};
  std::vector<int64_t> sizes_bytes = {4 << 10, 64 << 10, 1 << 20, 16 << 20, 100 << 20};
  int rounds = 5;
  absl::Duration min_time = absl::Milliseconds(50);  // of one contender in one round
  bool in_place = false;
  std::string congestion_control;  // of our TCP sockets; empty: the system's default
  std::vector<std::string> formats = {"table"};
  std::string out;  // folder of the csv and json files; empty: one format, on standard output
  std::string wire_dtype = "fp32";  // of ours; foreign contenders know fp32 alone
  int64_t segment_bytes = 256 << 10;
  bool targets = false;
  absl::Duration timeout = absl::Seconds(60);  // for one contender in one round

  // INVALID_ARGUMENT: names the flag, the value and what is allowed.
  absl::Status Validate() const;

  int64_t max_elements() const;
  bool Writes(absl::string_view format) const;
  // Flag name -> value, for the results.
  std::map<std::string, std::string> Settings() const;
};

// "4096", "4K", "64K", "100M", "1G": binary multiples. INVALID_ARGUMENT: no size, or no positive
// multiple of 4 bytes.
absl::StatusOr<int64_t> ParseSize(absl::string_view text);
// The shortest such text.
std::string SizeText(int64_t bytes);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BENCH_BENCH_CONFIG_H_
