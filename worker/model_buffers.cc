#include "worker/model_buffers.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "common/parameter_spec.h"
#include "common/reduction.h"

namespace ringside {
namespace {

template <typename T>
size_t Bytes(const std::vector<T>& values) {
  return values.size() * sizeof(T);
}

}  // namespace

BufferValues BufferValues::For(const Model& model) {
  BufferValues values;
  values.floats.resize(TotalElements(model.Buffers().floats));
  values.counters.resize(TotalElements(model.Buffers().counters));
  return values;
}

absl::Status ReadBuffers(const Model& model, BufferValues* values) {
  return model.ReadBuffers(absl::MakeSpan(values->floats), absl::MakeSpan(values->counters));
}

absl::Status WriteBuffers(const BufferValues& values, Model* model) {
  return model->WriteBuffers(values.floats, values.counters);
}

std::string EncodeBuffers(const BufferValues& values) {
  std::string blob(reinterpret_cast<const char*>(values.floats.data()), Bytes(values.floats));
  blob.append(reinterpret_cast<const char*>(values.counters.data()), Bytes(values.counters));
  return blob;
}

absl::Status DecodeBuffers(absl::string_view blob, BufferValues* values) {
  const size_t floats = Bytes(values->floats);
  if (blob.size() != floats + Bytes(values->counters)) {
    return absl::InvalidArgumentError(absl::StrCat("the buffers of another rank have ", blob.size(),
                                                   " bytes, those of this model ",
                                                   floats + Bytes(values->counters)));
  }
  if (floats > 0) std::memcpy(values->floats.data(), blob.data(), floats);
  if (blob.size() > floats) {
    std::memcpy(values->counters.data(), blob.data() + floats, blob.size() - floats);
  }
  return absl::OkStatus();
}

BufferValues MeanOfBuffers(const std::vector<BufferValues>& by_rank) {
  BufferValues mean = by_rank.front();
  std::vector<absl::Span<const float>> floats;
  for (const BufferValues& values : by_rank) floats.push_back(values.floats);
  FoldInLawOrder(floats, absl::MakeSpan(mean.floats));
  for (float& value : mean.floats) value /= static_cast<float>(by_rank.size());
  return mean;
}

}  // namespace ringside
