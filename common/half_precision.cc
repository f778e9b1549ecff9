#include "common/half_precision.h"

#include "common/check.h"
#include "common/kernel_table.h"

namespace ringside {
namespace {

void CheckLengths(WireDtype dtype, size_t wire_bytes, size_t elements) {
  RINGSIDE_CHECK(dtype == WireDtype::kBFloat16 || dtype == WireDtype::kFloat16);
  RINGSIDE_CHECK(wire_bytes == elements * BytesPerElement(dtype));
}

}  // namespace

void EncodeWire(WireDtype dtype, absl::Span<const float> values, absl::Span<uint8_t> wire) {
  CheckLengths(dtype, wire.size(), values.size());
  const KernelTable& kernels = BestKernels();
  const auto encode = dtype == WireDtype::kBFloat16 ? kernels.encode_bf16 : kernels.encode_fp16;
  encode(values.data(), wire.data(), values.size());
}

void DecodeWire(WireDtype dtype, absl::Span<const uint8_t> wire, absl::Span<float> values) {
  CheckLengths(dtype, wire.size(), values.size());
  const KernelTable& kernels = BestKernels();
  const auto decode = dtype == WireDtype::kBFloat16 ? kernels.decode_bf16 : kernels.decode_fp16;
  decode(wire.data(), values.data(), values.size());
}

void AddDecoded(WireDtype dtype, absl::Span<const uint8_t> wire, absl::Span<const float> own,
                absl::Span<float> out) {
  CheckLengths(dtype, wire.size(), out.size());
  RINGSIDE_CHECK(own.size() == out.size());
  const KernelTable& kernels = BestKernels();
  const auto add = dtype == WireDtype::kBFloat16 ? kernels.add_bf16 : kernels.add_fp16;
  add(wire.data(), own.data(), out.data(), out.size());
}

}  // namespace ringside
