#include "worker/models/mlp.h"

#include <string>

#include "worker/models/layers.h"

namespace ringside {

torch::nn::Sequential MakeMlp(int64_t inputs, const std::vector<int64_t>& hidden, int64_t classes) {
  torch::nn::Sequential network;
  network->push_back("flatten", torch::nn::Flatten());
  int layer = 0;
  for (int64_t width : hidden) {
    const std::string number = std::to_string(++layer);
    network->push_back("fc" + number, Linear(inputs, width));
    network->push_back("relu" + number, torch::nn::ReLU());
    inputs = width;
  }
  network->push_back("fc" + std::to_string(++layer), Linear(inputs, classes));
  return network;
}

}  // namespace ringside
