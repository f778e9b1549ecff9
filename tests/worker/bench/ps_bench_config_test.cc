#include "worker/bench/ps_bench_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::HasSubstr;

TEST(PsBenchConfigTest, ShapesAreTwoPositiveNumbers) {
  const auto shape = ParsePsShape("4/2");
  ASSERT_TRUE(shape.ok());
  EXPECT_EQ(shape->workers, 4);
  EXPECT_EQ(shape->shards, 2);
  EXPECT_EQ(ToString(*shape), "4/2");
  for (const char* bad : {"", "4", "4/", "/2", "0/1", "4/0", "-1/1", "4/2/1", "four/2"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParsePsShape(bad).status())) << bad;
  }
}

TEST(PsBenchConfigTest, DefaultsAndSmokeAreValid) {
  EXPECT_TRUE(PsBenchConfig().Validate().ok());
  EXPECT_TRUE(SmokeConfig().Validate().ok());
  EXPECT_EQ(PsBenchConfig().max_bytes(), 100 << 20);
  EXPECT_EQ(PsBenchConfig().Settings().at("workers_shards"), "2/1,2/2,4/2");
  EXPECT_EQ(PsBenchConfig().Settings().at("sizes"), "4K,1M,16M,100M");
}

TEST(PsBenchConfigTest, ErrorsNameTheFlagAndTheValue) {
  const auto message = [](void (*spoil)(PsBenchConfig*)) {
    PsBenchConfig config;
    spoil(&config);
    const absl::Status status = config.Validate();
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    return std::string(status.message());
  };
  EXPECT_THAT(message([](PsBenchConfig* c) { c->shapes.clear(); }), HasSubstr("--workers_shards"));
  EXPECT_THAT(message([](PsBenchConfig* c) {
                c->shapes = {{33, 1}};
              }),
              HasSubstr("--workers_shards=33/1"));
  EXPECT_THAT(message([](PsBenchConfig* c) { c->sizes_bytes = {6}; }), HasSubstr("--sizes: 6"));
  EXPECT_THAT(message([](PsBenchConfig* c) { c->links = {"pigeon"}; }), HasSubstr("pigeon"));
  EXPECT_THAT(message([](PsBenchConfig* c) { c->rounds = 0; }), HasSubstr("--rounds=0"));
  EXPECT_THAT(message([](PsBenchConfig* c) { c->timeout = absl::ZeroDuration(); }),
              HasSubstr("--timeout=0"));
}

}  // namespace
}  // namespace ringside
