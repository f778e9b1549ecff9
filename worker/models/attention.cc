#include "worker/models/attention.h"

#include <cmath>
#include <vector>

namespace ringside {

torch::Tensor SelfAttention(const torch::Tensor& projected, int64_t heads,
                            const torch::Tensor& mask, double probability, Dropout* dropout) {
  const int64_t samples = projected.size(0);
  const int64_t length = projected.size(1);
  const int64_t head_width = projected.size(2) / (3 * heads);
  // [3, samples, heads, length, head width]
  const std::vector<torch::Tensor> parts =
      projected.view({samples, length, 3, heads, head_width}).permute({2, 0, 3, 1, 4}).unbind(0);
  const torch::Tensor queries = parts[0] * (1 / std::sqrt(static_cast<double>(head_width)));
  const torch::Tensor scores = torch::matmul(queries, parts[1].transpose(2, 3)) + mask;
  const torch::Tensor weights = dropout->Apply(torch::softmax(scores, 3), probability);
  return torch::matmul(weights, parts[2])
      .transpose(1, 2)
      .reshape({samples, length, heads * head_width});
}

}  // namespace ringside
