#include "ps_server/shard_process.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/coordinator/recovery_meeting.h"
#include "common/logging.h"
#include "common/network/bind_address.h"
#include "common/network/host_identity.h"
#include "common/process_info.h"
#include "common/ps_traffic.h"
#include "common/sha256.h"
#include "common/status_macros.h"
#include "common/suspects.h"
#include "common/traffic_proto.h"
#include "ps_server/shard_health.h"

namespace ringside {
namespace {

// Workers evaluate between their last step and the results, for as long as they like; a lost one is
// noticed by its lease.
constexpr absl::Duration kResultsTimeout = absl::Hours(1);
// For streams that were told of a failure to be closed in good order.
constexpr std::chrono::milliseconds kShutdownGrace(500);

}  // namespace

ShardProcess::ShardProcess(ServerConfig config)
    : config_(std::move(config)),
      service_(config_.shard, config_.token),
      elections_(config_.token) {}

ShardProcess::~ShardProcess() {
  metrics_.reset();
  if (server_.server != nullptr)
    server_.server->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);
  server_.server.reset();
  if (client_ != nullptr) {
    client_->SetVerdictHandler(nullptr);
    client_->SetReplacementHandler(nullptr);
  }
  follower_.reset();
  client_.reset();
}

absl::Status ShardProcess::Run() {
  RINGSIDE_RETURN_IF_ERROR(Listen());
  RINGSIDE_RETURN_IF_ERROR(Join());
  absl::Status status = Serve();
  if (status.ok()) status = Report();
  bool terminating = false;
  {
    MutexLock lock(&mutex_);
    terminating = terminating_;
  }
  if (!terminating) {
    status = status.ok() ? client_->Leave() : client_->ResolveFailure(status, step());
  }
  // Only now may a Terminate that waits for the end let the process go: the coordinator knows.
  MutexLock lock(&mutex_);
  ended_ = true;
  saved_changed_.NotifyAll();
  return status;
}

absl::Status ShardProcess::Listen() {
  RINGSIDE_ASSIGN_OR_RETURN(const BindAddress bind,
                            ChooseBindAddress(config_.network, config_.coordinator));
  if (config_.metrics_port.has_value()) {
    RINGSIDE_ASSIGN_OR_RETURN(metrics_,
                              MetricsEndpoint::Create(bind.listen_host, *config_.metrics_port));
    LogInfo(absl::StrCat("metrics at http://",
                         ToString(Endpoint{bind.advertise_host, metrics_->port()}), "/metrics"));
  }
  EnableHealthAndReflection();
  GrpcServerOptions options;
  options.tuning = config_.grpc;
  options.local = true;
  const auto add_services = [this](grpc::ServerBuilder* builder) {
    builder->RegisterCallbackGenericService(&service_);
    builder->RegisterService(&elections_);
  };
  RINGSIDE_ASSIGN_OR_RETURN(server_, StartGrpcServer(bind, add_services, options));
  SetServing(server_.server.get(), false);
  absl::StatusOr<std::unique_ptr<ListeningSocket>> memory = ListeningSocket::BindLocal();
  if (memory.ok()) {
    memory_listener_ = *std::move(memory);
  } else {
    LogWarning(absl::StrCat(memory.status().message(), "; no worker shares memory"));
  }
  return absl::OkStatus();
}

absl::Status ShardProcess::Join() {
  JoinRequest request;
  *request.mutable_member()->mutable_id() = ShardId(config_.shard);
  request.mutable_member()->set_data_endpoint(ToString(server_.endpoint));
  request.mutable_member()->set_local_endpoint(server_.local);
  if (memory_listener_ != nullptr)
    request.mutable_member()->set_memory_endpoint(memory_listener_->name());
  *request.mutable_member()->mutable_host() = ReadHostIdentity();
  request.mutable_member()->set_pid(getpid());
  request.set_token(config_.token);
  request.set_world_size(config_.workers);
  request.set_num_shards(config_.num_shards);
  auto& settings = *request.mutable_settings();
  settings["strategy"] = "ps";
  settings["workers"] = absl::StrCat(config_.workers);
  settings["ps_shards"] = absl::StrCat(config_.num_shards);
  settings["malloc"] = config_.malloc;
  settings["shard_threads"] = absl::StrCat(config_.shard_threads);
  for (const auto& [name, value] : config_.grpc.Settings()) settings[name] = value;
  request.set_timeout_ms(absl::ToInt64Milliseconds(config_.join_timeout));
  RINGSIDE_ASSIGN_OR_RETURN(
      client_, CoordinatorClient::Join({config_.coordinator, config_.join_timeout}, request));
  return absl::OkStatus();
}

