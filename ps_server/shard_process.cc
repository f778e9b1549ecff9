#include "ps_server/shard_process.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/logging.h"
#include "common/network/bind_address.h"
#include "common/network/host_identity.h"
#include "common/process_info.h"
#include "common/ps_traffic.h"
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
  follower_.reset();
  client_.reset();  // its verdict handler refers to the executor
  executor_.reset();
}

absl::Status ShardProcess::Run() {
  RINGSIDE_RETURN_IF_ERROR(Listen());
  RINGSIDE_RETURN_IF_ERROR(Join());
  absl::Status status = Serve();
  if (status.ok()) status = Report();
  return status.ok() ? client_->Leave() : client_->ResolveFailure(status, step());
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
  RINGSIDE_ASSIGN_OR_RETURN(server_, StartGrpcServer(bind, [this](grpc::ServerBuilder* builder) {
                              builder->RegisterCallbackGenericService(&service_);
                              builder->RegisterService(&elections_);
                            }));
  SetServing(server_.server.get(), false);
  return absl::OkStatus();
}

absl::Status ShardProcess::Join() {
  JoinRequest request;
  *request.mutable_member()->mutable_id() = ShardId(config_.shard);
  request.mutable_member()->set_data_endpoint(ToString(server_.endpoint));
  *request.mutable_member()->mutable_host() = ReadHostIdentity();
  request.mutable_member()->set_pid(getpid());
  request.set_token(config_.token);
  request.set_world_size(config_.workers);
  request.set_num_shards(config_.num_shards);
  auto& settings = *request.mutable_settings();
  settings["strategy"] = "ps";
  settings["workers"] = absl::StrCat(config_.workers);
  settings["ps_shards"] = absl::StrCat(config_.num_shards);
  request.set_timeout_ms(absl::ToInt64Milliseconds(config_.join_timeout));
  RINGSIDE_ASSIGN_OR_RETURN(
      client_, CoordinatorClient::Join({config_.coordinator, config_.join_timeout}, request));
  return absl::OkStatus();
}

absl::Status ShardProcess::Serve() {
  RINGSIDE_ASSIGN_OR_RETURN(auto shard, MakeShard());
  ShardExecutor::Config executor{config_.shard, layout_.world_size, config_.step_timeout};
  executor.progress_is_enough = settings_.policy.mode != PsMode::kSync;
  executor.step_closed = [client = client_.get()](uint64_t step, ParameterShard* /*shard*/) {
    Progress progress;
    progress.set_step(static_cast<int64_t>(step));
    progress.set_phase("train");
    client->ReportProgress(progress);
    return absl::OkStatus();
  };
  executor_ = std::make_unique<ShardExecutor>(std::move(executor), std::move(shard), &service_);
  client_->SetVerdictHandler(
      [executor = executor_.get()](const absl::Status& verdict) { executor->Stop(verdict); });
  RINGSIDE_RETURN_IF_ERROR(FollowElections());
  const uint32_t generation = client_->membership().generation();
  elections_.Serve(generation, /*recovery=*/0);
  service_.Serve({layout_.world_size, generation, plan_->hash()}, executor_.get());
  if (metrics_ != nullptr) metrics_->Serve([this] { return Measure(); });
  SetServing(server_.server.get(), true);
  const absl::Status status = executor_->Await();
  SetServing(server_.server.get(), false);
  elections_.End();
  return status;
}

