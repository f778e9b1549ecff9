#include "worker/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <numeric>
#include <string>
#include <utility>

#include "common/mutex.h"
#include "common/sha256.h"
#include "tests/worker/linear_data.h"
#include "tests/worker/linear_model.h"
#include "worker/models/dropout_seed.h"
#include "worker/synchronizers/local_summer.h"
#include "worker/synchronizers/synchronous_update.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

std::vector<int> Ranks(int world) {
  std::vector<int> ranks(world);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// Everything that `local` needs to train the linear model.
struct LocalRun {
  explicit LocalRun(int world_size, int64_t samples, int64_t global_batch, int64_t steps,
                    int64_t epochs = 0, bool overlap = true, int accumulate = 1,
                    int data_threads = 0)
      : dataset(MakeLinearDataset(samples)), model(kLinearPixels) {
    plan = std::make_unique<BucketPlan>(*BucketPlan::Create(model.Parameters(), 4, 4));
    Trainer::Config config;
    config.player.world_size = world_size;
    config.hosted_ranks = Ranks(world_size);
    config.player.global_batch_size = global_batch;
    config.steps = steps;
    config.epochs = epochs;
    config.player.overlap = overlap;
    config.player.accumulate = accumulate;
    config.player.data_threads = data_threads;
    config.player.gradient_placement = Arena::Placement::kShared;
    config.player.clock = [this] { return absl::Milliseconds(ticks++); };
    trainer = *Trainer::Create(std::move(config), dataset.get(), plan.get(), {&model});
    OptimizerConfig sgd;
    sgd.learning_rate = 0.02;
    synchronizer = *SynchronousUpdate::Create(
        {*plan, Ranks(world_size), sgd, *LocalSummer::Create({world_size, *plan})});
  }

  absl::Status Run() {
    const absl::Status started = trainer->Start(synchronizer.get());
    if (!started.ok()) return started;
    return trainer->Run([this](const StepRecord& record) {
      records.push_back(record);
      return absl::OkStatus();
    });
  }

  int ticks = 0;
  std::unique_ptr<const Dataset> dataset;
  LinearModel model;
  std::unique_ptr<BucketPlan> plan;
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<GradientSynchronizer> synchronizer;
  std::vector<StepRecord> records;
};

TEST(TrainerTest, TheLossFallsAndTwoRunsAreTheSame) {
  LocalRun one(3, 50, 12, 60);
  LocalRun two(3, 50, 12, 60);
  ASSERT_TRUE(one.Run().ok());
  ASSERT_TRUE(two.Run().ok());
  EXPECT_LT(one.records.back().loss(), 0.2 * one.records.front().loss());
  EXPECT_EQ(Sha256Hex(one.trainer->parameters()), Sha256Hex(two.trainer->parameters()));
}

TEST(TrainerTest, TheNumberOfRanksHardlyMatters) {
  // Same global batches, same mean: only the rounding differs.
  LocalRun one(1, 50, 12, 20);
  LocalRun four(4, 50, 12, 20);
  ASSERT_TRUE(one.Run().ok());
  ASSERT_TRUE(four.Run().ok());
  for (size_t i = 0; i < one.records.size(); ++i) {
    EXPECT_NEAR(one.records[i].loss(), four.records[i].loss(), 1e-4);
  }
  for (size_t i = 0; i < one.trainer->parameters().size(); ++i) {
    EXPECT_NEAR(one.trainer->parameters()[i], four.trainer->parameters()[i], 1e-4);
  }
}

TEST(TrainerTest, UnevenAndEmptySharesWork) {
  // 13 samples in batches of 6: the last batch of an epoch is one sample for five ranks.
  LocalRun run(5, 13, 6, 0, 2);
  EXPECT_EQ(run.trainer->total_steps(), 6);
  ASSERT_TRUE(run.Run().ok());
  EXPECT_EQ(run.records[2].samples(), 1);
  EXPECT_EQ(run.records[2].global_samples(), 1);
  EXPECT_EQ(run.records[2].epoch(), 0);
  EXPECT_EQ(run.records[3].epoch(), 1);
  EXPECT_EQ(run.records[3].samples(), 6);
}

TEST(TrainerTest, RecordsAddUp) {
  LocalRun run(2, 20, 4, 3);
  ASSERT_TRUE(run.Run().ok());
  ASSERT_EQ(run.records.size(), 3u);
  for (const StepRecord& record : run.records) {
    EXPECT_GT(record.step_s(), 0);
    EXPECT_NEAR(record.step_s(),
                record.data_s() + record.forward_s() + record.backward_s() +
                    record.exposed_comm_s() + record.optimizer_s() + record.other_s(),
                1e-12);
    // The clock ticks once a call: two ranks with one interval each; in the backward pass of each
    // it is read once more, when the first bucket goes.
    EXPECT_NEAR(record.data_s(), 0.002, 1e-12);
    EXPECT_NEAR(record.forward_s(), 0.002, 1e-12);
    EXPECT_NEAR(record.backward_s(), 0.004, 1e-12);
  }
  EXPECT_EQ(run.records[2].step(), 3);
  EXPECT_EQ(run.trainer->step(), 3);
}

// Notes what is submitted; its sums are nobody's business.
class RecordingSynchronizer final : public GradientSynchronizer {
 public:
  absl::Status Start(absl::Span<float>) override { return absl::OkStatus(); }
  void Submit(const GradientBucket& bucket) override {
    MutexLock lock(&mutex);
    submitted.push_back({bucket.step, bucket.rank, bucket.bucket, bucket.samples,
                         static_cast<int64_t>(bucket.gradients.size())});
    after_backward.push_back(bucket.after_backward);
    if (model != nullptr) in_backward.push_back(model->in_backward);
  }
  absl::StatusOr<StepStats> Finish(int64_t step) override {
    if (step == fail_at) return absl::UnavailableError("worker 1 is gone");
    StepStats stats{{absl::Milliseconds(3), absl::Milliseconds(1)}, absl::Milliseconds(2), step};
    if (step == skip_at) stats.skipped = "a gradient is not finite";
    return stats;
  }
  void Abort(absl::Status) override {}
  absl::StatusOr<absl::optional<int64_t>> Shutdown() override { return absl::optional<int64_t>(); }
  TrafficCounters traffic() const override { return {}; }
  TrafficCounters ExpectedTraffic(int64_t) const override { return {}; }

  Mutex mutex;  // of what is submitted
  std::vector<std::array<int64_t, 5>> submitted;
  std::vector<bool> after_backward;
  const LinearModel* model = nullptr;
  std::vector<bool> in_backward;  // whether the model was, where it is known
  int64_t fail_at = -1;
  int64_t skip_at = -1;
};

// Counts the batches it has seen in a buffer.
class CountingModel final : public LinearModel {
 public:
  CountingModel() : LinearModel(kLinearPixels) {
    specs_.counters.push_back({"batches", {1}, "int64"});
  }
  const BufferSpecs& Buffers() const override { return specs_; }
  absl::Status ReadBuffers(absl::Span<float>, absl::Span<int64_t> counters) const override {
    counters[0] = batches_;
    return absl::OkStatus();
  }
  absl::Status WriteBuffers(absl::Span<const float>, absl::Span<const int64_t> counters) override {
    batches_ = counters[0];
    return absl::OkStatus();
  }
  absl::StatusOr<double> Forward(const Batch& batch) override {
    ++batches_;
    return LinearModel::Forward(batch);
  }

 private:
  BufferSpecs specs_;
  int64_t batches_ = 0;
};

TEST(TrainerTest, BuffersAreOfEachRankAndASkippedStepLeavesNoTraceInThem) {
  const auto dataset = MakeLinearDataset(50);
  CountingModel model;
  const BucketPlan plan = *BucketPlan::Create(model.Parameters(), 4, 4);
  Trainer::Config config;
  config.player.world_size = 2;
  config.player.global_batch_size = 8;
  config.player.clock = [] { return absl::ZeroDuration(); };
  config.hosted_ranks = {0, 1};
  config.steps = 5;
  config.restores_buffers = true;
  const auto trainer = *Trainer::Create(config, dataset.get(), &plan, {&model});
  RecordingSynchronizer synchronizer;
  synchronizer.skip_at = 3;
  ASSERT_TRUE(trainer->Start(&synchronizer).ok());
  ASSERT_TRUE(trainer->Run([](const StepRecord&) { return absl::OkStatus(); }).ok());
  for (int rank : {0, 1}) EXPECT_EQ(trainer->Buffers(rank)->counters, std::vector<int64_t>{4});
  ASSERT_TRUE(trainer->SetBuffers({{}, {9}}).ok());
  for (int rank : {0, 1}) EXPECT_EQ(trainer->Buffers(rank)->counters, std::vector<int64_t>{9});
}

TEST(TrainerTest, SubmitsEveryBucketOfEveryHostedRankInOrder) {
  LocalRun run(2, 3, 3, 1);
  RecordingSynchronizer synchronizer;
  ASSERT_TRUE(run.trainer->Start(&synchronizer).ok());
  ASSERT_TRUE(run.trainer->Run([](const StepRecord&) { return absl::OkStatus(); }).ok());
  EXPECT_EQ(synchronizer.submitted,
            (std::vector<std::array<int64_t, 5>>{
                {1, 0, 0, 2, 1}, {1, 0, 1, 2, 4}, {1, 1, 0, 1, 1}, {1, 1, 1, 1, 4}}));
}

TEST(TrainerTest, WithoutOverlapNothingIsSubmittedBeforeBackwardHasEnded) {
  for (const bool overlap : {true, false}) {
    LocalRun run(1, 3, 3, 1, 0, overlap);
    RecordingSynchronizer synchronizer;
    synchronizer.model = &run.model;
    ASSERT_TRUE(run.trainer->Start(&synchronizer).ok());
    ASSERT_TRUE(run.trainer->Run([](const StepRecord&) { return absl::OkStatus(); }).ok());
    EXPECT_EQ(synchronizer.in_backward, std::vector<bool>(2, overlap));
    EXPECT_EQ(synchronizer.after_backward, std::vector<bool>(2, !overlap));
    EXPECT_EQ(synchronizer.submitted,
              (std::vector<std::array<int64_t, 5>>{{1, 0, 0, 3, 1}, {1, 0, 1, 3, 4}}));
  }
}

TEST(TrainerTest, BackwardHasEndedWhenTheLastRankHasPlayedIts) {
  LocalRun run(3, 2, 2, 1, 0, /*overlap=*/false);  // rank 2 has no samples
  RecordingSynchronizer synchronizer;
  ASSERT_TRUE(run.trainer->Start(&synchronizer).ok());
  ASSERT_TRUE(run.trainer->Run([](const StepRecord&) { return absl::OkStatus(); }).ok());
  EXPECT_EQ(synchronizer.after_backward,
            (std::vector<bool>{false, false, false, false, true, true}));
}

TEST(TrainerTest, TheRecordHoldsWhatTheSynchronizerSays) {
  LocalRun run(1, 3, 3, 1);
  RecordingSynchronizer synchronizer;
  ASSERT_TRUE(run.trainer->Start(&synchronizer).ok());
  StepRecord record;
  ASSERT_TRUE(run.trainer
                  ->Run([&](const StepRecord& last) {
                    record = last;
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_DOUBLE_EQ(record.hidden_comm_s(), 0.003);
  EXPECT_DOUBLE_EQ(record.exposed_comm_s(), 0.001);
  EXPECT_DOUBLE_EQ(record.optimizer_s(), 0.002);
  // What is hidden runs behind backward and is no part of the step.
  EXPECT_NEAR(record.step_s(),
              record.data_s() + record.forward_s() + record.backward_s() + record.exposed_comm_s() +
                  record.optimizer_s() + record.other_s(),
              1e-12);
}

TEST(TrainerTest, SaysWhenTheRankWasReady) {
  LocalRun run(1, 3, 3, 2);
  RecordingSynchronizer synchronizer;
  ASSERT_TRUE(run.trainer->Start(&synchronizer).ok());
  std::vector<StepRecord> records;
  const auto keep = [&](const StepRecord& record) {
    records.push_back(record);
    return absl::OkStatus();
  };
  ASSERT_TRUE(run.trainer->Run(keep).ok());
  ASSERT_EQ(records.size(), 2u);
  // The clock is read at the start, around data, forward and backward (4 times, and once in it),
  // when all is submitted, and at the end.
  EXPECT_EQ(records[0].first_ready_at_ns(), 4'000'000);
  EXPECT_EQ(records[0].ready_at_ns(), 6'000'000);
  EXPECT_NEAR(records[0].ready_s(), 0.006, 1e-12);
  EXPECT_NEAR(records[0].step_s(), 0.007, 1e-12);
  EXPECT_EQ(records[1].ready_at_ns(), 14'000'000);
  EXPECT_FALSE(records[0].has_wait_slowest_s());
}

// A trainer of one rank, and what the rank's player is told beside the usual.
std::vector<StepRecord> RecordsWith(const std::function<void(RankPlayer::Config*)>& adjust) {
  const auto dataset = MakeLinearDataset(6);
  LinearModel model(kLinearPixels);
  const BucketPlan plan = *BucketPlan::Create(model.Parameters(), 4, 4);
  Trainer::Config config;
  config.player.global_batch_size = 3;
  int64_t ticks = 0;
  config.player.clock = [&ticks] { return absl::Milliseconds(ticks++); };
  config.hosted_ranks = {0};
  config.steps = 3;
  adjust(&config.player);
  const auto trainer = *Trainer::Create(config, dataset.get(), &plan, {&model});
  RecordingSynchronizer synchronizer;
  EXPECT_TRUE(trainer->Start(&synchronizer).ok());
  std::vector<StepRecord> records;
  const auto keep = [&](const StepRecord& record) {
    records.push_back(record);
    return absl::OkStatus();
  };
  EXPECT_TRUE(trainer->Run(keep).ok());
  return records;
}

TEST(TrainerTest, AStragglersDelayIsItsOwnWork) {
  std::vector<std::pair<int64_t, int>> calls;
  int64_t ticks = 0;
  const auto records = RecordsWith([&](RankPlayer::Config* player) {
    player->clock = [&ticks] { return absl::Milliseconds(ticks++); };
    player->straggle = [&](int64_t step, int rank) {
      calls.emplace_back(step, rank);
      if (step == 2) ticks += 50;
    };
  });
  EXPECT_EQ(calls, (std::vector<std::pair<int64_t, int>>{{1, 0}, {2, 0}, {3, 0}}));
  EXPECT_NEAR(records[0].forward_s(), 0.001, 1e-12);
  EXPECT_NEAR(records[1].forward_s(), 0.051, 1e-12);
  EXPECT_NEAR(records[1].ready_s() - records[0].ready_s(), 0.050, 1e-12);
}

TEST(TrainerTest, TracesTheStepsOfTheWindow) {
  TraceBuffer buffer({2, 2}, 100);
  RecordsWith([&](RankPlayer::Config* player) { player->trace = &buffer; });
  ProcessTrace trace;
  buffer.AppendTo(&trace);
  std::map<TraceKind, int> count;
  std::map<TraceKind, double> length_ms;
  for (const TraceSpan& span : trace.spans()) {
    EXPECT_EQ(span.step(), 2);
    EXPECT_EQ(span.peer(), 0);
    ++count[span.kind()];
    length_ms[span.kind()] = static_cast<double>(span.end_ns() - span.begin_ns()) / 1e6;
  }
  // Two buckets.
  EXPECT_EQ(count, (std::map<TraceKind, int>{{TRACE_STEP, 1},
                                             {TRACE_DATA, 1},
                                             {TRACE_FORWARD, 1},
                                             {TRACE_BACKWARD, 1},
                                             {TRACE_WAIT, 1},
                                             {TRACE_OPTIMIZER, 1},
                                             {TRACE_READY, 2},
                                             {TRACE_SUBMIT, 2}}));
  EXPECT_EQ(length_ms[TRACE_STEP], 7);
  EXPECT_EQ(length_ms[TRACE_DATA], 1);
  EXPECT_EQ(length_ms[TRACE_BACKWARD], 2);
  EXPECT_EQ(length_ms[TRACE_WAIT], 1);  // as the synchronizer says
  EXPECT_EQ(length_ms[TRACE_OPTIMIZER], 2);
}

TEST(TrainerTest, GradientsLieWhereTheyAreWanted) {
  LocalRun run(1, 3, 3, 1);
  EXPECT_EQ(run.trainer->gradients().placement(), Arena::Placement::kShared);
  EXPECT_EQ(run.trainer->gradients().span().size(), kLinearPixels + 1u);
}

TEST(TrainerTest, ARankWithoutSamplesSubmitsZeros) {
  LocalRun run(3, 2, 2, 1);
  RecordingSynchronizer synchronizer;
  ASSERT_TRUE(run.trainer->Start(&synchronizer).ok());
  ASSERT_TRUE(run.trainer->Run([](const StepRecord&) { return absl::OkStatus(); }).ok());
  ASSERT_EQ(synchronizer.submitted.size(), 6u);
  EXPECT_EQ(synchronizer.submitted[4], (std::array<int64_t, 5>{1, 2, 0, 0, 1}));
  EXPECT_EQ(synchronizer.submitted[5], (std::array<int64_t, 5>{1, 2, 1, 0, 4}));
}

TEST(TrainerTest, TheFirstErrorEndsTheRunAndTheStepIsKnown) {
  LocalRun run(1, 20, 4, 10);
  RecordingSynchronizer synchronizer;
  synchronizer.fail_at = 3;
  ASSERT_TRUE(run.trainer->Start(&synchronizer).ok());
  int records = 0;
  const auto count = [&](const StepRecord&) {
    ++records;
    return absl::OkStatus();
  };
  EXPECT_EQ(run.trainer->Run(count), absl::UnavailableError("worker 1 is gone"));
  EXPECT_EQ(records, 2);
  EXPECT_EQ(run.trainer->step(), 3);

  LocalRun model_fails(1, 20, 4, 10);
  model_fails.model.fail_forward = absl::InternalError("forward: no");
  EXPECT_EQ(model_fails.Run(), absl::InternalError("forward: no"));

  LocalRun disk_full(1, 20, 4, 10);
  ASSERT_TRUE(disk_full.trainer->Start(disk_full.synchronizer.get()).ok());
  EXPECT_EQ(disk_full.trainer->Run([](const StepRecord&) { return absl::DataLossError("full"); }),
            absl::DataLossError("full"));
  EXPECT_EQ(disk_full.trainer->step(), 1);
}

TEST(TrainerTest, StepsAreRunAgainWhereTheSynchronizerHasGoneBack) {
  LocalRun run(1, 20, 4, 5);
  RecordingSynchronizer synchronizer;
  ASSERT_TRUE(run.trainer->Start(&synchronizer).ok());
  std::vector<int64_t> steps;
  const auto note = [&](const StepRecord& record) {
    steps.push_back(record.step());
    return absl::OkStatus();
  };
  ASSERT_TRUE(run.trainer->Run(note).ok());
  run.trainer->GoBack(3);
  EXPECT_EQ(run.trainer->step(), 3);
  ASSERT_TRUE(run.trainer->Run(note).ok());
  EXPECT_EQ(steps, (std::vector<int64_t>{1, 2, 3, 4, 5, 4, 5}));
}

TEST(TrainerTest, RefusesBadConfigurations) {
  const auto dataset = MakeLinearDataset(3);
  LinearModel model(kLinearPixels);
  const BucketPlan plan = *BucketPlan::Create(model.Parameters(), 4, 4);
  const auto refusal = [&](const Trainer::Config& refused) {
    const auto trainer = Trainer::Create(refused, dataset.get(), &plan, {&model});
    EXPECT_EQ(trainer.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(trainer.status().message());
  };
  const auto config = [](std::vector<int> ranks, int64_t batch, int64_t steps, int64_t epochs) {
    Trainer::Config made;
    made.hosted_ranks = std::move(ranks);
    made.player.global_batch_size = batch;
    made.steps = steps;
    made.epochs = epochs;
    made.player.clock = [] { return absl::ZeroDuration(); };
    return made;
  };
  EXPECT_THAT(refusal(config({}, 1, 1, 0)), HasSubstr("at least one rank"));
  EXPECT_THAT(refusal(config({0}, 1, 0, 0)), HasSubstr("--steps=0 and --epochs=0"));
  EXPECT_THAT(refusal(config({0}, 0, 1, 0)), HasSubstr("global batch of 0"));
  EXPECT_THAT(refusal(config({0}, 1, 0, INT64_MAX / 2)), HasSubstr("too many"));
  Trainer::Config no_batch = config({0}, 1, 1, 0);
  no_batch.player.accumulate = 0;
  EXPECT_THAT(refusal(no_batch), HasSubstr("--accumulate=0: must be at least 1"));
  LinearModel other(kLinearPixels);
  EXPECT_THAT(std::string(Trainer::Create(config({0, 1, 2}, 1, 1, 0), dataset.get(), &plan,
                                          {&model, &other})
                              .status()
                              .message()),
              HasSubstr("2 models for 3 ranks"));
}

TEST(TrainerTest, MicroBatchesAddUpToOneBatch) {
  // 50 samples in batches of 12: the last batch of an epoch has 2, for 3 ranks of 4 micro-batches.
  LocalRun whole(3, 50, 12, 20);
  LocalRun parts(3, 50, 12, 20, 0, true, /*accumulate=*/4);
  ASSERT_TRUE(whole.Run().ok());
  ASSERT_TRUE(parts.Run().ok());
  for (size_t i = 0; i < whole.records.size(); ++i) {
    EXPECT_NEAR(whole.records[i].loss(), parts.records[i].loss(), 1e-5);
    EXPECT_EQ(whole.records[i].samples(), parts.records[i].samples());
  }
  for (size_t i = 0; i < whole.trainer->parameters().size(); ++i) {
    EXPECT_NEAR(whole.trainer->parameters()[i], parts.trainer->parameters()[i], 1e-5);
  }
}

TEST(TrainerTest, LoadingAheadChangesNoBit) {
  LocalRun alone(3, 50, 12, 20, 0, true, /*accumulate=*/2);
  LocalRun ahead(3, 50, 12, 20, 0, true, /*accumulate=*/2, /*data_threads=*/2);
  ASSERT_TRUE(alone.Run().ok());
  ASSERT_TRUE(ahead.Run().ok());
  EXPECT_EQ(Sha256Hex(ahead.trainer->parameters()), Sha256Hex(alone.trainer->parameters()));
}

TEST(TrainerTest, DropoutDrawsDifferByRankStepAndMicroBatch) {
  LocalRun run(2, 8, 8, 1, 0, true, /*accumulate=*/2);
  ASSERT_TRUE(run.Run().ok());
  EXPECT_EQ(run.model.dropout_seeds,
            (std::vector<uint64_t>{DropoutSeed(1, 0, 1, 0), DropoutSeed(1, 0, 1, 1),
                                   DropoutSeed(1, 1, 1, 0), DropoutSeed(1, 1, 1, 1)}));
}

// Its files were there when it was made.
class VanishingDataset final : public Dataset {
 public:
  VanishingDataset() : Dataset(3, SampleShape::Image(1, 2, 2, 10)) {}

 private:
  absl::Status FetchSample(int64_t, const SampleSpans&) const override {
    return absl::NotFoundError("a.png: gone");
  }
};

TEST(TrainerTest, AnErrorOfTheDataEndsTheRun) {
  const VanishingDataset dataset;
  LinearModel model(kLinearPixels);
  const BucketPlan plan = *BucketPlan::Create(model.Parameters(), 4, 4);
  for (int data_threads : {0, 2}) {
    Trainer::Config config;
    config.hosted_ranks = {0};
    config.steps = 2;
    config.player.data_threads = data_threads;
    config.player.clock = [] { return absl::ZeroDuration(); };
    const auto trainer = *Trainer::Create(std::move(config), &dataset, &plan, {&model});
    RecordingSynchronizer nobody;
    ASSERT_TRUE(trainer->Start(&nobody).ok());
    EXPECT_EQ(trainer->Run([](const StepRecord&) { return absl::OkStatus(); }),
              absl::NotFoundError("a.png: gone"));
  }
}

TEST(TrainerTest, AccumulatedGradientsTravelOnceWithTheLastMicroBatch) {
  LocalRun run(1, 6, 6, 1, 0, true, /*accumulate=*/3);
  RecordingSynchronizer synchronizer;
  synchronizer.model = &run.model;
  ASSERT_TRUE(run.trainer->Start(&synchronizer).ok());
  ASSERT_TRUE(run.trainer->Run([](const StepRecord&) { return absl::OkStatus(); }).ok());
  EXPECT_EQ(synchronizer.submitted,
            (std::vector<std::array<int64_t, 5>>{{1, 0, 0, 6, 1}, {1, 0, 1, 6, 4}}));
  EXPECT_EQ(synchronizer.in_backward, std::vector<bool>(2, true)) << "they no longer overlap";
  EXPECT_EQ(run.model.backwards, 3);
}

TEST(TrainerTest, RanksThatPlayAtOnceGiveTheBitsOfRanksInTurn) {
  LocalRun in_turn(3, 50, 12, 20, 0, true, /*accumulate=*/2);
  ASSERT_TRUE(in_turn.Run().ok());

  const auto dataset = MakeLinearDataset(50);
  LinearModel models[3] = {LinearModel(kLinearPixels), LinearModel(kLinearPixels),
                           LinearModel(kLinearPixels)};
  const BucketPlan plan = *BucketPlan::Create(models[0].Parameters(), 4, 4);
  Trainer::Config config;
  config.player.world_size = 3;
  config.player.global_batch_size = 12;
  config.player.accumulate = 2;
  config.player.clock = [] { return absl::ZeroDuration(); };
  config.hosted_ranks = Ranks(3);
  config.steps = 20;
  std::atomic<int> set_up{0};
  config.set_up_thread = [&set_up] {
    ++set_up;
    return absl::OkStatus();
  };
  const auto trainer =
      *Trainer::Create(config, dataset.get(), &plan, {&models[0], &models[1], &models[2]});
  EXPECT_EQ(set_up, 3);
  OptimizerConfig sgd;
  sgd.learning_rate = 0.02;
  LocalSummer::Config summer{3, plan};
  summer.lent = true;
  const auto synchronizer =
      *SynchronousUpdate::Create({plan, Ranks(3), sgd, *LocalSummer::Create(std::move(summer))});
  ASSERT_TRUE(trainer->Start(synchronizer.get()).ok());
  std::vector<double> losses;
  ASSERT_TRUE(trainer
                  ->Run([&](const StepRecord& record) {
                    losses.push_back(record.loss());
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_EQ(Sha256Hex(trainer->parameters()), Sha256Hex(in_turn.trainer->parameters()));
  for (size_t i = 0; i < losses.size(); ++i) EXPECT_EQ(losses[i], in_turn.records[i].loss());
  models[1].fail_forward = absl::InternalError("forward of rank 1: no");
  Trainer::Config again = config;
  again.steps = 1;
  const auto failing =
      *Trainer::Create(again, dataset.get(), &plan, {&models[0], &models[1], &models[2]});
  RecordingSynchronizer nobody;
  ASSERT_TRUE(failing->Start(&nobody).ok());
  EXPECT_EQ(failing->Run([](const StepRecord&) { return absl::OkStatus(); }),
            absl::InternalError("forward of rank 1: no"));
}

}  // namespace
}  // namespace ringside
