#include "experiments/doctor/data_check.h"

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "worker/data/dataset_factory.h"

namespace ringside {

absl::StatusOr<std::string> CheckDataOf(const JobConfig& job) {
  if (job.model == "shapes") return std::string("--model=shapes needs none");
  DatasetConfig config;
  config.name = job.dataset_name();
  config.folder = job.data_dir;
  config.arguments = job.dataset_args;
  config.model = job.model;
  config.seed = job.seed;
  config.with_test = job.evaluate;
  RINGSIDE_ASSIGN_OR_RETURN(const Datasets found, LoadDatasets(config));
  std::string text = config.name;
  if (config.name != "synthetic") absl::StrAppend(&text, " in ", config.folder);
  absl::StrAppend(&text, ": ", found.training->size(), " training samples");
  if (found.test != nullptr) absl::StrAppend(&text, ", ", found.test->size(), " test samples");
  return absl::StrCat(text, ", ", ToString(found.training->sample_shape()));
}

}  // namespace ringside
