// The mode `backup` in random order, against a model of it.
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "ps_server/backup_shard.h"
#include "tests/ps_server/shard_frames.h"

namespace ringside {
namespace {

using Election = ParameterShard::Election;

constexpr uint64_t kSamples = 4;  // of a worker's full batch

// The parameters of every step, from who counts in it.
class Model {
 public:
  Model(const BucketPlan& plan, int workers, const NamedUpdate& update, bool full_batches)
      : plan_(plan),
        workers_(workers),
        full_batches_(full_batches),
        whole_(update.optimizer, update.rate, RandomGradients(plan.total_elements(), 0, 0)) {
    parameters_.push_back(whole_.parameters());
    elected_.push_back({});
  }

  uint64_t Weight(int worker, uint64_t step) const {
    return full_batches_ ? kSamples
                         : (static_cast<uint64_t>(worker) * 3 + step * 7) % (kSamples + 1);
  }
  void Step(const std::vector<int>& elected) {
    const uint64_t step = elected_.size();
    uint64_t samples = 0;
    for (int worker : elected) samples += Weight(worker, step);
    if (samples > 0) {
      std::vector<float> mean = SumOf(elected, static_cast<int64_t>(step));
      const double full = static_cast<double>(kSamples) * workers_;
      const auto scale = static_cast<float>(full / static_cast<double>(samples));
      for (float& element : mean) element *= scale;
      whole_.Apply(static_cast<int64_t>(step), mean);
    }
    parameters_.push_back(whole_.parameters());
    elected_.push_back(elected);
  }
  const std::vector<float>& parameters(uint64_t step) const { return parameters_.at(step); }
  const std::vector<int>& elected(uint64_t step) const { return elected_.at(step); }
  bool Counts(int worker, uint64_t step) const {
    return step == 0 || std::count(elected_.at(step).begin(), elected_.at(step).end(), worker) > 0;
  }
  uint64_t steps() const { return elected_.size(); }  // elected, the broadcast included

 private:
  std::vector<float> SumOf(const std::vector<int>& elected, int64_t step) const {
    std::vector<std::vector<float>> gradients;
    for (int worker = 0; worker < workers_; ++worker)
      gradients.push_back(RandomGradients(plan_.total_elements(), worker, step));
    std::vector<float> sum(plan_.total_elements());
    for (int bucket = 0; bucket < plan_.size(); ++bucket) {
      for (int chunk = 0; chunk < workers_; ++chunk) {
        const ElementRange part = Part(plan_.bucket(bucket), workers_, chunk);
        for (int64_t i = part.begin; i < part.end(); ++i) {
          bool first = true;
          for (int k = 0; k < workers_; ++k) {
            const int worker = (chunk + k) % workers_;
            if (std::count(elected.begin(), elected.end(), worker) == 0) continue;
            sum[i] = first ? gradients[worker][i] : sum[i] + gradients[worker][i];
            first = false;
          }
        }
      }
    }
    return sum;
  }

  const BucketPlan plan_;
  const int workers_;
  const bool full_batches_;
  WholeOptimizer whole_;
  std::vector<std::vector<float>> parameters_;  // after each step
  std::vector<std::vector<int>> elected_;
};

// Workers and shards in random order of pushes, pulls and elections.
class Job {
 public:
  Job(int workers, int backups, int shards, const NamedUpdate& update, bool full_batches,
      unsigned seed)
      : layout_{workers, shards, 20},
        backups_(backups),
        random_(seed),
        model_(plan_, workers, update, full_batches),
        workers_(workers),
        elections_(shards),
        told_(shards, 0),
        pushed_(shards),
        late_(shards) {
    for (int shard = 0; shard < shards; ++shard) {
      ParameterShard::Config config{plan_, layout_, shard};
      config.policy.mode = PsMode::kBackup;
      config.policy.backup_workers = backups;
      config.full_batch = static_cast<int64_t>(kSamples) * workers;
      config.optimizer = update.optimizer;
      config.learning_rate = update.rate;
      config.on_election = [this, shard](const Election& election) { OnElection(shard, election); };
      shards_.push_back(MakeShard(std::move(config)));
    }
    for (Worker& worker : workers_) StartStep(&worker, 0);
  }

  void Run(uint64_t last_step) {
    last_step_ = last_step;
    while (std::any_of(workers_.begin(), workers_.end(),
                       [](const Worker& w) { return !w.finished; })) {
      std::vector<std::function<void()>> possible;
      for (int rank = 0; rank < layout_.world_size; ++rank) {
        if (workers_[rank].to_push.empty()) continue;
        possible.push_back([this, rank] { PushOne(rank); });
        // Low ranks are the fast ones.
        if (rank < (layout_.world_size + 1) / 2) possible.push_back(possible.back());
      }
      for (int shard = 1; shard < layout_.num_shards; ++shard) {
        if (!elections_[shard].empty()) possible.push_back([this, shard] { TellOne(shard); });
      }
      ASSERT_FALSE(possible.empty()) << "nobody can go on";
      possible[random_() % possible.size()]();
      ASSERT_FALSE(::testing::Test::HasFailure());
    }
    for (int shard = 0; shard < layout_.num_shards; ++shard) {
      EXPECT_EQ(shards_[shard]->statistics().late_pushes, static_cast<int64_t>(late_[shard].size()))
          << "shard " << shard;
      EXPECT_EQ(shards_[shard]->open_step(), last_step + 1);
      EXPECT_EQ(shards_[shard]->parked_frames(), 0);
      EXPECT_TRUE(shards_[shard]->all_finished());
    }
    EXPECT_EQ(model_.steps(), last_step + 1);
  }
  const Model& model() const { return model_; }
  const BucketPlan& plan() const { return plan_; }

