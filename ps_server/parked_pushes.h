// What workers have pushed in the open step, kept as it was received until it is folded.
// Thread-compatible. Memory: the payloads, at most world size times the shard's elements.
#ifndef RINGSIDE_PS_SERVER_PARKED_PUSHES_H_
#define RINGSIDE_PS_SERVER_PARKED_PUSHES_H_

#include <cstdint>
#include <vector>

#include "common/frame_codec.h"
#include "common/frame_payload.h"

namespace ringside {

class ParkedPushes {
 public:
  struct Push {
    FramePayload payload;
    uint64_t weight = 0;  // samples
    bool finite = true;
  };

  ParkedPushes(int units, int world_size);

  // In this step, whether still parked or folded.
  bool Has(int unit, int worker) const { return state_[At(unit, worker)] != State::kNone; }
  // Workers that have pushed the unit, and units that the worker has pushed.
  int pushes_of_unit(int unit) const { return by_unit_[unit]; }
  int pushes_of_worker(int worker) const { return by_worker_[worker]; }
  // REQUIRES: !Has.
  void Park(int unit, const FrameHeader& header, FramePayload payload);
  // REQUIRES: parked and not released.
  const Push& push(int unit, int worker) const { return pushes_[At(unit, worker)]; }
  // Gives the payloads of a unit back to the transport.
  void Release(int unit);
  // A new step. Whatever is parked is given back.
  void Clear();
  // That are parked.
  int64_t frames() const { return frames_; }

 private:
  enum class State : uint8_t { kNone, kParked, kReleased };

  size_t At(int unit, int worker) const {
    return static_cast<size_t>(unit) * by_worker_.size() + static_cast<size_t>(worker);
  }

  std::vector<State> state_;  // by unit and worker
  std::vector<Push> pushes_;
  std::vector<int> by_unit_;
  std::vector<int> by_worker_;
  int64_t frames_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_PARKED_PUSHES_H_
