// What the tests of jobs that stop and go on share.
#ifndef RINGSIDE_TESTS_INTEGRATION_CHECKPOINT_JOB_H_
#define RINGSIDE_TESTS_INTEGRATION_CHECKPOINT_JOB_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/integration/job.h"

namespace ringside {

class CheckpointJobTest : public JobTest {
 protected:
  CheckpointJobTest() { WriteMnistFiles(data_dir(), 64, 20); }

  std::vector<std::string> Flags(const std::vector<std::string>& more) const {
    std::vector<std::string> flags = {"--workers=2", "--batch_size=8", "--momentum=0.9",
                                      "--warmup_steps=0", "--lease=5s"};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }
  RunResult Train(const std::string& name, const std::vector<std::string>& more) const {
    return Run(name, Flags(more)).runs(0);
  }
  TestProcess::Config Launch(const std::string& name, const std::vector<std::string>& more) const {
    std::vector<std::string> flags = JobFlags(Flags(more));
    flags.insert(flags.begin(), "run");
    flags.push_back("--out=" + folder() + "/" + name);
    return Command("ringside", flags);
  }
  std::string PathOf(const std::string& name, int64_t step) const {
    return absl::StrFormat("%s/%s/checkpoints/step-%06d.ckpt", folder(), name, step);
  }
  std::vector<std::string> Checkpoints(const std::string& name) const {
    std::vector<std::string> paths;
    std::error_code error;
    for (std::filesystem::directory_iterator it(folder() + "/" + name + "/checkpoints", error), end;
         !error && it != end; it.increment(error)) {
      if (it->path().extension() == ".ckpt") paths.push_back(it->path().string());
    }
    return paths;
  }
  std::vector<int64_t> StepsWritten(const std::string& name, int rank) const {
    std::ifstream file(absl::StrCat(folder(), "/", name, "/steps/worker-", rank, ".jsonl"));
    std::vector<int64_t> steps;
    for (std::string line; std::getline(file, line);) {
      StepRecord record;
      EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(line, &record).ok()) << line;
      steps.push_back(record.step());
    }
    return steps;
  }
  // Of a job that goes on writing.
  int64_t LinesWritten(const std::string& name, int rank) const {
    std::ifstream file(absl::StrCat(folder(), "/", name, "/steps/worker-", rank, ".jsonl"));
    return std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n');
  }
  // Of the newest; 0: there is none.
  int64_t NewestCheckpoint(const std::string& name) const {
    std::string newest;
    for (const std::string& path : Checkpoints(name)) newest = std::max(newest, path);
    const size_t at = newest.rfind("step-");
    int64_t step = 0;
    return at != std::string::npos && absl::SimpleAtoi(newest.substr(at + 5, 6), &step) ? step : 0;
  }
  // Each rank has one record of each step up to `last`, and at most those.
  void ExpectAllSteps(const std::string& name, int64_t last) const {
    for (int rank : {0, 1}) {
      const std::vector<int64_t> steps = StepsWritten(name, rank);
      ASSERT_EQ(static_cast<int64_t>(steps.size()), last) << name << " " << rank;
      for (size_t i = 0; i < steps.size(); ++i) ASSERT_EQ(steps[i], static_cast<int64_t>(i) + 1);
    }
  }
};

// Parameters, optimizer and buffers have the same bits.
inline void ExpectSameState(const RunResult& one, const RunResult& other) {
  EXPECT_FALSE(one.parameters_sha256().empty());
  EXPECT_EQ(one.parameters_sha256(), other.parameters_sha256());
  for (const WorkerResult& worker : other.worker_results()) {
    EXPECT_EQ(worker.optimizer_state_sha256(), one.worker_results(0).optimizer_state_sha256());
    EXPECT_EQ(worker.buffers_sha256(), one.worker_results(0).buffers_sha256());
  }
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_INTEGRATION_CHECKPOINT_JOB_H_
