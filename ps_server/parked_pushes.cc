#include "ps_server/parked_pushes.h"

#include <algorithm>
#include <utility>

#include "common/check.h"

namespace ringside {

ParkedPushes::ParkedPushes(int units, int world_size)
    : state_(static_cast<size_t>(units) * world_size, State::kNone),
      pushes_(state_.size()),
      by_unit_(units, 0),
      by_worker_(world_size, 0) {}

void ParkedPushes::Park(int unit, const FrameHeader& header, FramePayload payload) {
  const auto worker = static_cast<int>(header.sender);
  const size_t at = At(unit, worker);
  RINGSIDE_CHECK(state_[at] == State::kNone);
  state_[at] = State::kParked;
  pushes_[at] = {std::move(payload), header.weight, header.finite};
  ++by_unit_[unit];
  ++by_worker_[worker];
  ++frames_;
}

void ParkedPushes::Release(int unit) {
  for (size_t at = At(unit, 0); at < At(unit + 1, 0); ++at) {
    if (state_[at] != State::kParked) continue;
    state_[at] = State::kReleased;
    pushes_[at].payload = FramePayload();
    --frames_;
  }
}

void ParkedPushes::Clear() {
  for (int unit = 0; unit < static_cast<int>(by_unit_.size()); ++unit) Release(unit);
  std::fill(state_.begin(), state_.end(), State::kNone);
  std::fill(by_unit_.begin(), by_unit_.end(), 0);
  std::fill(by_worker_.begin(), by_worker_.end(), 0);
}

}  // namespace ringside
