#include "experiments/experiment_flags.h"

#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/config/job_flags.h"
#include "common/status_macros.h"

namespace {

const ringside::ExperimentConfig& Defaults() {
  static const auto* defaults = new ringside::ExperimentConfig;
  return *defaults;
}

}  // namespace

ABSL_FLAG(std::vector<std::string>, strategies, Defaults().strategies, "compare: which strategies");
ABSL_FLAG(int, trials, Defaults().trials,
          "compare: repetitions of each strategy and number of workers");
ABSL_FLAG(std::string, scaling, Defaults().scaling,
          "compare: strong (the global batch is fixed) or weak (the batch of each rank is)");
ABSL_FLAG(int64_t, global_batch, Defaults().global_batch,
          "compare: samples per step of all ranks together, for strong scaling; 0: --batch_size x "
          "the most workers");
ABSL_FLAG(std::string, checkpoint, "", "export: the checkpoint to read");
ABSL_FLAG(bool, overwrite, false, "run, compare: replace the results that --out holds already");

namespace ringside {
namespace {

struct Restriction {
  absl::string_view flag;
  std::vector<absl::string_view> commands;  // that act on it
  absl::string_view hint;
};

const std::vector<Restriction>& Restrictions() {
  static const auto* restrictions = new std::vector<Restriction>{
      {"strategies", {"compare"}, "`ringside run` takes --strategy"},
      {"trials", {"compare"}, ""},
      {"scaling", {"compare"}, ""},
      {"global_batch", {"compare"}, "`ringside run` takes --batch_size, per rank"},
      {"overwrite", {"run", "compare", "report"}, ""},
      {"strategy", {"run", "coordinator"}, "`ringside compare` takes --strategies"},
      {"trial", {"run"}, "`ringside compare` takes --trials"},
      {"resume", {"run"}, ""},
      {"checkpoint_dir", {"run"}, "each run of a comparison has its own, in its folder of --out"},
      {"checkpoint", {"export"}, "`ringside run` takes --resume"},
      {"restart_shards", {"run", "compare", "coordinator"}, ""},
      {"rank", {}, "it is for `worker`"},
      {"shard", {}, "it is for `ps_server`"},
      {"host_coordinator", {}, "it is for `worker`"},
      {"coordinator", {"coordinator"}, "a launched job has a coordinator of its own"},
      {"token", {"coordinator"}, "a launched job has a token of its own"},
      {"metrics_port", {"run", "compare"}, ""},
      {"network", {"run", "compare"}, "it is for jobs that are launched on one machine"},
      {"placement", {"run", "compare"}, "it is for jobs that are launched on one machine"},
  };
  return *restrictions;
}

}  // namespace

absl::StatusOr<ExperimentConfig> ExperimentConfigFromFlags() {
  ExperimentConfig config;
  config.strategies = absl::GetFlag(FLAGS_strategies);
  RINGSIDE_ASSIGN_OR_RETURN(config.worker_counts, WorkerCountsFromFlags());
  config.trials = absl::GetFlag(FLAGS_trials);
  config.scaling = absl::GetFlag(FLAGS_scaling);
  config.global_batch = absl::GetFlag(FLAGS_global_batch);
  return config;
}

std::string CheckpointFromFlags() { return absl::GetFlag(FLAGS_checkpoint); }

bool OverwriteFromFlags() { return absl::GetFlag(FLAGS_overwrite); }

absl::Status RequireFlagsOf(absl::string_view command, const CommandLine& command_line) {
  for (const Restriction& restriction : Restrictions()) {
    if (!command_line.Has(restriction.flag)) continue;
    bool allowed = false;
    for (absl::string_view name : restriction.commands) allowed = allowed || name == command;
    if (allowed) continue;
    const std::string hint =
        !restriction.hint.empty()
            ? std::string(restriction.hint)
            : absl::StrCat("it is for `ringside ", absl::StrJoin(restriction.commands, "` and `"),
                           "`");
    return absl::InvalidArgumentError(absl::StrCat(
        "--", restriction.flag, " has no meaning for `ringside ", command, "`; ", hint));
  }
  return absl::OkStatus();
}

}  // namespace ringside