 private:
  struct Worker {
    uint64_t step = 0;
    std::vector<std::pair<int, int>> to_push;            // shard and unit
    std::map<std::pair<int, int>, uint64_t> unanswered;  // and the oldest step that will do
    std::map<std::pair<int, int>, uint64_t> received;    // and the step of the parameters
    std::vector<ParameterShard::Result> answers;         // until all have come
    bool finished = false;
  };

  void StartStep(Worker* worker, uint64_t step) {
    worker->step = step;
    for (int shard = 0; shard < layout_.num_shards; ++shard) {
      for (int unit = 0; unit < shards_[shard]->table().size(); ++unit)
        worker->to_push.emplace_back(shard, unit);
    }
    std::shuffle(worker->to_push.begin(), worker->to_push.end(), random_);
  }

  void OnElection(int shard, const Election& election) {
    EXPECT_EQ(shard, 0);
    EXPECT_EQ(election.step, model_.steps());
    std::vector<int> first = complete_[election.step];
    EXPECT_EQ(static_cast<int>(first.size()), layout_.world_size - backups_);
    std::sort(first.begin(), first.end());
    EXPECT_EQ(election.workers, first);
    model_.Step(election.workers);
    told_[0] = election.step;
    for (int follower = 1; follower < layout_.num_shards; ++follower)
      elections_[follower].push_back(election);
  }

  void PushOne(int rank) {
    Worker& worker = workers_[rank];
    const auto [shard, unit] = worker.to_push.back();
    worker.to_push.pop_back();
    ParameterShard& machine = *shards_[shard];
    worker.unanswered[{shard, unit}] = worker.step;
    pushed_[shard].insert({worker.step, unit, rank});
    const bool late = worker.step < machine.open_step();
    if (shard == 0 && !late && PushedAllOfShard0(rank, worker.step))
      complete_[worker.step].push_back(rank);
    std::vector<float> gradients =
        RandomGradients(plan_.total_elements(), rank, static_cast<int64_t>(worker.step));
    if (worker.step == 0) gradients = InitialPush(gradients, rank);
    const UnitTable::Unit& place = machine.table().unit(unit);
    const auto header = PushHeader(place, rank, worker.step, model_.Weight(rank, worker.step));
    const uint64_t step = worker.step;
    const auto results = Take(&machine, FrameOf(plan_, place, header, gradients, random_() % 21));
    if (late) {
      EXPECT_EQ(results.size(), 1u);
    }
    TakeResults(shard, results);
    if (step < machine.open_step() && step > 0) NoteLate(shard, step);
    ExpectNobodyWaitsWithoutNeed(shard);
  }

  bool PushedAllOfShard0(int rank, uint64_t step) const {
    int units = 0;
    for (const auto& [pushed_step, unit, worker] : pushed_[0])
      units += pushed_step == step && worker == rank ? 1 : 0;
    return units == shards_[0]->table().size();
  }

  // Steps that are over, in which workers have pushed that do not count.
  void NoteLate(int shard, uint64_t step) {
    for (const auto& [pushed_step, unit, worker] : pushed_[shard]) {
      if (pushed_step == step && !model_.Counts(worker, step)) late_[shard].insert({step, worker});
    }
  }

  void TellOne(int shard) {
    const Election election = elections_[shard].front();
    elections_[shard].pop_front();
    std::vector<ParameterShard::Result> results;
    const absl::Status status = shards_[shard]->Elect(election, &results);
    ASSERT_TRUE(status.ok()) << status;
    told_[shard] = election.step;
    TakeResults(shard, results);
    for (uint64_t step = 1; step < shards_[shard]->open_step(); ++step) NoteLate(shard, step);
    ExpectNobodyWaitsWithoutNeed(shard);
  }

  void TakeResults(int shard, const std::vector<ParameterShard::Result>& results) {
    std::set<int> workers;
    for (const auto& result : results) {
      if (result.header.kind == FrameKind::kFinish) continue;
      const int unit = shards_[shard]->table().Find(result.header).value();
      Worker& worker = workers_[result.worker];
      const auto waits = worker.unanswered.find({shard, unit});
      ASSERT_NE(waits, worker.unanswered.end())
          << "worker " << result.worker << " was answered twice";
      EXPECT_GE(result.header.step, waits->second);
      worker.unanswered.erase(waits);
      worker.received[{shard, unit}] = result.header.step;
      ASSERT_LT(result.header.step, model_.steps());
      worker.answers.push_back(result);
      workers.insert(result.worker);
    }
    for (int rank : workers) GoOn(rank);
  }

