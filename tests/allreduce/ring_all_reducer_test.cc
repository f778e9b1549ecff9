#include "allreduce/ring_all_reducer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "common/suspects.h"
#include "tests/allreduce/all_reducer_suite.h"
#include "tests/allreduce/scripted_peer.h"
#include "tests/testing/ring_cluster.h"

namespace ringside {
namespace {

using testing::HasSubstr;

AllReducerCase RingCase(const std::string& name, int64_t segment_bytes) {
  return {name, [segment_bytes](int ranks) { return MakeRingReducers(ranks, segment_bytes); },
          segment_bytes / 4};
}

INSTANTIATE_TEST_SUITE_P(Ring, AllReducerSuite,
                         testing::Values(RingCase("OneElementSegments", 4),
                                         RingCase("SmallSegments", 64),
                                         RingCase("Segments16KiB", 16 << 10)),
                         AllReducerCaseName);

// More than sockets buffer, so that the ring stands still unless every rank sends while it
// receives.
TEST(RingAllReducerTest, LargeBuffersDoNotBlockTheRing) {
  constexpr int kRanks = 2;
  constexpr int64_t kElements = 4 << 20;
  auto reducers = MakeRingReducers(kRanks, kMaxFramePayloadBytes);
  ASSERT_TRUE(reducers.ok()) << reducers.status();
  std::vector<std::vector<float>> buffers(kRanks, std::vector<float>(kElements, 1));
  const std::vector<absl::Status> statuses = RunRanks(kRanks, [&](int rank) {
    return (*reducers)[rank]->Sum({1, 0}, buffers[rank], absl::MakeSpan(buffers[rank]));
  });
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_TRUE(statuses[rank].ok()) << statuses[rank];
    EXPECT_EQ(buffers[rank], std::vector<float>(kElements, 2));
  }
}

TEST(RingAllReducerTest, TracesBothPhasesOfTheStepsInTheWindow) {
  constexpr int kRanks = 3;
  TraceBuffer buffer({2, 2}, 100);
  auto reducers = MakeReducers(kRanks, [&buffer](int rank, ReducerConfig* config) {
    if (rank == 1) config->trace = &buffer;
  });
  ASSERT_TRUE(reducers.ok()) << reducers.status();
  std::vector<std::vector<float>> buffers(kRanks, std::vector<float>(1000, 1));
  for (uint64_t step = 1; step <= 3; ++step) {
    for (const absl::Status& status : RunRanks(kRanks, [&](int rank) {
           return (*reducers)[rank]->Sum({step, 4}, buffers[rank], absl::MakeSpan(buffers[rank]));
         })) {
      ASSERT_TRUE(status.ok()) << status;
    }
  }
  ProcessTrace trace;
  buffer.AppendTo(&trace);
  ASSERT_EQ(trace.spans_size(), 2);
  const TraceSpan& scatter = trace.spans(0);
  const TraceSpan& gather = trace.spans(1);
  EXPECT_EQ(scatter.kind(), TRACE_REDUCE_SCATTER);
  EXPECT_EQ(gather.kind(), TRACE_ALL_GATHER);
  EXPECT_EQ(scatter.step(), 2);
  EXPECT_EQ(gather.bucket(), 4);
  EXPECT_EQ(gather.peer(), 1);
  EXPECT_LT(scatter.begin_ns(), gather.begin_ns());
  EXPECT_LE(scatter.end_ns(), gather.end_ns());
}

TEST(RingAllReducerTest, RefusesABadConfiguration) {
  const auto create = [](const std::function<void(RingAllReducer::Config*)>& adjust) {
    RingAllReducer::Config config;
    config.group = Group::World(1, 0, 0);
    adjust(&config);
    return RingAllReducer::Create(std::move(config)).status();
  };
  EXPECT_TRUE(create([](auto*) {}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(create([](auto* config) { config->group.index = 1; })));
  EXPECT_TRUE(
      absl::IsInvalidArgument(create([](auto* config) { config->group = Group::World(2, 0, 0); })));
  EXPECT_TRUE(absl::IsInvalidArgument(create([](auto* config) { config->segment_bytes = 3; })));
  EXPECT_TRUE(
      absl::IsInvalidArgument(create([](auto* config) { config->segment_bytes = (1 << 20) + 1; })));
  EXPECT_TRUE(absl::IsInvalidArgument(create([](auto* config) { config->lookahead = 0; })));
  EXPECT_TRUE(absl::IsInvalidArgument(
      create([](auto* config) { config->wire_dtype = WireDtype::kBFloat16; })));
  EXPECT_TRUE(absl::IsInvalidArgument(
      create([](auto* config) { config->step_timeout = absl::ZeroDuration(); })));
}

// Ring of two, 8 elements in segments of 2: worker 0 is due to receive reduce-scatter at offsets 4
// and 6, then all-gather at 0 and 2.
class MisbehavingPeerTest : public testing::Test {
 protected:
  static constexpr int64_t kSegmentBytes = 8;

  static FrameHeader Due(int number, uint64_t step = 5, uint32_t bucket = 1) {
    static constexpr uint64_t kOffsets[] = {4, 6, 0, 2};
    return ScriptedPeer::Frame(number < 2 ? FrameKind::kReduceScatter : FrameKind::kAllGather, step,
                               bucket, kOffsets[number], 2);
  }

  absl::Status SumOn(ScriptedPeer* peer) {
    std::vector<float> buffer(8, 1);
    return peer->reducer()->Sum({5, 1}, buffer, absl::MakeSpan(buffer));
  }

  // Expects the error, worker 1 as the one suspect, and that the error is sticky.
  void ExpectError(ScriptedPeer* peer, absl::StatusCode code, const std::string& part) {
    const absl::Status status = SumOn(peer);
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(part));
    EXPECT_THAT(std::string(status.message()), HasSubstr("in step 5 bucket 1"));
    EXPECT_EQ(ToString(SuspectsOf(status)), "worker 1") << status;
    EXPECT_EQ(SumOn(peer), status);
  }
};

TEST_F(MisbehavingPeerTest, AGoodPeerIsAccepted) {
  ScriptedPeer peer(kSegmentBytes);
  for (int i = 0; i < 4; ++i) peer.SendFrame(Due(i), 10);
  std::vector<float> in(8, 1);
  std::vector<float> out(8);
  ASSERT_TRUE(peer.reducer()->Sum({5, 1}, in, absl::MakeSpan(out)).ok());
  EXPECT_EQ(out, std::vector<float>({10, 10, 10, 10, 11, 11, 11, 11}));
}

TEST_F(MisbehavingPeerTest, DuplicateSegment) {
  ScriptedPeer peer(kSegmentBytes);
  peer.SendFrame(Due(0));
  peer.SendFrame(Due(0));
  ExpectError(&peer, absl::StatusCode::kFailedPrecondition,
              "a duplicate: received reduce-scatter of step 5 bucket 1 offset 4");
}

TEST_F(MisbehavingPeerTest, MissingSegment) {
  ScriptedPeer peer(kSegmentBytes);
  peer.SendFrame(Due(1));
  ExpectError(&peer, absl::StatusCode::kFailedPrecondition, "a gap: frames before it are missing");
}

TEST_F(MisbehavingPeerTest, SwappedSegmentsOfTheSecondPhase) {
  ScriptedPeer peer(kSegmentBytes);
  for (const int i : {0, 1, 3, 2}) peer.SendFrame(Due(i));
  ExpectError(&peer, absl::StatusCode::kFailedPrecondition, "a gap");
}

TEST_F(MisbehavingPeerTest, FrameOfAnEarlierSum) {
  ScriptedPeer peer(kSegmentBytes);
  peer.SendFrame(Due(0, 5, 0));
  ExpectError(&peer, absl::StatusCode::kFailedPrecondition, "a duplicate of an earlier sum");
}

TEST_F(MisbehavingPeerTest, FrameOfALaterSum) {
  ScriptedPeer peer(kSegmentBytes);
  peer.SendFrame(Due(0));
  peer.SendFrame(Due(0, 6, 0));
  ExpectError(&peer, absl::StatusCode::kFailedPrecondition,
              "a gap: frames of this sum are missing");
}

TEST_F(MisbehavingPeerTest, StaleGeneration) {
  ScriptedPeer peer(kSegmentBytes);
  FrameHeader frame = Due(0);
  frame.generation = ScriptedPeer::kGeneration - 1;
  peer.SendFrame(frame);
  ExpectError(&peer, absl::StatusCode::kFailedPrecondition, "a stale generation");
}

TEST_F(MisbehavingPeerTest, WrongLength) {
  ScriptedPeer peer(kSegmentBytes);
  FrameHeader frame = Due(0);
  frame.elements = 1;
  peer.SendFrame(frame);
  ExpectError(&peer, absl::StatusCode::kInvalidArgument, "a wrong length");
}

TEST_F(MisbehavingPeerTest, ForeignSenderOrGroup) {
  for (const bool sender : {true, false}) {
    ScriptedPeer peer(kSegmentBytes);
    FrameHeader frame = Due(0);
    (sender ? frame.sender : frame.group) = 7;
    peer.SendFrame(frame);
    ExpectError(&peer, absl::StatusCode::kInvalidArgument,
                "a frame that does not belong on this link");
  }
}

TEST_F(MisbehavingPeerTest, OffsetOutsideOfTheSchedule) {
  ScriptedPeer peer(kSegmentBytes);
  FrameHeader frame = Due(0);
  frame.offset = uint64_t{1} << 60;
  peer.SendFrame(frame);
  ExpectError(&peer, absl::StatusCode::kFailedPrecondition,
              "a frame that the schedule does not have");
}

TEST_F(MisbehavingPeerTest, NoFrameAtAll) {
  ScriptedPeer peer(kSegmentBytes);
  peer.SendBytes(std::vector<uint8_t>(64, 0x55));
  ExpectError(&peer, absl::StatusCode::kInvalidArgument, "from worker 1: malformed frame");
}

TEST_F(MisbehavingPeerTest, PeerClosesInTheMiddleOfAFrame) {
  ScriptedPeer peer(kSegmentBytes);
  peer.SendFrame(Due(0));
  peer.SendBytes(EncodeFrameHeader(Due(1)));
  peer.CloseSending();
  ExpectError(&peer, absl::StatusCode::kUnavailable,
              "connection from worker 1: the peer has closed the connection");
}

TEST_F(MisbehavingPeerTest, PeerThatNoLongerTakesDataIsNamed) {
  ScriptedPeer peer(kMaxFramePayloadBytes);
  peer.CloseReceiving();
  std::vector<float> buffer(4 << 20, 1);
  const absl::Status status = peer.reducer()->Sum({5, 1}, buffer, absl::MakeSpan(buffer));
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("connection to worker 1"));
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 1");
}

