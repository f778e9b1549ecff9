// What models keep besides their parameters (Model::Buffers), e.g. the running statistics of batch
// normalisation, as flat values: each rank's, and what all ranks make of theirs when training ends.
//
// Ranks do not meet before the end. As a rule gradients do not depend on buffers, so nothing is
// lost by that: rank 0 ends with the same, and as running statistics are linear in those of the
// batches, the mean is, rounding aside, what it would be if they met in every step. There are two
// exceptions, and both are alike under every strategy, because each rank has buffers of its own
// everywhere:
// - A micro-batch with one value a channel has no variance, and is normalised with the running
//   statistics (BatchNormImpl), which stay as they are. Its gradients do depend on the buffers, and
//   on those of its own rank.
// - Where some ranks leave a micro-batch out, for that reason or because they have no samples, the
//   mean of what the ranks end with is not what a mean in every step would have led to.
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
