#include "worker/models/batch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

void AddEach(const std::vector<int64_t>& from, std::vector<int64_t>* to) {
  to->resize(std::max(to->size(), from.size()), 0);
  for (size_t i = 0; i < from.size(); ++i) (*to)[i] += from[i];
}

}  // namespace

SampleShape SampleShape::Image(int64_t channels, int64_t rows, int64_t columns, int64_t classes) {
  SampleShape shape;
  shape.channels = channels;
  shape.rows = rows;
  shape.columns = columns;
  shape.classes = classes;
  return shape;
}

SampleShape SampleShape::Segmentation(int64_t channels, int64_t rows, int64_t columns,
                                      int64_t classes) {
  SampleShape shape = Image(channels, rows, columns, classes);
  shape.labels = Labels::kPerPixel;
  return shape;
}

SampleShape SampleShape::Text(int64_t length, int64_t vocabulary, int64_t classes) {
  SampleShape shape = Image(0, 0, 0, classes);
  shape.input = Input::kTokens;
  shape.length = length;
  shape.vocabulary = vocabulary;
  return shape;
}

SampleShape SampleShape::Language(int64_t length, int64_t vocabulary) {
  SampleShape shape = Text(length, vocabulary, vocabulary);
  shape.labels = Labels::kPerToken;
  return shape;
}

int64_t SampleShape::input_elements() const {
  return input == Input::kTokens ? length : channels * rows * columns;
}

int64_t SampleShape::label_elements() const {
  switch (labels) {
    case Labels::kPerSample:
      return 1;
    case Labels::kPerPixel:
      return rows * columns;
    case Labels::kPerToken:
      return length;
  }
  return 0;
}

int64_t SampleShape::ignored_label() const {
  return labels == Labels::kPerPixel ? kIgnoredPixel : kIgnoredToken;
}

std::string ToString(const SampleShape& shape) {
  const char* const labelled = shape.labels == SampleShape::Labels::kPerSample  ? "sample"
                               : shape.labels == SampleShape::Labels::kPerPixel ? "pixel"
                                                                                : "token";
  if (shape.input == SampleShape::Input::kTokens) {
    return absl::StrCat("sequences of ", shape.length, " tokens with a label a ", labelled);
  }
  return absl::StrCat("images of ", shape.channels, "x", shape.rows, "x", shape.columns,
                      " with a label a ", labelled);
}

void EvaluationSums::Add(const EvaluationSums& other) {
  correct += other.correct;
  samples += other.samples;
  loss += other.loss;
  labels += other.labels;
  label_loss += other.label_loss;
  AddEach(other.intersections, &intersections);
  AddEach(other.unions, &unions);
}

}  // namespace ringside
