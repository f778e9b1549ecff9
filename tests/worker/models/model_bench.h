// A model bound to arenas of its own, with a batch to train on.
#ifndef RINGSIDE_TESTS_WORKER_MODELS_MODEL_BENCH_H_
#define RINGSIDE_TESTS_WORKER_MODELS_MODEL_BENCH_H_

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/arena.h"
#include "worker/models/model_factory.h"

namespace ringside {

inline ModelConfig Configured(std::string name, std::string arguments, const SampleShape& sample) {
  ModelConfig config;
  config.name = std::move(name);
  config.arguments = std::move(arguments);
  config.sample = sample;
  return config;
}

inline ModelConfig TinyMlp() {
  return Configured("mlp", "hidden=5,3", SampleShape::Image(1, 4, 4, 3));
}
inline ModelConfig TinyLenet() { return Configured("lenet", "", SampleShape::Image(1, 16, 16, 3)); }
inline ModelConfig SmallResnet18() {
  return Configured("resnet18", "", SampleShape::Image(3, 32, 32, 10));
}
inline ModelConfig TinyTransformer(double dropout = 0) {
  return Configured("transformer",
                    absl::StrCat("layers=2,width=12,heads=3,feedforward=20,dropout=", dropout),
                    SampleShape::Text(7, 11, 3));
}
inline ModelConfig TinyGpt(double dropout = 0) {
  return Configured("gpt", absl::StrCat("layers=2,width=12,heads=3,sequence=9,dropout=", dropout),
                    SampleShape::Language(6, 13));
}

class ModelBench {
 public:
  explicit ModelBench(const ModelConfig& config, int64_t batch_size = 4) : shape(config.sample) {
    auto created = CreateModel(config);
    EXPECT_TRUE(created.ok()) << created.status();
    model = std::move(*created);
    const int64_t elements = TotalElements(model->Parameters());
    parameters = *Arena::Create(elements, Arena::Placement::kHeap);
    gradients = *Arena::Create(elements, Arena::Placement::kHeap);
    const absl::Status bound = model->Bind(parameters->span(), gradients->span(),
                                           [this](int index) { ready.push_back(index); });
    EXPECT_TRUE(bound.ok()) << bound;
    model->ClearGradients();
    Fill(batch_size);
  }

  // Images and labels without a pattern. Every fifth pixel is ignored; texts end in padding, all
  // of a different length; the first two tokens of a language sample and its last are ignored.
  void Fill(int64_t batch_size) {
    images.clear();
    tokens.clear();
    labels.clear();
    for (int64_t i = 0; i < batch_size * shape.input_elements(); ++i) {
      if (shape.input == SampleShape::Input::kImage) {
        images.push_back(static_cast<float>(std::sin(0.7 * static_cast<double>(i))));
        continue;
      }
      const int64_t place = i % shape.length;
      const bool padded = shape.labels == SampleShape::Labels::kPerSample &&
                          place > 1 + i / shape.length % (shape.length - 1);
      tokens.push_back(padded ? kPaddingToken : 1 + (5 * i + i / 3) % (shape.vocabulary - 1));
    }
    for (int64_t i = 0; i < batch_size * shape.label_elements(); ++i) {
      const int64_t place = i % shape.label_elements();
      const bool ignored = shape.labels == SampleShape::Labels::kPerPixel ? i % 5 == 0
                           : shape.labels == SampleShape::Labels::kPerToken
                               ? place < 2 || place == shape.length - 1
                               : false;
      labels.push_back(ignored ? shape.ignored_label() : (3 * i + 1 + i / 4) % shape.classes);
    }
  }

  // Samples [first, first + count) of the batch; count -1: all.
  Batch batch(int64_t first = 0, int64_t count = -1) const {
    const auto part = [&](auto span, int64_t each) {
      return count < 0 ? span : span.subspan(first * each, span.empty() ? 0 : count * each);
    };
    Batch batch;
    batch.labels_per_sample = shape.label_elements();
    batch.dropout_seed = dropout_seed;
    batch.labels = part(absl::MakeConstSpan(labels), shape.label_elements());
    if (shape.input == SampleShape::Input::kImage) {
      batch.images = part(absl::MakeConstSpan(images), shape.input_elements());
    } else {
      batch.tokens = part(absl::MakeConstSpan(tokens), shape.input_elements());
    }
    return batch;
  }

  double Loss() {
    const auto loss = model->Forward(batch());
    EXPECT_TRUE(loss.ok()) << loss.status();
    return loss.value_or(NAN);
  }
  void Step(double weight) {
    ready.clear();
    Loss();
    const absl::Status done = model->Backward(weight);
    ASSERT_TRUE(done.ok()) << done;
  }
  std::vector<float> Gradients() const {
    return {gradients->span().begin(), gradients->span().end()};
  }

  const SampleShape shape;
  std::vector<int> ready;  // in order of the calls
  std::unique_ptr<Arena> parameters;
  std::unique_ptr<Arena> gradients;
  std::unique_ptr<Model> model;
  uint64_t dropout_seed = 0;
  std::vector<float> images;
  std::vector<int64_t> tokens;
  std::vector<int64_t> labels;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_WORKER_MODELS_MODEL_BENCH_H_
