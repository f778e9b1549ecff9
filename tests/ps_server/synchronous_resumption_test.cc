// A synchronous shard that is lost inside a step, and the one that takes its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

#include "common/suspects.h"
#include "ps_server/synchronous_shard.h"
#include "tests/ps_server/shard_frames.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Workers of one shard, each of which pushes a step when it has all sums of the one before.
class Workers {
 public:
  Workers(const BucketPlan& plan, const ShardLayout& layout, int shard, uint64_t step,
          uint64_t last_step)
      : plan_(plan),
        table_(plan, layout, shard),
        last_step_(last_step),
        workers_(layout.world_size) {
    for (Worker& worker : workers_) {
      worker.step = step;
      worker.sums[step].assign(table_.size(), {});
    }
  }

  // The lost shard: some of the pushes of the first step, and of what it answered each worker a
  // part, in order.
  void RunUntilLost(std::unique_ptr<ParameterShard> shard, std::mt19937* random) {
    std::vector<Frame> frames;
    for (int rank = 0; rank < size(); ++rank) {
      for (int unit = 0; unit < table_.size(); ++unit)
        frames.push_back(RandomPush(plan_, table_.unit(unit), rank, workers_[rank].step));
    }
    std::shuffle(frames.begin(), frames.end(), *random);
    frames.resize(frames.size() - (*random)() % 3 * ((*random)() % frames.size()) / 2);
    std::vector<ParameterShard::Result> results;
    for (Frame& frame : frames) {
      for (auto& result : Take(shard.get(), std::move(frame))) results.push_back(result);
    }
    for (int rank = 0; rank < size(); ++rank) {
      const size_t received =
          (*random)() % 2 == 0 ? results.size() : (*random)() % (results.size() + 1);
      for (size_t i = 0; i < received; ++i) Receive(rank, results[i]);
    }
  }

  // What was queued for the lost shard is lost with it.
  void ForgetQueues() {
    for (Worker& worker : workers_) {
      worker.queue.clear();
      if (worker.step == first_step()) continue;
      worker.step = first_step();
      worker.sums.erase(std::next(worker.sums.begin()), worker.sums.end());
    }
  }

  ParameterShard::Resumption Lacking() const {
    ParameterShard::Resumption resumption;
    for (const Worker& worker : workers_) {
      std::vector<bool> lacking;
      for (const std::vector<float>& sum : worker.sums.begin()->second)
        lacking.push_back(sum.empty());
      resumption.lacking.push_back(lacking);
    }
    return resumption;
  }

  // What everybody sends to the shard that takes the place: sums that it has, gradients otherwise.
  void PushAgain(std::mt19937* random) {
    for (int unit = 0; unit < table_.size(); ++unit) {
      std::vector<int> owners;
      for (int rank = 0; rank < size(); ++rank) {
        if (!Sum(rank, unit).empty()) owners.push_back(rank);
      }
      if (owners.empty()) {
        for (int rank = 0; rank < size(); ++rank) EnqueuePush(rank, unit);
        continue;
      }
      std::shuffle(owners.begin(), owners.end(), *random);
      const size_t restorers = 1 + (*random)() % owners.size();
      for (size_t i = 0; i < restorers; ++i) EnqueueRestore(owners[i], unit);
      // Who is still in the step may push this again too, not knowing that another has it.
      for (int rank = 0; rank < size(); ++rank) {
        const bool in_step = workers_[rank].step == first_step();
        if (in_step && Sum(rank, unit).empty() && (*random)() % 2 == 0) EnqueuePush(rank, unit);
      }
    }
    for (Worker& worker : workers_) std::shuffle(worker.queue.begin(), worker.queue.end(), *random);
    for (int rank = 0; rank < size(); ++rank) GoOn(rank);
  }

  // Until all workers have the sums of the last step.
  void Run(ParameterShard* shard, std::mt19937* random) {
    for (;;) {
      std::vector<int> able;
      for (int rank = 0; rank < size(); ++rank) {
        if (!workers_[rank].queue.empty()) able.push_back(rank);
      }
      if (able.empty()) return;
      std::deque<Frame>& queue = workers_[able[(*random)() % able.size()]].queue;
      Frame frame = std::move(queue.front());
      queue.pop_front();
      for (const auto& result : Take(shard, std::move(frame))) {
        for (int rank = 0; rank < size(); ++rank) {
          if (result.worker == ParameterShard::kEveryWorker || result.worker == rank)
            Receive(rank, result);
        }
      }
      ASSERT_FALSE(::testing::Test::HasFailure());
    }
  }

