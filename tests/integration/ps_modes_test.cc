// The modes of the parameter server in real jobs: all ranks end with the same parameters,
// everything is counted, and MNIST is learned.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/integration/job.h"

namespace ringside {
namespace {

struct Mode {
  std::string name;
  std::vector<std::string> flags;
};

void PrintTo(const Mode& mode, std::ostream* out) { *out << mode.name; }

class PsModesTest : public JobTest, public ::testing::WithParamInterface<Mode> {
 protected:
  std::vector<std::string> Flags(const std::vector<std::string>& more) const {
    std::vector<std::string> flags = {"--strategy=ps", "--ps_shards=2"};
    flags.insert(flags.end(), GetParam().flags.begin(), GetParam().flags.end());
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }

  static void ExpectOneSetOfParameters(const ComparisonResult& result) {
    ASSERT_EQ(result.runs_size(), 1);
    for (const WorkerResult& worker : result.runs(0).worker_results()) {
      EXPECT_EQ(worker.parameters_sha256(), result.runs(0).worker_results(0).parameters_sha256());
      EXPECT_EQ(worker.traffic().payload_bytes_sent(),
                worker.expected_traffic().payload_bytes_sent());
      EXPECT_EQ(worker.traffic().payload_bytes_received(),
                worker.expected_traffic().payload_bytes_received());
      EXPECT_EQ(worker.traffic().messages_sent(), worker.expected_traffic().messages_sent());
    }
    for (const ShardResult& shard : result.runs(0).shard_results()) {
      EXPECT_EQ(shard.traffic().payload_bytes_sent(),
                shard.expected_traffic().payload_bytes_sent());
      EXPECT_EQ(shard.traffic().payload_bytes_received(),
                shard.expected_traffic().payload_bytes_received());
    }
    for (const Gate& gate : result.gates())
      EXPECT_TRUE(gate.passed()) << gate.name() << ": " << gate.detail();
  }
};

// 50 samples in batches of 48: the last one of an epoch leaves some workers without samples.
TEST_P(PsModesTest, AllRanksEndWithTheSameParametersWhateverTheBatches) {
  WriteMnistFiles(data_dir(), 50, 20);
  ExpectOneSetOfParameters(
      Run("run", Flags({"--workers=3", "--batch_size=16", "--epochs=4", "--warmup_steps=0",
                        "--momentum=0.9", "--weight_decay=0.001"})));
}

TEST_P(PsModesTest, LearnsMnist) {
  std::vector<std::string> flags =
      Flags({"--workers=4", "--batch_size=32", "--epochs=10", "--hidden=256,128",
             "--learning_rate=0.05", "--momentum=0.9", "--weight_decay=0.001",
             absl::StrCat("--data_dir=", RINGSIDE_SOURCE_DIR, "/data/mnist10k"),
             "--out=" + folder() + "/out"});
  flags.insert(flags.begin(), "run");
  const TestProcess::Ended ended = RunProcess(Command("ringside", flags), absl::Minutes(4));
  ASSERT_EQ(ended.status, 0) << ended.output;
  const ComparisonResult result = ReadResult(folder() + "/out");
  ExpectOneSetOfParameters(result);
  EXPECT_GE(result.runs(0).evaluation().accuracy(), 0.95);
}

INSTANTIATE_TEST_SUITE_P(
    Modes, PsModesTest,
    ::testing::Values(Mode{"Sync", {}}, Mode{"SyncOnServer", {"--update=server"}},
                      Mode{"Async", {"--ps_mode=async"}},
                      Mode{"Ssp", {"--ps_mode=ssp", "--staleness=2"}},
                      Mode{"Backup", {"--ps_mode=backup", "--backup_workers=1"}}),
    [](const ::testing::TestParamInfo<Mode>& info) { return info.param.name; });

}  // namespace
}  // namespace ringside
