#include "common/coordinator/coordinator_client.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "common/check.h"
#include "common/coordinator/join.h"
#include "common/coordinator/member_list.h"
#include "common/coordinator/member_session.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/network/grpc_server.h"
#include "common/network/grpc_status.h"
#include "common/network/host_identity.h"
#include "common/status_macros.h"
#include "common/suspects.h"
#include "common/trace/clock_alignment.h"
#include "coordinator.grpc.pb.h"

namespace ringside {
namespace {

// The coordinator's deadlines come first and name who is missing; ours only make sure of an end.
constexpr absl::Duration kAnswerMargin = absl::Seconds(2);

void SetDeadline(grpc::ClientContext* context, absl::Time deadline) {
  context->set_deadline(absl::ToChronoTime(deadline));
}

std::string OneLine(absl::string_view text) { return absl::StrReplaceAll(text, {{"\n", " "}}); }

class Client final : public CoordinatorClient {
 public:
  Client(Config config, MemberId self, Membership membership,
         std::shared_ptr<grpc::Channel> channel);
  absl::Status AwaitSession() { return session_.AwaitOpen(); }

  const Membership& membership() const override { return membership_; }
  Membership current_membership() const override { return session_.replacements().current(); }
  absl::Status Barrier(const std::string& name, const std::vector<MemberId>& members,
                       absl::Duration timeout) override;
  absl::StatusOr<Sums> Reduce(const std::string& name, const std::vector<MemberId>& members,
                              Sums own, absl::Duration timeout) override;
  absl::StatusOr<std::vector<std::string>> Gather(const std::string& name,
                                                  const std::vector<MemberId>& members,
                                                  std::string own, absl::Duration timeout) override;
  absl::StatusOr<std::vector<std::string>> GatherForAll(const std::string& name,
                                                        const std::vector<MemberId>& members,
                                                        std::string own,
                                                        absl::Duration timeout) override;
  absl::StatusOr<ClockReading> ReadClock(int round_trips) override;
  void ReportProgress(const Progress& progress) override { session_.ReportProgress(progress); }
  void SetVerdictHandler(std::function<void(const absl::Status&)> handler) override {
    session_.SetVerdictHandler(std::move(handler));
  }
  void SetReplacementHandler(std::function<void(const Replacement&)> handler) override {
    session_.replacements()->SetHandler(std::move(handler));
  }
  absl::Status ResolveFailure(const absl::Status& failure, int64_t step) override;
  absl::StatusOr<uint32_t> AwaitRecovery(const absl::Status& failure, int64_t step,
                                         uint32_t recovery) override;
  absl::Status Leave() override;

 private:
  // The part that all meetings share of their requests.
  template <typename Request>
  Request MeetingRequest(const std::string& name, const std::vector<MemberId>& members,
                         absl::Duration timeout) const;
  // A unary call that ends early with the verdict, if there is one.
  template <typename Request, typename Response>
  absl::Status Call(grpc::Status (Coordinator::Stub::*method)(grpc::ClientContext*, const Request&,
                                                              Response*),
                    const Request& request, Response* response, absl::Duration timeout);
  absl::StatusOr<std::vector<std::string>> GatherBlobs(const std::string& name,
                                                       const std::vector<MemberId>& members,
                                                       std::string own, bool for_all,
                                                       absl::Duration timeout);
  // A report that does not arrive needs no answer here: then the coordinator is about to be lost.
  void Report(const absl::Status& failure, int64_t step, uint32_t recovery, absl::Time deadline);
  // What to end with, given what the coordinator said of the failure.
  absl::Status Outcome(const absl::Status& failure, const MemberSession::Ruling& ruling) const;