TEST_F(MisbehavingPeerTest, SilentPeerIsNamedAtTheDeadline) {
  ScriptedPeer peer(kSegmentBytes, absl::Milliseconds(50));
  peer.SendFrame(Due(0));
  ExpectError(&peer, absl::StatusCode::kDeadlineExceeded, "no data from worker 1 for ");
  EXPECT_THAT(std::string(SumOn(&peer).message()),
              HasSubstr("(reduce-scatter, 8 bytes of 32 bytes received)"));
}

TEST_F(MisbehavingPeerTest, PeerThatTakesNothingIsNamedAtTheDeadline) {
  ScriptedPeer peer(kMaxFramePayloadBytes, absl::Milliseconds(200));
  std::vector<float> buffer(4 << 20, 1);
  const absl::Status status = peer.reducer()->Sum({5, 1}, buffer, absl::MakeSpan(buffer));
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("and worker 1 has taken none for"));
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 1");
}

TEST_F(MisbehavingPeerTest, TricklingPeerDoesNotOutwitTheDeadline) {
  ScriptedPeer peer(kSegmentBytes, absl::Milliseconds(100));
  std::atomic<bool> done{false};
  std::thread trickle([&] {
    const EncodedFrameHeader header = EncodeFrameHeader(Due(0));
    for (size_t i = 0; i < header.size() - 1 && !done; ++i) {
      peer.SendBytes({&header[i], 1});
      absl::SleepFor(absl::Milliseconds(5));
    }
  });
  EXPECT_TRUE(absl::IsDeadlineExceeded(SumOn(&peer)));
  done = true;
  trickle.join();
}

// A rank that is lost is felt by its right neighbour at once; the others may wait until they are
// told.
TEST(RingAllReducerTest, LostRankIsNamedByItsNeighbourAndTheOthersCanBeTold) {
  constexpr int kRanks = 3;
  auto reducers = MakeRingReducers(kRanks, 64);
  ASSERT_TRUE(reducers.ok()) << reducers.status();
  (*reducers)[1].reset();
  const absl::Status verdict = absl::UnavailableError("worker 1 is lost");
  const std::vector<absl::Status> statuses = RunRanks(kRanks, [&](int rank) {
    if (rank == 1) return absl::OkStatus();
    std::vector<float> buffer(1000, 1);
    const absl::Status status = (*reducers)[rank]->Sum({1, 0}, buffer, absl::MakeSpan(buffer));
    if (rank == 2) (*reducers)[0]->Abort(verdict);
    return status;
  });
  EXPECT_TRUE(absl::IsUnavailable(statuses[2])) << statuses[2];
  EXPECT_EQ(ToString(SuspectsOf(statuses[2])), "worker 1");
  EXPECT_TRUE(statuses[0] == verdict || ToString(SuspectsOf(statuses[0])) == "worker 1")
      << statuses[0];
}

}  // namespace
}  // namespace ringside