  void ExpectLawfulSums() const {
    for (const Worker& worker : workers_) {
      ASSERT_EQ(worker.sums.size(), last_step_ - first_step() + 1);
      for (const auto& [step, units] : worker.sums) {
        const std::vector<float> lawful = LawfulSums(plan_, size(), static_cast<int64_t>(step));
        for (int unit = 0; unit < table_.size(); ++unit) {
          const ElementRange place = PlaceOf(plan_, table_.unit(unit));
          EXPECT_TRUE(
              SameBits(units[unit], absl::MakeConstSpan(lawful).subspan(place.begin, place.length)))
              << "step " << step << " unit " << unit;
        }
      }
    }
  }

 private:
  struct Worker {
    uint64_t step = 0;
    std::map<uint64_t, std::vector<std::vector<float>>> sums;  // by step and unit
    std::deque<Frame> queue;
  };

  int size() const { return static_cast<int>(workers_.size()); }
  uint64_t first_step() const { return workers_[0].sums.begin()->first; }
  const std::vector<float>& Sum(int rank, int unit) const {
    return workers_[rank].sums.begin()->second[unit];
  }

  void Receive(int rank, const ParameterShard::Result& result) {
    Worker& worker = workers_[rank];
    ASSERT_EQ(result.header.step, worker.step) << "worker " << rank;
    const auto unit = table_.Find(result.header);
    ASSERT_TRUE(unit.ok()) << unit.status();
    std::vector<float>& sum = worker.sums[worker.step][*unit];
    ASSERT_TRUE(sum.empty()) << "worker " << rank << " was answered twice, unit " << *unit;
    sum.assign(result.values.begin(), result.values.end());
    EXPECT_EQ(result.header.weight, static_cast<uint64_t>(size() * (size() + 1) / 2));
    GoOn(rank);
  }

  // To the next step, where this one is over for the worker.
  void GoOn(int rank) {
    Worker& worker = workers_[rank];
    const auto& sums = worker.sums[worker.step];
    if (worker.step == last_step_ ||
        std::any_of(sums.begin(), sums.end(), [](const auto& sum) { return sum.empty(); }))
      return;
    ++worker.step;
    worker.sums[worker.step].assign(table_.size(), {});
    for (int unit = 0; unit < table_.size(); ++unit)
      worker.queue.push_back(RandomPush(plan_, table_.unit(unit), rank, worker.step));
  }

  void EnqueuePush(int rank, int unit) {
    workers_[rank].queue.push_back(RandomPush(plan_, table_.unit(unit), rank, first_step()));
  }
  void EnqueueRestore(int rank, int unit) {
    Frame frame = RandomPush(plan_, table_.unit(unit), rank, first_step());
    frame.header.kind = FrameKind::kRestore;
    frame.header.weight = static_cast<uint64_t>(size() * (size() + 1) / 2);
    frame.payload = TwoPieces(std::make_shared<std::vector<float>>(Sum(rank, unit)), 3);
    workers_[rank].queue.push_back(std::move(frame));
  }

  const BucketPlan plan_;
  const UnitTable table_;
  const uint64_t last_step_;
  std::vector<Worker> workers_;
};

