#include "allreduce/grpc_ring_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "allreduce/ring_all_reducer.h"
#include "common/arena.h"
#include "common/check.h"
#include "common/network/grpc_frame.h"
#include "common/network/grpc_server.h"
#include "common/status_macros.h"
#include "common/suspects.h"
#include "tests/allreduce/all_reducer_suite.h"
#include "tests/allreduce/grpc_ring_cluster.h"
#include "tests/testing/ring_cluster.h"

namespace ringside {
namespace {

using testing::HasSubstr;

absl::Time Soon() { return absl::Now() + absl::Seconds(30); }

absl::StatusOr<std::vector<std::unique_ptr<AllReducer>>> MakeGrpcReducers(
    int ranks, int64_t segment_bytes, WireDtype wire_dtype = WireDtype::kFloat32) {
  std::vector<GrpcLink> links(1);
  if (ranks > 1) links = ConnectGrpcRing(ranks);
  std::vector<std::unique_ptr<AllReducer>> reducers;
  for (int rank = 0; rank < ranks; ++rank) {
    RingAllReducer::Config config;
    config.group = Group::World(ranks, rank, kGeneration);
    if (ranks > 1) {
      RINGSIDE_ASSIGN_OR_RETURN(config.link, std::move(links[rank]));
    }
    config.segment_bytes = segment_bytes;
    config.wire_dtype = wire_dtype;
    if (wire_dtype != WireDtype::kFloat32) {
      const int64_t longest = ranks * segment_bytes + 100;  // as the suite has it
      RINGSIDE_ASSIGN_OR_RETURN(config.wire, Arena::Create(longest, Arena::Placement::kHeap));
    }
    config.step_timeout = absl::Seconds(30);
    RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<RingAllReducer> reducer,
                              RingAllReducer::Create(std::move(config)));
    reducers.push_back(std::move(reducer));
  }
  return reducers;
}

AllReducerCase GrpcCase(const std::string& name, int64_t segment_bytes,
                        WireDtype wire_dtype = WireDtype::kFloat32) {
  AllReducerCase grpc_case{
      name, [=](int ranks) { return MakeGrpcReducers(ranks, segment_bytes, wire_dtype); },
      segment_bytes / 4};
  grpc_case.wire_dtype = wire_dtype;
  return grpc_case;
}

INSTANTIATE_TEST_SUITE_P(Grpc, AllReducerSuite,
                         testing::Values(GrpcCase("SmallSegments", 64),
                                         GrpcCase("Segments16KiB", 16 << 10),
                                         GrpcCase("SixteenBits", 4 << 10, WireDtype::kBFloat16)),
                         AllReducerCaseName);

FrameHeader HeaderFrom(int sender, uint32_t elements) {
  FrameHeader header;
  header.kind = FrameKind::kAllGather;
  header.generation = kGeneration;
  header.sender = static_cast<uint32_t>(sender);
  header.elements = elements;
  return header;
}

absl::Span<const uint8_t> Bytes(const std::vector<float>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(float)};
}
absl::Span<uint8_t> MutableBytes(std::vector<float>* values) {
  return {reinterpret_cast<uint8_t*>(values->data()), values->size() * sizeof(float)};
}

// Worker 1 of a ring of two, made of the ends themselves, so that it can misbehave towards a real
// worker 0.
class ScriptedNeighbour : private GrpcRingService::Listener, private GrpcRingOutlet::Listener {
 public:
  // Connects both ways.
  ScriptedNeighbour() {
    auto victim_listener = GrpcRingListener::Open(LoopbackBind());
    auto started = StartGrpcServer(LoopbackBind(), [&](grpc::ServerBuilder* builder) {
      builder->RegisterCallbackGenericService(&service_);
    });
    RINGSIDE_CHECK(victim_listener.ok() && started.ok());
    server_ = std::move(started->server);
    RingHello own;
    own.generation = kGeneration;
    own.sender = 1;
    own.token_sha256 = Sha256Of("secret");
    own.plan_sha256 = Sha256Of("plan");
    service_.Serve(own, this);
    GrpcRingOutlet::Listener* const listener = this;
    outlet_ = std::make_unique<GrpcRingOutlet>((*victim_listener)->endpoint(), listener);
    outlet_->Start(own);
    GrpcLink link =
        GrpcRingLink::Connect(*std::move(victim_listener), MakeConfig(2, 0, started->endpoint));
    RINGSIDE_CHECK(link.ok());
    victim_ = *std::move(link);
  }

