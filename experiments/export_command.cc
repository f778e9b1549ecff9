#include "experiments/export_command.h"

#include <stdio.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/checkpoint_file.h"
#include "common/config/job_flags.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "experiments/experiment_flags.h"
#include "experiments/safetensors.h"

namespace ringside {
namespace {

// A damaged file is bad input, not a failure of this process.
absl::Status AsBadInput(const absl::Status& status) {
  return absl::IsDataLoss(status) ? absl::FailedPreconditionError(status.message()) : status;
}

absl::Status Export(const CommandContext& context) {
  RINGSIDE_RETURN_IF_ERROR(RequireFlagsOf("export", context.command_line));
  const std::string from = CheckpointFromFlags();
  if (from.empty()) {
    return absl::InvalidArgumentError(
        "--checkpoint= : must be a checkpoint, e.g. --checkpoint=out/checkpoints/step-000100.ckpt");
  }
  RINGSIDE_ASSIGN_OR_RETURN(const JobConfig flags, JobConfigFromFlags(1));
  if (!absl::EndsWith(flags.out, ".safetensors")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--out=", flags.out, ": must be a file that ends in .safetensors"));
  }
  const absl::StatusOr<Checkpoint> checkpoint = ReadCheckpointFile(from);
  if (!checkpoint.ok()) return AsBadInput(checkpoint.status());
  RINGSIDE_ASSIGN_OR_RETURN(const int64_t bytes, WriteSafetensors(*checkpoint, flags.out));
  printf("%s: %d tensors of step %lld, %lld bytes\n", flags.out.c_str(),
         checkpoint->manifest.tensors_size(), static_cast<long long>(checkpoint->manifest.step()),
         static_cast<long long>(bytes));
  return absl::OkStatus();
}

}  // namespace

int ExportCommand(const CommandContext& context) { return ExitStatus(Export(context)); }

}  // namespace ringside
