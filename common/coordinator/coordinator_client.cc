#include "common/coordinator/coordinator_client.h"

#include <set>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "common/coordinator/failure_arbiter.h"
#include "common/coordinator/join.h"
#include "common/coordinator/member_list.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/coordinator/verdict.h"
#include "common/mutex.h"
#include "common/network/grpc_server.h"
#include "common/network/grpc_status.h"
#include "common/status_macros.h"
#include "common/suspects.h"
#include "coordinator.grpc.pb.h"

namespace ringside {
namespace {

// The coordinator's deadlines come first and name who is missing; ours only make sure of an end.
constexpr absl::Duration kAnswerMargin = absl::Seconds(2);

// The coordinator is lost by the same rule as a member: silent for this part of the lease.
constexpr double kCoordinatorLostAfter = FailureArbiter::kLostAfter;
// A heartbeat that comes late by this part of the lease: this process itself stood still.
constexpr double kStandstill = 0.2;

void SetDeadline(grpc::ClientContext* context, absl::Time deadline) {
  context->set_deadline(absl::ToChronoTime(deadline));
}

std::string OneLine(absl::string_view text) { return absl::StrReplaceAll(text, {{"\n", " "}}); }

class Client final : public CoordinatorClient {
 public:
  Client(Config config, MemberId self, Membership membership,
         std::shared_ptr<grpc::Channel> channel);
  ~Client() override;
  // Returns once the coordinator has seen this member's session: from then on it notices at once
  // when the process ends. ABORTED: there is a verdict already.
  absl::Status AwaitSession();

  const Membership& membership() const override { return membership_; }
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
  void ReportProgress(const Progress& progress) override;
  void SetVerdictHandler(std::function<void(const absl::Status&)> handler) override;
  absl::Status ResolveFailure(const absl::Status& failure, int64_t step) override;
  absl::Status Leave() override;