  ~ScriptedNeighbour() override {
    victim_.reset();
    Die();
  }

  GrpcRingLink* victim() { return victim_.get(); }
  void DestroyVictim() { victim_.reset(); }

  void SendText(const std::string& text) {
    const grpc::Slice slice(text);
    outlet_->Send(grpc::ByteBuffer(&slice, 1), 0);
  }
  // All connections break.
  void Die() {
    if (outlet_ == nullptr) return;
    outlet_->Cancel();
    {
      MutexLock lock(&mutex_);
      while (!right_ended_) changed_.Wait(&mutex_);
    }
    outlet_->CloseConnection();
    outlet_ = nullptr;
    server_->Shutdown(std::chrono::system_clock::now());
    server_ = nullptr;
  }

 private:
  void OnLeftAdmitted() override {}
  void OnCallerRefused(const absl::Status&, bool) override {}
  void OnLeftFrame(grpc::ByteBuffer) override {}  // takes a few, and then no more
  void OnLeftEnded() override {}
  void OnRightAnswer(const absl::StatusOr<RingHello>&) override {}
  void OnFrameSent(int64_t) override {}
  void OnRightEnded(const absl::Status&) override {
    MutexLock lock(&mutex_);
    right_ended_ = true;
    changed_.NotifyAll();
  }

  GrpcRingService service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<GrpcRingOutlet> outlet_;
  std::unique_ptr<GrpcRingLink> victim_;

  Mutex mutex_;
  CondVar changed_;
  bool right_ended_ ABSL_GUARDED_BY(mutex_) = false;
};

TEST(GrpcRingLinkTest, FramesGoRoundTheRing) {
  constexpr int kRanks = 3;
  auto links = ConnectGrpcRing(kRanks);
  const std::vector<absl::Status> statuses = RunRanks(kRanks, [&](int rank) {
    RINGSIDE_RETURN_IF_ERROR(links[rank].status());
    GrpcRingLink* link = links[rank]->get();
    const std::vector<float> payload(3, static_cast<float>(rank));
    link->Send(HeaderFrom(rank, 3), Bytes(payload));
    link->Send(HeaderFrom(rank, 0), {});
    RINGSIDE_ASSIGN_OR_RETURN(const FrameHeader got, link->ReceiveHeader(Soon()));
    std::vector<float> received(got.elements);
    RINGSIDE_RETURN_IF_ERROR(link->ReceivePayload(MutableBytes(&received), Soon()));
    RINGSIDE_RETURN_IF_ERROR(link->ReceiveHeader(Soon()).status());
    RINGSIDE_RETURN_IF_ERROR(link->Flush(Soon()));
    const int left = (rank + 2) % kRanks;
    if (!(got == HeaderFrom(left, 3))) return absl::InternalError(Describe(got));
    if (received != std::vector<float>(3, static_cast<float>(left)))
      return absl::InternalError("wrong payload");
    return absl::OkStatus();
  });
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_TRUE(statuses[rank].ok()) << statuses[rank];
    EXPECT_EQ((*links[rank])->traffic(), (TrafficCounters{12, 12, 2, 2, 128, 128}));
  }
}

