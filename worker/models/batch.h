// What a model is fed with and what it answers: batches of images or token sequences, labelled by
// sample, by pixel or by token, and the sums of an evaluation.
//
// Plain values; safe to copy and to share.
#ifndef RINGSIDE_WORKER_MODELS_BATCH_H_
#define RINGSIDE_WORKER_MODELS_BATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace ringside {

// A label that counts nowhere. A pixel of PASCAL VOC that is not to be classified has 255; a token
// cannot, for 255 is a token too.
constexpr int64_t kIgnoredPixel = 255;
constexpr int64_t kIgnoredToken = -1;
// What fills a sequence up to its length where a sequence has one label. Nothing attends to it.
constexpr int64_t kPaddingToken = 0;

// What every sample of a data set looks like, and what a model was made for.
struct SampleShape {
  enum class Input { kImage, kTokens };
  enum class Labels { kPerSample, kPerPixel, kPerToken };

  // An image with one label.
  static SampleShape Image(int64_t channels, int64_t rows, int64_t columns, int64_t classes);
  // An image with a label for each pixel, or kIgnoredPixel.
  static SampleShape Segmentation(int64_t channels, int64_t rows, int64_t columns, int64_t classes);
  // A sequence with one label, filled up with kPaddingToken at its end.
  static SampleShape Text(int64_t length, int64_t vocabulary, int64_t classes);
  // A sequence whose label at each place is the token that comes next, or kIgnoredToken.
  static SampleShape Language(int64_t length, int64_t vocabulary);

  // Numbers of one sample: floats of its image or tokens, and labels.
  int64_t input_elements() const;
  int64_t label_elements() const;
  // Never a class.
  int64_t ignored_label() const;

  Input input = Input::kImage;
  Labels labels = Labels::kPerSample;
  int64_t channels = 1;  // an image is channels x rows x columns
  int64_t rows = 28;
  int64_t columns = 28;
  int64_t length = 0;      // of a sequence
  int64_t vocabulary = 0;  // tokens are less
  int64_t classes = 10;    // labels are less; of Language the vocabulary
};

// "images of 1x28x28 with a label a sample"
std::string ToString(const SampleShape& shape);

// Samples of the shape that the model was made for, one after another. Lent for the duration of a
// call, and from Forward to the Backward that follows it.
struct Batch {
  absl::Span<const float> images;         // samples x channels x rows x columns
  absl::Span<const int64_t> labels;       // samples x labels_per_sample
  absl::Span<const int64_t> tokens = {};  // samples x length
  int64_t labels_per_sample = 1;          // SampleShape::label_elements()
  uint64_t dropout_seed = 0;              // DropoutSeed(seed, rank, step, micro-batch)

  // In samples.
  int64_t size() const { return static_cast<int64_t>(labels.size()) / labels_per_sample; }
};

// Sums over what was evaluated; those of several batches and ranks add up.
struct EvaluationSums {
  void Add(const EvaluationSums& other);

  int64_t correct = 0;  // labels that have the highest score
  int64_t samples = 0;
  double loss = 0;  // summed over the samples, each one's the mean over its labels
  // Labels that are not ignored, and their negative log-likelihood. Where a sample has one label,
  // the same as above. Perplexity is exp(label_loss / labels).
  int64_t labels = 0;
  double label_loss = 0;
  // By class, in pixels; empty but for labels per pixel. Mean IoU is the mean of intersection /
  // union over the classes whose union is not empty.
  std::vector<int64_t> intersections = {};
  std::vector<int64_t> unions = {};
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_BATCH_H_
