#include "common/shared_memory/memory_hello.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ringside {
namespace {

using testing::HasSubstr;

MemoryHello Good() { return {7, 2, 1, std::string(64, 'a')}; }

TEST(MemoryHelloTest, ReadsWhatItWrote) {
  const auto read = DecodeMemoryHello(Encode(Good()));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->generation, 7u);
  EXPECT_EQ(read->shard, 2u);
  EXPECT_EQ(read->rank, 1u);
  EXPECT_EQ(read->token_sha256, Good().token_sha256);
}

TEST(MemoryHelloTest, RefusesWhatIsNone) {
  EncodedMemoryHello bytes = Encode(Good());
  EXPECT_FALSE(DecodeMemoryHello(absl::MakeConstSpan(bytes).subspan(1)).ok());
  bytes[4] = 9;
  EXPECT_THAT(std::string(DecodeMemoryHello(bytes).status().message()), HasSubstr("version 9"));
  bytes = Encode(Good());
  bytes[0] = 'X';
  EXPECT_FALSE(DecodeMemoryHello(bytes).ok());
}

TEST(MemoryHelloTest, EveryMismatchHasItsVerdict) {
  const auto verdict = [](const auto& change) {
    MemoryHello call = Good();
    change(call);
    return Judge(Good(), 3, call);
  };
  EXPECT_EQ(verdict([](MemoryHello& c) { c.rank = 0; }), MemoryVerdict::kWelcome);
  EXPECT_EQ(verdict([](MemoryHello& c) { c.token_sha256[63] = 'b'; }), MemoryVerdict::kWrongToken);
  EXPECT_EQ(verdict([](MemoryHello& c) { c.generation = 8; }), MemoryVerdict::kWrongGeneration);
  EXPECT_EQ(verdict([](MemoryHello& c) { c.shard = 0; }), MemoryVerdict::kWrongShard);
  EXPECT_EQ(verdict([](MemoryHello& c) { c.rank = 3; }), MemoryVerdict::kWrongRank);
  EXPECT_THAT(RefusalText(static_cast<MemoryVerdict>(77)), HasSubstr("77"));
}

}  // namespace
}  // namespace ringside
