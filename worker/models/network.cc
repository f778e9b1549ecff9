#include "worker/models/network.h"

#include <utility>

namespace ringside {

SequentialNetwork::SequentialNetwork(torch::nn::Sequential layers) : layers_(std::move(layers)) {
  AdoptChildren(*layers_, this);
}

Scores SequentialNetwork::Forward(const torch::Tensor& input, Dropout* /*dropout*/) {
  return {layers_->forward(input), {}, 0};
}

void AdoptChildren(const torch::nn::Module& from, torch::nn::Module* to) {
  for (const auto& child : from.named_children()) to->register_module(child.key(), child.value());
}

}  // namespace ringside
