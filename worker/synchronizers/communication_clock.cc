#include "worker/synchronizers/communication_clock.h"

namespace ringside {

void CommunicationClock::Submitted(absl::Time now, int64_t parts) {
  if (under_way_ == 0) since_ = now;
  under_way_ += parts;
}

void CommunicationClock::Summed(absl::Time now) {
  --under_way_;
  if (under_way_ == 0 && !backward_ended_.has_value()) hidden_ += now - since_;
}

void CommunicationClock::BackwardEnded(absl::Time now) {
  if (backward_ended_.has_value()) return;
  backward_ended_ = now;
  if (under_way_ > 0) hidden_ += now - since_;
}

CommunicationTimes CommunicationClock::Finished(absl::Time now) {
  const CommunicationTimes times = {hidden_, now - backward_ended_.value_or(now)};
  *this = CommunicationClock();
  return times;
}

}  // namespace ringside
