#include "ps_server/shard_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace ringside {
namespace {

using ::testing::HasSubstr;

Membership Good() {
  Membership membership;
  for (int worker = 0; worker < 3; ++worker) membership.add_workers();
  auto& settings = *membership.mutable_settings();
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"first_bucket_bytes", "1000"},
                                          {"bucket_bytes", "2000"},
                                          {"frame_bytes", "400"},
                                          {"ps_mode", "ssp"},
                                          {"update", "server"},
                                          {"staleness", "3"},
                                          {"backup_workers", "1"},
                                          {"batch_size", "8"},
                                          {"accumulate", "2"},
                                          {"optimizer", "sgd"},
                                          {"learning_rate", "0.25"},
                                          {"lr_scaling", "none"},
                                          {"momentum", "0.5"},
                                          {"nesterov", "true"},
                                          {"weight_decay", "0.125"},
                                          {"beta1", "0.75"},
                                          {"beta2", "0.875"},
                                          {"epsilon", "1e-6"},
                                          {"lr_schedule", "cosine"},
                                          {"lr_warmup_steps", "5"},
                                          {"lr_decay_steps", "0"},
                                          {"lr_decay_factor", "0.1"},
                                          {"lr_total_steps", "90"},
                                          {"lr_final", "0.01"},
                                          {"snapshot_steps", "25"}}) {
    settings[name] = value;
  }
  return membership;
}

absl::Status With(const std::string& name, const std::string& value) {
  Membership membership = Good();
  (*membership.mutable_settings())[name] = value;
  return ReadShardSettings(membership).status();
}

TEST(ShardSettingsTest, StepsMayBeTraced) {
  EXPECT_TRUE(ReadShardSettings(Good())->traced.empty());
  Membership membership = Good();
  (*membership.mutable_settings())["trace_steps"] = "3:9";
  const auto read = ReadShardSettings(membership);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->traced.from, 3);
  EXPECT_EQ(read->traced.to, 9);
  EXPECT_FALSE(With("trace_steps", "x").ok());
  EXPECT_TRUE(With("trace_steps", "").ok());
}

TEST(ShardSettingsTest, ReadsAllOfThem) {
  const auto read = ReadShardSettings(Good());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->first_bucket_bytes, 1000);
  EXPECT_EQ(read->bucket_bytes, 2000);
  EXPECT_EQ(read->frame_bytes, 400);
  EXPECT_EQ(read->policy.mode, PsMode::kSsp);
  EXPECT_TRUE(read->policy.update_on_server);
  EXPECT_EQ(read->policy.staleness, 3);
  EXPECT_EQ(read->policy.backup_workers, 1);
  EXPECT_EQ(read->full_batch, 48);
  EXPECT_EQ(read->optimizer.name, "sgd");
  EXPECT_EQ(read->optimizer.learning_rate, 0.25);
  EXPECT_EQ(read->optimizer.momentum, 0.5);
  EXPECT_TRUE(read->optimizer.nesterov);
  EXPECT_EQ(read->optimizer.weight_decay, 0.125);
  EXPECT_EQ(read->optimizer.beta1, 0.75);
  EXPECT_EQ(read->optimizer.beta2, 0.875);
  EXPECT_EQ(read->optimizer.epsilon, 1e-6);
  EXPECT_EQ(read->learning_rate.schedule, "cosine");
  EXPECT_EQ(read->learning_rate.warmup_steps, 5);
  EXPECT_EQ(read->learning_rate.decay_steps, 0);
  EXPECT_EQ(read->learning_rate.decay_factor, 0.1);
  EXPECT_EQ(read->learning_rate.total_steps, 90);
  EXPECT_EQ(read->learning_rate.final_rate, 0.01);
}

TEST(ShardSettingsTest, WorkerZeroMaySaveOnASignalAlone) {
  Membership membership = Good();
  EXPECT_FALSE(ReadShardSettings(membership)->saves_training);
  (*membership.mutable_settings())["checkpoint_steps"] = "0";
  EXPECT_FALSE(ReadShardSettings(membership)->saves_training);
  (*membership.mutable_settings())["saves_training"] = "true";
  EXPECT_TRUE(ReadShardSettings(membership)->saves_training);
  membership.mutable_settings()->erase("saves_training");
  (*membership.mutable_settings())["checkpoint_steps"] = "5";
  EXPECT_TRUE(ReadShardSettings(membership)->saves_training);
}

TEST(ShardSettingsTest, TheRateIsScaledByTheBatchesOfAStep) {
  Membership membership = Good();
  (*membership.mutable_settings())["lr_scaling"] = "linear";
  EXPECT_EQ(ReadShardSettings(membership)->optimizer.learning_rate, 1.5);
}

TEST(ShardSettingsTest, WorkersMayUpdateWithLars) {
  Membership membership = Good();
  (*membership.mutable_settings())["optimizer"] = "lars";
  (*membership.mutable_settings())["nesterov"] = "false";
  EXPECT_THAT(std::string(ReadShardSettings(membership).status().message()),
              HasSubstr("--optimizer=lars: needs the whole gradient"));
  (*membership.mutable_settings())["ps_mode"] = "sync";
  (*membership.mutable_settings())["update"] = "worker";
  EXPECT_TRUE(ReadShardSettings(membership).ok());
}

TEST(ShardSettingsTest, NamesASettingThatIsMissing) {
  const Membership good = Good();
  for (const auto& setting : good.settings()) {
    Membership membership = good;
    membership.mutable_settings()->erase(setting.first);
    const absl::Status status = ReadShardSettings(membership).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(status.message(), "the workers of the job do not say their " + setting.first);
  }
}

TEST(ShardSettingsTest, NamesASettingThatCannotBeRead) {
  const Membership good = Good();
  for (const auto& setting : good.settings()) {
    const std::string& name = setting.first;
    if (name == "ps_mode" || name == "optimizer" || name == "lr_schedule" || name == "lr_scaling")
      continue;
    for (const std::string value : {"", "seven", "1 2"}) {
      const absl::Status status = With(name, value);
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << name;
      EXPECT_EQ(status.message(), "the workers of the job say that their " + name + " is '" +
                                      value + "', which cannot be read");
    }
  }
  // They do not fit into what they are kept in.
  for (const std::string name : {"staleness", "backup_workers", "batch_size", "accumulate"}) {
    EXPECT_THAT(std::string(With(name, "4294967296").message()),
                HasSubstr("their " + name + " is '4294967296', which cannot be read"));
  }
}

TEST(ShardSettingsTest, RefusesWhatIsNotValidByFlag) {
  EXPECT_EQ(With("ps_mode", "hogwild").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(With("ps_mode", "hogwild").message()), HasSubstr("--ps_mode=hogwild"));
  EXPECT_THAT(std::string(With("optimizer", "lion").message()), HasSubstr("--optimizer=lion"));
  EXPECT_THAT(std::string(With("learning_rate", "nan").message()), HasSubstr("learning_rate"));
  EXPECT_THAT(std::string(With("lr_schedule", "linear").message()), HasSubstr("linear"));
  EXPECT_THAT(std::string(With("lr_scaling", "cubic").message()), HasSubstr("--lr_scaling=cubic"));
  EXPECT_THAT(std::string(With("lr_final", "inf").message()), HasSubstr("lr_final"));
}

}  // namespace
}  // namespace ringside
