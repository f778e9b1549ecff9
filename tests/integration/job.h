// What the tests of real jobs share: a folder of their own, a small data set, the binaries, and
// readers of results.
#ifndef RINGSIDE_TESTS_INTEGRATION_JOB_H_
#define RINGSIDE_TESTS_INTEGRATION_JOB_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "google/protobuf/util/json_util.h"
#include "results.pb.h"
#include "tests/testing/mnist_files.h"
#include "tests/testing/process.h"

namespace ringside {

inline std::string Binary(const std::string& name) {
  return std::string(RINGSIDE_BINARY_DIR) + "/" + name;
}

class JobTest : public ::testing::Test {
 protected:
  JobTest() {
    std::string pattern = ::testing::TempDir() + "ringside_job_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    std::filesystem::create_directory(data_dir());
  }
  ~JobTest() override { std::filesystem::remove_all(folder_); }

  const std::string& folder() const { return folder_; }
  std::string data_dir() const { return folder_ + "/data"; }

  TestProcess::Config Command(const std::string& binary,
                              const std::vector<std::string>& flags) const {
    TestProcess::Config config;
    config.argv = {Binary(binary)};
    config.argv.insert(config.argv.end(), flags.begin(), flags.end());
    return config;
  }

  // Flags of a tiny job on this test's own data.
  std::vector<std::string> JobFlags(const std::vector<std::string>& more) const {
    std::vector<std::string> flags = {"--data_dir=" + data_dir(), "--hidden=16,8",
                                      "--learning_rate=0.1", "--first_bucket_bytes=256",
                                      "--bucket_bytes=4096"};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }

  // `ringside run` into <folder>/<name>; fails the test unless it ends well. One run is in the
  // result.
  ComparisonResult Run(const std::string& name, const std::vector<std::string>& more) const {
    std::vector<std::string> flags = JobFlags(more);
    flags.insert(flags.begin(), "run");
    flags.push_back("--out=" + folder_ + "/" + name);
    const TestProcess::Ended ended = RunProcess(Command("ringside", flags), absl::Minutes(2));
    EXPECT_EQ(ended.status, 0) << ended.output;
    return ReadResult(folder_ + "/" + name);
  }

  static ComparisonResult ReadResult(const std::string& out) {
    std::ifstream file(out + "/results.json");
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    ComparisonResult result;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(text, &result).ok())
        << out << ": " << text;
    return result;
  }

  // -1: the launcher has no such child.
  static pid_t FindChild(pid_t launcher, const std::string& binary, const std::string& flag) {
    for (const ProcessEntry& entry : DescendantsOf(launcher)) {
      if (absl::StrContains(entry.command_line, Binary(binary)) &&
          absl::StrContains(entry.command_line, flag)) {
        return entry.pid;
      }
    }
    return -1;
  }

 private:
  std::string folder_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_INTEGRATION_JOB_H_
