// What models keep besides their parameters (Model::Buffers), e.g. the running statistics of batch
// normalisation, as flat values: each rank's, and what all ranks make of theirs when training ends.
//
// Gradients do not depend on them, so ranks need not agree before the end: what --buffers=rank0 or
// mean would give if they met in every step is, rounding aside, what they give if they meet once,
// because running statistics are linear in those of the batches. But where some ranks leave a
// micro-batch out, because they have no samples or one value a channel (BatchNormImpl), the mean of
// what the ranks end with is not what a mean in every step would have led to.
//
// Pure.
#ifndef RINGSIDE_WORKER_MODEL_BUFFERS_H_
#define RINGSIDE_WORKER_MODEL_BUFFERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/models/model.h"

namespace ringside {

struct BufferValues {
  // Room for all buffers of `model`.
  static BufferValues For(const Model& model);

  bool empty() const { return floats.empty() && counters.empty(); }

  std::vector<float> floats;
  std::vector<int64_t> counters;
};

// Errors are the model's.
absl::Status ReadBuffers(const Model& model, BufferValues* values);
absl::Status WriteBuffers(const BufferValues& values, Model* model);

// Of a rank, to be sent to the others: floats, then counters, in the byte order of the machine.
std::string EncodeBuffers(const BufferValues& values);
// Into `values`, which has the right size. INVALID_ARGUMENT: the blob has another.
absl::Status DecodeBuffers(absl::string_view blob, BufferValues* values);

// --buffers=mean: floats are means over the ranks, folded in the order of the law of summation;
// counters are rank 0's. All have the same size; there is at least one.
BufferValues MeanOfBuffers(const std::vector<BufferValues>& by_rank);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODEL_BUFFERS_H_