absl::Status ShardProcess::FollowElections() {
  if (settings_.policy.mode != PsMode::kBackup || config_.shard == 0) return absl::OkStatus();
  ElectionFollower::Config follower;
  follower.shard = config_.shard;
  RINGSIDE_ASSIGN_OR_RETURN(follower.shard0,
                            ParseEndpoint(client_->membership().shards(0).data_endpoint()));
  follower.token = config_.token;
  follower.generation = client_->membership().generation();
  follower.on_election = [executor = executor_.get()](ParameterShard::Election election) {
    executor->Elect(std::move(election));
  };
  follower.on_failure = [executor = executor_.get()](const absl::Status& why) {
    executor->Stop(why);
  };
  follower_ = std::make_unique<ElectionFollower>(std::move(follower));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ParameterShard>> ShardProcess::MakeShard() {
  const Membership& membership = client_->membership();
  RINGSIDE_ASSIGN_OR_RETURN(settings_, ReadShardSettings(membership));
  std::vector<ParameterSpec> parameters;
  for (const ParameterDescription& parameter : membership.parameters()) {
    parameters.push_back({parameter.name(),
                          {parameter.shape().begin(), parameter.shape().end()},
                          parameter.dtype()});
  }
  RINGSIDE_ASSIGN_OR_RETURN(
      BucketPlan plan,
      BucketPlan::Create(parameters, settings_.first_bucket_bytes, settings_.bucket_bytes));
  layout_ = {membership.workers_size(), membership.shards_size(), settings_.frame_bytes};
  plan_ = std::make_unique<BucketPlan>(plan);
  LogInfo(absl::StrCat("serves ", layout_.world_size, " workers at ", ToString(server_.endpoint)));
  ParameterShard::Config config{std::move(plan), layout_, config_.shard};
  config.generation = membership.generation();
  config.policy = settings_.policy;
  config.optimizer = settings_.optimizer;
  config.learning_rate = settings_.learning_rate;
  config.full_batch = settings_.full_batch;
  config.on_election = [this](const ParameterShard::Election& election) {
    elections_.Announce(election);
  };
  return ParameterShard::Create(std::move(config));
}

absl::Status ShardProcess::Report() {
  return client_
      ->Gather("results", EveryoneOf(client_->membership()), MakeResult().SerializeAsString(),
               kResultsTimeout)
      .status();
}

ShardResult ShardProcess::MakeResult() const {
  const ShardExecutor::Account account = executor_->account();
  // As in the workers' results, the broadcast of the initial parameters, which is one exchange, is
  // left out, and so is what workers are sent after their last step.
  const int64_t steps = std::max<int64_t>(account.steps - 1, 0);
  TrafficCounters traffic = service_.traffic();
  traffic -= PsShardTraffic(*plan_, layout_, config_.shard, account.steps - steps);
  TrafficCounters expected = PsShardTraffic(*plan_, layout_, config_.shard, steps);
  if (settings_.policy.mode != PsMode::kSync) {
    // Steps differ from worker to worker: what was taken and answered is the shard's own count.
    const int units = std::max(account.units, 1);
    const int64_t first = layout_.world_size;
    const int64_t final = settings_.policy.is_asynchronous() ? layout_.world_size : 0;
    traffic -= PsShardTraffic(*plan_, layout_, config_.shard, 0, final);
    expected =
        PsShardTraffic(*plan_, layout_, config_.shard, account.statistics.pushes / units - first,
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

ShardMetrics ShardProcess::Measure() const {
  ShardMetrics metrics;
  metrics.shard = config_.shard;
  metrics.account = executor_->account();
  metrics.replies = service_.replies();
  metrics.counted = service_.traffic();
  const int64_t units = std::max(metrics.account.units, 1);
  metrics.expected =
      PsShardTraffic(*plan_, layout_, config_.shard, metrics.account.statistics.pushes / units,
                     metrics.account.statistics.answers / units);
  metrics.connected_workers = service_.connected_workers();
  metrics.elements = PsShardTraffic(*plan_, layout_, config_.shard, 1, 0).payload_bytes_received /
                     static_cast<int64_t>(sizeof(float));
  const ProcessInfo process = ReadProcessInfo();
  metrics.cpu_seconds = process.cpu_seconds();
  metrics.peak_rss_bytes = process.peak_rss_bytes();
  return metrics;
}

int64_t ShardProcess::step() const { return executor_ == nullptr ? 0 : executor_->account().steps; }

}  // namespace ringside
