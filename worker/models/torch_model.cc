#include "worker/models/torch_model.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "worker/models/autocast.h"
#include "worker/models/initial_values.h"
#include "worker/models/scoring.h"

namespace ringside {
namespace {

// Exceptions of LibTorch stop here.
absl::Status Thrown(const char* where) {
  try {
    throw;
  } catch (const c10::Error& error) {
    return absl::InternalError(absl::StrCat(where, ": ", error.what_without_backtrace()));
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat(where, ": ", error.what()));
  }
}

// Runs after LibTorch has accumulated a gradient; Tensor::register_hook would run before.
class AccumulatedHook final : public torch::autograd::FunctionPostHook {
 public:
  explicit AccumulatedHook(std::function<void()> accumulated)
      : accumulated_(std::move(accumulated)) {}

  torch::autograd::variable_list operator()(
      const torch::autograd::variable_list& outputs,
      const torch::autograd::variable_list& /*inputs*/) override {
    accumulated_();
    return outputs;
  }

 private:
  const std::function<void()> accumulated_;
};

torch::Tensor View(float* data, const torch::Tensor& like) {
  return torch::from_blob(data, like.sizes(), torch::kFloat32);
}

// Copies tensors out, one after another.
template <typename Number>
void CopyOut(const std::vector<torch::Tensor>& tensors, absl::Span<Number> values) {
  auto place = values.begin();
  for (const torch::Tensor& tensor : tensors) {
    place = std::copy_n(tensor.data_ptr<Number>(), tensor.numel(), place);
  }
}

template <typename Number>
void CopyIn(absl::Span<const Number> values, const std::vector<torch::Tensor>& tensors) {
  auto place = values.begin();
  for (const torch::Tensor& tensor : tensors) {
    std::copy_n(place, tensor.numel(), tensor.data_ptr<Number>());
    place += tensor.numel();
  }
}

}  // namespace

TorchModel::TorchModel(std::shared_ptr<Network> network, const SampleShape& shape, int64_t seed,
                       Precision precision)
    : network_(std::move(network)), shape_(shape), seed_(seed), precision_(precision) {
  for (const auto& item : network_->named_parameters()) {
    parameters_.push_back(item.value());
    specs_.push_back({item.key(), item.value().sizes().vec(), "float32"});
  }
  for (const auto& module : network_->modules()) {
    const auto* layer = dynamic_cast<const DirectGradientLayer*>(module.get());
    if (layer != nullptr) direct_gradients_.push_back(layer->direct_gradient());
  }
  for (const auto& item : network_->named_buffers()) {
    const bool counts = item.value().scalar_type() == torch::kInt64;
    (counts ? counter_buffers_ : float_buffers_).push_back(item.value());
    (counts ? buffer_specs_.counters : buffer_specs_.floats)
        .push_back({item.key(), item.value().sizes().vec(), counts ? "int64" : "float32"});
  }
}

absl::Status TorchModel::Bind(absl::Span<float> parameters, absl::Span<float> gradients,
                              std::function<void(int parameter)> parameter_ready) {
  const int64_t total = TotalElements(specs_);
  if (static_cast<int64_t>(parameters.size()) != total ||
      static_cast<int64_t>(gradients.size()) != total) {
    return absl::InvalidArgumentError(absl::StrCat("a model of ", total, " elements bound to ",
                                                   parameters.size(), " parameters and ",
                                                   gradients.size(), " gradients"));
  }
  parameter_ready_ = std::move(parameter_ready);
  int64_t begin = 0;
  try {
    for (int i = 0; i < static_cast<int>(specs_.size()); ++i) {
      FillInitialValues(network_->InitialValuesOf(specs_[i]), i, seed_,
                        parameters.subspan(begin, specs_[i].elements()));
      BindParameter(i, parameters.data() + begin, gradients.data() + begin);
      begin += specs_[i].elements();
    }
  } catch (...) {
    return Thrown("binding the model");
  }
  return absl::OkStatus();
}

void TorchModel::BindParameter(int index, float* value, float* gradient) {
  torch::Tensor& parameter = parameters_[index];
  parameter.set_data(View(value, parameter));
  places_.push_back(View(gradient, parameter));
  parameter.mutable_grad() = places_.back();
  auto accumulator = torch::autograd::impl::grad_accumulator(parameter);
  accumulator->add_post_hook(std::make_unique<AccumulatedHook>([this, index] {
    PutInPlace(index);
    parameter_ready_(index);
  }));
  accumulators_.push_back(std::move(accumulator));
  const bool direct =
      std::any_of(direct_gradients_.begin(), direct_gradients_.end(),
                  [&](const DirectGradient* own) { return own->weight().is_same(parameter); });
  if (!direct) handed_over_.push_back(index);
}

void TorchModel::PutInPlace(int index) {
  torch::Tensor& gradient = parameters_[index].mutable_grad();
  torch::Tensor& place = places_[index];
  if (gradient.is_same(place)) return;
  if (gradient.defined()) {
    place.copy_(gradient);
  } else {
    place.zero_();
  }
  gradient = place;
}

void TorchModel::ClearGradients() {
  for (int index : handed_over_) parameters_[index].mutable_grad().reset();
  for (DirectGradient* gradient : direct_gradients_) gradient->Clear();
}

