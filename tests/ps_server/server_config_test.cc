#include "ps_server/server_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ringside {
namespace {

using ::testing::HasSubstr;

class ServerConfigTest : public ::testing::Test {
 protected:
  ServerConfigTest() {
    job_.strategy = "ps";
    job_.workers = 4;
    job_.ps_shards = 3;
    process_.coordinator = "node0:4000";
    process_.rank = 2;
    process_.token = "sesame";
  }
  absl::StatusOr<ServerConfig> Make(bool shards_given = true) const {
    return MakeServerConfig(job_, process_, shards_given, environment_);
  }
  std::string Error(bool shards_given = true) const {
    return std::string(Make(shards_given).status().message());
  }

  JobConfig job_;
  ProcessConfig process_;
  Environment environment_;
};

TEST_F(ServerConfigTest, TakesFlags) {
  const auto config = Make();
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->shard, 2);
  EXPECT_EQ(config->num_shards, 3);
  EXPECT_EQ(config->workers, 4);
  EXPECT_EQ(config->token, "sesame");
  EXPECT_EQ(ToString(config->coordinator), "node0:4000");
}

TEST_F(ServerConfigTest, TakesTheShardFromALauncher) {
  process_.rank.reset();
  environment_ = {{"OMPI_COMM_WORLD_RANK", "1"},
                  {"OMPI_COMM_WORLD_SIZE", "5"},
                  {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                  {"OMPI_COMM_WORLD_LOCAL_SIZE", "5"}};
  const auto config = Make(/*shards_given=*/false);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->shard, 1);
  EXPECT_EQ(config->num_shards, 5);
  EXPECT_FALSE(Make(/*shards_given=*/true).ok());  // --ps_shards=3 contradicts it
}

TEST_F(ServerConfigTest, TakesAMetricsPortOrNone) {
  EXPECT_FALSE(Make()->metrics_port.has_value());
  process_.metrics_port = 0;
  EXPECT_EQ(Make()->metrics_port, absl::make_optional(0));
  for (int port : {-1, 65536}) {
    process_.metrics_port = port;
    EXPECT_THAT(Error(), HasSubstr(absl::StrCat("--metrics_port=", port, ": must be from 0")));
  }
}

TEST_F(ServerConfigTest, RefusesByFlag) {
  process_.rank = 3;
  EXPECT_THAT(Error(), HasSubstr("--shard=3: must be from 0 to 2"));
  process_.rank.reset();
  EXPECT_FALSE(Make().ok());  // nothing says which shard this is
  process_.rank = 0;
  job_.ps_shards = 0;
  EXPECT_THAT(Error(), HasSubstr("--ps_shards=0: must be at least 1"));
  job_.ps_shards = 3;
  job_.workers = -1;
  EXPECT_THAT(Error(), HasSubstr("--workers=-1: must be at least 1"));
  job_.workers = 4;
  job_.step_timeout = absl::ZeroDuration();
  EXPECT_THAT(Error(), HasSubstr("--step_timeout=0: must be positive"));
  job_.step_timeout = absl::Seconds(1);
  job_.shard_threads = 65;
  EXPECT_THAT(Error(), HasSubstr("--shard_threads=65: must be at least 1 and at most 64"));
  job_.shard_threads = 1;
  job_.malloc = "je";
  EXPECT_THAT(Error(), HasSubstr("--malloc=je: must be one of tuned, stock"));
  job_.malloc = "tuned";
  job_.grpc.read_chunk_bytes = 1;
  EXPECT_THAT(Error(), HasSubstr("--grpc_read_chunk_bytes=1: must be 0"));
  job_.grpc.read_chunk_bytes = 0;
  process_.coordinator = "";
  EXPECT_THAT(Error(), HasSubstr("--coordinator is missing"));
  process_.coordinator = "node0:0";
  EXPECT_THAT(Error(), HasSubstr("--coordinator=node0:0: must have a port other than 0"));
}

}  // namespace
}  // namespace ringside
