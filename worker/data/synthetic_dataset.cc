#include "worker/data/synthetic_dataset.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "worker/models/dropout_seed.h"

namespace ringside {
namespace {

// What the draws are for, so that none of them is used twice.
enum Purpose : uint64_t { kTexture, kTrainingSample, kTestSample };

uint64_t KeyOf(int64_t seed, Purpose purpose, int64_t index) {
  return RandomBits(RandomBits(static_cast<uint64_t>(seed), purpose), static_cast<uint64_t>(index));
}

// The draws of one sample, in order.
class Draws {
 public:
  explicit Draws(uint64_t key) : key_(key) {}

  // In [0, bound). The skew of a bound far below 2^64 does not matter here.
  int64_t Below(int64_t bound) {
    return static_cast<int64_t>(RandomBits(key_, count_++) % static_cast<uint64_t>(bound));
  }
  // In [-1, 1), exact, so that it is the same on every machine.
  float Noise() { return static_cast<float>(RandomBits(key_, count_++) >> 40) * 0x1p-23f - 1.0f; }

 private:
  const uint64_t key_;
  uint64_t count_ = 0;
};

class SyntheticBase : public Dataset {
 public:
  SyntheticBase(const SampleShape& shape, int64_t samples, int64_t seed, Split split)
      : Dataset(samples, shape), seed_(seed), split_(split) {}

 protected:
  Draws DrawsOf(int64_t index) const {
    return Draws(KeyOf(seed_, split_ == Split::kTraining ? kTrainingSample : kTestSample, index));
  }
  // Half of +1 or -1: one bit a pixel of 8x8.
  float Texture(int64_t label, int64_t channel, int64_t row, int64_t column) const {
    const uint64_t pattern = RandomBits(KeyOf(seed_, kTexture, label), channel);
    return (pattern >> (row % 8 * 8 + column % 8)) % 2 == 0 ? -0.5f : 0.5f;
  }

 private:
  const int64_t seed_;
  const Split split_;
};

class SyntheticImages final : public SyntheticBase {
 public:
  using SyntheticBase::SyntheticBase;

 private:
  absl::Status FetchSample(int64_t index, const SampleSpans& out) const override {
    const SampleShape& shape = sample_shape();
    Draws draws = DrawsOf(index);
    const int64_t label = index % shape.classes;
    float* pixel = out.images.data();
    for (int64_t channel = 0; channel < shape.channels; ++channel) {
      for (int64_t row = 0; row < shape.rows; ++row) {
        for (int64_t column = 0; column < shape.columns; ++column) {
          *pixel++ = Texture(label, channel, row, column) + draws.Noise();
        }
      }
    }
    out.labels[0] = label;
    return absl::OkStatus();
  }
};

class SyntheticSegmentation final : public SyntheticBase {
 public:
  using SyntheticBase::SyntheticBase;

 private:
  absl::Status FetchSample(int64_t index, const SampleSpans& out) const override {
    const SampleShape& shape = sample_shape();
    Draws draws = DrawsOf(index);
    const int64_t label = shape.classes == 1 ? 0 : 1 + index % (shape.classes - 1);
    // Its corner is in the first half, so that at least a quarter of the image is left for it.
    const int64_t top = draws.Below((shape.rows + 1) / 2);
    const int64_t left = draws.Below((shape.columns + 1) / 2);
    const int64_t bottom = top + (shape.rows - top) / 2;
    const int64_t right = left + (shape.columns - left) / 2;
    for (int64_t row = 0; row < shape.rows; ++row) {
      for (int64_t column = 0; column < shape.columns; ++column) {
        const bool inside = row >= top && row <= bottom && column >= left && column <= right;
        const bool edge =
            inside && (row == top || row == bottom || column == left || column == right);
        out.labels[row * shape.columns + column] = edge ? kIgnoredPixel : inside ? label : 0;
      }
    }
    float* pixel = out.images.data();
    for (int64_t channel = 0; channel < shape.channels; ++channel) {
      for (int64_t row = 0; row < shape.rows; ++row) {
        for (int64_t column = 0; column < shape.columns; ++column) {
          const int64_t here = out.labels[row * shape.columns + column];
          *pixel++ =
              Texture(here == kIgnoredPixel ? label : here, channel, row, column) + draws.Noise();
        }
      }
    }
    return absl::OkStatus();
  }
};

class SyntheticText final : public SyntheticBase {
 public:
  using SyntheticBase::SyntheticBase;

 private:
  absl::Status FetchSample(int64_t index, const SampleSpans& out) const override {
    const SampleShape& shape = sample_shape();
    Draws draws = DrawsOf(index);
    const int64_t label = index % shape.classes;
    const int64_t least = (shape.length + 1) / 2;
    const int64_t words = least + draws.Below(shape.length - least + 1);
    // Padding apart, tokens are dealt to the classes in turn.
    const int64_t tokens = shape.vocabulary - 1;
    const int64_t preferred = (tokens - label - 1) / shape.classes + 1;
    for (int64_t i = 0; i < words; ++i) {
      const bool prefers = draws.Below(4) == 0;
      const int64_t token =
          prefers ? draws.Below(preferred) * shape.classes + label : draws.Below(tokens);
      out.tokens[i] = 1 + token;
    }
    std::fill(out.tokens.begin() + words, out.tokens.end(), kPaddingToken);
    out.labels[0] = label;
    return absl::OkStatus();
  }
};

class SyntheticLanguage final : public SyntheticBase {
 public:
  using SyntheticBase::SyntheticBase;

 private:
  absl::Status FetchSample(int64_t index, const SampleSpans& out) const override {
    const SampleShape& shape = sample_shape();
    Draws draws = DrawsOf(index);
    int64_t token = draws.Below(shape.vocabulary);
    for (int64_t i = 0; i < shape.length; ++i) {
      out.tokens[i] = token;
      const bool follows = draws.Below(4) != 0;
      token = follows ? (5 * token + 3) % shape.vocabulary : draws.Below(shape.vocabulary);
      out.labels[i] = token;
    }
    return absl::OkStatus();
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Dataset>> MakeSynthetic(const SampleShape& shape, int64_t samples,
                                                       int64_t seed, Split split) {
  if (samples < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(samples, " synthetic samples: there must be at least 1"));
  }
  switch (shape.labels) {
    case SampleShape::Labels::kPerPixel:
      if (shape.classes >= kIgnoredPixel) {
        return absl::InvalidArgumentError(
            absl::StrCat(shape.classes, " classes of pixels: must be less than ", kIgnoredPixel,
                         ", which labels pixels that do not count"));
      }
      return std::make_unique<SyntheticSegmentation>(shape, samples, seed, split);
    case SampleShape::Labels::kPerToken:
      return std::make_unique<SyntheticLanguage>(shape, samples, seed, split);
    case SampleShape::Labels::kPerSample:
      break;
  }
  if (shape.input == SampleShape::Input::kImage) {
    return std::make_unique<SyntheticImages>(shape, samples, seed, split);
  }
  if (shape.vocabulary <= shape.classes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a vocabulary of ", shape.vocabulary, " tokens for ", shape.classes,
                     " classes: there must be a token for each class beside that of padding"));
  }
  return std::make_unique<SyntheticText>(shape, samples, seed, split);
}

}  // namespace ringside
