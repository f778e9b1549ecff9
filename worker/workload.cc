#include "worker/workload.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "worker/models/model_factory.h"
#include "worker/models/torch_runtime.h"

namespace ringside {
namespace {

absl::StatusOr<Dataset> LoadDataset(const JobConfig& job, Split split) {
  if (job.dataset == "mnist") return Dataset::LoadMnist(job.data_dir, split);
  return absl::InvalidArgumentError(
      absl::StrCat("--dataset=", job.dataset, ": must be one of mnist"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Workload>> Workload::Load(const JobConfig& job) {
  RINGSIDE_ASSIGN_OR_RETURN(Dataset training, LoadDataset(job, Split::kTraining));
  absl::optional<Dataset> test;
  if (job.evaluate) {
    RINGSIDE_ASSIGN_OR_RETURN(test, LoadDataset(job, Split::kTest));
  }
  RINGSIDE_ASSIGN_OR_RETURN(auto facts, ConfigureTorch(job.threads));
  ModelConfig config;
  config.name = job.model;
  config.arguments = job.model_args;
  config.hidden = job.hidden;
  config.sample =
      SampleShape::Image(/*channels=*/1, training.rows(), training.columns(), Dataset::kClasses);
  config.seed = job.seed;
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Model> model, CreateModel(config));
  RINGSIDE_ASSIGN_OR_RETURN(
      BucketPlan plan,
      BucketPlan::Create(model->Parameters(), job.first_bucket_bytes, job.bucket_bytes));
  if (job.shards() > plan.total_elements()) {
    return absl::InvalidArgumentError(absl::StrCat("--ps_shards=", job.shards(),
                                                   ": must be at most ", plan.total_elements(),
                                                   ", the number of elements of the model"));
  }
  return std::make_unique<Workload>(Workload{std::move(training), std::move(test), std::move(model),
                                             std::make_unique<const BucketPlan>(std::move(plan)),
                                             std::move(facts)});
}

void DescribeWorkload(const JobConfig& job, const Workload& workload, JoinRequest* request) {
  for (const auto& [name, value] : job.SharedSettings()) {
    (*request->mutable_settings())[name] = value;
  }
  (*request->mutable_settings())["bucket_plan_sha256"] = workload.plan->hash();
  (*request->mutable_settings())["training_samples"] = absl::StrCat(workload.training.size());
  for (const ParameterSpec& spec : workload.model->Parameters()) {
    ParameterDescription* parameter = request->add_parameters();
    parameter->set_name(spec.name);
    parameter->mutable_shape()->Assign(spec.shape.begin(), spec.shape.end());
    parameter->set_dtype(spec.dtype);
  }
}

}  // namespace ringside
