#include "experiments/experiment_flags.h"

#include <cmath>
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
ABSL_FLAG(
    bool, allow_unequal, false,
    "compare, sweep, report: compare runs that differ in batch, dtype, threads, build or cores "
    "too, and say so");
ABSL_FLAG(double, tolerance, 0.02,
          "diff: by which share a step may take longer without being a regression");
ABSL_FLAG(bool, overwrite, false,
          "run, compare, sweep: replace the results that --out holds already");
ABSL_FLAG(bool, dry_run, false, "sweep: print the jobs and run none");

ABSL_FLAG(std::string, bandwidth, "",
          "predict: of every host, each way, e.g. 25gbit; empty: as measured");
ABSL_FLAG(std::string, latency, "",
          "predict: one way between hosts, e.g. 20us; empty: as measured");
ABSL_FLAG(std::string, parameters, "",
          "predict: of the model, e.g. 25.6M; empty: those of --model, or of the runs");
ABSL_FLAG(std::string, compute, "",
          "predict: time that a rank computes for a step, e.g. 120ms; empty: as measured");
ABSL_FLAG(std::string, mtbf, "",
          "predict: mean time between failures of one process, worker or shard, e.g. 5000h: they "
          "fail at random and independently, and any failure sends the job back to its last "
          "checkpoint; expected time by Daly 2006, equation 20; empty: nothing fails");
ABSL_FLAG(std::string, restart_cost, "1m",
          "predict: from a failure until the job trains again, with --mtbf");
ABSL_FLAG(std::string, checkpoint_cost, "",
          "predict: time that a checkpoint stops training, e.g. 2s, with --mtbf; empty: as "
          "measured. --checkpoint_steps is from one to the next; 0: as many as cost least (Young "
          "1974, Daly 2006)");

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
      {"allow_unequal", {"compare", "sweep", "report"}, ""},
      {"tolerance", {"diff"}, ""},
      {"overwrite", {"run", "compare", "sweep", "report"}, ""},
      {"dry_run", {"sweep"}, ""},
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
      {"bandwidth", {"predict"}, ""},
      {"latency", {"predict"}, ""},
      {"parameters", {"predict"}, ""},
      {"compute", {"predict"}, ""},
      {"mtbf", {"predict"}, ""},
      {"restart_cost", {"predict"}, ""},
      {"checkpoint_cost", {"predict"}, ""},
      {"metrics_port", {"run", "compare", "sweep"}, ""},
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

PredictionFlags PredictionFromFlags() {
  return {absl::GetFlag(FLAGS_bandwidth),      absl::GetFlag(FLAGS_latency),
          absl::GetFlag(FLAGS_parameters),     absl::GetFlag(FLAGS_compute),
          absl::GetFlag(FLAGS_mtbf),           absl::GetFlag(FLAGS_restart_cost),
          absl::GetFlag(FLAGS_checkpoint_cost)};
}

bool OverwriteFromFlags() { return absl::GetFlag(FLAGS_overwrite); }

Inequality InequalityFromFlags() {
  return absl::GetFlag(FLAGS_allow_unequal) ? Inequality::kAllowed : Inequality::kRefused;
}

absl::StatusOr<double> ToleranceFromFlags() {
  const double tolerance = absl::GetFlag(FLAGS_tolerance);
  if (tolerance >= 0 && std::isfinite(tolerance)) return tolerance;
  return absl::InvalidArgumentError(
      absl::StrCat("--tolerance=", tolerance, ": must be 0 or more, e.g. 0.02 for 2 %"));
}

bool DryRunFromFlags() { return absl::GetFlag(FLAGS_dry_run); }

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
