#include "ps_server/shard_process.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/logging.h"
#include "common/network/bind_address.h"
#include "common/network/host_identity.h"
#include "common/process_info.h"
#include "common/ps_traffic.h"
#include "common/status_macros.h"
#include "common/suspects.h"
#include "common/traffic_proto.h"

namespace ringside {
namespace {

// Workers evaluate between their last step and the results, for as long as they like; a lost one is
// noticed by its lease.
constexpr absl::Duration kResultsTimeout = absl::Hours(1);
// For streams that were told of a failure to be closed in good order.
constexpr std::chrono::milliseconds kShutdownGrace(500);

absl::StatusOr<int64_t> IntegerSetting(const Membership& membership, const std::string& name) {
  const auto found = membership.settings().find(name);
  int64_t value = 0;
  if (found == membership.settings().end() || !absl::SimpleAtoi(found->second, &value)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the workers of the job do not say their ", name));
  }
  return value;
}

}  // namespace

ShardProcess::ShardProcess(ServerConfig config)
    : config_(std::move(config)), service_(config_.shard, config_.token) {}

ShardProcess::~ShardProcess() {
  memory_acceptor_.reset();
  if (server_.server != nullptr)
    server_.server->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);
  server_.server.reset();
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
  GrpcServerOptions options;
  options.tuning = config_.grpc;
  options.local = true;
  RINGSIDE_ASSIGN_OR_RETURN(server_, StartGrpcServer(
                                         bind,
                                         [this](grpc::ServerBuilder* builder) {
                                           builder->RegisterCallbackGenericService(&service_);
                                         },
                                         options));
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
  for (const auto& [name, value] : config_.grpc.Settings()) settings[name] = value;
  request.set_timeout_ms(absl::ToInt64Milliseconds(config_.join_timeout));
  RINGSIDE_ASSIGN_OR_RETURN(
      client_, CoordinatorClient::Join({config_.coordinator, config_.join_timeout}, request));
  return absl::OkStatus();
}

absl::Status ShardProcess::Serve() {
  RINGSIDE_ASSIGN_OR_RETURN(auto shard, MakeShard());
  const SharedArenas results(shard->result_arenas());
  executor_ = std::make_unique<ShardExecutor>(
      ShardExecutor::Config{config_.shard, layout_.world_size, config_.step_timeout,
                            [client = client_.get()](uint64_t step) {
                              Progress progress;
                              progress.set_step(static_cast<int64_t>(step));
                              progress.set_phase("train");
                              client->ReportProgress(progress);
                            }},
      std::move(shard), &service_);
  client_->SetVerdictHandler(
      [executor = executor_.get()](const absl::Status& verdict) { executor->Stop(verdict); });
  service_.Serve({layout_.world_size, client_->membership().generation(), plan_->hash(), results},
                 executor_.get());
  ShareMemory(results);
  return executor_->Await();
}

absl::StatusOr<std::unique_ptr<ParameterShard>> ShardProcess::MakeShard() {
  const Membership& membership = client_->membership();
  std::vector<ParameterSpec> parameters;
  for (const ParameterDescription& parameter : membership.parameters()) {
    parameters.push_back({parameter.name(),
                          {parameter.shape().begin(), parameter.shape().end()},
                          parameter.dtype()});
  }
  RINGSIDE_ASSIGN_OR_RETURN(const int64_t first_bucket_bytes,
                            IntegerSetting(membership, "first_bucket_bytes"));
  RINGSIDE_ASSIGN_OR_RETURN(const int64_t bucket_bytes, IntegerSetting(membership, "bucket_bytes"));
  RINGSIDE_ASSIGN_OR_RETURN(layout_.frame_bytes, IntegerSetting(membership, "frame_bytes"));
  RINGSIDE_ASSIGN_OR_RETURN(BucketPlan plan,
                            BucketPlan::Create(parameters, first_bucket_bytes, bucket_bytes));
  layout_.world_size = membership.workers_size();
  layout_.num_shards = membership.shards_size();
  plan_ = std::make_unique<BucketPlan>(plan);
  LogInfo(absl::StrCat("serves ", layout_.world_size, " workers at ", ToString(server_.endpoint)));
  return ParameterShard::Create({std::move(plan), layout_, config_.shard, /*group=*/0,
                                 membership.generation(), 0, ResultPlacement()});
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

void ShardProcess::ShareMemory(const SharedArenas& results) {
  if (memory_listener_ == nullptr) return;
  MemoryAcceptor::Config config;
  config.shard = config_.shard;
  config.generation = client_->membership().generation();
  config.world_size = layout_.world_size;
  config.token = config_.token;
  config.arenas = results;
  config.admit = [this](int rank, std::shared_ptr<const PeerMemory> memory) {
    return service_.AdmitMemory(rank, std::move(memory));
  };
  memory_acceptor_ =
      std::make_unique<MemoryAcceptor>(std::move(memory_listener_), std::move(config));
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
  // left out.
  const int64_t steps = std::max<int64_t>(account.steps - 1, 0);
  TrafficCounters traffic = service_.traffic();
  traffic -= PsShardTraffic(*plan_, layout_, config_.shard, account.steps - steps);
  ShardResult result;
  result.set_shard(config_.shard);
  *result.mutable_process() = ReadProcessInfo();
  (*result.mutable_process()->mutable_facts())["grpc"] = grpc::Version();
  *result.mutable_traffic() = ToProto(traffic);
  *result.mutable_expected_traffic() =
      ToProto(PsShardTraffic(*plan_, layout_, config_.shard, steps));
  result.set_steps(steps);
  result.set_fold_s(absl::ToDoubleSeconds(account.fold_time));
  return result;
}

int64_t ShardProcess::step() const { return executor_ == nullptr ? 0 : executor_->account().steps; }

}  // namespace ringside
