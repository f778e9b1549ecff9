#include "allreduce/bench/bench_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace ringside {
namespace {

using ::testing::HasSubstr;

TEST(ParseSizeTest, KnowsBinaryMultiples) {
  EXPECT_EQ(*ParseSize("4"), 4);
  EXPECT_EQ(*ParseSize("4K"), 4096);
  EXPECT_EQ(*ParseSize("64k"), 65536);
  EXPECT_EQ(*ParseSize("100M"), int64_t{100} << 20);
  EXPECT_EQ(*ParseSize("1G"), int64_t{1} << 30);
}

TEST(ParseSizeTest, RefusesWhatIsNoSize) {
  for (const char* text : {"", "K", "x", "-4K", "0", "3", "4KB", "4 K", "1e3", "99999999999"}) {
    const absl::StatusOr<int64_t> size = ParseSize(text);
    EXPECT_FALSE(size.ok()) << text;
    EXPECT_THAT(std::string(size.status().message()), HasSubstr("is no size")) << text;
  }
}

TEST(SizeTextTest, IsTheShortestTextThatParsesBack) {
  EXPECT_EQ(SizeText(4), "4");
  EXPECT_EQ(SizeText(4096), "4K");
  EXPECT_EQ(SizeText(1000), "1000");
  EXPECT_EQ(SizeText(int64_t{100} << 20), "100M");
  EXPECT_EQ(SizeText(int64_t{1} << 30), "1G");
  for (const int64_t bytes : {4, 1000, 4096, 6 << 20})
    EXPECT_EQ(*ParseSize(SizeText(bytes)), bytes);
}

TEST(BenchConfigTest, DefaultsAreValid) {
  const BenchConfig config;
  EXPECT_TRUE(config.Validate().ok()) << config.Validate();
  EXPECT_EQ(config.max_elements(), (100 << 20) / 4);
}

TEST(BenchConfigTest, EveryBadValueIsNamed) {
  struct BadCase {
    std::function<void(BenchConfig*)> spoil;
    const char* message;
  };
  const BadCase cases[] = {
      {[](BenchConfig* c) { c->world_sizes = {1}; }, "--world_sizes: 1 is not between 2 and 32"},
      {[](BenchConfig* c) { c->world_sizes = {33}; }, "--world_sizes: 33 is not between 2 and 32"},
      {[](BenchConfig* c) { c->world_sizes = {}; }, "--world_sizes is empty"},
      {[](BenchConfig* c) { c->sizes_bytes = {6}; }, "--sizes: 6 is no multiple of 4 bytes"},
      {[](BenchConfig* c) { c->sizes_bytes = {}; }, "--sizes is empty"},
      {[](BenchConfig* c) { c->rounds = 0; }, "--rounds=0: must be at least 1"},
      {[](BenchConfig* c) { c->wire_dtype = "bf16"; }, "--wire_dtype=bf16: the direct schedule"},
      {[](BenchConfig* c) {
         c->wire_dtype = "fp16";
         c->contenders = {"ring_shm", "direct"};
       },
       "--wire_dtype=fp16: the direct schedule"},
      {[](BenchConfig* c) { c->segment_bytes = 3; }, "--segment_bytes=3: must be at least 4"},
      {[](BenchConfig* c) { c->min_time = absl::ZeroDuration(); }, "--min_time=0"},
      {[](BenchConfig* c) { c->timeout = absl::InfiniteDuration(); }, "--timeout=inf"},
      {[](BenchConfig* c) { c->wire_dtype = "int8"; }, "--wire_dtype=int8: must be one of fp32"},
      {[](BenchConfig* c) { c->formats = {"xml"}; }, "--format=xml: must be one of table"},
      {[](BenchConfig* c) { c->formats = {}; }, "--format is empty"},
      {[](BenchConfig* c) {
         c->formats = {"csv", "json"};
       },
       "need a folder for the files"},
  };
  for (const BadCase& bad : cases) {
    BenchConfig config;
    bad.spoil(&config);
    const absl::Status status = config.Validate();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(bad.message));
  }
}

}  // namespace
}  // namespace ringside
