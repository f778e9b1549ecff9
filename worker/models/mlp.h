// A multi-layer perceptron: fully connected layers with ReLU between them.
#ifndef RINGSIDE_WORKER_MODELS_MLP_H_
#define RINGSIDE_WORKER_MODELS_MLP_H_

#include <torch/torch.h>

#include <cstdint>
#include <vector>

namespace ringside {

// From [batch, ...], `inputs` numbers a sample, to [batch, classes]. Parameters are fc1.weight,
// fc1.bias, fc2.weight, ...
torch::nn::Sequential MakeMlp(int64_t inputs, const std::vector<int64_t>& hidden, int64_t classes);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_MLP_H_
