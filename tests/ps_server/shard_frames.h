// What tests of the shards' state machines share: frames of workers, results in arena order, and
// the optimizer as a worker would run it, on the whole arena.
#ifndef RINGSIDE_TESTS_PS_SERVER_SHARD_FRAMES_H_
#define RINGSIDE_TESTS_PS_SERVER_SHARD_FRAMES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "common/learning_rate.h"
#include "common/optimizer.h"
#include "ps_server/parameter_shard.h"
#include "tests/testing/random_gradients.h"

namespace ringside {

constexpr uint32_t kTestGeneration = 1;

struct Frame {
  FrameHeader header;
  FramePayload payload;
};

// All bytes of `memory` in two pieces, cut at `cut`.
inline FramePayload TwoPieces(std::shared_ptr<std::vector<float>> memory, size_t cut) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(memory->data());
  const size_t size = memory->size() * sizeof(float);
  cut = std::min(cut, size);
  return FramePayload({{bytes, cut}, {bytes + cut, size - cut}}, std::move(memory));
}

inline FrameHeader HeaderOf(FrameKind kind, int worker, uint64_t step) {
  FrameHeader header;
  header.kind = kind;
  header.generation = kTestGeneration;
  header.step = step;
  header.sender = static_cast<uint32_t>(worker);
  return header;
}

inline FrameHeader PushHeader(const UnitTable::Unit& unit, int worker, uint64_t step,
                              uint64_t weight) {
  FrameHeader header = HeaderOf(FrameKind::kPush, worker, step);
  header.bucket = static_cast<uint32_t>(unit.bucket);
  header.offset = static_cast<uint64_t>(unit.range.begin);
  header.elements = static_cast<uint32_t>(unit.range.length);
  header.weight = weight;
  return header;
}

// Where a unit lies in the arena of the plan.
inline ElementRange PlaceOf(const BucketPlan& plan, const UnitTable::Unit& unit) {
  return {plan.bucket(unit.bucket).begin + unit.range.begin, unit.range.length};
}

// The unit out of a worker's arena, in memory of its own.
inline Frame FrameOf(const BucketPlan& plan, const UnitTable::Unit& unit, FrameHeader header,
                     absl::Span<const float> arena, size_t cut = 5) {
  const ElementRange place = PlaceOf(plan, unit);
  const auto begin = arena.begin() + place.begin;
  return {header,
          TwoPieces(std::make_shared<std::vector<float>>(begin, begin + place.length), cut)};
}

// The push of one unit of a worker's random gradients.
inline Frame RandomPush(const BucketPlan& plan, const UnitTable::Unit& unit, int worker,
                        uint64_t step, size_t cut = 5) {
  return FrameOf(plan, unit, PushHeader(unit, worker, step, static_cast<uint64_t>(worker) + 1),
                 RandomGradients(plan.total_elements(), worker, static_cast<int64_t>(step)), cut);
}

inline std::unique_ptr<ParameterShard> MakeShard(ParameterShard::Config config) {
  config.generation = kTestGeneration;
  auto made = ParameterShard::Create(std::move(config));
  EXPECT_TRUE(made.ok()) << made.status();
  return std::move(made).value();
}

// Pushes what must be taken, and returns what it led to.
inline std::vector<ParameterShard::Result> Take(ParameterShard* shard, Frame frame) {
  std::vector<ParameterShard::Result> results;
  const absl::Status status = shard->Push(frame.header, std::move(frame.payload), &results);
  EXPECT_TRUE(status.ok()) << status;
  return results;
}

inline void CopyResult(const BucketPlan& plan, const ParameterShard::Result& result,
                       std::vector<float>* arena) {
  std::copy(result.values.begin(), result.values.end(),
            arena->begin() + plan.bucket(static_cast<int>(result.header.bucket)).begin +
                static_cast<int64_t>(result.header.offset));
}