  // Pulls until all parameters are of one step, then goes on with the next.
  void GoOn(int rank) {
    Worker& worker = workers_[rank];
    if (!worker.to_push.empty() || !worker.unanswered.empty() || worker.finished) return;
    for (const ParameterShard::Result& answer : worker.answers) {
      EXPECT_TRUE(HasValuesOf(plan_, answer, model_.parameters(answer.header.step)))
          << "step " << answer.header.step << " for worker " << rank;
    }
    worker.answers.clear();
    uint64_t newest = 0;
    for (const auto& [place, step] : worker.received) newest = std::max(newest, step);
    std::set<int> behind;
    for (const auto& [place, step] : worker.received) {
      if (step < newest) behind.insert(place.first);
    }
    for (int shard : behind) {
      for (int unit = 0; unit < shards_[shard]->table().size(); ++unit)
        worker.unanswered[{shard, unit}] = newest;
    }
    for (int shard : behind) {
      TakeResults(shard,
                  Take(shards_[shard].get(), {HeaderOf(FrameKind::kPull, rank, newest), {}}));
    }
    if (!behind.empty()) return;
    if (newest < last_step_) return StartStep(&worker, newest + 1);
    worker.finished = true;
    for (const auto& shard : shards_)
      Take(shard.get(), {HeaderOf(FrameKind::kFinish, rank, newest), {}});
  }

  // Worker and unit of all that count in a step of which it is known.
  std::vector<std::pair<int, int>> CountingPushes(int shard, uint64_t step) const {
    std::vector<std::pair<int, int>> pushes;
    for (int worker = 0; worker < layout_.world_size; ++worker) {
      for (int unit = 0; unit < shards_[shard]->table().size(); ++unit) {
        if (step < model_.steps() && model_.Counts(worker, step)) pushes.emplace_back(worker, unit);
      }
    }
    return pushes;
  }

  void ExpectNobodyWaitsWithoutNeed(int shard) const {
    for (int rank = 0; rank < layout_.world_size; ++rank) {
      for (const auto& [place, step] : workers_[rank].unanswered) {
        if (place.first != shard) continue;
        if (pushed_[shard].count({step, place.second, rank}) == 0) {  // a pull
          EXPECT_GE(step, shards_[shard]->open_step());
          continue;
        }
        bool needed = step > 0 && told_[shard] < step;  // it is not known who counts
        for (const auto& [other, unit] : CountingPushes(shard, step)) {
          // The initial parameters are answered when all of the shard's are there.
          if (step == 0 || unit == place.second)
            needed = needed || pushed_[shard].count({step, unit, other}) == 0;
        }
        EXPECT_TRUE(needed) << "worker " << rank << " waits for step " << step << " of shard "
                            << shard;
      }
    }
  }

  const BucketPlan plan_ = PlanWithBuckets({13, 2, 24});
  const ShardLayout layout_;
  const int backups_;
  std::mt19937 random_;
  uint64_t last_step_ = 0;
  Model model_;
  std::vector<std::unique_ptr<ParameterShard>> shards_;
  std::vector<Worker> workers_;
  std::vector<std::deque<Election>> elections_;                   // on their way, by shard
  std::vector<uint64_t> told_;                                    // the last election, by shard
  std::map<uint64_t, std::vector<int>> complete_;                 // on shard 0, by step, in order
  std::vector<std::set<std::tuple<uint64_t, int, int>>> pushed_;  // by shard: step, unit, worker
  std::vector<std::set<std::pair<uint64_t, int>>> late_;          // by shard: step and worker
};

TEST(BackupShardTest, CountsTheFirstAndAnswersAllInAnyOrder) {
  for (int workers = 1; workers <= 4; ++workers) {
    for (int backups = 0; backups < workers; ++backups) {
      for (unsigned seed = 0; seed < 12; ++seed) {
        Job job(workers, backups, 1 + static_cast<int>(seed % 3), TestUpdates()[seed % 2], false,
                seed);
        job.Run(7);
        ASSERT_FALSE(HasFailure())
            << workers << " workers, " << backups << " backups, seed " << seed;
      }
    }
  }
}

// The model of synchronous_shard_test.cc.
TEST(BackupShardTest, WithoutBackupsAndWithFullBatchesItIsSynchronous) {
  for (const NamedUpdate& update : TestUpdates()) {
    for (int workers = 1; workers <= 4; ++workers) {
      Job job(workers, 0, 2, update, true, 9);
      job.Run(6);
      ASSERT_FALSE(HasFailure());
      const BucketPlan& plan = job.plan();
      WholeOptimizer whole(update.optimizer, update.rate,
                           RandomGradients(plan.total_elements(), 0, 0));
      for (int64_t step = 1; step <= 6; ++step) {
        whole.Apply(step, LawfulSums(plan, workers, step));
        EXPECT_TRUE(
            SameBits(whole.parameters(), job.model().parameters(static_cast<uint64_t>(step))));
      }
    }
  }
}

}  // namespace
}  // namespace ringside
