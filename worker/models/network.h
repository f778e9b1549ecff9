// What TorchModel trains: a module from a batch of inputs to scores.
#ifndef RINGSIDE_WORKER_MODELS_NETWORK_H_
#define RINGSIDE_WORKER_MODELS_NETWORK_H_

#include <torch/torch.h>

#include "common/parameter_spec.h"
#include "worker/models/dropout.h"
#include "worker/models/initial_values.h"

namespace ringside {

// A score for each class and label. By sample: [samples, classes]; by pixel: [samples, classes,
// rows, columns]; by token: [samples, length, classes].
struct Scores {
  torch::Tensor main;
  // Of a second head that is there for training only, undefined where there is none; its loss is
  // added with this weight.
  torch::Tensor auxiliary;
  double auxiliary_weight = 0;
};

// Its parameters and buffers are those that it registers, in the order in which named_parameters()
// and named_buffers() tell them. It need not initialise parameters: they are replaced before the
// first forward pass.
class Network : public torch::nn::Module {
 public:
  // `input` is [samples, channels, rows, columns] or, of tokens, [samples, length]. What is left of
  // training and evaluation besides `dropout` is told by is_training().
  virtual Scores Forward(const torch::Tensor& input, Dropout* dropout) = 0;

  // Forward uses `dropout` with a probability above zero.
  virtual bool has_dropout() const { return false; }

  virtual InitialValues InitialValuesOf(const ParameterSpec& spec) const {
    return HeInitialValues(spec);
  }
};

// Layers one after another, without dropout; the parameters have the layers' names.
class SequentialNetwork final : public Network {
 public:
  explicit SequentialNetwork(torch::nn::Sequential layers);

  Scores Forward(const torch::Tensor& input, Dropout* dropout) override;

 private:
  torch::nn::Sequential layers_;
};

// Makes the children of `from` children of `to`, under their own names.
void AdoptChildren(const torch::nn::Module& from, torch::nn::Module* to);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_NETWORK_H_