inline bool HasValuesOf(const BucketPlan& plan, const ParameterShard::Result& result,
                        absl::Span<const float> arena) {
  const int64_t begin = plan.bucket(static_cast<int>(result.header.bucket)).begin +
                        static_cast<int64_t>(result.header.offset);
  return SameBits(result.values, arena.subspan(begin, result.header.elements));
}

// -0.0 wherever it is not worker 0: x + -0.0 is x in every bit.
inline std::vector<float> InitialPush(const std::vector<float>& initial, int worker) {
  return worker == 0 ? initial : std::vector<float>(initial.size(), -0.0f);
}

// Parameters and the optimizer on the whole arena, as a worker has them.
class WholeOptimizer {
 public:
  WholeOptimizer(const OptimizerConfig& optimizer, const LearningRateConfig& rate,
                 std::vector<float> initial)
      : parameters_(std::move(initial)),
        optimizer_(Optimizer::Create(optimizer, static_cast<int64_t>(parameters_.size())).value()),
        schedule_(LearningRateSchedule::Create(rate, optimizer.learning_rate).value()) {}

  void Apply(int64_t step, absl::Span<const float> gradients) {
    ApplyTo({0, static_cast<int64_t>(parameters_.size())}, step, step, gradients);
  }
  void ApplyTo(ElementRange range, int64_t update, int64_t step, absl::Span<const float> gradients,
               double share = 1) {
    optimizer_->ApplyRange(update, schedule_.At(step) * share, range.begin, gradients,
                           absl::MakeSpan(parameters_).subspan(range.begin, range.length));
  }
  const std::vector<float>& parameters() const { return parameters_; }

 private:
  std::vector<float> parameters_;
  std::unique_ptr<Optimizer> optimizer_;
  LearningRateSchedule schedule_;
};

// What the tests update with: each with a schedule of its own.
struct NamedUpdate {
  OptimizerConfig optimizer;
  LearningRateConfig rate;
};

inline std::vector<NamedUpdate> TestUpdates() {
  NamedUpdate sgd;
  sgd.optimizer.momentum = 0.9;
  sgd.optimizer.weight_decay = 1e-4;
  sgd.rate.schedule = "step";
  sgd.rate.warmup_steps = 2;
  sgd.rate.decay_steps = 2;
  NamedUpdate adam;
  adam.optimizer.name = "adam";
  adam.optimizer.learning_rate = 0.01;
  adam.rate.schedule = "cosine";
  adam.rate.total_steps = 6;
  adam.rate.final_rate = 0.001;
  return {sgd, adam};
}

// A copy of a shard's state, which may be put into another shard.
class SavedState {
 public:
  explicit SavedState(const ParameterShard::State& state)
      : step_(state.step),
        parameters_(state.parameters.begin(), state.parameters.end()),
        versions_(state.versions.begin(), state.versions.end()) {
    for (const absl::Span<float>& part : state.optimizer) {
      optimizer_.emplace_back(part.begin(), part.end());
    }
  }

  uint64_t step() const { return step_; }
  void RestoreTo(ParameterShard* shard) const {
    const absl::optional<ParameterShard::State> state = shard->MutableState();
    ASSERT_TRUE(state.has_value());
    ASSERT_EQ(state->step, step_);
    ASSERT_EQ(state->parameters.size(), parameters_.size());
    ASSERT_EQ(state->optimizer.size(), optimizer_.size());
    ASSERT_EQ(state->versions.size(), versions_.size());
    std::copy(parameters_.begin(), parameters_.end(), state->parameters.begin());
    for (size_t i = 0; i < optimizer_.size(); ++i) {
      ASSERT_EQ(state->optimizer[i].size(), optimizer_[i].size());
      std::copy(optimizer_[i].begin(), optimizer_[i].end(), state->optimizer[i].begin());
    }
    std::copy(versions_.begin(), versions_.end(), state->versions.begin());
  }

 private:
  const uint64_t step_;
  const std::vector<float> parameters_;
  std::vector<std::vector<float>> optimizer_;
  const std::vector<uint64_t> versions_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_PS_SERVER_SHARD_FRAMES_H_
