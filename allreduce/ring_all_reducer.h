// The ring all-reduce of ring_schedule.h over a RingLink.
#ifndef RINGSIDE_ALLREDUCE_RING_ALL_REDUCER_H_
#define RINGSIDE_ALLREDUCE_RING_ALL_REDUCER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "allreduce/all_reducer.h"
#include "allreduce/ring_link.h"
#include "allreduce/ring_schedule.h"
#include "common/arena.h"
#include "common/frame_codec.h"
#include "common/group.h"
#include "common/mutex.h"

namespace ringside {

// Every frame is checked against the one that the schedule calls for, so that no gradient is lost
// or counted twice: a duplicate, a frame of another generation, a gap and a wrong length are errors
// of their own. Sum moves no data of one rank or of no elements. No buffer is allocated after
// Create.
class RingAllReducer final : public AllReducer {
 public:
  struct Config {
    Group group;
    std::unique_ptr<RingLink> link;  // to the neighbours of the group; none for a group of one
    int64_t segment_bytes = kMaxFramePayloadBytes;    // payload of a frame
    absl::Duration step_timeout = absl::Seconds(60);  // for one Sum
  };

  // INVALID_ARGUMENT: no link for a group of several, an index outside of the group, a segment
  // below 4 bytes or above 1 MiB, a timeout that is not positive.
  static absl::StatusOr<std::unique_ptr<RingAllReducer>> Create(Config config);

  // As AllReducer has it. An error says step, bucket, phase, how much had been received, and the
  // neighbour.
  absl::Status Sum(CollectiveId id, absl::Span<const float> in, absl::Span<float> out) override;
  void Abort(absl::Status cause) override;
  TrafficCounters traffic() const override;

 private:
  // One Sum that is under way.
  struct Exchange {
    CollectiveId id;
    RingSchedule schedule;
    absl::Span<const float> in;
    absl::Span<float> out;
    absl::Time deadline;
    int step = 0;  // that is being received
    int64_t received_elements = 0;
  };

  RingAllReducer(Config config, std::unique_ptr<Arena> scratch);

  absl::Status Run(Exchange* exchange);
  absl::Status ReceiveSegment(Exchange* exchange, int64_t segment);
  FrameHeader HeaderOf(const Exchange& exchange, RingSchedule::Phase phase, ElementRange range,
                       int sender) const;
  absl::Status CheckHeader(const Exchange& exchange, const FrameHeader& expected,
                           const FrameHeader& got) const;
  std::string DescribePosition(const Exchange& exchange, const FrameHeader& expected,
                               const FrameHeader& got) const;
  // Puts step, bucket, phase and progress before the message; keeps code and suspects.
  absl::Status Explain(const Exchange& exchange, const absl::Status& status) const;
  absl::Status FirstError() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the first error, which is `status` unless there was one before.
  absl::Status Fail(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);

  // Constant after construction.
  const Group group_;
  const std::unique_ptr<RingLink> link_;
  const int64_t segment_elements_;
  const absl::Duration step_timeout_;
  const std::unique_ptr<Arena> scratch_;  // one segment, between receive and add; used by Sum alone

  Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_RING_ALL_REDUCER_H_