  const Config config_;
  const MemberId self_;
  const Membership membership_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<Coordinator::Stub> stub_;
  MemberSession session_;  // last, as it uses the others
};

Client::Client(Config config, MemberId self, Membership membership,
               std::shared_ptr<grpc::Channel> channel)
    : config_(std::move(config)),
      self_(std::move(self)),
      membership_(std::move(membership)),
      channel_(std::move(channel)),
      stub_(Coordinator::NewStub(channel_)),
      session_(config_.coordinator, self_, membership_, stub_.get()) {}

template <typename Request>
Request Client::MeetingRequest(const std::string& name, const std::vector<MemberId>& members,
                               absl::Duration timeout) const {
  Request request;
  *request.mutable_caller() = session_.caller();
  request.set_name(name);
  for (const MemberId& member : members) *request.add_members() = member;
  request.set_timeout_ms(absl::ToInt64Milliseconds(timeout));
  return request;
}

template <typename Request, typename Response>
absl::Status Client::Call(grpc::Status (Coordinator::Stub::*method)(grpc::ClientContext*,
                                                                    const Request&, Response*),
                          const Request& request, Response* response, absl::Duration timeout) {
  grpc::ClientContext context;
  SetDeadline(&context, absl::Now() + timeout + kAnswerMargin);
  RINGSIDE_RETURN_IF_ERROR(session_.BeginCall(&context));
  const absl::Status status = FromGrpcStatus((stub_.get()->*method)(&context, request, response));
  const absl::Status verdict = session_.EndCall(&context);
  if (status.ok()) return status;
  if (!verdict.ok()) return verdict;
  const bool silent = absl::IsDeadlineExceeded(status) && SuspectsOf(status).empty();
  if (!silent && !absl::IsUnavailable(status) && !absl::IsCancelled(status)) return status;
  // The connection broke or is about to be given up: the session is the one to say so.
  const absl::Status late_verdict = session_.AwaitVerdict(absl::Now() + session_.lease()).verdict;
  if (!late_verdict.ok()) return late_verdict;
  return absl::Status(status.code(),
                      absl::StrCat("no answer from the coordinator at ",
                                   ToString(config_.coordinator), ": ", OneLine(status.message())));
}

absl::Status Client::Barrier(const std::string& name, const std::vector<MemberId>& members,
                             absl::Duration timeout) {
  BarrierResponse response;
  return Call(&Coordinator::Stub::Barrier, MeetingRequest<BarrierRequest>(name, members, timeout),
              &response, timeout);
}

absl::StatusOr<ClockReading> Client::ReadClock(int round_trips) {
  ClockRequest request;
  *request.mutable_caller() = session_.caller();
  const std::string boot_id = ReadHostIdentity().boot_id();
  bool one_machine = !boot_id.empty();
  std::vector<ClockRoundTrip> trips;
  for (int i = 0; i < round_trips; ++i) {
    ClockResponse response;
    const int64_t sent = absl::ToUnixNanos(MonotonicNow());
    RINGSIDE_RETURN_IF_ERROR(Call(&Coordinator::Stub::Clock, request, &response, session_.lease()));
    trips.push_back({sent, response.now_ns(), absl::ToUnixNanos(MonotonicNow())});
    one_machine = one_machine && response.boot_id() == boot_id;
  }
  return ReadingOf(trips, one_machine);
}

absl::StatusOr<CoordinatorClient::Sums> Client::Reduce(const std::string& name,
                                                       const std::vector<MemberId>& members,
                                                       Sums own, absl::Duration timeout) {
  ReduceRequest request = MeetingRequest<ReduceRequest>(name, members, timeout);
  request.mutable_integers()->Add(own.integers.begin(), own.integers.end());
  request.mutable_doubles()->Add(own.doubles.begin(), own.doubles.end());
  ReduceResponse response;
  const absl::Status status = Call(&Coordinator::Stub::Reduce, request, &response, timeout);
  if (!status.ok()) return status;
  return Sums{{response.integers().begin(), response.integers().end()},
              {response.doubles().begin(), response.doubles().end()}};
}

absl::StatusOr<std::vector<std::string>> Client::Gather(const std::string& name,
                                                        const std::vector<MemberId>& members,
                                                        std::string own, absl::Duration timeout) {
  return GatherBlobs(name, members, std::move(own), /*for_all=*/false, timeout);
}

absl::StatusOr<std::vector<std::string>> Client::GatherForAll(const std::string& name,
                                                              const std::vector<MemberId>& members,
                                                              std::string own,
                                                              absl::Duration timeout) {
  return GatherBlobs(name, members, std::move(own), /*for_all=*/true, timeout);
}

absl::StatusOr<std::vector<std::string>> Client::GatherBlobs(const std::string& name,
                                                             const std::vector<MemberId>& members,
                                                             std::string own, bool for_all,
                                                             absl::Duration timeout) {
  GatherRequest request = MeetingRequest<GatherRequest>(name, members, timeout);
  request.set_blob(std::move(own));
  request.set_for_all(for_all);
  GatherResponse response;
  const absl::Status status = Call(&Coordinator::Stub::Gather, request, &response, timeout);
  if (!status.ok()) return status;
  return std::vector<std::string>(response.blobs().begin(), response.blobs().end());
}

absl::Status Client::ResolveFailure(const absl::Status& failure, int64_t step) {
  if (failure.ok()) return failure;
  const MemberSession::Ruling known = session_.ruling();
  if (!known.verdict.ok()) return known.verdict;
  if (session_.leaving()) return failure;
  const absl::Time deadline = absl::Now() + session_.lease();
  Report(failure, step, current_membership().recovery(), deadline);
  return Outcome(failure, session_.AwaitVerdict(deadline));
}

absl::StatusOr<uint32_t> Client::AwaitRecovery(const absl::Status& failure, int64_t step,
                                               uint32_t recovery) {
  RINGSIDE_CHECK(!failure.ok());
  if (SuspectsOf(failure).empty()) return ResolveFailure(failure, step);
  const MemberSession::Ruling known = session_.ruling();
  if (!known.verdict.ok()) return known.verdict;
  if (session_.leaving()) return failure;
  const absl::Time start = absl::Now();
  if (current_membership().recovery() <= recovery) {
    Report(failure, step, recovery, start + session_.lease());
  }
  // Within one lease it is known whether the shard counts as lost, and then how long its
  // replacement may take.
  const absl::Time deadline =
      start + session_.lease() + absl::Milliseconds(membership_.restart_timeout_ms());
  const MemberSession::Ruling ruling = session_.Await(deadline, recovery);
  const uint32_t current = current_membership().recovery();
  if (ruling.verdict.ok() && current > recovery) return current;
  return Outcome(failure, ruling);
}

void Client::Report(const absl::Status& failure, int64_t step, uint32_t recovery,
                    absl::Time deadline) {
  FailureReport report;
  *report.mutable_caller() = session_.caller();
  report.set_message(OneLine(failure.message()));
  report.set_step(step);
  report.set_recovery(recovery);
  for (const MemberId& suspect : SuspectsOf(failure)) *report.add_suspects() = suspect;
  grpc::ClientContext context;
  SetDeadline(&context, deadline);
  FailureReportResponse response;
  (void)stub_->ReportFailure(&context, report, &response);
}

absl::Status Client::Outcome(const absl::Status& failure,
                             const MemberSession::Ruling& ruling) const {
  // What a process says of itself, it says with its own status code.
  const bool own = SuspectsOf(failure).empty() && SameMember(ruling.culprit, self_);
  return ruling.verdict.ok() || own ? failure : ruling.verdict;
}

absl::Status Client::Leave() {
  RINGSIDE_RETURN_IF_ERROR(session_.StartLeaving());
  grpc::ClientContext context;
  SetDeadline(&context, absl::Now() + session_.lease());
  LeaveRequest request;
  *request.mutable_caller() = session_.caller();
  LeaveResponse response;
  const grpc::Status status = stub_->Leave(&context, request, &response);
  const absl::Status verdict = session_.Stop();
  if (!verdict.ok()) return verdict;
  if (status.ok()) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      absl::StrCat("cannot leave the job at ", ToString(config_.coordinator), ": ",
                                   OneLine(status.error_message())));
}

}  // namespace

