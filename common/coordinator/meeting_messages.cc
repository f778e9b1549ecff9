#include "common/coordinator/meeting_messages.h"

namespace ringside {
namespace {

template <typename Request>
Contribution Common(MeetingKind kind, const Request& request) {
  Contribution contribution;
  contribution.kind = kind;
  contribution.name = request.name();
  contribution.members.assign(request.members().begin(), request.members().end());
  return contribution;
}

}  // namespace

Contribution ContributionOf(const BarrierRequest& request) {
  return Common(MeetingKind::kBarrier, request);
}

Contribution ContributionOf(const ReduceRequest& request) {
  Contribution contribution = Common(MeetingKind::kReduce, request);
  contribution.integers.assign(request.integers().begin(), request.integers().end());
  contribution.doubles.assign(request.doubles().begin(), request.doubles().end());
  return contribution;
}

Contribution ContributionOf(const GatherRequest& request) {
  Contribution contribution =
      Common(request.for_all() ? MeetingKind::kGatherForAll : MeetingKind::kGather, request);
  contribution.blob = request.blob();
  return contribution;
}

void Fill(const MeetingAnswer& answer, ReduceResponse* response) {
  response->mutable_integers()->Add(answer.integers.begin(), answer.integers.end());
  response->mutable_doubles()->Add(answer.doubles.begin(), answer.doubles.end());
}

void Fill(const MeetingAnswer& answer, GatherResponse* response) {
  for (const std::string& blob : answer.blobs) response->add_blobs(blob);
}

}  // namespace ringside
