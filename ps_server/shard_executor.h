// Owns a ParameterShard: takes frames from the workers' streams, folds, hands out sums, keeps time.
//
// One thread at a time holds the shard, and no other touches it: it is handed over through the
// mutex. As a rule that is the executor's own thread. A shard of at most kMaxInlineElements, of
// which no frame leads to more work than a thread's wake-up costs, is also held by the reactor that
// brings a frame while nobody holds it; so two hand-overs between threads are saved in each
// exchange.
//
// Thread-safe. Reactors hand over frames and never wait; the queue is bounded by them: a stream has
// at most kMaxFramesInFlight frames handed over and not yet taken, so the queue holds at most that
// many per worker, and a worker that sends faster than the shard folds is stopped by gRPC's flow
// control.
#ifndef RINGSIDE_PS_SERVER_SHARD_EXECUTOR_H_
#define RINGSIDE_PS_SERVER_SHARD_EXECUTOR_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "absl/types/variant.h"
#include "common/frame_codec.h"
#include "common/frame_payload.h"
#include "common/mutex.h"
#include "common/trace/trace_buffer.h"
#include "ps_server/parameter_shard.h"

namespace ringside {

constexpr int kMaxFramesInFlight = 4;
constexpr int64_t kMaxInlineElements = 16 << 10;

class ShardExecutor {
 public:
  // The workers' streams. Called by who holds the shard, a reactor inside PushFrame included; must
  // not block.
  class Streams {
   public:
    virtual ~Streams() = default;
    // One frame, to result.worker or to every worker.
    virtual void Send(const ParameterShard::Result& result) = 0;
    // A frame of `worker` has left the queue; its stream may read another.
    virtual void FrameTaken(int worker) = 0;
    // At the first failure, once, before Await returns.
    virtual void CloseAll(const absl::Status& failure) = 0;
  };

  struct Config {
    int shard = 0;
    int world_size = 1;
    // How long a worker that has pushed its whole step waits for the others. The shard reports a
    // little earlier than the waiting workers would, because it can name who is missing.
    absl::Duration step_timeout = absl::Seconds(60);
    // A worker that waits is patient as long as anybody pushes: in modes where the slowest may be
    // far behind.
    bool progress_is_enough = false;
    // Gets the shard and each step that is closed, from who holds the shard: what it does delays
    // the workers. An error ends the work. May be empty.
    std::function<absl::Status(uint64_t step, ParameterShard* shard)> step_closed = nullptr;
    // It may block, as on a disk: then no reactor ever holds the shard.
    bool step_closed_blocks = false;
    uint64_t broadcast_step = 0;   // of the initial parameters: the first of the job
    TraceBuffer* trace = nullptr;  // gets each push that is taken; borrowed; null: nothing does
  };

  // What the shard did, or several did, one after the other.
  struct Account {
    int64_t steps = 0;       // closed, the broadcast of the initial parameters included
    int64_t broadcasts = 0;  // of those
    int64_t open_step = 0;   // that waits for gradients; the last shard's
    absl::Duration fold_time;
    absl::Duration serialise_time;  // building replies and handing them to the streams
    absl::Duration queue_time;      // of all frames together, from their arrival to their turn
    int64_t frames = 0;
    ParameterShard::Statistics statistics;
    int units = 0;  // of the shard

    // `later` is of a shard with the same units that came after.
    Account& operator+=(const Account& later);
  };

  // `streams` outlives the executor.
  ShardExecutor(Config config, std::unique_ptr<ParameterShard> shard, Streams* streams);
  // Stops and joins the thread.
  ~ShardExecutor();
  ShardExecutor(const ShardExecutor&) = delete;
  ShardExecutor& operator=(const ShardExecutor&) = delete;

