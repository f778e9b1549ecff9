// Between the messages of barrier, reduce and gather and what Meetings (meeting.h) deals in. Pure.
#ifndef RINGSIDE_COMMON_COORDINATOR_MEETING_MESSAGES_H_
#define RINGSIDE_COMMON_COORDINATOR_MEETING_MESSAGES_H_

#include "common/coordinator/meeting.h"
#include "coordinator.pb.h"

namespace ringside {

Contribution ContributionOf(const BarrierRequest& request);
Contribution ContributionOf(const ReduceRequest& request);
Contribution ContributionOf(const GatherRequest& request);

// Of an answer that is OK. A barrier's response is empty.
void Fill(const MeetingAnswer& answer, ReduceResponse* response);
void Fill(const MeetingAnswer& answer, GatherResponse* response);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_COORDINATOR_MEETING_MESSAGES_H_
