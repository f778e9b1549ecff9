#include "common/reduction.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "common/check.h"
#include "common/half_precision.h"
#include "common/kernel_table.h"

namespace ringside {
namespace {

// Partial sums of so many elements stay in the first-level cache between two kernels.
constexpr size_t kBlockElements = 1024;

// Sums of buckets from this size on are stored past the caches. Measured with 32 MiB of L3, also
// with a reader that follows at once: a gain from 8 MiB on, none below (docs/rationale.md).
constexpr int64_t kLargeElements = (8 << 20) / sizeof(float);

// More terms than a kernel takes: block by block, the partial sum in a buffer of its own, because
// `out` may be a term that is yet to come.
void FoldManyTerms(absl::Span<const float* const> terms, absl::Span<float> out,
                   decltype(KernelTable::fold) fold_last) {
  const KernelTable& kernels = BestKernels();
  alignas(64) float partial[kBlockElements];
  std::array<const float*, kMaxFoldTerms> group;
  for (size_t at = 0; at < out.size(); at += kBlockElements) {
    const size_t count = std::min(kBlockElements, out.size() - at);
    for (size_t done = 0; done < terms.size();) {
      size_t size = 0;
      if (done > 0) group[size++] = partial;
      while (size < group.size() && done < terms.size()) group[size++] = terms[done++] + at;
      if (done < terms.size()) {
        kernels.fold(group.data(), size, partial, count);
      } else {
        fold_last(group.data(), size, &out[at], count);
      }
    }
  }
}

// Fold, where `out` is a part of a sum of `whole_elements`.
void FoldPart(absl::Span<const float* const> terms, int64_t whole_elements, absl::Span<float> out) {
  RINGSIDE_CHECK(!terms.empty());
  const bool in_place = std::find(terms.begin(), terms.end(), out.data()) != terms.end();
  const bool past_caches = whole_elements >= kLargeElements && !in_place;
  const auto fold = past_caches ? BestKernels().fold_past_caches : BestKernels().fold;
  if (terms.size() > kMaxFoldTerms) {
    FoldManyTerms(terms, out, fold);
  } else {
    fold(terms.data(), terms.size(), out.data(), out.size());
  }
}

// One chunk, whose terms come in law order: every partial sum is rounded, the finished one too.
void FoldRounded(WireDtype dtype, absl::Span<const float* const> terms, absl::Span<float> out) {
  std::array<uint8_t, kBlockElements * 2> buffer;
  for (size_t at = 0; at < out.size(); at += kBlockElements) {
    const auto sum = out.subspan(at, kBlockElements);
    const auto wire = absl::MakeSpan(buffer).first(sum.size() * BytesPerElement(dtype));
    std::copy_n(terms[0] + at, sum.size(), sum.begin());
    for (const float* term : terms.subspan(1)) {
      EncodeWire(dtype, sum, wire);
      AddDecoded(dtype, wire, {term + at, sum.size()}, sum);
    }
    EncodeWire(dtype, sum, wire);
    DecodeWire(dtype, wire, sum);
  }
}

// Calls fold(terms, part of `out`) for every chunk that `range` touches, terms in law order.
template <typename FoldChunk>
void ForEachChunk(absl::Span<const float* const> gradients, int64_t bucket_elements,
                  ElementRange range, absl::Span<float> out, FoldChunk fold) {
  const size_t ranks = gradients.size();
  RINGSIDE_CHECK(ranks > 0);
  RINGSIDE_CHECK(range.begin >= 0 && range.length >= 0 && range.end() <= bucket_elements);
  RINGSIDE_CHECK(out.size() == static_cast<size_t>(range.length));
  std::vector<const float*> terms(ranks);
  for (size_t chunk = 0; chunk < ranks; ++chunk) {
    const ElementRange part = Intersect(range, Part({0, bucket_elements}, ranks, chunk));
    if (part.empty()) continue;
    for (size_t k = 0; k < ranks; ++k) terms[k] = gradients[(chunk + k) % ranks] + part.begin;
    fold(absl::MakeConstSpan(terms), out.subspan(part.begin - range.begin, part.length));
  }
}

std::vector<const float*> Pointers(const std::vector<absl::Span<const float>>& gradients,
                                   size_t elements) {
  std::vector<const float*> pointers;
  for (const absl::Span<const float> gradient : gradients) {
    RINGSIDE_CHECK(gradient.size() == elements);
    pointers.push_back(gradient.data());
  }
  return pointers;
}

}  // namespace

void Copy(absl::Span<const float> from, absl::Span<float> to) {
  RINGSIDE_CHECK(from.size() == to.size());
  const float* const terms[] = {from.data()};
  BestKernels().fold(terms, 1, to.data(), to.size());
}

void CopyPart(absl::Span<const float> from, absl::Span<float> to, int64_t whole_elements) {
  RINGSIDE_CHECK(from.size() == to.size());
  FoldPart({from.data()}, whole_elements, to);
}

void AddPart(absl::Span<const float> a, absl::Span<const float> b, absl::Span<float> out,
             int64_t whole_elements) {
  RINGSIDE_CHECK(a.size() == b.size() && a.size() == out.size());
  FoldPart({a.data(), b.data()}, whole_elements, out);
}

void CopyBytes(absl::Span<const uint8_t> from, absl::Span<uint8_t> to) {
  RINGSIDE_CHECK(from.size() == to.size());
  // The kernels ask for no alignment.
  const size_t floats = from.size() / sizeof(float);
  Copy({reinterpret_cast<const float*>(from.data()), floats},
       {reinterpret_cast<float*>(to.data()), floats});
  const size_t done = floats * sizeof(float);
  std::copy(from.begin() + done, from.end(), to.begin() + done);
}

void Add(absl::Span<const float> a, absl::Span<const float> b, absl::Span<float> out) {
  RINGSIDE_CHECK(a.size() == b.size() && a.size() == out.size());
  Fold({a.data(), b.data()}, out);
}

void Fold(absl::Span<const float* const> terms, absl::Span<float> out) {
  FoldPart(terms, static_cast<int64_t>(out.size()), out);
}

void FoldRangeInLawOrder(absl::Span<const float* const> gradients, int64_t bucket_elements,
                         ElementRange range, absl::Span<float> out) {
  const auto fold = [bucket_elements](absl::Span<const float* const> terms, absl::Span<float> sum) {
    FoldPart(terms, bucket_elements, sum);
  };
  ForEachChunk(gradients, bucket_elements, range, out, fold);
}

void FoldInLawOrder(const std::vector<absl::Span<const float>>& gradients, absl::Span<float> out) {
  const auto elements = static_cast<int64_t>(out.size());
  FoldRangeInLawOrder(Pointers(gradients, out.size()), elements, {0, elements}, out);
}

void FoldInLawOrder(WireDtype dtype, const std::vector<absl::Span<const float>>& gradients,
                    absl::Span<float> out) {
  if (dtype == WireDtype::kFloat32 || gradients.size() == 1) return FoldInLawOrder(gradients, out);
  const auto elements = static_cast<int64_t>(out.size());
  const auto fold = [dtype](absl::Span<const float* const> terms, absl::Span<float> sum) {
    FoldRounded(dtype, terms, sum);
  };
  ForEachChunk(Pointers(gradients, out.size()), elements, {0, elements}, out, fold);
}

absl::string_view CpuKernels() { return BestKernels().name; }

}  // namespace ringside