  // Shard 0's word on who counts; see ParameterShard::Elect.
  void Elect(ParameterShard::Election election);
  // Hands over a frame from the stream of worker `header.sender`.
  void PushFrame(const FrameHeader& header, FramePayload payload);
  // The stream of `worker` is over: in good order (OK, after the worker's half-close) or not.
  void StreamEnded(int worker, absl::Status how);
  // Ends the work with `why`, e.g. a verdict; OK counts as CANCELLED.
  void Stop(absl::Status why);

  // Blocks until every worker has finished and ended its stream in good order (OK), or the first
  // failure, whose suspects are attached: what ParameterShard::Push refuses, UNAVAILABLE (a stream
  // broke, or ended before its worker had finished), DEADLINE_EXCEEDED (names who has not pushed),
  // what Config::step_closed returned, or the status given to Stop. The end is bounded by the lease
  // of whoever calls Stop.
  absl::Status Await();
  // So far; complete once Await has returned.
  Account account() const;
  // Frees the shard and all it holds. REQUIRES: Await has returned. Streams may still refer to the
  // executor, and frames that they hand over are dropped.
  void ReleaseShard();

 private:
  struct Frame {
    FrameHeader header;
    FramePayload payload;
    std::chrono::steady_clock::time_point arrived;
  };
  struct End {
    int worker = 0;
    absl::Status how;
  };
  using Event = absl::variant<Frame, End, ParameterShard::Election>;

  void Enqueue(Event event);
  void Run();
  // Of the executor's thread: waits for events, or for the time to look at the clock, takes the
  // shard and moves the events to `batch`. Returns the reason to stop, if there is one.
  absl::Status TakeShard(std::vector<Event>* batch);
  // Lets go of the shard, with the reason to stop, if there is one.
  void GiveShard(absl::Status failure);
  // Of a reactor that has taken the shard: handles `frame`, and once the frames that have come
  // meanwhile; not more, because its own stream waits.
  void HandleInline(Frame frame);
  // Moves to `batch` what has come, if it may and that is frames alone. Else lets go of the shard
  // and returns false.
  bool TakeFramesOrGive(bool may_take, std::vector<Event>* batch);
  absl::Status HandleAll(std::vector<Event>* batch);
  absl::Status Handle(Frame frame);
  // A push that came at `arrived` and was taken from `start` to `end`.
  void Trace(const FrameHeader& header, std::chrono::steady_clock::time_point arrived,
             std::chrono::steady_clock::time_point start,
             std::chrono::steady_clock::time_point end) const;
  absl::Status Handle(End end);
  absl::Status Handle(ParameterShard::Election election);
  // Sends what the shard has answered and tells of closed steps.
  absl::Status AfterShard(uint64_t step_before);
  void PublishAccount() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteWaiting(bool progress);
  bool SomebodyWaits() const;
  absl::Status CheckDeadline(absl::Time now) const;
  absl::Duration margin() const;
  absl::Time deadline() const;
  bool AllEnded() const;

  // Constant after construction.
  const Config config_;
  Streams* const streams_;
  const bool inline_;  // reactors may hold the shard

  // Used by who holds the shard, and once the thread has ended by ReleaseShard.
  std::unique_ptr<ParameterShard> shard_;
  std::vector<ParameterShard::Result> results_;
  std::vector<bool> ended_;                          // by worker, in good order
  absl::Time waits_since_ = absl::InfiniteFuture();  // since when a worker has waited for others
  const uint64_t first_step_;
  Account own_account_;  // but for what the shard counts

  mutable Mutex mutex_;
  CondVar arrived_;   // an event, a reason to stop, or the shard is free
  CondVar finished_;  // the outcome
  std::vector<Event> queue_ ABSL_GUARDED_BY(mutex_);
  bool held_ ABSL_GUARDED_BY(mutex_) = false;  // somebody holds the shard
  absl::Status stop_ ABSL_GUARDED_BY(mutex_);
  absl::optional<absl::Status> outcome_ ABSL_GUARDED_BY(mutex_);
  Account account_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SHARD_EXECUTOR_H_