absl::StatusOr<std::unique_ptr<CoordinatorClient>> CoordinatorClient::Join(const Config& config,
                                                                           JoinRequest request) {
  const std::shared_ptr<grpc::Channel> channel = CreateGrpcChannel(config.coordinator);
  const MemberId self = request.member().id();
  RINGSIDE_ASSIGN_OR_RETURN(Membership membership,
                            JoinOverChannel(config, channel, std::move(request)));
  auto client = std::make_unique<Client>(config, self, std::move(membership), channel);
  RINGSIDE_RETURN_IF_ERROR(client->AwaitSession());
  return std::unique_ptr<CoordinatorClient>(std::move(client));
}

namespace {

void Append(const google::protobuf::RepeatedPtrField<Member>& members, std::vector<MemberId>* ids) {
  for (const Member& member : members) ids->push_back(member.id());
}

}  // namespace

std::vector<MemberId> WorkersOf(const Membership& membership) {
  std::vector<MemberId> ids;
  Append(membership.workers(), &ids);
  return ids;
}

std::vector<MemberId> ShardsOf(const Membership& membership) {
  std::vector<MemberId> ids;
  Append(membership.shards(), &ids);
  return ids;
}

std::vector<MemberId> EveryoneOf(const Membership& membership) {
  std::vector<MemberId> ids;
  Append(membership.workers(), &ids);
  Append(membership.shards(), &ids);
  return ids;
}

}  // namespace ringside
