#include "allreduce/ring_schedule.h"

#include <algorithm>

#include "common/check.h"

namespace ringside {

RingSchedule::RingSchedule(int index, int size, int64_t elements, int64_t segment_elements,
                           int64_t lookahead)
    : index_(index), size_(size), elements_(elements), segment_elements_(segment_elements) {
  RINGSIDE_CHECK(0 <= index && index < size && elements >= 0 && segment_elements >= 1 &&
                 lookahead >= 1);
  // Chunk 0 is a longest one.
  lookahead_ = std::max<int64_t>(1, std::min(lookahead, num_segments(0)));
}

RingSchedule::Step RingSchedule::step(int number) const {
  RINGSIDE_CHECK(0 <= number && number < num_steps());
  Step step;
  step.phase = number < size_ - 1 ? Phase::kReduceScatter : Phase::kAllGather;
  // number < 2 * size, so twice the size keeps the dividend positive.
  step.send_chunk = (index_ - number + 2 * size_) % size_;
  step.receive_chunk = (index_ - number - 1 + 2 * size_) % size_;
  return step;
}

int64_t RingSchedule::num_segments(int chunk_number) const {
  return (chunk(chunk_number).length + segment_elements_ - 1) / segment_elements_;
}

ElementRange RingSchedule::segment(int chunk_number, int64_t number) const {
  const ElementRange whole = chunk(chunk_number);
  const int64_t offset = number * segment_elements_;
  return {whole.begin + offset, std::min(segment_elements_, whole.length - offset)};
}

int64_t RingSchedule::num_waves() const { return num_segments(0) + (num_steps() - 1) * lookahead_; }

int64_t RingSchedule::segment_in_wave(int64_t wave, int number) const {
  const int64_t segment = wave - number * lookahead_;
  return 0 <= segment && segment < num_segments(step(number).receive_chunk) ? segment : -1;
}

int64_t RingSchedule::elements_to_receive() const {
  int64_t sum = 0;
  for (int number = 0; number < num_steps(); ++number) {
    sum += chunk(step(number).receive_chunk).length;
  }
  return sum;
}

}  // namespace ringside
