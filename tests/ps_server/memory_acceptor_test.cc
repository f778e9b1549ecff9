// Workers that do not behave on the socket where memory is exchanged. Good ones: ps_summer_test.
#include "ps_server/memory_acceptor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "common/logging.h"
#include "common/sha256.h"
#include "tests/testing/ps_cluster.h"
#include "tests/testing/random_gradients.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

absl::Time Later() { return absl::Now() + absl::Seconds(30); }

PsCluster::Options OverMemory() {
  PsCluster::Options options{PlanWithBuckets({8}), {2, 1, 16}};
  options.ps_link = "shm";
  return options;
}

class MemoryAcceptorTest : public ::testing::Test {
 protected:
  static MemoryHello GoodHello() { return {1, 0, 0, Sha256Hex(absl::string_view("sesame"))}; }
  std::unique_ptr<Socket> Call() { return *Socket::ConnectLocal(cluster_.memory_name(0)); }
  // Says hello and returns the verdict.
  MemoryVerdict VerdictOn(Socket* socket, const MemoryHello& hello) {
    EXPECT_TRUE(WriteFully(socket, Encode(hello), Later()).ok());
    uint8_t verdict = 0;
    EXPECT_TRUE(ReadFully(socket, absl::MakeSpan(&verdict, 1), Later()).ok());
    return static_cast<MemoryVerdict>(verdict);
  }
  MemoryVerdict VerdictOn(const MemoryHello& hello) { return VerdictOn(Call().get(), hello); }
  void ExpectThatAGoodWorkerGetsIn() {
    const auto summer = PsSummer::Create(cluster_.WorkerConfig(1));
    ASSERT_TRUE(summer.ok()) << summer.status();
    EXPECT_EQ((*summer)->links(), "shm");
  }

  PsCluster cluster_{OverMemory()};
};

TEST_F(MemoryAcceptorTest, RefusesStrangersByVerdict) {
  MemoryHello hello = GoodHello();
  hello.token_sha256 = Sha256Hex(absl::string_view("guess"));
  EXPECT_EQ(VerdictOn(hello), MemoryVerdict::kWrongToken);
  hello = GoodHello();
  hello.generation = 2;
  EXPECT_EQ(VerdictOn(hello), MemoryVerdict::kWrongGeneration);
  hello = GoodHello();
  hello.shard = 1;
  EXPECT_EQ(VerdictOn(hello), MemoryVerdict::kWrongShard);
  hello = GoodHello();
  hello.rank = 2;
  EXPECT_EQ(VerdictOn(hello), MemoryVerdict::kWrongRank);
  ExpectThatAGoodWorkerGetsIn();
}

TEST_F(MemoryAcceptorTest, AWorkerWithAWrongTokenIsRefusedByTheStreamToo) {
  PsSummer::Config config = cluster_.WorkerConfig(0);
  config.token = "guess";
  SetLogName("test");
  testing::internal::CaptureStderr();
  EXPECT_EQ(PsSummer::Create(config).status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("no shared memory with shard 0 (the tokens differ"));
}

TEST_F(MemoryAcceptorTest, SilentCallersAndOnesThatTalkNonsenseHoldNobodyUp) {
  const std::unique_ptr<Socket> silent = Call();
  const std::unique_ptr<Socket> babbler = Call();
  const std::vector<uint8_t> nonsense(kMemoryHelloBytes, 'x');
  ASSERT_TRUE(WriteFully(babbler.get(), nonsense, Later()).ok());
  ExpectThatAGoodWorkerGetsIn();
}

TEST_F(MemoryAcceptorTest, AWorkerThatDiesInTheMiddleHoldsNobodyUp) {
  for (const bool has_offered : {false, true}) {
    std::unique_ptr<Socket> dying = Call();
    ASSERT_EQ(VerdictOn(dying.get(), GoodHello()), MemoryVerdict::kWelcome);
    if (has_offered) {
      MemoryExchange exchange(dying.get(), PeerMemory::Access::kRead);
      ASSERT_TRUE(exchange.Offer({cluster_.gradients(0).memory_fd()}, Later()).ok());
    }
    dying.reset();
  }
  ExpectThatAGoodWorkerGetsIn();
}

// Whoever hangs after the welcome is broken off when the shard ends.
TEST_F(MemoryAcceptorTest, AWorkerThatHangsDoesNotHoldUpTheEnd) {
  const std::unique_ptr<Socket> hanging = Call();
  ASSERT_EQ(VerdictOn(hanging.get(), GoodHello()), MemoryVerdict::kWelcome);
}

TEST_F(MemoryAcceptorTest, AnUnknownTicketIsRefusedByName) {
  EXPECT_EQ(cluster_.service(0).AdmitMemory(0, nullptr), 1u);
  ShardStream::Config config;
  config.link.target = ToString(cluster_.endpoint(0));
  config.token = "sesame";
  config.generation = 1;
  config.plan_hash = PlanWithBuckets({8}).hash();
  std::vector<FileDescriptor> files;
  files.emplace_back(dup(cluster_.gradients(0).memory_fd()));
  config.link.memory = *PeerMemory::Map(files);
  config.link.ticket = 2;

  class Ended final : public ShardStream::Listener {
   public:
    void OnShardConnected(int /*shard*/) override {}
    void OnShardFrame(int /*shard*/, ReceivedFrame /*frame*/) override {}
    void OnShardEnded(int /*shard*/, const absl::Status& how) override {
      MutexLock lock(&mutex_);
      how_ = how;
      ended_ = true;
      changed_.NotifyAll();
    }
    absl::Status Await() {
      MutexLock lock(&mutex_);
      while (!ended_) changed_.Wait(&mutex_);
      return how_;
    }

   private:
    Mutex mutex_;
    CondVar changed_;
    bool ended_ ABSL_GUARDED_BY(mutex_) = false;
    absl::Status how_ ABSL_GUARDED_BY(mutex_);
  } ended;
  LentSlices lent;
  ShardStream stream(config, &lent, &ended);
  stream.Start();
  const absl::Status how = ended.Await();
  stream.CloseConnection();
  EXPECT_EQ(how.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(how.message()),
              HasSubstr("shard 0 refuses worker 0: it knows no memory by ticket 2"));
}

}  // namespace
}  // namespace ringside
