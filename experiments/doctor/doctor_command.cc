#include "experiments/doctor/doctor_command.h"

#include <stdio.h>

#include <vector>

#include "common/config/job_flags.h"
#include "common/logging.h"
#include "experiments/doctor/checks.h"
#include "experiments/doctor/system_facts.h"

namespace ringside {

int DoctorCommand(const CommandContext& context) {
  const absl::StatusOr<JobConfig> job = JobConfigFromFlags(1);
  if (!job.ok()) return ExitStatus(job.status());
  SystemQuestions questions;
  questions.binary_dir = context.binary_dir;
  const auto path = context.environment.find("PATH");
  if (path != context.environment.end()) questions.search_path = path->second;
  questions.port_range =
      ProcessConfigFromFlags(context.command_line, context.environment).network.port_range;
  questions.job = *job;
  for (const char* flag : {"data_dir", "dataset", "dataset_args", "model"}) {
    questions.data_given = questions.data_given || context.command_line.Has(flag);
  }
  const std::vector<Finding> findings = CheckSystem(ReadSystemFacts(questions));
  for (const Finding& finding : findings) fputs(Format(finding).c_str(), stdout);
  return AnyFailure(findings) ? 1 : 0;
}

}  // namespace ringside
