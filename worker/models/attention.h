// What the encoder and the decoder share: their sizes, and self-attention (Vaswani et al. 2017,
// "Attention is all you need").
#ifndef RINGSIDE_WORKER_MODELS_ATTENTION_H_
#define RINGSIDE_WORKER_MODELS_ATTENTION_H_

#include <torch/torch.h>

#include <cstdint>

#include "worker/models/dropout.h"

namespace ringside {

struct TransformerSize {
  int64_t layers = 1;
  int64_t width = 1;  // a multiple of heads
  int64_t heads = 1;
  int64_t feedforward = 1;
  int64_t vocabulary = 1;
  int64_t sequence = 1;  // the longest there can be
  double dropout = 0;
};

// `projected` is [samples, length, 3 * width]: the queries, keys and values of all heads. `mask` is
// added to the scores, [samples, heads, length, length] or what broadcasts to it; -inf is where
// nothing is to be seen. Dropout is of the weights. Returns [samples, length, width].
torch::Tensor SelfAttention(const torch::Tensor& projected, int64_t heads,
                            const torch::Tensor& mask, double probability, Dropout* dropout);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_ATTENTION_H_
