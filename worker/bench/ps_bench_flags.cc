#include "worker/bench/ps_bench_flags.h"

#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "allreduce/bench/bench_config.h"
#include "common/status_macros.h"

namespace {

const ringside::PsBenchConfig& Defaults() {
  static const auto* defaults = new ringside::PsBenchConfig;
  return *defaults;
}

std::vector<std::string> DefaultShapes() {
  std::vector<std::string> texts;
  for (const ringside::PsShape& shape : Defaults().shapes) texts.push_back(ToString(shape));
  return texts;
}

std::vector<std::string> DefaultSizes() {
  std::vector<std::string> texts;
  for (const int64_t bytes : Defaults().sizes_bytes) texts.push_back(ringside::SizeText(bytes));
  return texts;
}

}  // namespace

ABSL_FLAG(std::vector<std::string>, workers_shards, DefaultShapes(),
          "numbers of workers and shards, e.g. 2/1,4/2");
ABSL_FLAG(std::vector<std::string>, sizes, DefaultSizes(),
          "bytes of the gradients of one push and pull, e.g. 4K,1M,100M (binary multiples)");
ABSL_FLAG(std::vector<std::string>, links, Defaults().links,
          "any of grpc_tcp, grpc_uds, shm: the server over it, as far as it has it, and the "
          "ceiling of it");
ABSL_FLAG(std::vector<std::string>, contenders, Defaults().contenders,
          "only these of them, e.g. ps/grpc_tcp for a profile; empty: all");
ABSL_FLAG(int, rounds, Defaults().rounds, "how often each contender has its turn at each size");
ABSL_FLAG(int, iterations, Defaults().iterations,
          "of one turn; 0: 5 (large) to 200 (small), and more as --min_time needs");
ABSL_FLAG(absl::Duration, min_time, Defaults().min_time,
          "what one turn takes at least, where --iterations is 0");
ABSL_FLAG(absl::Duration, max_time, Defaults().max_time,
          "what all rounds of one shape and size take, about, where --iterations is 0: fewer "
          "iterations, then fewer rounds, but at least 3 in each of 2");
ABSL_FLAG(bool, targets, Defaults().targets,
          "compare with the project's targets, after the results");
ABSL_FLAG(std::string, out, Defaults().out, "folder for ps_bench.csv and ps_bench.json");
ABSL_FLAG(absl::Duration, timeout, Defaults().timeout,
          "for one turn; a contender that takes longer is an error");
ABSL_FLAG(bool, smoke, false,
          "defaults that take seconds: they show that everything works, and nothing about speed");
ABSL_FLAG(std::string, role, "bench", "internal: rank in the processes that the bench starts");
ABSL_FLAG(std::string, control, "", "internal: the bench's Unix socket");
ABSL_FLAG(int, rank, -1, "internal: which worker or, after all of these, shard this process is");

namespace ringside {

absl::StatusOr<PsBenchConfig> PsBenchConfigFromFlags(const CommandLine& line) {
  PsBenchConfig config = absl::GetFlag(FLAGS_smoke) ? SmokeConfig() : PsBenchConfig();
  if (line.Has("workers_shards")) {
    config.shapes.clear();
    for (const std::string& text : absl::GetFlag(FLAGS_workers_shards)) {
      const absl::StatusOr<PsShape> shape = ParsePsShape(text);
      if (!shape.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat("--workers_shards: ", shape.status().message()));
      }
      config.shapes.push_back(*shape);
    }
  }
  if (line.Has("sizes")) {
    config.sizes_bytes.clear();
    for (const std::string& text : absl::GetFlag(FLAGS_sizes)) {
      const absl::StatusOr<int64_t> bytes = ParseSize(text);
      if (!bytes.ok()) {
        return absl::InvalidArgumentError(absl::StrCat("--sizes: ", bytes.status().message()));
      }
      config.sizes_bytes.push_back(*bytes);
    }
  }
  config.links = absl::GetFlag(FLAGS_links);
  config.contenders = absl::GetFlag(FLAGS_contenders);
  if (line.Has("rounds")) config.rounds = absl::GetFlag(FLAGS_rounds);
  if (line.Has("iterations")) config.iterations = absl::GetFlag(FLAGS_iterations);
  if (line.Has("min_time")) config.min_time = absl::GetFlag(FLAGS_min_time);
  if (line.Has("max_time")) config.max_time = absl::GetFlag(FLAGS_max_time);
  config.targets = absl::GetFlag(FLAGS_targets);
  config.out = absl::GetFlag(FLAGS_out);
  config.timeout = absl::GetFlag(FLAGS_timeout);
  RINGSIDE_RETURN_IF_ERROR(config.Validate());
  return config;
}

absl::StatusOr<MemberRole> MemberRoleFromFlags() {
  MemberRole role;
  const std::string name = absl::GetFlag(FLAGS_role);
  if (name == "bench") return role;
  role.control = absl::GetFlag(FLAGS_control);
  role.rank = absl::GetFlag(FLAGS_rank);
  if (name != "rank" || role.control.empty() || role.rank < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--role=", name, ": for the bench's own use; leave it out"));
  }
  role.is_member = true;
  return role;
}

}  // namespace ringside
