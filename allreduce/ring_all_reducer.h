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
#include "common/trace/trace_buffer.h"

namespace ringside {

// Every frame is checked against the one that the schedule calls for, so that no gradient is lost
// or counted twice: a duplicate, a frame of another generation, a gap and a wrong length are errors
// of their own. Sum moves no data of one rank or of no elements. No buffer is allocated after
// Create.
//
// With a 16-bit wire dtype partial sums are rounded before every hop and added in float32, and the
// owner of a finished chunk rounds it too: all ranks hold the same bits, which are those of the
// reference fold in common/reduction.h, over every link.
class RingAllReducer final : public AllReducer {
 public:
  struct Config {
    Group group;
    std::unique_ptr<RingLink> link;  // to the neighbours of the group; none for a group of one
    int64_t segment_bytes = kMaxFramePayloadBytes;  // of float32 values behind a frame
    // Of RingSchedule; the same on all ranks.
    int64_t lookahead = 1;
    // The link lends payload in the neighbour's memory: sums that are larger than the caches are
    // stored past them, for no kernel reads them on their way. Whole chunks are then best as the
    // lookahead.
    bool in_place_link = false;
    WireDtype wire_dtype = WireDtype::kFloat32;
    // What 16-bit values are sent from, as many as the longest sum has elements; shared where the
    // link is to read it in place. None for kFloat32.
    std::unique_ptr<Arena> wire;
    TraceBuffer* trace = nullptr;  // gets the two phases of each sum; borrowed; null: nothing does
    absl::Duration step_timeout = absl::Seconds(60);  // for one Sum
  };

  // INVALID_ARGUMENT: no link for a group of several, an index outside of the group, a segment
  // below 4 bytes or above 1 MiB, a lookahead below 1, a timeout that is not positive, a 16-bit
  // wire dtype without a wire arena.
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
    TraceBuffer* trace = nullptr;  // null: this one is not traced
    int64_t begin_ns = 0;
    int64_t scattered_ns = 0;  // the last partial sum has been taken
    int64_t gathering_ns = 0;  // the first finished sum is being taken
  };

  explicit RingAllReducer(Config config);

  absl::Status Run(Exchange* exchange);
  void Trace(const Exchange& exchange) const;
  // Segment `number` of this rank's own chunk, if there is one.
  void SendOwn(const Exchange& exchange, int64_t number);
  absl::Status ReceiveSegment(Exchange* exchange, int64_t segment);
  // Takes the payload of a partial sum, as it comes, and adds this rank's part.
  absl::Status AddPayload(const Exchange& exchange, ElementRange range);
  // Takes the payload of a finished sum.
  absl::Status KeepPayload(const Exchange& exchange, ElementRange range);
  absl::Status CopyPayload(const Exchange& exchange, absl::Span<float> sum);
  // What is sent of these values: they themselves, or their rounded form in the wire arena, which
  // Encoded makes first.
  absl::Span<const uint8_t> Bytes(ElementRange range, absl::Span<const float> values);
  absl::Span<const uint8_t> Encoded(ElementRange range, absl::Span<const float> values);
  absl::Span<uint8_t> WireOf(ElementRange range);
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
  const std::unique_ptr<Arena> wire_;  // used by Sum alone; outlives the link, which may still read
  const std::unique_ptr<RingLink> link_;
  const int64_t segment_elements_;
  const int64_t lookahead_;
  const bool in_place_link_;
  const absl::Duration step_timeout_;
  const WireDtype wire_dtype_;
  TraceBuffer* const trace_;

  Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_RING_ALL_REDUCER_H_
