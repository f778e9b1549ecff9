// How a worker that has no more steps learns that nobody has, and whether the loss of a shard still
// matters then. Pure. Thread-compatible: PsExchange uses it under its lock.
//
// A shard says kFinish once every worker has finished with it, and a worker finishes with all
// shards at once, when it has the results of its last step from all of them. So the word of one
// shard proves that all workers have all results: what breaks later was not needed any more. But
// not where the final results come after the last step (asynchronous modes): those of each shard
// are needed.
#ifndef RINGSIDE_WORKER_SYNCHRONIZERS_TRAINING_END_H_
#define RINGSIDE_WORKER_SYNCHRONIZERS_TRAINING_END_H_

#include <vector>

namespace ringside {

class TrainingEnd {
 public:
  TrainingEnd(int shards, bool final_results)
      : final_results_(final_results), finished_(shards, false), lost_(shards, false) {}

  // This worker has no more steps.
  void Begin() { begun_ = true; }
  bool begun() const { return begun_; }

  // The shard has said kFinish.
  void Finished(int shard) { finished_[shard] = true; }
  // Its stream broke. Returns whether that has no consequence.
  bool Lost(int shard);
  // Those that have yet to say kFinish, and can.
  std::vector<int> Lacking() const;

  // There are more steps after all, or the shards start anew.
  void Reset() { *this = TrainingEnd(static_cast<int>(finished_.size()), final_results_); }

 private:
  bool final_results_;
  bool begun_ = false;
  std::vector<bool> finished_;  // by shard
  std::vector<bool> lost_;      // by shard, without consequence
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_SYNCHRONIZERS_TRAINING_END_H_