// More than gRPC's flow control lets through, so that the ring stands still unless every rank sends
// while it receives.
TEST(GrpcRingLinkTest, LargeBuffersDoNotBlockTheRing) {
  constexpr int kRanks = 2;
  constexpr int64_t kElements = 8 << 20;
  auto reducers = MakeGrpcReducers(kRanks, kMaxFramePayloadBytes);
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

// A rank that is done leaves while its neighbour has not read what it sent.
TEST(GrpcRingLinkTest, WhatWasSentArrivesThoughTheSenderLeaves) {
  auto links = ConnectGrpcRing(2);
  ASSERT_TRUE(links[0].ok() && links[1].ok());
  const std::vector<float> payload(kMaxFramePayloadBytes / 4, 7);
  constexpr int kFrames = GrpcRingInlet::kMaxFramesWaiting + 1;
  for (int i = 0; i < kFrames; ++i) {
    (*links[1])->Send(HeaderFrom(1, static_cast<uint32_t>(payload.size())), Bytes(payload));
  }
  std::thread leaves([&] { links[1]->reset(); });
  std::vector<float> received(payload.size());
  for (int i = 0; i < kFrames; ++i) {
    const auto header = (*links[0])->ReceiveHeader(Soon());
    ASSERT_TRUE(header.ok()) << header.status();
    ASSERT_TRUE((*links[0])->ReceivePayload(MutableBytes(&received), Soon()).ok());
    EXPECT_EQ(received, payload);
  }
  leaves.join();
  const absl::Status end = (*links[0])->ReceiveHeader(Soon()).status();
  EXPECT_TRUE(absl::IsUnavailable(end)) << end;
  EXPECT_THAT(std::string(end.message()),
              HasSubstr("connection from worker 1: the peer has closed"));
}

TEST(GrpcRingLinkTest, InterruptWakesAReceiveAndAFlush) {
  for (const bool flush : {false, true}) {
    ScriptedNeighbour neighbour;
    const std::vector<float> payload(kMaxFramePayloadBytes / 4, 1);
    for (int i = 0; i < 32; ++i) {
      neighbour.victim()->Send(HeaderFrom(0, static_cast<uint32_t>(payload.size())),
                               Bytes(payload));
    }
    const auto wait = [&] {
      return flush ? neighbour.victim()->Flush(Soon())
                   : neighbour.victim()->ReceiveHeader(Soon()).status();
    };
    std::thread thread([&] { neighbour.victim()->Interrupt(); });
    EXPECT_TRUE(absl::IsAborted(wait()));
    thread.join();
    EXPECT_TRUE(absl::IsAborted(wait()));
    neighbour.DestroyVictim();
  }
}

TEST(GrpcRingLinkTest, ALostNeighbourIsNamedByReceiver) {
  ScriptedNeighbour neighbour;
  std::thread thread([&] { neighbour.Die(); });
  const absl::Status status = neighbour.victim()->ReceiveHeader(Soon()).status();
  thread.join();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("connection from worker 1: "));
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 1");
}

TEST(GrpcRingLinkTest, ALostNeighbourIsNamedBySender) {
  ScriptedNeighbour neighbour;
  const std::vector<float> payload(kMaxFramePayloadBytes / 4, 1);
  for (int i = 0; i < 32; ++i) {
    neighbour.victim()->Send(HeaderFrom(0, static_cast<uint32_t>(payload.size())), Bytes(payload));
  }
  std::thread thread([&] { neighbour.Die(); });
  const absl::Status status = neighbour.victim()->Flush(Soon());
  thread.join();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("connection to worker 1: "));
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 1");
  neighbour.DestroyVictim();
}

TEST(GrpcRingLinkTest, ASilentNeighbourIsNamedAtTheDeadline) {
  ScriptedNeighbour neighbour;
  const absl::Status status =
      neighbour.victim()->ReceiveHeader(absl::Now() + absl::Milliseconds(50)).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("no data from worker 1 for "));
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 1");
}

// It takes nothing, not even when it is told to end: the link must go in bounded time, and give the
// memory back.
TEST(GrpcRingLinkTest, ANeighbourThatTakesNothingIsNamedAndDoesNotHoldUpTheEnd) {
  ScriptedNeighbour neighbour;
  const std::vector<float> payload(kMaxFramePayloadBytes / 4, 1);
  for (int i = 0; i < 32; ++i) {
    neighbour.victim()->Send(HeaderFrom(0, static_cast<uint32_t>(payload.size())), Bytes(payload));
  }
  const absl::Status status = neighbour.victim()->Flush(absl::Now() + absl::Milliseconds(200));
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("worker 1 has taken none for"));
  EXPECT_EQ(ToString(SuspectsOf(status)), "worker 1");
  const absl::Time begin = absl::Now();
  neighbour.DestroyVictim();
  EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
}

TEST(GrpcRingLinkTest, MalformedFramesAreRefused) {
  const EncodedFrameHeader header = EncodeFrameHeader(HeaderFrom(1, 5));
  const std::string header_text(header.begin(), header.end());
  for (const std::string& text : {std::string(64, 'x'), std::string(10, '\0'), header_text,
                                  header_text + std::string(19, 'p')}) {
    ScriptedNeighbour neighbour;
    neighbour.SendText(text);
    const absl::Status status = neighbour.victim()->ReceiveHeader(Soon()).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("from worker 1: malformed frame"));
    EXPECT_EQ(ToString(SuspectsOf(status)), "worker 1");
  }
}

}  // namespace
}  // namespace ringside
