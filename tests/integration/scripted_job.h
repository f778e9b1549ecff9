// A job of real processes without LibTorch: `ps_server` shards and scripted workers
// (scripted_worker.cc), around a coordinator in this process. Not thread-safe.
#ifndef RINGSIDE_TESTS_INTEGRATION_SCRIPTED_JOB_H_
#define RINGSIDE_TESTS_INTEGRATION_SCRIPTED_JOB_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/coordinator/coordinator_server.h"
#include "tests/testing/process.h"
#include "tests/testing/scripted_model.h"

namespace ringside {

// For what comes at once on an idle machine.
constexpr absl::Duration kSoon = absl::Seconds(60);

class ScriptedJob {
 public:
  struct Config {
    ScriptedModel model = {};
    std::vector<std::string> scripts;  // by rank, see scripted_worker.cc; one worker each
    int shards = 1;
    std::vector<std::string> flags;  // of all processes
    int restart_shards = 0;
    absl::Duration lease = absl::Seconds(20);
  };

  // Starts everything.
  explicit ScriptedJob(Config config);

  int workers() const { return static_cast<int>(workers_.size()); }
  int shards() const { return static_cast<int>(shards_.size()); }
  TestProcess& worker(int rank) { return *workers_[rank]; }
  TestProcess& shard(int number) { return *shards_[number]; }
  // A process in the place of one that has ended.
  void RestartShard(int number);

  // Waits until the worker has come so far. False when it has ended before, or the time is over.
  bool AwaitHalt(int rank, int64_t step, int buckets);
  bool AwaitFinished(int rank, int64_t step);
  // Waits until the worker has stopped itself, or was stopped: all its threads.
  bool AwaitStopped(int rank) const;
  // The number N in what the worker said last: "... units submitted, N in all".
  int64_t UnitsSubmitted(int rank) const;
  // The number in the last "finished step N"; 0: none.
  int64_t StepsFinished(int rank) const;
  // Waits until the coordinator has heard from the worker that it finished `step`.
  bool AwaitReported(int rank, int64_t step) const;
  // Frames with a payload that all shards together have taken off their streams.
  int64_t FramesReceived() const;
  // Lets the workers that hold go on.
  void Resume(const std::vector<int>& ranks) const;

  // SHA-256 of the parameters after so many steps, as workers say it at the end; see
  // ScriptedParameters.
  std::string ExpectedHash(int64_t steps, float rate) const;
  // Everything that was written by all processes so far, for messages of failures.
  std::string Outputs() const;

 private:
  std::unique_ptr<TestProcess> StartShard(int number) const;
  std::unique_ptr<TestProcess> StartWorker(int rank) const;
  std::vector<std::string> Flags() const;

  const Config config_;
  std::unique_ptr<CoordinatorServer> coordinator_;
  std::vector<std::unique_ptr<TestProcess>> shards_;
  std::vector<std::unique_ptr<TestProcess>> workers_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_INTEGRATION_SCRIPTED_JOB_H_
