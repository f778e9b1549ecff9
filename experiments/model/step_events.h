// What both strategies have in common in a simulation of events: ranks compute, submit buckets,
// wait for their sums, and end with the optimizer. Thread-compatible.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_STEP_EVENTS_H_
#define RINGSIDE_EXPERIMENTS_MODEL_STEP_EVENTS_H_

#include <vector>

#include "experiments/model/event_engine.h"
#include "experiments/model/rank_times.h"
#include "experiments/model/step_job.h"

namespace ringside {

class StepEvents : public EventEngine::Listener {
 public:
  // When each rank has ended the step.
  std::vector<double> Run();

  void OnTimer(const EventEngine::Token& token) final;
  void OnJobDone(const EventEngine::Token& token) final;

 protected:
  // Kinds of token from here on are the subclass's.
  static constexpr int kOwnKinds = 16;

  StepEvents(const StepJob& job, const std::vector<RankTimes>& ranks);

  const StepJob& job() const { return job_; }
  EventEngine& engine() { return engine_; }
  // The rank has the sums of all its buckets.
  void Summed(int rank);
  virtual void OnSubmitted(int rank, int bucket) = 0;
  virtual void OnWorkDone(const EventEngine::Token& token) = 0;

 private:
  enum Kind { kStart, kReady, kBackwardEnd, kComputed, kEnd };

  bool computes_on_cores() const;
  // Of a rank whose computing queues for cores: the next piece of it, up to the next submission.
  void ComputeNext(int rank, int piece);
  void OnComputed(int rank, int piece);
  void EndIfDone(int rank);

  const StepJob& job_;
  const std::vector<RankTimes>& ranks_;
  EventEngine engine_;
  std::vector<int> compute_threads_;  // by rank
  std::vector<int> waits_for_;        // by rank: backward, sums
  std::vector<double> ends_;          // by rank
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_STEP_EVENTS_H_
