// The modes `async` and `ssp` in random order, against a model of them.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "ps_server/asynchronous_shard.h"
#include "tests/ps_server/shard_frames.h"

namespace ringside {
namespace {

// One shard as the header describes it, in one thread and without any bookkeeping but the words'.
class Model {
 public:
  struct Answer {
    uint64_t step = 0;
    std::vector<float> values;
  };
  using Answers = std::map<std::pair<int, int>, Answer>;  // by worker and unit

  Model(const BucketPlan& plan, const ShardLayout& layout, const ParameterShard::Config& config)
      : plan_(plan),
        table_(plan, layout, config.shard),
        workers_(layout.world_size),
        bounded_(config.policy.mode == PsMode::kSsp),
        staleness_(config.policy.staleness),
        full_batch_(static_cast<double>(config.full_batch)),
        whole_(config.optimizer, config.learning_rate,
               RandomGradients(plan.total_elements(), 0, 0)),
        initialized_(table_.size(), false),
        updates_(table_.size(), 0),
        seen_(workers_, std::vector<uint64_t>(table_.size(), 0)),
        pushed_(workers_, std::vector<int64_t>(table_.size(), -1)) {}

  Answers Push(int worker, int unit, int64_t step, absl::Span<const float> gradients,
               uint64_t weight) {
    if (step == 0) {
      if (worker == 0) initialized_[unit] = true;
    } else {
      ++histogram[std::min<uint64_t>(updates_[unit] - seen_[worker][unit], 64)];
      if (weight > 0) {
        const int64_t update = static_cast<int64_t>(++updates_[unit]);
        const int64_t schedule = (update + workers_ - 1) / workers_;  // ceil
        const ElementRange place = PlaceOf(plan_, table_.unit(unit));
        const double share = static_cast<double>(weight) / full_batch_;
        whole_.ApplyTo(place, update, schedule, gradients.subspan(place.begin, place.length),
                       share);
      }
    }
    pushed_[worker][unit] = step;
    waiting_.insert({worker, unit});
    return AnswerWhoMayGoOn();
  }

  Answer AnswerOf(int worker, int unit) {
    const ElementRange place = PlaceOf(plan_, table_.unit(unit));
    const auto begin = whole_.parameters().begin() + place.begin;
    return {static_cast<uint64_t>(pushed_[worker][unit]), {begin, begin + place.length}};
  }
  // The last step that the slowest worker has pushed all of; -1: none.
  int64_t slowest() const {
    int64_t slowest = INT64_MAX;
    for (const auto& units : pushed_)
      slowest = std::min(slowest, *std::min_element(units.begin(), units.end()));
    return slowest;
  }
  int64_t updates() const {
    int64_t sum = 0;
    for (uint64_t unit : updates_) sum += static_cast<int64_t>(unit);
    return sum;
  }

  std::map<uint64_t, int64_t> histogram;

 private:
  Answers AnswerWhoMayGoOn() {
    Answers answers;
    for (auto waiting = waiting_.begin(); waiting != waiting_.end();) {
      const auto [worker, unit] = *waiting;
      const int64_t step = pushed_[worker][unit];
      const bool may = step == 0 ? initialized_[unit] : !bounded_ || slowest() >= step - staleness_;
      if (!may) {
        ++waiting;
        continue;
      }
      answers[{worker, unit}] = AnswerOf(worker, unit);
      seen_[worker][unit] = updates_[unit];
      waiting = waiting_.erase(waiting);
    }
    return answers;
  }

  const BucketPlan plan_;
  const UnitTable table_;
  const int workers_;
  const bool bounded_;
  const int64_t staleness_;
  const double full_batch_;
  WholeOptimizer whole_;
  std::vector<bool> initialized_;
  std::vector<uint64_t> updates_;
  std::vector<std::vector<uint64_t>> seen_;   // by worker and unit
  std::vector<std::vector<int64_t>> pushed_;  // the last step
  std::set<std::pair<int, int>> waiting_;
};

// Workers that push in random order to several shards, each compared with its model.
class Job {
 public:
  Job(PsMode mode, int workers, int shards, int staleness, const NamedUpdate& update, unsigned seed)
      : layout_{workers, shards, 20}, random_(seed), workers_(workers) {
    for (int shard = 0; shard < shards; ++shard) {
      ParameterShard::Config config{plan_, layout_, shard};
      config.policy.mode = mode;
      config.policy.staleness = staleness;
      config.full_batch = 4 * workers;
      config.optimizer = update.optimizer;
      config.learning_rate = update.rate;
      models_.push_back(std::make_unique<Model>(plan_, layout_, config));
      shards_.push_back(MakeShard(std::move(config)));
    }
    for (Worker& worker : workers_) StartStep(&worker, 0);
  }

  void Run(int64_t last_step) {
    for (;;) {
      std::vector<int> able;
      bool done = true;
      for (size_t rank = 0; rank < workers_.size(); ++rank) {
        Worker& worker = workers_[rank];
        if (worker.to_push.empty() && worker.unanswered == 0 && worker.step < last_step)
          StartStep(&worker, worker.step + 1);
        if (!worker.to_push.empty()) able.push_back(static_cast<int>(rank));
        done = done && worker.step == last_step && worker.to_push.empty() && worker.unanswered == 0;
      }
      if (done) return;
      ASSERT_FALSE(able.empty()) << "nobody can go on";
      // Some prefer one worker, so that others fall behind.
      const bool prefer = random_() % 3 != 0;
      PushOne(prefer ? able[random_() % able.size() / 2] : able[random_() % able.size()]);
      ASSERT_FALSE(::testing::Test::HasFailure());
    }
  }