void TorchModel::CompleteGradients() {
  for (int index : handed_over_) PutInPlace(index);
  for (DirectGradient* gradient : direct_gradients_) gradient->Complete();
}

absl::Status TorchModel::CheckBatch(const Batch& batch) const {
  const bool of_tokens = shape_.input == SampleShape::Input::kTokens;
  const auto inputs = static_cast<int64_t>(of_tokens ? batch.tokens.size() : batch.images.size());
  const int64_t samples = inputs / shape_.input_elements();
  if (samples > 0 && inputs == samples * shape_.input_elements() &&
      static_cast<int64_t>(batch.labels.size()) == samples * shape_.label_elements()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "a batch of ", batch.images.size(), " pixels, ", batch.tokens.size(), " tokens and ",
      batch.labels.size(), " labels for a model of ", ToString(shape_)));
}

// from_blob asks for pointers to non-const; networks do not write to their input.
torch::Tensor TorchModel::Input(const Batch& batch) const {
  const int64_t samples = static_cast<int64_t>(batch.labels.size()) / shape_.label_elements();
  if (shape_.input == SampleShape::Input::kTokens) {
    return torch::from_blob(const_cast<int64_t*>(batch.tokens.data()), {samples, shape_.length},
                            torch::kInt64);
  }
  return torch::from_blob(const_cast<float*>(batch.images.data()),
                          {samples, shape_.channels, shape_.rows, shape_.columns}, torch::kFloat32);
}

torch::Tensor TorchModel::Labels(const Batch& batch) const {
  const torch::Tensor labels =
      torch::from_blob(const_cast<int64_t*>(batch.labels.data()),
                       {static_cast<int64_t>(batch.labels.size())}, torch::kInt64);
  switch (shape_.labels) {
    case SampleShape::Labels::kPerSample:
      return labels;
    case SampleShape::Labels::kPerPixel:
      return labels.view({-1, shape_.rows, shape_.columns});
    case SampleShape::Labels::kPerToken:
      return labels.view({-1, shape_.length});
  }
  return labels;
}

Scores TorchModel::Compute(const Batch& batch, Dropout* dropout) {
  const Autocast autocast(precision_);
  Scores scores = network_->Forward(Input(batch), dropout);
  scores.main = scores.main.to(torch::kFloat32);
  if (scores.auxiliary.defined()) scores.auxiliary = scores.auxiliary.to(torch::kFloat32);
  return scores;
}

absl::StatusOr<double> TorchModel::Forward(const Batch& batch) {
  RINGSIDE_RETURN_IF_ERROR(CheckBatch(batch));
  try {
    if (!network_->is_training()) network_->train();
    Dropout dropout(batch.dropout_seed);
    const Scores scores = Compute(batch, &dropout);
    const torch::Tensor labels = Labels(batch);
    loss_ = MeanLoss(scores.main, labels, shape_);
    if (scores.auxiliary.defined()) {
      loss_ = loss_ + scores.auxiliary_weight * MeanLoss(scores.auxiliary, labels, shape_);
    }
    return static_cast<double>(loss_.item<float>());
  } catch (...) {
    return Thrown("forward");
  }
}

absl::Status TorchModel::Backward(double weight) {
  try {
    loss_.backward(torch::full({}, weight, torch::kFloat32));
    loss_.reset();
    return absl::OkStatus();
  } catch (...) {
    return Thrown("backward");
  }
}

absl::StatusOr<EvaluationSums> TorchModel::Evaluate(const Batch& batch) {
  RINGSIDE_RETURN_IF_ERROR(CheckBatch(batch));
  try {
    torch::NoGradGuard no_gradients;
    if (network_->is_training()) network_->eval();
    Dropout none;
    return Evaluation(Compute(batch, &none).main, Labels(batch), shape_);
  } catch (...) {
    return Thrown("evaluation");
  }
}

std::string TorchModel::DependsOnCut() const {
  std::vector<std::string> why;
  // Buffers are those of batch normalisation, which computes with the statistics of a micro-batch.
  if (!float_buffers_.empty()) why.push_back("batch normalisation");
  if (network_->has_dropout()) why.push_back("dropout");
  return absl::StrJoin(why, " and ");
}

absl::Status TorchModel::CheckBufferLengths(size_t floats, size_t counters) const {
  const int64_t own_floats = TotalElements(buffer_specs_.floats);
  const int64_t own_counters = TotalElements(buffer_specs_.counters);
  if (static_cast<int64_t>(floats) == own_floats &&
      static_cast<int64_t>(counters) == own_counters) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a model with buffers of ", own_floats, " floats and ", own_counters,
                   " counters was given room for ", floats, " floats and ", counters, " counters"));
}

absl::Status TorchModel::ReadBuffers(absl::Span<float> floats, absl::Span<int64_t> counters) const {
  RINGSIDE_RETURN_IF_ERROR(CheckBufferLengths(floats.size(), counters.size()));
  CopyOut(float_buffers_, floats);
  CopyOut(counter_buffers_, counters);
  return absl::OkStatus();
}

absl::Status TorchModel::WriteBuffers(absl::Span<const float> floats,
                                      absl::Span<const int64_t> counters) {
  RINGSIDE_RETURN_IF_ERROR(CheckBufferLengths(floats.size(), counters.size()));
  CopyIn(floats, float_buffers_);
  CopyIn(counters, counter_buffers_);
  return absl::OkStatus();
}

}  // namespace ringside
