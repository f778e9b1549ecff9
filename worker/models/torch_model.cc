#include "worker/models/torch_model.h"

#include <exception>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "worker/models/initial_values.h"

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

// Runs after a gradient has been added to the buffer; Tensor::register_hook would run before.
class ReadyHook final : public torch::autograd::FunctionPostHook {
 public:
  ReadyHook(const std::function<void(int)>* ready, int parameter)
      : ready_(ready), parameter_(parameter) {}

  torch::autograd::variable_list operator()(
      const torch::autograd::variable_list& outputs,
      const torch::autograd::variable_list& /*inputs*/) override {
    (*ready_)(parameter_);
    return outputs;
  }

 private:
  const std::function<void(int)>* const
      ready_;  // of the model, which owns the nodes that own the hooks
  const int parameter_;
};

torch::Tensor View(float* data, const torch::Tensor& like) {
  return torch::from_blob(data, like.sizes(), torch::kFloat32);
}

}  // namespace

TorchModel::TorchModel(torch::nn::Sequential network, std::vector<int64_t> image_shape,
                       int64_t seed)
    : network_(std::move(network)), image_shape_(std::move(image_shape)), seed_(seed) {
  for (const auto& item : network_->named_parameters()) {
    parameters_.push_back(item.value());
    specs_.push_back({item.key(), item.value().sizes().vec(), "float32"});
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
      FillInitialValues(specs_[i], i, seed_, parameters.subspan(begin, specs_[i].elements()));
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
  parameter.mutable_grad() = View(gradient, parameter);
  auto accumulator = torch::autograd::impl::grad_accumulator(parameter);
  accumulator->add_post_hook(std::make_unique<ReadyHook>(&parameter_ready_, index));
  accumulators_.push_back(std::move(accumulator));
}

torch::Tensor TorchModel::Scores(const Batch& batch) {
  std::vector<int64_t> shape = image_shape_;
  shape.insert(shape.begin(), batch.size());
  // from_blob asks for a pointer to non-const, the network does not write to its input.
  const auto images =
      torch::from_blob(const_cast<float*>(batch.images.data()), shape, torch::kFloat32);
  return network_->forward(images);
}

namespace {

torch::Tensor Labels(const Batch& batch) {
  return torch::from_blob(const_cast<int64_t*>(batch.labels.data()), {batch.size()}, torch::kInt64);
}

}  // namespace

absl::StatusOr<double> TorchModel::Forward(const Batch& batch) {
  try {
    loss_ = torch::nn::functional::cross_entropy(Scores(batch), Labels(batch));
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
  try {
    torch::NoGradGuard no_gradients;
    const torch::Tensor scores = Scores(batch);
    const torch::Tensor labels = Labels(batch);
    const auto sum = torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum);
    EvaluationSums sums;
    sums.correct = scores.argmax(1).eq(labels).sum().item<int64_t>();
    sums.samples = batch.size();
    sums.loss = torch::nn::functional::cross_entropy(scores, labels, sum).item<float>();
    return sums;
  } catch (...) {
    return Thrown("evaluation");
  }
}

}  // namespace ringside