  void ExpectSameEnd() {
    for (Worker& worker : workers_) ReadAnswers(&worker);
    for (size_t shard = 0; shard < shards_.size(); ++shard) {
      ParameterShard& machine = *shards_[shard];
      EXPECT_FALSE(machine.somebody_waits());
      std::vector<int64_t> expected(65, 0);
      for (const auto& [missed, units] : models_[shard]->histogram) expected[missed] = units;
      EXPECT_EQ(machine.statistics().staleness, expected);
      EXPECT_EQ(machine.statistics().updates, models_[shard]->updates());
      const int workers = static_cast<int>(workers_.size());
      for (int rank = workers - 1; rank > 0; --rank) {
        EXPECT_TRUE(Take(&machine, {HeaderOf(FrameKind::kFinish, rank, 0), {}}).empty());
      }
      const auto results = Take(&machine, {HeaderOf(FrameKind::kFinish, 0, 0), {}});
      ASSERT_EQ(static_cast<int>(results.size()), workers * machine.table().size() + 1);
      std::set<std::pair<int, int>> answered;
      for (size_t i = 0; i + 1 < results.size(); ++i) {
        const int unit = machine.table().Find(results[i].header).value();
        answered.insert({results[i].worker, unit});
        const Model::Answer answer = models_[shard]->AnswerOf(results[i].worker, unit);
        EXPECT_EQ(results[i].header.step, answer.step);
        EXPECT_TRUE(SameBits(results[i].values, answer.values));
      }
      EXPECT_EQ(answered.size() + 1, results.size());
      EXPECT_EQ(results.back().header.kind, FrameKind::kFinish);
      EXPECT_EQ(results.back().worker, ParameterShard::kEveryWorker);
    }
  }

 private:
  struct Worker {
    int64_t step = 0;
    std::vector<std::pair<int, int>> to_push;  // shard and unit
    int unanswered = 0;
    uint64_t weight = 1;
    std::vector<std::pair<ParameterShard::Result, Model::Answer>> answers;  // of this step
  };

  // Until a worker pushes again its answers stay as they are.
  void ReadAnswers(Worker* worker) const {
    for (const auto& [result, answer] : worker->answers) {
      EXPECT_EQ(result.header.step, answer.step);
      EXPECT_TRUE(SameBits(result.values, answer.values));
    }
    worker->answers.clear();
  }

  void StartStep(Worker* worker, int64_t step) {
    ReadAnswers(worker);
    worker->step = step;
    worker->weight = random_() % 5;
    for (size_t shard = 0; shard < shards_.size(); ++shard) {
      for (int unit = 0; unit < shards_[shard]->table().size(); ++unit)
        worker->to_push.emplace_back(shard, unit);
    }
    worker->unanswered = static_cast<int>(worker->to_push.size());
    std::shuffle(worker->to_push.begin(), worker->to_push.end(), random_);
  }

  void PushOne(int rank) {
    Worker& worker = workers_[rank];
    const auto [shard, unit] = worker.to_push.back();
    worker.to_push.pop_back();
    const UnitTable::Unit& place = shards_[shard]->table().unit(unit);
    std::vector<float> gradients = RandomGradients(plan_.total_elements(), rank, worker.step);
    if (worker.step == 0) gradients = InitialPush(gradients, rank);
    Model::Answers expected =
        models_[shard]->Push(rank, unit, worker.step, gradients, worker.weight);
    const auto header = PushHeader(place, rank, static_cast<uint64_t>(worker.step), worker.weight);
    for (const auto& result :
         Take(shards_[shard].get(), FrameOf(plan_, place, header, gradients, random_() % 21))) {
      const auto at =
          expected.find({result.worker, shards_[shard]->table().Find(result.header).value()});
      ASSERT_NE(at, expected.end()) << "worker " << result.worker << " must not be answered yet";
      workers_[result.worker].answers.emplace_back(result, at->second);
      --workers_[result.worker].unanswered;
      expected.erase(at);
    }
    EXPECT_TRUE(expected.empty()) << "worker " << expected.begin()->first.first
                                  << " waits for no reason";
    EXPECT_EQ(static_cast<int64_t>(shards_[shard]->open_step()), models_[shard]->slowest() + 1);
  }

  const BucketPlan plan_ = PlanWithBuckets({13, 2, 24});
  const ShardLayout layout_;
  std::mt19937 random_;
  std::vector<std::unique_ptr<ParameterShard>> shards_;
  std::vector<std::unique_ptr<Model>> models_;
  std::vector<Worker> workers_;
};

TEST(AsynchronousShardTest, DoesWhatItsModelDoesInAnyOrderOfArrival) {
  for (const NamedUpdate& update : TestUpdates()) {
    for (int workers = 1; workers <= 4; ++workers) {
      for (unsigned seed = 0; seed < 6; ++seed) {
        Job job(PsMode::kAsync, workers, 1 + static_cast<int>(seed % 3), 0, update, seed);
        job.Run(7);
        if (!::testing::Test::HasFailure()) job.ExpectSameEnd();
        ASSERT_FALSE(HasFailure()) << workers << " workers, seed " << seed;
      }
    }
  }
}

TEST(StaleSynchronousShardTest, NeverExceedsItsBoundAndNeverWaitsWithoutNeed) {
  const NamedUpdate update = TestUpdates()[0];
  for (int staleness : {0, 1, 2, 3}) {
    for (int workers = 1; workers <= 4; ++workers) {
      for (unsigned seed = 0; seed < 9; ++seed) {
        Job job(PsMode::kSsp, workers, 1 + static_cast<int>(seed % 3), staleness, update, seed);
        job.Run(8);
        if (!::testing::Test::HasFailure()) job.ExpectSameEnd();
        ASSERT_FALSE(HasFailure())
            << "staleness " << staleness << ", " << workers << " workers, seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace ringside
