// Bad input: one line that names the value and the allowed ones, status 2, nothing half-written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/integration/job.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

class BadInputTest : public JobTest {
 protected:
  // Runs `ringside run` with the tiny job's flags and `flags`, which take precedence.
  void ExpectRefused(const std::vector<std::string>& flags, const std::vector<std::string>& texts) {
    std::vector<std::string> all = JobFlags({"--steps=2", "--out=" + folder() + "/out"});
    all.insert(all.begin(), "run");
    all.insert(all.end(), flags.begin(), flags.end());
    const TestProcess::Ended ended = RunProcess(Command("ringside", all), absl::Minutes(1));
    EXPECT_EQ(ended.status, 2) << ended.output;
    int errors = 0;
    for (absl::string_view line : absl::StrSplit(ended.output, '\n')) {
      if (absl::StrContains(line, "error: ")) ++errors;
    }
    EXPECT_EQ(errors, 1) << ended.output;
    for (const std::string& text : texts) EXPECT_THAT(ended.output, HasSubstr(text));
    EXPECT_FALSE(std::filesystem::exists(folder() + "/out")) << "half-written results stay";
  }
};

TEST_F(BadInputTest, FlagsAndTheirValues) {
  WriteMnistFiles(data_dir(), 20, 10);
  ExpectRefused({"--workerz=2"}, {"--workerz", "--workers"});
  ExpectRefused({"--strategy=tree"}, {"--strategy=tree", "ps, ring, local"});
  ExpectRefused({"--model=vgg19"}, {"--model=vgg19", "mlp, lenet, resnet18"});
  ExpectRefused({"--dataset=imagenet"}, {"--dataset=imagenet", "mnist"});
  ExpectRefused({"--workers=0"}, {"--workers=0", "at least 1"});
  ExpectRefused({"--workers=-3"}, {"--workers=-3", "at least 1"});
  ExpectRefused({"--workers=two"}, {"--workers=two"});
  ExpectRefused({"--ps_shards=0"}, {"--ps_shards=0", "at least 1"});
  ExpectRefused({"--batch_size=-1"}, {"--batch_size=-1", "at least 1"});
  ExpectRefused({"--steps=0"}, {"--steps=0", "--epochs=0"});
  ExpectRefused({"--learning_rate=-1"}, {"learning_rate", "-1"});
}

TEST_F(BadInputTest, MoreShardsThanElements) {
  WriteMnistFiles(data_dir(), 20, 10);
  const TestProcess::Ended ended = RunProcess(
      Command("worker", JobFlags({"--strategy=ps", "--hidden=1", "--ps_shards=1000", "--rank=0",
                                  "--workers=1", "--steps=1", "--coordinator=127.0.0.1:1"})),
      absl::Minutes(1));
  EXPECT_EQ(ended.status, 2) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("--ps_shards=1000: must be at most 805"));
}

TEST_F(BadInputTest, MoreProcessesThanALaunchShouldStart) {
  WriteMnistFiles(data_dir(), 20, 10);
  ExpectRefused({"--strategy=ps", "--ps_shards=900"}, {"900", "256"});
}

TEST_F(BadInputTest, MissingDataNamesTheFileAndTheLayout) {
  ExpectRefused({}, {data_dir(), "train-images-idx3-ubyte"});
}

TEST_F(BadInputTest, TruncatedAndContradictoryData) {
  WriteMnistFiles(data_dir(), 20, 10);
  const std::string images = data_dir() + "/train-images-idx3-ubyte";
  std::filesystem::resize_file(images, 1000);
  ExpectRefused({}, {images});
  WriteMnistFiles(data_dir(), 20, 10);
  const std::string labels = data_dir() + "/train-labels-idx1-ubyte";
  WriteFile(labels, IdxHeader(0x801, {19}) + std::string(19, '\1'));
  ExpectRefused({}, {"19", "20"});
}

TEST_F(BadInputTest, AnEmptyEpoch) {
  WriteMnistFiles(data_dir(), 0, 10);
  ExpectRefused({}, {"train"});
}

TEST_F(BadInputTest, UnwritableOutput) {
  WriteMnistFiles(data_dir(), 20, 10);
  WriteFile(folder() + "/file", "not a folder");
  const std::string out = folder() + "/file/out";
  std::vector<std::string> flags = JobFlags({"--steps=2", "--out=" + out});
  flags.insert(flags.begin(), "run");
  const TestProcess::Ended ended = RunProcess(Command("ringside", flags), absl::Minutes(1));
  EXPECT_EQ(ended.status, 2) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr(out));
}

TEST_F(BadInputTest, PortTaken) {
  const int blocker = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  ASSERT_EQ(bind(blocker, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(blocker, 1), 0);
  ASSERT_EQ(getsockname(blocker, reinterpret_cast<sockaddr*>(&address), &length), 0);
  const int port = ntohs(address.sin_port);
  const TestProcess::Ended ended = RunProcess(
      Command("ringside",
              {"coordinator", absl::StrCat("--coordinator=127.0.0.1:", port), "--workers=1"}),
      absl::Minutes(1));
  close(blocker);
  EXPECT_NE(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr(absl::StrCat(port)));
}

}  // namespace
}  // namespace ringside
