#include "worker/models/shapes_model.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/shape_presets.h"
#include "common/status_macros.h"
#include "common/vectorize.h"
#include "worker/models/model_arguments.h"
#include "worker/models/shape_file.h"

namespace ringside {
namespace {

// A prime, so that values that land a power of two elements away from their place are wrong ones.
constexpr size_t kTableElements = 4093;
constexpr float kLargestValue = 1.0f / 64;

// The finalizer of SplitMix64 (Steele, Lea and Flood 2014): every bit depends on every bit.
uint64_t Mixed(uint64_t bits) {
  bits += 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

std::vector<float> MakeTable(int64_t seed) {
  std::vector<float> table(kTableElements);
  for (size_t i = 0; i < table.size(); ++i) {
    const uint64_t bits = Mixed(Mixed(static_cast<uint64_t>(seed)) ^ i) >> 40;  // 24 bits: exact
    table[i] = kLargestValue * (static_cast<float>(bits) * 0x1p-23f - 1.0f);
  }
  return table;
}

// values[i] += weight * table[(start + i) mod its size]
void AddFromTable(const std::vector<float>& table, size_t start, float weight,
                  absl::Span<float> values) {
  while (!values.empty()) {
    const size_t count = std::min(values.size(), table.size() - start);
    const float* const from = table.data() + start;
    float* const to = values.data();
    RINGSIDE_INDEPENDENT_ITERATIONS
    for (size_t i = 0; i < count; ++i) to[i] += weight * from[i];
    values.remove_prefix(count);
    start = 0;
  }
}

size_t StartOf(uint64_t key, size_t parameter) { return Mixed(key ^ parameter) % kTableElements; }

}  // namespace

absl::StatusOr<std::unique_ptr<ShapesModel>> ShapesModel::Create(const std::string& model_args,
                                                                 int64_t seed) {
  std::string file;
  std::string preset;
  std::string compute = "sleep";
  double compute_ms = 0;
  ModelArguments arguments("shapes", model_args);
  arguments.Text("file", &file);
  arguments.Text("preset", &preset);
  arguments.Number("compute_ms", 0, &compute_ms);
  arguments.Choice("compute", {"sleep", "spin"}, &compute);
  arguments.Integer("seed", 0, &seed);
  RINGSIDE_RETURN_IF_ERROR(arguments.Finish());
  if (file.empty() == preset.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--model_args=", model_args,
                     ": --model=shapes needs exactly one of file=PATH and preset=NAME"));
  }
  Config config;
  RINGSIDE_ASSIGN_OR_RETURN(config.shapes,
                            file.empty() ? PresetShapes(preset) : ReadShapeFile(file));
  config.compute = absl::Milliseconds(compute_ms);
  config.seed = seed;
  config.pace = compute == "spin" ? SpinningPace() : SleepingPace();
  return std::make_unique<ShapesModel>(std::move(config));
}

ShapesModel::ShapesModel(Config config)
    : config_(std::move(config)),
      elements_(TotalElements(config_.shapes)),
      table_(MakeTable(config_.seed)) {}

absl::Status ShapesModel::Bind(absl::Span<float> parameters, absl::Span<float> gradients,
                               std::function<void(int parameter)> parameter_ready) {
  for (size_t length : {parameters.size(), gradients.size()}) {
    if (static_cast<int64_t>(length) != elements_) {
      return absl::InvalidArgumentError(
          absl::StrCat("a buffer of ", length, " elements, but the shapes have ", elements_));
    }
  }
  gradients_ = gradients;
  parameter_ready_ = std::move(parameter_ready);
  std::fill(parameters.begin(), parameters.end(), 0.0f);
  AddFromTable(table_, 0, 1.0f, parameters);
  return absl::OkStatus();
}

absl::StatusOr<double> ShapesModel::Forward(const Batch& batch) {
  const absl::Duration begin = config_.pace.now();
  batch_key_ = Mixed(static_cast<uint64_t>(config_.seed));
  for (int64_t label : batch.labels) {
    batch_key_ = Mixed(batch_key_ ^ static_cast<uint64_t>(label));
  }
  config_.pace.await(begin + config_.compute / 3);
  return 0.0;
}

void ShapesModel::ClearGradients() { std::fill(gradients_.begin(), gradients_.end(), 0.0f); }

absl::Status ShapesModel::Backward(double weight) {
  const absl::Duration begin = config_.pace.now();
  const absl::Duration whole = config_.compute * 2 / 3;
  int64_t first = elements_;  // of the parameters that are ready
  for (int parameter = static_cast<int>(config_.shapes.size()) - 1; parameter >= 0; --parameter) {
    const int64_t length = config_.shapes[parameter].elements();
    first -= length;
    AddFromTable(table_, StartOf(batch_key_, static_cast<size_t>(parameter)),
                 static_cast<float>(weight), gradients_.subspan(first, length));
    const double share = static_cast<double>(elements_ - first) / static_cast<double>(elements_);
    config_.pace.await(begin + whole * share);
    parameter_ready_(parameter);
  }
  return absl::OkStatus();
}

absl::StatusOr<EvaluationSums> ShapesModel::Evaluate(const Batch& batch) {
  EvaluationSums sums;
  sums.samples = batch.size();
  return sums;
}

}  // namespace ringside