 private:
  using Stream = grpc::ClientReaderWriter<Heartbeat, SessionEvent>;

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
  void SendHeartbeats();
  void ReadEvents();
  // False when heartbeats are to end.
  bool AwaitNextBeat(bool first, Heartbeat* heartbeat);
  void Acknowledged();
  void CoordinatorLost(absl::string_view why);
  void Decide(const absl::Status& status, const MemberId& culprit);
  // The verdict, or OK if none comes in time.
  absl::Status AwaitVerdict(absl::Time deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Constant after construction.
  const Config config_;
  const MemberId self_;
  const Membership membership_;
  const absl::Duration lease_;
  Caller caller_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<Coordinator::Stub> stub_;
  grpc::ClientContext session_context_;
  std::unique_ptr<Stream> session_;
  std::thread writer_;
  std::thread reader_;

  Mutex mutex_;
  CondVar changed_;
  Progress progress_ ABSL_GUARDED_BY(mutex_);
  bool session_open_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time acknowledged_ ABSL_GUARDED_BY(mutex_);
  absl::Time last_beat_ ABSL_GUARDED_BY(mutex_);
  absl::Status verdict_ ABSL_GUARDED_BY(mutex_);  // OK: none yet
  MemberId culprit_ ABSL_GUARDED_BY(mutex_);
  std::function<void(const absl::Status&)> handler_ ABSL_GUARDED_BY(mutex_);
  bool handler_runs_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<grpc::ClientContext*> calls_ ABSL_GUARDED_BY(mutex_);  // in progress
  bool leaving_ ABSL_GUARDED_BY(mutex_) = false;   // from then on a closed session is no loss
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;  // no more heartbeats
};

Client::Client(Config config, MemberId self, Membership membership,
               std::shared_ptr<grpc::Channel> channel)
    : config_(std::move(config)),
      self_(std::move(self)),
      membership_(std::move(membership)),
      lease_(absl::Milliseconds(membership_.lease_ms())),
      channel_(std::move(channel)),
      stub_(Coordinator::NewStub(channel_)),
      acknowledged_(MonotonicNow()),
      last_beat_(MonotonicNow()) {
  caller_.set_session(membership_.session());
  caller_.set_generation(membership_.generation());
  session_ = stub_->Session(&session_context_);
  reader_ = std::thread([this] { ReadEvents(); });
  writer_ = std::thread([this] { SendHeartbeats(); });
}

Client::~Client() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    leaving_ = true;
    changed_.NotifyAll();
  }
  session_context_.TryCancel();
  writer_.join();
  reader_.join();
}

absl::Status Client::AwaitSession() {
  const absl::Time deadline = absl::Now() + lease_;  // a mute coordinator is found lost before
  MutexLock lock(&mutex_);
  while (!session_open_ && verdict_.ok() && changed_.WaitUntil(&mutex_, deadline)) {
  }
  return verdict_;
}

template <typename Request>
Request Client::MeetingRequest(const std::string& name, const std::vector<MemberId>& members,
                               absl::Duration timeout) const {
  Request request;
  *request.mutable_caller() = caller_;
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
  {
    MutexLock lock(&mutex_);
    if (!verdict_.ok()) return verdict_;
    if (leaving_) return absl::FailedPreconditionError(absl::StrCat(ToString(self_), " has left"));
    calls_.insert(&context);
  }
  const absl::Status status = FromGrpcStatus((stub_.get()->*method)(&context, request, response));
  MutexLock lock(&mutex_);
  calls_.erase(&context);
  if (status.ok()) return status;
  if (!verdict_.ok()) return verdict_;
  const bool silent = absl::IsDeadlineExceeded(status) && SuspectsOf(status).empty();
  if (!silent && !absl::IsUnavailable(status) && !absl::IsCancelled(status)) return status;
  // The connection broke or is about to be given up: the session is the one to say so.
  const absl::Status verdict = AwaitVerdict(absl::Now() + lease_);
  if (!verdict.ok()) return verdict;
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

void Client::ReportProgress(const Progress& progress) {
  MutexLock lock(&mutex_);
  progress_ = progress;
}

void Client::SetVerdictHandler(std::function<void(const absl::Status&)> handler) {
  absl::Status verdict;
  {
    MutexLock lock(&mutex_);
    while (handler_runs_) changed_.Wait(&mutex_);
    verdict = verdict_;
    handler_ = verdict.ok() ? handler : nullptr;
  }
  if (!verdict.ok() && handler) handler(verdict);
}

absl::Status Client::ResolveFailure(const absl::Status& failure, int64_t step) {
  if (failure.ok()) return failure;
  {
    MutexLock lock(&mutex_);
    if (!verdict_.ok()) return verdict_;
    if (leaving_) return failure;
  }
  const absl::Time deadline = absl::Now() + lease_;
  const std::vector<MemberId> suspects = SuspectsOf(failure);
  FailureReport report;
  *report.mutable_caller() = caller_;
  report.set_message(OneLine(failure.message()));
  report.set_step(step);
  for (const MemberId& suspect : suspects) *report.add_suspects() = suspect;
  grpc::ClientContext context;
  SetDeadline(&context, deadline);
  FailureReportResponse response;
  // A report that does not arrive needs no answer here: then the coordinator is about to be lost.
  (void)stub_->ReportFailure(&context, report, &response);
  MutexLock lock(&mutex_);
  const absl::Status verdict = AwaitVerdict(deadline);
  // What a process says of itself, it says with its own status code.
  const bool own = suspects.empty() && SameMember(culprit_, self_);
  return verdict.ok() || own ? failure : verdict;
}

absl::Status Client::Leave() {
  {
    MutexLock lock(&mutex_);
    if (leaving_) return absl::FailedPreconditionError(absl::StrCat(ToString(self_), " has left"));
    leaving_ = true;
  }
  grpc::ClientContext context;
  SetDeadline(&context, absl::Now() + lease_);
  LeaveRequest request;
  *request.mutable_caller() = caller_;
  LeaveResponse response;
  const grpc::Status status = stub_->Leave(&context, request, &response);
  MutexLock lock(&mutex_);
  stopping_ = true;
  changed_.NotifyAll();
  if (!verdict_.ok()) return verdict_;
  if (status.ok()) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      absl::StrCat("cannot leave the job at ", ToString(config_.coordinator), ": ",
                                   OneLine(status.error_message())));
}

void Client::SendHeartbeats() {
  Heartbeat heartbeat;
  *heartbeat.mutable_caller() = caller_;
  // The first one goes out at once: it opens the session.
  bool first = true;
  while (AwaitNextBeat(first, &heartbeat) && session_->Write(heartbeat)) first = false;
  // A broken stream is the reader's to report.
  session_->WritesDone();
}

bool Client::AwaitNextBeat(bool first, Heartbeat* heartbeat) {
  const absl::Duration interval = FailureArbiter::kHeartbeatInterval * lease_;
  absl::Duration silence;
  {
    MutexLock lock(&mutex_);
    const absl::Time next = absl::Now() + interval;
    while (!first && !stopping_ && changed_.WaitUntil(&mutex_, next)) {
    }
    if (stopping_) return false;
    const absl::Time now = MonotonicNow();
    // After a standstill of our own, acknowledgements may lie unread.
    if (now - last_beat_ > interval + kStandstill * lease_) acknowledged_ = now;
    last_beat_ = now;
    silence = now - acknowledged_;
    *heartbeat->mutable_progress() = progress_;
  }
  if (silence > kCoordinatorLostAfter * lease_) {
    CoordinatorLost(absl::StrFormat("no answer for %.1f s", absl::ToDoubleSeconds(silence)));
    session_context_.TryCancel();
    return false;
  }
  return true;
}

void Client::ReadEvents() {
  SessionEvent event;
  while (session_->Read(&event)) {
    if (event.has_verdict()) Decide(ToStatus(event.verdict()), event.verdict().culprit());
    Acknowledged();
  }
  const grpc::Status end = session_->Finish();
  CoordinatorLost(end.ok() ? "it closed the session" : OneLine(end.error_message()));
}

void Client::Acknowledged() {
  MutexLock lock(&mutex_);
  acknowledged_ = MonotonicNow();
  if (!session_open_) changed_.NotifyAll();
  session_open_ = true;
}

void Client::CoordinatorLost(absl::string_view why) {
  {
    MutexLock lock(&mutex_);
    if (leaving_) return;
  }
  Decide(absl::AbortedError(absl::StrCat("the coordinator at ", ToString(config_.coordinator),
                                         " was lost: ", why)),
         MemberId());
}

void Client::Decide(const absl::Status& status, const MemberId& culprit) {
  std::function<void(const absl::Status&)> handler;
  {
    MutexLock lock(&mutex_);
    if (!verdict_.ok()) return;
    verdict_ = status;
    culprit_ = culprit;
    for (grpc::ClientContext* call : calls_) call->TryCancel();
    handler.swap(handler_);
    handler_runs_ = handler != nullptr;
    changed_.NotifyAll();
  }
  if (!handler) return;
  handler(status);
  MutexLock lock(&mutex_);
  handler_runs_ = false;
  changed_.NotifyAll();
}

absl::Status Client::AwaitVerdict(absl::Time deadline) {
  while (verdict_.ok() && !stopping_ && changed_.WaitUntil(&mutex_, deadline)) {
  }
  return verdict_;
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
