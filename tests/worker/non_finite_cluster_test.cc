// One rank of several has a NaN: real rings and real parameter servers, which carry it to all, and
// a real coordinator, by which the ranks ask each other. All in this process, a thread a rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/suspects.h"
#include "tests/common/coordinator/coordinator_cluster.h"
#include "tests/testing/ps_cluster.h"
#include "tests/testing/ring_cluster.h"
#include "worker/coordinator_census.h"
#include "worker/synchronizers/all_reduce_summer.h"
#include "worker/synchronizers/local_summer.h"
#include "worker/synchronizers/server_update.h"
#include "worker/synchronizers/synchronous_update.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kBadStep = 2;

BucketPlan Plan() { return *BucketPlan::Create({{"a", {100, 7}}, {"b", {31}}}, 4, 4); }

PsCluster::Options PsOptions(int ranks, PsPolicy policy = {}) {
  PsCluster::Options options{Plan(), {ranks, /*num_shards=*/2, /*frame_bytes=*/256}};
  options.policy = policy;
  return options;
}

// Of step and rank; the bad rank's of the bad step has a NaN in "b", element 3.
std::vector<float> Gradients(int rank, int64_t step, int bad_rank) {
  std::vector<float> values(Plan().total_elements());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = 0.001f * static_cast<float>((i * 7 + rank * 13 + step * 5) % 101) - 0.05f;
  }
  if (rank == bad_rank && step == kBadStep) values[703] = kNan;
  return values;
}

void SubmitAll(GradientSynchronizer* synchronizer, int rank, int64_t step,
               const std::vector<float>& gradients) {
  const BucketPlan plan = Plan();
  for (int bucket = 0; bucket < plan.size(); ++bucket) {
    const ElementRange& range = plan.bucket(bucket);
    synchronizer->Submit(
        {step, rank, bucket, absl::MakeConstSpan(gradients).subspan(range.begin, range.length), 1});
  }
}

struct Outcome {
  absl::Status status;
  std::vector<std::string> skipped;  // by step, from 1
  std::vector<float> parameters;
};

// Three steps of one rank.
Outcome Train(GradientSynchronizer* synchronizer, const std::vector<int>& ranks, int bad_rank) {
  Outcome outcome;
  outcome.parameters.assign(Plan().total_elements(), 0.5f);
  outcome.status = synchronizer->Start(absl::MakeSpan(outcome.parameters));
  for (int64_t step = 1; outcome.status.ok() && step <= 3; ++step) {
    std::vector<std::vector<float>> lent;
    lent.reserve(ranks.size());
    for (int rank : ranks) {
      lent.push_back(Gradients(rank, step, bad_rank));
      SubmitAll(synchronizer, rank, step, lent.back());
    }
    auto stats = synchronizer->Finish(step);
    outcome.status = stats.status();
    if (stats.ok()) outcome.skipped.push_back(stats->skipped);
  }
  return outcome;
}

class NonFiniteClusterTest : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr int kRanks = 3;
  static constexpr int kBadRank = 1;

  std::unique_ptr<GradientSummer> RingSummer(int rank, std::unique_ptr<AllReducer> reducer) {
    auto sums = *Arena::Create(Plan().total_elements(), Arena::Placement::kHeap);
    AllReduceSummer::Config config{
        Group::World(kRanks, rank, 3), Plan(), std::move(reducer), std::move(sums), kLong, nullptr};
    config.expected_traffic = [](int64_t) { return TrafficCounters(); };
    return *AllReduceSummer::Create(std::move(config));
  }

  std::vector<Outcome> Run(bool skip, double clip_norm, const std::string& optimizer) {
    std::vector<std::unique_ptr<AllReducer>> reducers;
    std::unique_ptr<PsCluster> servers;
    const bool ring = std::string(GetParam()) == "ring";
    if (ring) {
      reducers = *MakeRingReducers(kRanks, 256);
    } else {
      servers = std::make_unique<PsCluster>(PsOptions(kRanks));
    }
    const auto coordinator = StartServer(ServerConfig());
    const Clients clients = JoinAll(*coordinator, kRanks);
    std::vector<Outcome> outcomes(kRanks);
    InParallel(kRanks, [&](int rank) {
      std::unique_ptr<GradientSummer> summer;
      if (ring) {
        summer = RingSummer(rank, std::move(reducers[rank]));
      } else {
        summer = *PsSummer::Create(servers->WorkerConfig(rank));
      }
      SynchronousUpdate::Config config{Plan(), {rank}, {}, std::move(summer)};
      config.optimizer.name = optimizer;
      config.clip_norm = clip_norm;
      config.skip_nonfinite = skip;
      config.census = std::make_unique<CoordinatorCensus>(
          clients[rank].get(), WorkersOf(clients[rank]->membership()), kLong);
      const auto synchronizer = *SynchronousUpdate::Create(std::move(config));
      outcomes[rank] = Train(synchronizer.get(), {rank}, kBadRank);
      if (outcomes[rank].status.ok()) outcomes[rank].status = synchronizer->Shutdown().status();
    });
    return outcomes;
  }
};

const char kLine[] =
    "step 2: the gradient of worker 1 is not finite: nan in b, element 3; 1 element in all";

