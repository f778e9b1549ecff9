#include "allreduce/ring_hello.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace ringside {
namespace {

using testing::HasSubstr;
using Verdict = RingHello::Verdict;

// Worker 1's own view, towards its left neighbour, worker 0.
RingHello OwnHello() {
  RingHello hello;
  hello.group = 4;
  hello.generation = 3;
  hello.sender = 1;
  hello.receiver = 0;
  hello.token_sha256 = Sha256Of("secret");
  hello.plan_sha256 = Sha256Of("plan");
  return hello;
}

RingHello GoodCall() {
  RingHello call = OwnHello();
  std::swap(call.sender, call.receiver);
  return call;
}

TEST(RingHelloTest, SurvivesTheWire) {
  RingHello hello = GoodCall();
  hello.verdict = Verdict::kWrongPlan;
  const auto decoded = DecodeRingHello(Encode(hello));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(Encode(*decoded), Encode(hello));
  EXPECT_EQ(decoded->generation, 3u);
  EXPECT_EQ(decoded->receiver, 1u);
  EXPECT_EQ(decoded->token_sha256, Sha256Of("secret"));
}

TEST(RingHelloTest, DecodeRefusesWhatIsNoHello) {
  EncodedRingHello bytes = Encode(GoodCall());
  EXPECT_TRUE(absl::IsInvalidArgument(DecodeRingHello(absl::MakeSpan(bytes).subspan(1)).status()));
  bytes[5] = 99;
  EXPECT_THAT(DecodeRingHello(bytes).status().ToString(), HasSubstr("unknown verdict 99"));
  bytes[4] = 3;
  EXPECT_THAT(DecodeRingHello(bytes).status().ToString(),
              HasSubstr("version 3, this build speaks 2"));
  bytes[0] = 'G';
  EXPECT_THAT(DecodeRingHello(bytes).status().ToString(), HasSubstr("not a hello"));
}

TEST(RingHelloTest, RandomBytesAreRefused) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    EncodedRingHello bytes;
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    EXPECT_FALSE(DecodeRingHello(bytes).ok());
  }
}

TEST(RingHelloTest, AGoodCallIsWelcome) {
  EXPECT_EQ(Judge(OwnHello(), GoodCall()), Verdict::kWelcome);
}

TEST(RingHelloTest, EveryMismatchHasItsVerdictAndItsError) {
  struct Case {
    std::function<void(RingHello*)> spoil;
    Verdict verdict;
    absl::StatusCode code;
    std::string message;
  };
  const Case cases[] = {
      {[](RingHello* call) { call->token_sha256 = Sha256Of("guess"); }, Verdict::kWrongToken,
       absl::StatusCode::kPermissionDenied, "PEER has another token"},
      {[](RingHello* call) { call->group = 5; }, Verdict::kWrongGroup,
       absl::StatusCode::kFailedPrecondition, "PEER is in group 5, this process in group 4"},
      {[](RingHello* call) { call->generation = 2; }, Verdict::kWrongGeneration,
       absl::StatusCode::kFailedPrecondition,
       "PEER is in generation 2, this process in generation 3"},
      {[](RingHello* call) { call->receiver = 2; }, Verdict::kWrongReceiver,
       absl::StatusCode::kFailedPrecondition,
       "PEER is worker 0 and means worker 2; this process is worker 1"},
      {[](RingHello* call) { call->sender = 2; }, Verdict::kWrongSender,
       absl::StatusCode::kFailedPrecondition,
       "PEER is worker 2 and means worker 1; this process is worker 1 and means worker 0"},
      {[](RingHello* call) { call->plan_sha256 = Sha256Of("other"); }, Verdict::kWrongPlan,
       absl::StatusCode::kFailedPrecondition, "PEER has bucket plan d9298a10d1b0"},
  };
  for (const Case& c : cases) {
    RingHello call = GoodCall();
    c.spoil(&call);
    EXPECT_EQ(Judge(OwnHello(), call), c.verdict);
    const absl::Status status = RefusalStatus(c.verdict, OwnHello(), call, "PEER");
    EXPECT_EQ(status.code(), c.code);
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.message));
  }
}

TEST(RingHelloTest, ARefusedTokenLearnsNothing) {
  RingHello answer = OwnHello();
  answer.verdict = Verdict::kWrongToken;
  const EncodedRingHello bytes = Encode(answer);
  EXPECT_TRUE(std::all_of(bytes.begin() + 6, bytes.end(), [](uint8_t byte) { return byte == 0; }));
}

}  // namespace
}  // namespace ringside
