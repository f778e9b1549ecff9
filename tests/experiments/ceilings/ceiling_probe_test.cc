#include "experiments/ceilings/ceiling_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "absl/time/clock.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/network/socket.h"
#include "experiments/ceilings/memory_ceiling.h"
#include "experiments/ceilings/socket_ceiling.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

// Far more than any of them takes, far less than for ever.
constexpr absl::Duration kLimit = absl::Seconds(20);

void ExpectSane(const SocketCeiling& ceiling) {
  EXPECT_GT(ceiling.bytes_per_s(), 1e6);
  EXPECT_LT(ceiling.bytes_per_s(), 1e12);
  EXPECT_GT(ceiling.round_trip_us(), 0.1);
  EXPECT_LT(ceiling.round_trip_us(), 1e6);
}

void ExpectSane(const MemoryCeiling& ceiling) {
  for (const double rate : {ceiling.copy_bytes_per_s(), ceiling.add_bytes_per_s()}) {
    EXPECT_GT(rate, 1e7);
    EXPECT_LT(rate, 1e13);
  }
}

struct Connection {
  std::unique_ptr<ByteStream> near;
  std::unique_ptr<ByteStream> far;
};

Connection Connect() {
  auto listener = ListeningSocket::BindLocal();
  EXPECT_TRUE(listener.ok()) << listener.status();
  auto near = Socket::ConnectLocal((*listener)->name());
  auto far = (*listener)->Accept(absl::Now() + kLimit);
  EXPECT_TRUE(near.ok() && far.ok());
  return {*std::move(near), *std::move(far)};
}

TEST(SocketCeilingTest, TcpAndUnixSocketsHaveRates) {
  const absl::Time start = MonotonicNow();
  const auto tcp = ProbeTcp();
  ASSERT_TRUE(tcp.ok()) << tcp.status();
  ExpectSane(*tcp);
  const auto uds = ProbeUnixSocket();
  ASSERT_TRUE(uds.ok()) << uds.status();
  ExpectSane(*uds);
  EXPECT_LT(MonotonicNow() - start, kLimit);
}

TEST(SocketCeilingTest, APortThatIsRefusedIsSaidAtOnce) {
  const auto taken = ListeningSocket::Bind({"127.0.0.1", "127.0.0.1", {}});
  ASSERT_TRUE(taken.ok()) << taken.status();
  const absl::Time start = MonotonicNow();
  const int port = (*taken)->port();
  EXPECT_TRUE(absl::IsUnavailable(ProbeTcp({"127.0.0.1", "127.0.0.1", {port, port}}).status()));
  // Of a network for documentation: no address of this host.
  EXPECT_TRUE(absl::IsUnavailable(ProbeTcp({"203.0.113.7", "203.0.113.7", {}}).status()));
  EXPECT_LT(MonotonicNow() - start, kLimit);
}

TEST(SocketCeilingTest, AnEndThatIsClosedIsNotWaitedFor) {
  Connection connection = Connect();
  Connection other = Connect();
  connection.far.reset();
  other.near.reset();
  EXPECT_TRUE(absl::IsUnavailable(
      ProbeConnection(std::move(connection.near), std::move(other.far)).status()));
}

TEST(SocketCeilingTest, AnEndThatIsSilentIsWaitedForInVainButNotForEver) {
  Connection connection = Connect();  // its far end reads nothing
  Connection other = Connect();       // its near end writes nothing
  const absl::Time start = MonotonicNow();
  const auto ceiling = ProbeConnection(std::move(connection.near), std::move(other.far));
  EXPECT_TRUE(absl::IsDeadlineExceeded(ceiling.status())) << ceiling.status();
  EXPECT_LT(MonotonicNow() - start, kLimit);
}

TEST(MemoryCeilingTest, CoresHaveRatesAloneAndTogether) {
  for (const int cores : {1, 2, 40}) {
    const auto ceilings = ProbeMemory(cores);
    ASSERT_TRUE(ceilings.ok()) << ceilings.status();
    ExpectSane(ceilings->one_core);
    ExpectSane(ceilings->all_cores);
    EXPECT_GT(ceilings->cached_copy_bytes_per_s, 1e7);
  }
}

TEST(CeilingProbeTest, ProbesOnce) {
  CeilingProbe probe;
  const Ceilings first = probe.Get();
  EXPECT_GE(first.cores(), 1);
  ExpectSane(first.tcp());
  ExpectSane(first.uds());
  ExpectSane(first.one_core());
  ExpectSane(first.all_cores());
  EXPECT_EQ(probe.Get().SerializeAsString(), first.SerializeAsString());
}

TEST(CeilingProbeTest, IsForSeveralProcessesOfOneMachine) {
  JobConfig job;
  job.strategy = "ring";
  job.workers = 1;
  EXPECT_FALSE(NeedsCeilings(job));
  job.workers = 2;
  EXPECT_TRUE(NeedsCeilings(job));
  job.network = "1gbit";
  EXPECT_FALSE(NeedsCeilings(job));
  job.strategy = "local";
  EXPECT_FALSE(NeedsCeilings(job));
  job.network = "";
  EXPECT_FALSE(NeedsCeilings(job));
  job.strategy = "ps";
  job.workers = 1;
  EXPECT_TRUE(NeedsCeilings(job));
}

}  // namespace
}  // namespace ringside