TEST_P(NonFiniteClusterTest, StopEndsEveryRankWithTheOneThatItWas) {
  const std::vector<Outcome> outcomes = Run(/*skip=*/false, 0, "sgd");
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(outcomes[rank].status.code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(outcomes[rank].status.message(), kLine);
    EXPECT_EQ(SuspectsOf(outcomes[rank].status).empty(), rank == kBadRank);
  }
}

TEST_P(NonFiniteClusterTest, SkippingGivesAllRanksTheBitsOfLocal) {
  for (const char* optimizer : {"adam", "lars"}) {
    SynchronousUpdate::Config config{Plan(), {0, 1, 2}, {}, *LocalSummer::Create({kRanks, Plan()})};
    config.optimizer.name = optimizer;
    config.clip_norm = 0.25;
    config.skip_nonfinite = true;
    const auto synchronizer = *SynchronousUpdate::Create(std::move(config));
    const Outcome local = Train(synchronizer.get(), {0, 1, 2}, kBadRank);
    ASSERT_TRUE(local.status.ok()) << local.status;
    for (const Outcome& outcome : Run(/*skip=*/true, 0.25, optimizer)) {
      ASSERT_TRUE(outcome.status.ok()) << outcome.status;
      EXPECT_EQ(outcome.skipped, (std::vector<std::string>{"", kLine, ""}));
      EXPECT_EQ(local.skipped, outcome.skipped);
      EXPECT_EQ(std::memcmp(outcome.parameters.data(), local.parameters.data(),
                            local.parameters.size() * sizeof(float)),
                0);
    }
  }
}

// One worker has the sum and asks; another lacks a part of it, which was lost with a shard, and
// waits for all. Neither waits for the other: all alike go without a census.
TEST(CensusTest, EndsForAllWhereAShardIsReplaced) {
  CoordinatorServer::Config config = ServerConfig();
  config.restart_shards = 1;
  const auto server = StartServer(config);
  Clients clients = JoinAll(*server, /*workers=*/2, /*shards=*/1);
  const std::vector<MemberId> workers = WorkersOf(clients[0]->membership());
  CoordinatorCensus censuses[] = {{clients[0].get(), workers, kLong},
                                  {clients[1].get(), workers, kLong}};
  InParallel(2, [&](int rank) {  // as long as nothing is lost
    const auto answers = censuses[rank].Ask(1, rank == 0 ? "a" : "b");
    ASSERT_TRUE(answers.ok()) << answers.status();
    EXPECT_EQ(*answers, (std::vector<std::string>{"a", "b"}));
  });
  const absl::Time start = absl::Now();
  InParallel(2, [&](int i) {
    if (i == 0) {
      const absl::Status status = censuses[0].Ask(2, "a").status();
      ExpectAborted(status, workers, "shard 0 was lost");
      return;
    }
    clients[2].reset();
    const absl::Status broken = WithSuspects(absl::UnavailableError("link broke"), {ShardId(0)});
    std::thread replacement([&] {
      auto joined =
          CoordinatorClient::Join(ClientConfig(server->endpoint()), Request(ShardId(0), 2, 1));
      ASSERT_TRUE(joined.ok()) << joined.status();
      clients[2] = *std::move(joined);
    });
    const auto recovery = clients[1]->AwaitRecovery(broken, 2, 0);
    EXPECT_TRUE(recovery.ok()) << recovery.status();
    replacement.join();
    // It has the sum now, and asks too; so it is with later steps.
    for (int64_t step : {2, 3}) {
      ExpectAborted(censuses[1].Ask(step, "b").status(), workers, "shard 0 was lost");
    }
  });
  EXPECT_LT(absl::Now() - start, kLong);
  InParallel(3, [&](int i) {
    const auto met =
        clients[i]->GatherForAll("recovery-1", EveryoneOf(clients[i]->membership()), "", kLong);
    EXPECT_TRUE(met.ok()) << met.status();
  });
  for (auto& client : clients) EXPECT_TRUE(client->Leave().ok());
}

INSTANTIATE_TEST_SUITE_P(Strategies, NonFiniteClusterTest, ::testing::Values("ring", "ps"),
                         [](const auto& info) { return std::string(info.param); });

// Shards that update see no sum: the worker itself keeps its NaN from them.
TEST(NonFiniteServerTest, AWorkerPushesNoNan) {
  PsPolicy policy;
  policy.mode = PsMode::kAsync;
  PsCluster cluster(PsOptions(1, policy));
  ServerUpdate update(Plan(), 0, *PsExchange::Create(cluster.WorkerConfig(0)));
  const Outcome outcome = Train(&update, {0}, /*bad_rank=*/0);
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(outcome.status.message()),
              HasSubstr("step 2: the gradient of worker 0 is not finite: nan in b, element 3"));
  EXPECT_EQ(outcome.skipped.size(), 1u);
  for (float value : outcome.parameters) EXPECT_EQ(value, value);
}

TEST(NonFiniteServerTest, NorInitialParameters) {
  PsPolicy policy;
  policy.update_on_server = true;
  PsCluster cluster(PsOptions(1, policy));
  ServerUpdate update(Plan(), 0, *PsExchange::Create(cluster.WorkerConfig(0)));
  std::vector<float> parameters(Plan().total_elements(), 1.0f);
  parameters[5] = kNan;
  EXPECT_THAT(std::string(update.Start(absl::MakeSpan(parameters)).message()),
              HasSubstr("those of worker 0, are not finite: nan in a, element 5"));
}

}  // namespace
}  // namespace ringside
