#include "allreduce/bench/bench_flags.h"

#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace {

const ringside::BenchConfig& Defaults() {
  static const auto* defaults = new ringside::BenchConfig;
  return *defaults;
}

std::vector<std::string> DefaultWorldSizes() {
  std::vector<std::string> texts;
  for (const int size : Defaults().world_sizes) texts.push_back(absl::StrCat(size));
  return texts;
}

std::vector<std::string> DefaultSizes() {
  std::vector<std::string> texts;
  for (const int64_t bytes : Defaults().sizes_bytes) texts.push_back(ringside::SizeText(bytes));
  return texts;
}

}  // namespace

ABSL_FLAG(std::vector<std::string>, contenders, Defaults().contenders,
          "who takes part, e.g. ring_tcp,ring_shm,gloo,mpi (docs/benchmarks.md has all); empty: "
          "ours and the baselines that are built, with tuned malloc");
ABSL_FLAG(std::vector<std::string>, world_sizes, DefaultWorldSizes(), "numbers of ranks");
ABSL_FLAG(std::vector<std::string>, sizes, DefaultSizes(),
          "bytes of the vector, e.g. 4K,1M,100M (binary multiples)");
ABSL_FLAG(int, rounds, Defaults().rounds, "how often each contender has its turn at each size");
ABSL_FLAG(absl::Duration, min_time, Defaults().min_time,
          "what one turn takes at least, as far as 20000 iterations reach");
ABSL_FLAG(bool, in_place, Defaults().in_place,
          "sum within one buffer, which is filled again outside of the timing; Gloo's natural mode "
          "in any case");
ABSL_FLAG(std::string, congestion_control, Defaults().congestion_control,
          "TCP congestion control of our sockets and of raw_tcp; Gloo and Open MPI follow the "
          "system's; empty: the system's");
ABSL_FLAG(std::vector<std::string>, format, {},
          "any of table (standard output), csv, json; empty: table, and all three with --out");
ABSL_FLAG(std::string, out, Defaults().out,
          "folder for allreduce_bench.csv and .json; without it --format names one format, which "
          "goes to standard output");
ABSL_FLAG(std::string, wire_dtype, Defaults().wire_dtype,
          "how our elements travel: fp32, bf16 or fp16; foreign contenders know fp32 alone");
ABSL_FLAG(int64_t, segment_bytes, Defaults().segment_bytes,
          "what our ring receives, adds and sends on at a time");
ABSL_FLAG(bool, targets, Defaults().targets,
          "compare with the project's targets, after the results; without --contenders runs those "
          "that they speak of");
ABSL_FLAG(absl::Duration, timeout, Defaults().timeout,
          "for one turn; a contender that takes longer is an error");
ABSL_FLAG(std::string, role, "bench", "internal: rank in the processes that the bench starts");
ABSL_FLAG(std::string, control, "", "internal: the bench's Unix socket");
ABSL_FLAG(int, rank, -1, "internal: which rank this process is");

namespace ringside {

absl::StatusOr<BenchConfig> BenchConfigFromFlags() {
  BenchConfig config;
  config.contenders = absl::GetFlag(FLAGS_contenders);
  config.world_sizes.clear();
  for (const std::string& text : absl::GetFlag(FLAGS_world_sizes)) {
    int size = 0;
    if (!absl::SimpleAtoi(text, &size)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--world_sizes: \"", text, "\" is no number of ranks"));
    }
    config.world_sizes.push_back(size);
  }
  config.sizes_bytes.clear();
  for (const std::string& text : absl::GetFlag(FLAGS_sizes)) {
    const absl::StatusOr<int64_t> bytes = ParseSize(text);
    if (!bytes.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--sizes: ", bytes.status().message()));
    }
    config.sizes_bytes.push_back(*bytes);
  }
  config.rounds = absl::GetFlag(FLAGS_rounds);
  config.min_time = absl::GetFlag(FLAGS_min_time);
  config.in_place = absl::GetFlag(FLAGS_in_place);
  config.congestion_control = absl::GetFlag(FLAGS_congestion_control);
  config.out = absl::GetFlag(FLAGS_out);
  if (!config.out.empty()) config.formats = {"table", "csv", "json"};
  const std::vector<std::string> formats = absl::GetFlag(FLAGS_format);
  if (!formats.empty()) config.formats = formats;
  config.wire_dtype = absl::GetFlag(FLAGS_wire_dtype);
  config.segment_bytes = absl::GetFlag(FLAGS_segment_bytes);
  config.targets = absl::GetFlag(FLAGS_targets);
  config.timeout = absl::GetFlag(FLAGS_timeout);
  RINGSIDE_RETURN_IF_ERROR(config.Validate());
  return config;
}

absl::StatusOr<RankRole> RankRoleFromFlags() {
  RankRole role;
  const std::string name = absl::GetFlag(FLAGS_role);
  if (name == "bench") return role;
  role.control = absl::GetFlag(FLAGS_control);
  if (name != "rank" || role.control.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--role=", name, ": for the bench's own use; leave it out"));
  }
  role.is_rank = true;
  role.rank = absl::GetFlag(FLAGS_rank);
  return role;
}

}  // namespace ringside