absl::Status ShardProcess::Serve() {
  ShardMaker::Config maker;
  maker.shard = config_.shard;
  maker.job = Sha256Hex(absl::string_view(config_.token));
  maker.snapshot_folder = config_.snapshot_folder;
  maker.placement = ResultPlacement();
  maker.threads = config_.shard_threads;
  maker.on_election = [this](const ParameterShard::Election& election) {
    elections_.Announce(election);
  };
  RINGSIDE_ASSIGN_OR_RETURN(maker_, ShardMaker::Create(std::move(maker), client_->membership()));
  client_->SetVerdictHandler(
      [this](const absl::Status& verdict) { epochs_.Stop(verdict, ShardEpochs::kForGood); });
  client_->SetReplacementHandler([this](const Replacement& replacement) {
    // The suspect is who the others take for the cause as well.
    epochs_.Stop(WithSuspects(absl::AbortedError(absl::StrCat(ToString(replacement.member().id()),
                                                              " was lost and has been replaced")),
                              {replacement.member().id()}),
                 replacement.recovery());
  });
  RINGSIDE_RETURN_IF_ERROR(
      trace_.Begin(maker_->settings().traced, maker_->plan(), maker_->layout(), client_.get()));
  service_.TraceTo(trace_.buffer());
  LogInfo(absl::StrCat("serves ", maker_->layout().world_size, " workers at ",
                       ToString(server_.endpoint)));
  for (uint32_t recovery = client_->membership().recovery();;) {
    absl::Status status;
    absl::optional<ShardMaker::States> states;
    if (recovery > 0) {
      absl::StatusOr<ShardMaker::States> met = Meet(recovery);
      status = met.status();
      if (met.ok()) states = *std::move(met);
    }
    if (status.ok()) status = ServeEpoch(recovery, states);
    if (status.ok()) break;
    {
      MutexLock lock(&mutex_);
      if (terminating_) return status;
    }
    RINGSIDE_ASSIGN_OR_RETURN(recovery, client_->AwaitRecovery(status, step(), recovery));
  }
  elections_.End();
  return absl::OkStatus();
}

absl::StatusOr<ShardMaker::States> ShardProcess::Meet(uint32_t recovery) {
  RINGSIDE_ASSIGN_OR_RETURN(
      RecoveryMeeting met,
      MeetForRecovery(client_.get(), recovery, maker_->OwnState(), config_.step_timeout));
  return ShardMaker::States{std::move(met.workers), std::move(met.shards)};
}

