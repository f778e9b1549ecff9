#include "worker/models/direct_gradient.h"

#include <ATen/autocast_mode.h>

#include <utility>
#include <vector>

namespace ringside {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class LinearFunction final : public torch::autograd::Function<LinearFunction> {
 public:
  // `rows` is [samples, inputs]. The weight is an argument so that LibTorch knows of it: its hook
  // runs when Backward has returned.
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& rows,
                               const torch::Tensor& weight, const torch::Tensor& bias,
                               const c10::intrusive_ptr<DirectGradient>& gradient,
                               bool inputs_first) {
    context->save_for_backward({rows, weight});
    context->saved_data["gradient"] = c10::IValue::make_capsule(gradient);
    context->saved_data["inputs_first"] = inputs_first;
    context->saved_data["rows_need_gradient"] = rows.requires_grad();
    return torch::addmm(bias, rows, inputs_first ? weight : weight.t());
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor& rows = saved[0];
    const torch::Tensor& weight = saved[1];
    const torch::Tensor& output = outputs[0];
    const bool inputs_first = context->saved_data["inputs_first"].toBool();
    const auto gradient = c10::static_intrusive_pointer_cast<DirectGradient>(
        context->saved_data["gradient"].toCapsule());
    torch::Tensor rows_gradient;
    if (context->saved_data["rows_need_gradient"].toBool()) {
      rows_gradient = torch::mm(output, inputs_first ? weight.t() : weight);
    }
    const torch::Tensor weight_gradient =
        inputs_first ? gradient->Add(rows.t(), output) : gradient->Add(output.t(), rows);
    return {rows_gradient, weight_gradient, output.sum(0), {}, {}};
  }
};

}  // namespace

void DirectGradient::Complete() {
  if (state_ != State::kVoid) return;
  weight_.grad().zero_();
  state_ = State::kValid;
}

torch::Tensor DirectGradient::Add(const torch::Tensor& left, const torch::Tensor& right) {
  if (state_ == State::kUsual) return torch::mm(left, right);
  torch::Tensor place = weight_.grad();
  if (state_ == State::kVoid) {
    torch::mm_out(place, left, right);
  } else {
    torch::addmm_out(place, place, left, right);
  }
  state_ = State::kValid;
  return {};
}

torch::Tensor DirectLinear(const torch::Tensor& values, const torch::Tensor& bias,
                           const c10::intrusive_ptr<DirectGradient>& gradient,
                           WeightLayout layout) {
  const bool inputs_first = layout == WeightLayout::kInputsByOutputs;
  const torch::Tensor& weight = gradient->weight();
  if (at::autocast::is_cpu_enabled() || at::autocast::is_enabled()) {
    if (torch::GradMode::is_enabled()) gradient->Complete();
    return torch::linear(values, inputs_first ? weight.t() : weight, bias);
  }
  const torch::Tensor rows = values.reshape({-1, values.size(-1)});
  const torch::Tensor result = LinearFunction::apply(rows, weight, bias, gradient, inputs_first);
  std::vector<int64_t> sizes = values.sizes().vec();
  sizes.back() = bias.size(0);
  return values.dim() == 2 ? result : result.view(sizes);
}

}  // namespace ringside
