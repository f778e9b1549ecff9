#include "worker/workload.h"

#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "worker/data/mnist_dataset.h"
#include "worker/models/model_factory.h"
#include "worker/models/precision.h"
#include "worker/models/shapes_model.h"
#include "worker/models/torch_runtime.h"

namespace ringside {
namespace {

// As many samples as MNIST, with nothing in them but labels, of which the model makes gradients. It
// is never right or wrong, so there is no test set.
absl::StatusOr<Datasets> MakeShapesDatasets(const JobConfig& job) {
  constexpr int64_t kSamples = 60000;
  constexpr uint64_t kClasses = 10;
  std::mt19937_64 generator(static_cast<uint64_t>(job.seed));
  std::vector<uint8_t> labels(kSamples);
  for (uint8_t& label : labels) label = static_cast<uint8_t>(generator() % kClasses);
  Datasets datasets;
  RINGSIDE_ASSIGN_OR_RETURN(
      datasets.training,
      MakeMnist("--model=shapes", 1, 1, std::vector<uint8_t>(kSamples), std::move(labels)));
  return datasets;
}

absl::StatusOr<Datasets> LoadDatasetsOf(const JobConfig& job, int rank) {
  if (job.model == "shapes") return MakeShapesDatasets(job);
  DatasetConfig config;
  config.name = job.dataset_name();
  config.folder = job.data_dir;
  config.arguments = job.dataset_args;
  config.model = job.model;
  config.seed = job.seed;
  config.with_test = job.evaluate;
  config.makes_for_all = rank == 0;
  return LoadDatasets(config);
}

absl::StatusOr<std::unique_ptr<Model>> MakeModel(const JobConfig& job, const Dataset& training) {
  if (job.model == "shapes") return ShapesModel::Create(job.model_args, job.seed);
  ModelConfig config;
  config.name = job.model;
  config.arguments = job.model_args;
  config.hidden = job.hidden;
  config.sample = training.sample_shape();
  config.seed = job.seed;
  RINGSIDE_ASSIGN_OR_RETURN(config.precision, ParsePrecision(job.precision));
  return CreateModel(config);
}

// What the report is to know of the precision, besides the setting.
void DescribePrecision(const JobConfig& job, std::map<std::string, std::string>* facts) {
  if (job.precision != "bf16") return;
  const bool has_kernels = HasBFloat16Kernels();
  (*facts)["bf16_kernels"] = has_kernels ? "yes" : "no";
  if (has_kernels) return;
  LogWarning(
      "--precision=bf16: LibTorch has no kernels for it on this CPU, which lacks AVX-512; it will "
      "be slower than fp32");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Workload>> Workload::Load(const JobConfig& job, int rank) {
  RINGSIDE_ASSIGN_OR_RETURN(Datasets data, LoadDatasetsOf(job, rank));
  RINGSIDE_ASSIGN_OR_RETURN(auto facts, ConfigureTorch(job.threads));
  DescribePrecision(job, &facts);
  std::vector<std::unique_ptr<Model>> models(job.plays_at_once() ? job.workers : 1);
  for (std::unique_ptr<Model>& model : models) {
    RINGSIDE_ASSIGN_OR_RETURN(model, MakeModel(job, *data.training));
  }
  RINGSIDE_ASSIGN_OR_RETURN(
      BucketPlan plan,
      BucketPlan::Create(models.front()->Parameters(), job.first_bucket_bytes, job.bucket_bytes));
  if (job.shards() > plan.total_elements()) {
    return absl::InvalidArgumentError(absl::StrCat("--ps_shards=", job.shards(),
                                                   ": must be at most ", plan.total_elements(),
                                                   ", the number of elements of the model"));
  }
  return std::make_unique<Workload>(
      Workload{std::move(data.training), std::move(data.test), std::move(data.shared_settings),
               std::move(data.shared_data), std::move(models),
               std::make_unique<const BucketPlan>(std::move(plan)), std::move(facts)});
}

void DescribeWorkload(const JobConfig& job, const Workload& workload, JoinRequest* request) {
  for (const auto& [name, value] : job.SharedSettings()) {
    (*request->mutable_settings())[name] = value;
  }
  (*request->mutable_settings())["bucket_plan_sha256"] = workload.plan->hash();
  (*request->mutable_settings())["training_samples"] = absl::StrCat(workload.training->size());
  for (const auto& [name, value] : workload.data_settings) {
    (*request->mutable_settings())[name] = value;
  }
  for (const ParameterSpec& spec : workload.model()->Parameters()) {
    ParameterDescription* parameter = request->add_parameters();
    parameter->set_name(spec.name);
    parameter->mutable_shape()->Assign(spec.shape.begin(), spec.shape.end());
    parameter->set_dtype(spec.dtype);
  }
}

}  // namespace ringside
