#include "common/config/job_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/config/flag_parser.h"
#include "common/config/job_flags.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

TEST(JobSettingsTest, ReadsAsTheCommandLineDoes) {
  const auto job = JobConfigFromSettings({{"strategy", "ps"},
                                          {"ps_shards", "2"},
                                          {"hidden", "16,8"},
                                          {"overlap", "off"},
                                          {"lease", "3s"},
                                          {"ps_shards", "3"}},
                                         4);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->strategy, "ps");
  EXPECT_EQ(job->workers, 4);
  EXPECT_EQ(job->ps_shards, 3);  // the later one
  EXPECT_EQ(job->hidden, (std::vector<int64_t>{16, 8}));
  EXPECT_FALSE(job->overlap);
  EXPECT_EQ(job->lease, absl::Seconds(3));
}

TEST(JobSettingsTest, StartsFromDefaultsAndLeavesFlagsAlone) {
  const char* const argv[] = {"", "--steps=7", "--seed=5"};
  ASSERT_TRUE(ParseFlags(3, argv).ok());
  const auto job = JobConfigFromSettings({{"seed", "9"}}, 1);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->ToFlags(), [] {
    JobConfig expected;
    expected.seed = 9;
    return expected.ToFlags();
  }());
  const auto flags = JobConfigFromFlags();
  ASSERT_TRUE(flags.ok());
  EXPECT_EQ(flags->steps, 7);
  EXPECT_EQ(flags->seed, 5);
  const char* const back[] = {"", "--steps=0", "--seed=1"};
  ASSERT_TRUE(ParseFlags(3, back).ok());
}

TEST(JobSettingsTest, RefusesWhatNoJobHas) {
  EXPECT_THAT(JobConfigFromSettings({{"bukcet_bytes", "1"}}, 1).status().message(),
              HasSubstr("unknown flag --bukcet_bytes; did you mean --bucket_bytes?"));
  EXPECT_EQ(JobConfigFromSettings({{"rank", "1"}}, 1).status().message(),
            "--rank is no flag of a job");
  EXPECT_THAT(JobConfigFromSettings({{"steps", "many"}}, 1).status().message(),
              HasSubstr("--steps=many: not a valid value"));
  EXPECT_EQ(JobConfigFromSettings({{"overlap", "perhaps"}}, 1).status().message(),
            "--overlap=perhaps: must be on or off");
  EXPECT_TRUE(IsJobFlag("ps_shards"));
  EXPECT_FALSE(IsJobFlag("coordinator"));
}

}  // namespace
}  // namespace ringside