absl::Status ShardProcess::ServeEpoch(uint32_t recovery,
                                      const absl::optional<ShardMaker::States>& states) {
  epochs_.Release();  // before there is another state
  RINGSIDE_ASSIGN_OR_RETURN(
      auto shard, states.has_value() ? maker_->MakeRecovered(*states) : maker_->MakeFresh());
  const SharedArenas results(shard->result_arenas());
  const ShardLayout& layout = maker_->layout();
  ShardExecutor::Config config{config_.shard, layout.world_size, config_.step_timeout};
  config.progress_is_enough = maker_->settings().policy.mode != PsMode::kSync;
  config.step_closed = [this](uint64_t step, ParameterShard* own) { return StepClosed(step, own); };
  config.step_closed_blocks = maker_->saves_snapshots();
  config.broadcast_step = static_cast<uint64_t>(maker_->settings().resumed_step);
  config.trace = trace_.buffer();
  auto made = std::make_unique<ShardExecutor>(std::move(config), std::move(shard), &service_);
  const uint32_t generation = client_->membership().generation();
  elections_.Serve(generation, recovery);
  service_.Serve({layout.world_size, generation, maker_->plan().hash(), recovery, results},
                 made.get());
  // Only now may the executor be stopped: the service closes the streams that it has admitted, and
  // refuses later ones.
  ShardExecutor* const executor = epochs_.Begin(recovery, std::move(made));
  const absl::Status follows = FollowElections(recovery, executor);
  if (!follows.ok()) executor->Stop(follows);
  // Calls of workers that are ahead wait in the socket for the next epoch.
  const std::unique_ptr<MemoryAcceptor> acceptor = ShareMemory(results);
  if (metrics_ != nullptr && !measured_) metrics_->Serve([this] { return Measure(); });
  measured_ = true;
  SetServing(server_.server.get(), true);
  const absl::Status status = epochs_.Await();
  SetServing(server_.server.get(), false);
  follower_.reset();
  return status;
}

Arena::Placement ShardProcess::ResultPlacement() const {
  const Membership& membership = client_->membership();
  const auto link = membership.settings().find("ps_link");
  const bool wanted = memory_listener_ != nullptr && link != membership.settings().end() &&
                      (link->second == "auto" || link->second == "shm");
  const HostIdentity& own = membership.shards(config_.shard).host();
  const bool near =
      std::any_of(membership.workers().begin(), membership.workers().end(),
                  [&own](const Member& worker) { return SameHost(own, worker.host()); });
  return wanted && near ? Arena::Placement::kShared : Arena::Placement::kHeap;
}

std::unique_ptr<MemoryAcceptor> ShardProcess::ShareMemory(const SharedArenas& results) {
  if (memory_listener_ == nullptr) return nullptr;
  MemoryAcceptor::Config config;
  config.shard = config_.shard;
  config.generation = client_->membership().generation();
  config.world_size = maker_->layout().world_size;
  config.token = config_.token;
  config.arenas = results;
  config.admit = [this](int rank, std::shared_ptr<const PeerMemory> memory) {
    return service_.AdmitMemory(rank, std::move(memory));
  };
  return std::make_unique<MemoryAcceptor>(memory_listener_.get(), std::move(config));
}

absl::Status ShardProcess::StepClosed(uint64_t step, ParameterShard* shard) {
  bool terminating = false;
  {
    MutexLock lock(&mutex_);
    terminating = terminating_;
  }
  RINGSIDE_RETURN_IF_ERROR(maker_->SaveIfDue(step, terminating, shard));
  {
    MutexLock lock(&mutex_);
    snapshots_ = maker_->snapshots();
    snapshot_time_ = maker_->snapshot_time();
  }
  if (terminating) {
    MutexLock lock(&mutex_);
    saved_ = true;
    saved_changed_.NotifyAll();
    return absl::CancelledError(
        absl::StrCat("shard ", config_.shard, " was told to end after step ", step));
  }
  Progress progress;
  progress.set_step(static_cast<int64_t>(step));
  progress.set_phase("train");
  client_->ReportProgress(progress);
  return absl::OkStatus();
}

void ShardProcess::Terminate() {
  constexpr absl::Duration kPatience = absl::Seconds(2);
  constexpr absl::Duration kPatienceForWorkers = absl::Seconds(20);
  const absl::Time start = absl::Now();
  // Where an epoch is under way, there is a maker.
  if (!epochs_.under_way()) return;
  MutexLock lock(&mutex_);
  if (maker_->settings().saves_training) {
    while (!ended_ && saved_changed_.WaitUntil(&mutex_, start + kPatienceForWorkers)) {
    }
    return;
  }
  if (!maker_->saves_snapshots()) return;
  const absl::Time deadline = start + kPatience;
  terminating_ = true;
  while (!saved_ && saved_changed_.WaitUntil(&mutex_, deadline)) {
  }
}