TEST(SynchronousResumptionTest, EveryWorkerEndsWithTheLawfulBitsAndIsAnsweredOnce) {
  const BucketPlan plan = PlanWithBuckets({13, 2, 24});
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const int workers = 1 + static_cast<int>(random() % 4);
    const int shards = 1 + static_cast<int>(random() % 2);
    const ShardLayout layout{workers, shards, 20};
    const uint64_t step = random() % 4;
    ParameterShard::Config config{plan, layout, static_cast<int>(random() % shards)};
    config.first_step = step;
    Workers all(plan, layout, config.shard, step, step + 3);
    all.RunUntilLost(MakeShard(config), &random);
    all.ForgetQueues();
    config.resumption = all.Lacking();
    const auto shard = MakeShard(config);
    all.PushAgain(&random);
    all.Run(shard.get(), &random);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    all.ExpectLawfulSums();
    EXPECT_EQ(shard->open_step(), step + 4);
    EXPECT_EQ(shard->parked_frames(), 0);
    EXPECT_FALSE(shard->somebody_waits());
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

// Two workers and two units. Worker 0 has both sums of step 5, worker 1 that of unit 0 alone.
class ResumedShardTest : public ::testing::Test {
 protected:
  ResumedShardTest() {
    ParameterShard::Config config{plan_, {2, 1, 1024}, 0};
    config.first_step = 5;
    config.resumption.emplace();
    config.resumption->lacking = {{false, false}, {false, true}};
    shard_ = MakeShard(std::move(config));
  }
  Frame Restore(int worker, int unit, uint64_t step) const {
    Frame frame = RandomPush(plan_, shard_->table().unit(unit), worker, step);
    frame.header.kind = FrameKind::kRestore;
    return frame;
  }
  Frame Push(int worker, int unit, uint64_t step) const {
    return RandomPush(plan_, shard_->table().unit(unit), worker, step);
  }
  absl::Status Refused(Frame frame) {
    std::vector<ParameterShard::Result> results;
    const auto worker = static_cast<int>(frame.header.sender);
    const absl::Status status = shard_->Push(frame.header, std::move(frame.payload), &results);
    EXPECT_FALSE(status.ok());
    EXPECT_TRUE(results.empty());
    EXPECT_EQ(ToString(SuspectsOf(status)), ToString(WorkerId(worker)));
    return status;
  }

  const BucketPlan plan_ = PlanWithBuckets({8});
  std::unique_ptr<ParameterShard> shard_;
};

TEST_F(ResumedShardTest, SomebodyWaitsUntilAllIsRestored) {
  EXPECT_TRUE(shard_->somebody_waits());
  EXPECT_THAT(shard_->FindMissing().workers, ElementsAre(0));  // who can restore it
  const auto results = Take(shard_.get(), Restore(0, 1, 5));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].worker, 1);
  EXPECT_EQ(shard_->open_step(), 6u);
  EXPECT_FALSE(shard_->somebody_waits());
  EXPECT_TRUE(Take(shard_.get(), Restore(0, 1, 5)).empty());  // late, and of no use
  EXPECT_TRUE(Take(shard_.get(), Push(1, 1, 5)).empty());
  EXPECT_EQ(Refused(Restore(0, 1, 6)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Refused(Push(1, 1, 4)).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Refused(Push(1, 1, 7)).code(), absl::StatusCode::kOutOfRange);
}

TEST_F(ResumedShardTest, OnlyWhoHasTheWholeStepMayPushTheNext) {
  EXPECT_TRUE(Take(shard_.get(), Push(0, 0, 6)).empty());
  EXPECT_EQ(Refused(Push(1, 0, 6)).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Refused(Push(0, 0, 7)).code(), absl::StatusCode::kOutOfRange);
  const absl::Status twice = Refused(Push(0, 0, 6));
  EXPECT_EQ(twice.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(twice.message()), HasSubstr("it is a duplicate"));
  EXPECT_EQ(Take(shard_.get(), Restore(0, 1, 5)).size(), 1u);
  EXPECT_EQ(Refused(Push(0, 0, 6)).code(), absl::StatusCode::kAlreadyExists);
  const auto sums = Take(shard_.get(), Push(1, 0, 6));
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_TRUE(HasValuesOf(plan_, sums[0], LawfulSums(plan_, 2, 6)));
}

TEST_F(ResumedShardTest, OnlyWhoHasASumMayRestoreIt) {
  const absl::Status status = Refused(Restore(1, 1, 5));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("has not got this sum itself"));
  EXPECT_EQ(Refused(Restore(0, 1, 4)).code(), absl::StatusCode::kInvalidArgument);
}

TEST(SynchronousResumptionOfACompleteStepTest, OpensTheNext) {
  const BucketPlan plan = PlanWithBuckets({8});
  ParameterShard::Config config{plan, {2, 1, 1024}, 0};
  config.first_step = 5;
  config.resumption.emplace();
  config.resumption->lacking = {{false, false}, {false, false}};
  const auto shard = MakeShard(std::move(config));
  EXPECT_EQ(shard->open_step(), 6u);
  EXPECT_FALSE(shard->somebody_waits());
}

}  // namespace
}  // namespace ringside
