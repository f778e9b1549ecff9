// Who sends what to whom, when: the ring all-reduce as a value, without I/O. Immutable, allocates
// nothing.
//
// N ranks stand in a ring; each sends to its right neighbour and receives from its left one only. A
// buffer is cut into N chunks, which travel one hop per step, all links busy in every step. In step
// s the rank at index r
//
//     sends chunk (r - s) mod N to the right      and      receives chunk (r - s - 1) mod N from
//     the left.
//
// Reduce-scatter is steps 0 to N-2: what arrives is a partial sum, to which the rank adds its own
// chunk; in the next step it sends the result on. All-gather is steps N-1 to 2N-3: what arrives is
// a finished sum, which the rank keeps, and sends on. N = 3, where "c2=20" says that a rank holds
// g_2 + g_0 for chunk 2, and === marks finished sums:
//
//                      rank 0 ------->  rank 1 ------->  rank 2 ------->  (back to rank 0)
//     at first         c0=0 c1=0 c2=0   c0=1 c1=1 c2=1   c0=2 c1=2 c2=2
//     step 0 sends     c0               c1               c2
//       then           c2=20            c0=01            c1=12
//     step 1 sends     c2               c0               c1
//       then           c1===120         c2===201         c0===012          reduce-scatter is done:
//       one chunk per rank
//     step 2 sends     c1               c2               c0
//       then           c0===            c1===            c2===
//     step 3 sends     c0               c1               c2
//       then           c2===            c0===            c1===             all-gather is done: all
//       chunks everywhere
//
// The law of summation is the order in which a chunk meets the ranks: chunk c starts at rank c as
// g_c itself and ends at rank c + N - 1 as ((g_c + g_(c+1)) + g_(c+2)) + ... + g_(c+N-1), ranks
// modulo N, partial sum on the left. Every strategy folds in this order (common/reduction.h),
// because floating-point addition is not associative.
//
// What a step receives is what the next step sends. So a chunk need not arrive as a whole: it is
// cut into segments, and each is added and sent on while the next one is still on its way. Steps
// overlap: they run as waves, every step some segments (the lookahead) behind the one before. In
// wave w a rank
//
//     sends segment w + lookahead of step 0, and then, for every step s from 0 on,
//     receives segment w - s * lookahead of step s, which it then sends as that of step s + 1.
//
// Before the first wave it sends the first `lookahead` segments of step 0. What it sends in wave w
// is then, in the same order, what its right neighbour receives in wave w + lookahead: every link
// carries its segments in one fixed order, and a receiver knows beforehand what the next frame must
// be. With a lookahead of 1 a segment is passed on while it is still in the caches, and no more
// than about 2 N of them are on their way; a lookahead of a whole chunk is step after step. Long
// distances need a longer one, to fill the line.
//
// Cost per rank of S bytes: all chunks but two, twice: about 2 (N-1)/N S sent and as much received
// (ring_traffic.h). Source of the algorithm: Patarasuk and Yuan, "Bandwidth optimal all-reduce
// algorithms for clusters of workstations", Journal of Parallel and Distributed Computing 69
// (2009).
#ifndef RINGSIDE_ALLREDUCE_RING_SCHEDULE_H_
#define RINGSIDE_ALLREDUCE_RING_SCHEDULE_H_

#include <cstdint>

#include "common/element_range.h"

namespace ringside {

class RingSchedule {
 public:
  enum class Phase { kReduceScatter, kAllGather };
  struct Step {
    Phase phase = Phase::kReduceScatter;
    int send_chunk = 0;
    int receive_chunk = 0;
  };

  // For the rank at `index` of `size`, a buffer of `elements` and segments of at most
  // `segment_elements`. 0 <= index < size, elements >= 0, segment_elements >= 1, lookahead >= 1
  // segments, the same on all ranks.
  RingSchedule(int index, int size, int64_t elements, int64_t segment_elements, int64_t lookahead);

  int num_steps() const { return 2 * (size_ - 1); }
  Step step(int number) const;

  // Chunk `number` of the buffer; empty when there are fewer elements than ranks.
  ElementRange chunk(int number) const { return Part({0, elements_}, size_, number); }
  // An empty chunk has no segments: nothing is sent for it.
  int64_t num_segments(int chunk_number) const;
  ElementRange segment(int chunk_number, int64_t number) const;

  // Segments; no more than a chunk has.
  int64_t lookahead() const { return lookahead_; }
  int64_t num_waves() const;
  // The segment that step `number` receives in this wave; -1: none.
  int64_t segment_in_wave(int64_t wave, int number) const;

  // Elements that this rank receives, all steps together.
  int64_t elements_to_receive() const;

 private:
  int index_;
  int size_;
  int64_t elements_;
  int64_t segment_elements_;
  int64_t lookahead_;
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_RING_SCHEDULE_H_