absl::Status ShardProcess::FollowElections(uint32_t recovery, ShardExecutor* executor) {
  if (maker_->settings().policy.mode != PsMode::kBackup || config_.shard == 0) {
    return absl::OkStatus();
  }
  const Membership membership = client_->current_membership();
  ElectionFollower::Config follower;
  follower.shard = config_.shard;
  RINGSIDE_ASSIGN_OR_RETURN(follower.shard0, ParseEndpoint(membership.shards(0).data_endpoint()));
  follower.token = config_.token;
  follower.generation = membership.generation();
  follower.recovery = recovery;
  follower.on_election = [executor](ParameterShard::Election election) {
    executor->Elect(std::move(election));
  };
  follower.on_failure = [executor](const absl::Status& why) { executor->Stop(why); };
  follower_ = std::make_unique<ElectionFollower>(std::move(follower));
  return absl::OkStatus();
}

absl::Status ShardProcess::Report() {
  ShardResult result = MakeResult();
  RINGSIDE_RETURN_IF_ERROR(trace_.End(config_.shard, client_.get(), &result));
  return client_
      ->Gather("results", EveryoneOf(client_->membership()), result.SerializeAsString(),
               kResultsTimeout)
      .status();
}

ShardResult ShardProcess::MakeResult() const {
  const ShardExecutor::Account account = epochs_.account();
  // As in the workers' results, the broadcast of the initial parameters, which is one exchange, is
  // left out, and so is what workers are sent after their last step. After a loss, steps that were
  // closed again count again, here as in the traffic; who replaces a shard has seen no broadcast.
  const int64_t steps = account.steps - account.broadcasts;
  TrafficCounters traffic = service_.traffic();
  traffic -= PsShardTraffic(maker_->plan(), maker_->layout(), config_.shard, account.broadcasts);
  TrafficCounters expected = PsShardTraffic(maker_->plan(), maker_->layout(), config_.shard, steps);
  if (maker_->settings().policy.mode != PsMode::kSync) {
    // Steps differ from worker to worker: what was taken and answered is the shard's own count.
    const int units = std::max(account.units, 1);
    const int64_t first = maker_->layout().world_size * account.broadcasts;
    const int64_t final =
        maker_->settings().policy.is_asynchronous() ? maker_->layout().world_size : 0;
    traffic -= PsShardTraffic(maker_->plan(), maker_->layout(), config_.shard, 0, final);
    expected = PsShardTraffic(maker_->plan(), maker_->layout(), config_.shard,
                              account.statistics.pushes / units - first,
                              account.statistics.answers / units - first - final);
  }
  ShardResult result;
  FillResult(Measure(), &result);
  *result.mutable_process() = ReadProcessInfo();
  (*result.mutable_process()->mutable_facts())["grpc"] = grpc::Version();
  *result.mutable_traffic() = ToProto(traffic);
  *result.mutable_expected_traffic() = ToProto(expected);
  result.set_steps(steps);
  return result;
}

int64_t ShardProcess::step() const { return epochs_.account().open_step; }

ShardMetrics ShardProcess::Measure() const {
  ShardMetrics metrics;
  metrics.shard = config_.shard;
  metrics.account = epochs_.account();
  {
    MutexLock lock(&mutex_);
    metrics.snapshots = snapshots_;
    metrics.snapshot_time = snapshot_time_;
  }
  metrics.replies = service_.replies();
  metrics.counted = service_.traffic();
  const int64_t units = std::max(metrics.account.units, 1);
  metrics.expected = PsShardTraffic(maker_->plan(), maker_->layout(), config_.shard,
                                    metrics.account.statistics.pushes / units,
                                    metrics.account.statistics.answers / units);
  metrics.connected_workers = service_.connected_workers();
  metrics.elements =
      PsShardTraffic(maker_->plan(), maker_->layout(), config_.shard, 1, 0).payload_bytes_received /
      static_cast<int64_t>(sizeof(float));
  const ProcessInfo process = ReadProcessInfo();
  metrics.cpu_seconds = process.cpu_seconds();
  metrics.peak_rss_bytes = process.peak_rss_bytes();
  return metrics;
}

}  // namespace ringside
