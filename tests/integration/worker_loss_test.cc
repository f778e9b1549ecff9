// A worker that is killed before, during or after its push of a step, in every mode of the
// parameter server: all others end within the lease, and name it. Until then they go as far as
// their mode lets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/integration/scripted_job.h"

namespace ringside {
namespace {

constexpr absl::Duration kLease = absl::Seconds(10);
constexpr int kVictim = 1;
const std::vector<int> kSurvivors = {0, 2};
constexpr int64_t kStep = 3;  // in which the worker is lost
constexpr int kBuckets = 6;
constexpr int64_t kAnything = -1;

struct Mode {
  std::string name;
  std::vector<std::string> flags;
  // The last step that the others finish: while the lost worker has not pushed all of step kStep,
  // and when it has. kAnything: they are not held up.
  int64_t last_before;
  int64_t last_after;
};

struct Moment {
  std::string name;
  int buckets;  // that the worker has pushed of the step
};

void PrintTo(const Mode& mode, std::ostream* out) { *out << mode.name; }
void PrintTo(const Moment& moment, std::ostream* out) { *out << moment.name; }

using Loss = std::tuple<Mode, Moment, std::string>;  // and the link

class WorkerLossTest : public ::testing::TestWithParam<Loss> {
 protected:
  static const Mode& mode() { return std::get<0>(GetParam()); }
  static const Moment& moment() { return std::get<1>(GetParam()); }

  // Everybody is in step kStep: the victim has pushed what it is to push, and the shards have it;
  // the others have pushed nothing of it.
  static void AwaitTheMoment(ScriptedJob* job) {
    for (int rank : kSurvivors) ASSERT_TRUE(job->AwaitHalt(rank, kStep, 0)) << job->Outputs();
    ASSERT_TRUE(job->AwaitHalt(kVictim, kStep, moment().buckets)) << job->Outputs();
    const auto submitted = [&] {
      int64_t sum = 0;
      for (int rank = 0; rank < job->workers(); ++rank) sum += job->UnitsSubmitted(rank);
      return sum;
    };
    ASSERT_TRUE(AwaitCondition([&] { return job->FramesReceived() == submitted(); }, kSoon))
        << job->FramesReceived() << " of " << submitted() << "\n"
        << job->Outputs();
    ASSERT_TRUE(job->AwaitReported(kVictim, kStep - 1)) << job->Outputs();
  }

  // That all processes but the victim end with one verdict, which is the victim.
  static void ExpectAllToNameTheVictim(ScriptedJob* job, absl::Time killed) {
    std::vector<TestProcess*> others = {&job->shard(0), &job->shard(1)};
    for (int rank : kSurvivors) others.push_back(&job->worker(rank));
    std::string verdict;
    for (TestProcess* other : others) {
      const TestProcess::Ended ended = other->Wait(kSoon);
      EXPECT_EQ(ended.status, 1) << ended.output;
      const size_t at = ended.output.find(absl::StrCat("worker ", kVictim, " was lost at step "));
      ASSERT_NE(at, std::string::npos) << job->Outputs();
      const std::string own = ended.output.substr(at, ended.output.find('\n', at) - at);
      if (verdict.empty()) verdict = own;
      EXPECT_EQ(own, verdict);
    }
    EXPECT_LT(absl::Now() - killed, kLease) << job->Outputs();
    // The last step that it has finished; or the one that a shard has open, if that is heard first:
    // in modes that do not wait for the victim it may be later.
    int64_t latest = kStep;
    for (int rank : kSurvivors) latest = std::max(latest, job->StepsFinished(rank) + 2);
    std::vector<std::string> right;
    for (int64_t step = kStep - 1; step <= latest; ++step)
      right.push_back(absl::StrCat("worker ", kVictim, " was lost at step ", step, ": "));
    EXPECT_THAT(right, ::testing::Contains(verdict.substr(0, verdict.find(": ") + 2))) << verdict;
  }
};

TEST_P(WorkerLossTest, IsNamedByAll) {
  ScriptedJob::Config config;
  config.model = {kBuckets, 240};
  config.shards = 2;
  config.lease = kLease;
  config.flags = mode().flags;
  config.flags.push_back("--ps_link=" + std::get<2>(GetParam()));
  config.flags.push_back("--steps=100000000");
  config.scripts.assign(3, absl::StrCat(kStep, ":0:hold,", kStep, ":", kBuckets, ":say"));
  config.scripts[kVictim] = absl::StrCat(kStep, ":", moment().buckets, ":hold");
  ScriptedJob job(std::move(config));
  ASSERT_NO_FATAL_FAILURE(AwaitTheMoment(&job));

  const bool pushed_all = moment().buckets == kBuckets;
  if (pushed_all) {  // and it shall not read what comes back
    job.worker(kVictim).Signal(SIGSTOP);
    ASSERT_TRUE(job.AwaitStopped(kVictim));
  }
  job.Resume(kSurvivors);
  const int64_t last = pushed_all ? mode().last_after : mode().last_before;
  for (int rank : kSurvivors) {
    ASSERT_TRUE(job.AwaitHalt(rank, kStep, kBuckets)) << job.Outputs();
    const int64_t awaited = last == kAnything ? kStep + 3 : last;
    ASSERT_TRUE(awaited < kStep || job.AwaitFinished(rank, awaited)) << job.Outputs();
  }
  const absl::Time killed = absl::Now();
  job.worker(kVictim).Signal(SIGKILL);
  ExpectAllToNameTheVictim(&job, killed);
  for (int rank : kSurvivors) {
    EXPECT_TRUE(last == kAnything || job.StepsFinished(rank) == last) << job.Outputs();
  }
}

// A worker of ssp that has finished step t waits in step t + 1 until the slowest has pushed all of
// step t + 1 - staleness. Backup workers make up for a slow worker, not for a lost one.
const auto kModes = ::testing::Values(
    Mode{"Sync", {}, kStep - 1, kStep}, Mode{"SyncOnServer", {"--update=server"}, kStep - 1, kStep},
    Mode{"Async", {"--ps_mode=async"}, kAnything, kAnything},
    Mode{"Ssp", {"--ps_mode=ssp", "--staleness=1"}, kStep, kStep + 1},
    Mode{"Backup", {"--ps_mode=backup", "--backup_workers=1"}, kAnything, kAnything});
const Moment kDuring = {"During", kBuckets / 2};

std::string NameOf(const ::testing::TestParamInfo<Loss>& info) {
  return absl::StrCat(std::get<0>(info.param).name, std::get<1>(info.param).name, "Push");
}

INSTANTIATE_TEST_SUITE_P(OverTcp, WorkerLossTest,
                         ::testing::Combine(kModes,
                                            ::testing::Values(Moment{"Before", 0}, kDuring,
                                                              Moment{"After", kBuckets}),
                                            ::testing::Values("grpc_tcp")),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(OverSharedMemory, WorkerLossTest,
                         ::testing::Combine(kModes, ::testing::Values(kDuring),
                                            ::testing::Values("shm")),
                         NameOf);

}  // namespace
}  // namespace ringside
