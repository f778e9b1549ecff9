#include "ps_server/shard_service.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/network/grpc_frame.h"
#include "common/network/grpc_status.h"
#include "common/sha256.h"

namespace ringside {
namespace {

// Ends a call that gets no stream.
class Refusal final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Refusal(const absl::Status& status) { Finish(ToGrpcStatus(status)); }
  void OnDone() override { delete this; }
};

std::string MetadataValue(const grpc::GenericCallbackServerContext& context, const char* key) {
  const auto found = context.client_metadata().find(key);
  if (found == context.client_metadata().end()) return "";
  return std::string(found->second.data(), found->second.size());
}

// Refers to the values without a copy and keeps its arena.
grpc::Slice SharedSlice(const ParameterShard::Result& result) {
  if (result.values.empty()) return grpc::Slice();
  auto* owner = new std::shared_ptr<const Arena>(result.owner);
  return grpc::Slice(
      const_cast<float*>(result.values.data()), result.values.size() * sizeof(float),
      [](void* held) { delete static_cast<std::shared_ptr<const Arena>*>(held); }, owner);
}

}  // namespace

ShardService::ShardService(int shard, std::string token)
    : shard_(shard), token_sha256_(Sha256Hex(absl::string_view(token))) {}

ShardService::~ShardService() {
  MutexLock lock(&mutex_);
  RINGSIDE_CHECK(streams_.empty());  // the server has been shut down
}

void ShardService::Serve(Job job, ShardExecutor* executor) {
  MutexLock lock(&mutex_);
  job_ = std::move(job);
  executor_ = executor;
  failure_ = absl::OkStatus();
  by_rank_.assign(job_.world_size, nullptr);
  taken_.assign(job_.world_size, false);
  early_.clear();
  early_.resize(job_.world_size);
  for (auto& [stream, owned] : streams_) AdmitOrRefuse(stream);
}

grpc::ServerGenericBidiReactor* ShardService::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  if (context->method() != kExchangeMethod) {
    return new Refusal(absl::UnimplementedError(
        absl::StrCat("shard ", shard_, " has no method ", context->method())));
  }
  if (MetadataValue(*context, kTokenKey) != token_sha256_) {
    return new Refusal(absl::UnauthenticatedError(absl::StrCat(
        "shard ", shard_, " refuses ", context->peer(), ": the token is not that of its job")));
  }
  auto owned = std::make_unique<WorkerStream>(
      context,
      WorkerStream::Hello{MetadataValue(*context, kRankKey),
                          MetadataValue(*context, kGenerationKey),
                          MetadataValue(*context, kPlanKey), MetadataValue(*context, kRecoveryKey),
                          MetadataValue(*context, kMemoryKey)},
      [this](WorkerStream* stream) { StreamDone(stream); });
  WorkerStream* stream = owned.get();
  MutexLock lock(&mutex_);
  streams_.emplace(stream, std::move(owned));
  if (executor_ != nullptr) AdmitOrRefuse(stream);
  return stream;
}

void ShardService::AdmitOrRefuse(WorkerStream* stream) {
  uint32_t recovery = 0;
  if (absl::SimpleAtoi(stream->hello().recovery, &recovery) && recovery > job_.recovery) {
    return;  // it waits until this shard has heard of the loss as well
  }
  const absl::StatusOr<int> rank = AdmissibleRank(stream->hello());
  if (!rank.ok()) {
    stream->Close(rank.status());
    return;
  }
  absl::StatusOr<std::shared_ptr<const PeerMemory>> memory = MemoryOf(*rank, stream->hello());
  if (!memory.ok()) {
    stream->Close(memory.status());
    return;
  }
  // A worker that gave up while its stream was parked may come again.
  if (!stream->Admit(shard_, *rank, *std::move(memory), executor_)) return;
  by_rank_[*rank] = stream;
  taken_[*rank] = true;
  SendEarly(*rank);
}

absl::StatusOr<int> ShardService::AdmissibleRank(const WorkerStream::Hello& hello) const {
  if (!failure_.ok()) return failure_;
  int rank = 0;
  if (!absl::SimpleAtoi(hello.rank, &rank)) {
    return absl::InvalidArgumentError(
        absl::StrCat("shard ", shard_, " refuses rank '", hello.rank, "': not a number"));
  }
  const auto refuse = [&](const auto&... why) {
    return absl::FailedPreconditionError(
        absl::StrCat("shard ", shard_, " refuses worker ", rank, ": ", why...));
  };
  if (rank < 0 || rank >= job_.world_size)
    return refuse("the ranks of the job are 0 to ", job_.world_size - 1);
  if (hello.generation != absl::StrCat(job_.generation)) {
    return refuse("it is of generation ", hello.generation, ", the job of ", job_.generation);
  }
  if (hello.recovery != absl::StrCat(job_.recovery)) {
    return refuse("it is of recovery ", hello.recovery, ", the job of ", job_.recovery);
  }
  if (hello.plan != job_.plan_hash) return refuse("it has another bucket plan");
  if (taken_[rank]) return refuse("the rank is connected already");
  return rank;
}

absl::StatusOr<std::shared_ptr<const PeerMemory>> ShardService::MemoryOf(
    int rank, const WorkerStream::Hello& hello) {
  if (hello.memory.empty()) return std::shared_ptr<const PeerMemory>();
  const auto found = memories_.find(rank);
  if (found == memories_.end() || absl::StrCat(found->second.ticket) != hello.memory) {
    return absl::FailedPreconditionError(absl::StrCat("shard ", shard_, " refuses worker ", rank,
                                                      ": it knows no memory by ticket ",
                                                      hello.memory));
  }
  std::shared_ptr<const PeerMemory> memory = std::move(found->second.memory);
  memories_.erase(found);
  return memory;
}

uint64_t ShardService::AdmitMemory(int rank, std::shared_ptr<const PeerMemory> memory) {
  MutexLock lock(&mutex_);
  memories_[rank] = {++last_ticket_, std::move(memory)};
  return last_ticket_;
}

void ShardService::StreamDone(WorkerStream* stream) {
  std::unique_ptr<WorkerStream> owned;  // deleted without the lock
  MutexLock lock(&mutex_);
  traffic_of_done_ += stream->traffic();
  const int rank = stream->rank();
  if (rank >= 0 && by_rank_[rank] == stream) by_rank_[rank] = nullptr;
  const auto found = streams_.find(stream);
  owned = std::move(found->second);
  streams_.erase(found);
}

class ShardService::Outgoing {
 public:
  Outgoing(const ParameterShard::Result& result, const SharedArenas& arenas)
      : result_(result), located_(result.header) {
    const auto location = arenas.Locate({reinterpret_cast<const uint8_t*>(result.values.data()),
                                         result.values.size() * sizeof(float)});
    if (location.has_value()) located_.location = LocationOf(location->segment, location->offset);
  }

  void SendOn(WorkerStream* stream, const ReplyClock::Ticket& reply) {
    if (located_.location != 0 && stream->shares_memory()) {
      stream->Send(located_, grpc::Slice(), reply);
      return;
    }
    if (payload_.size() == 0) payload_ = SharedSlice(result_);
    stream->Send(result_.header, payload_, reply);
  }

 private:
  const ParameterShard::Result& result_;
  FrameHeader located_;
  grpc::Slice payload_;  // one for all
};

void ShardService::Send(const ParameterShard::Result& result) {
  const ReplyClock::Ticket reply =
      result.values.empty() ? nullptr : reply_clock_.Start(result.header);
  MutexLock lock(&mutex_);
  Outgoing outgoing(result, job_.results);
  for (int worker = 0; worker < job_.world_size; ++worker) {
    if (result.worker != ParameterShard::kEveryWorker && result.worker != worker) continue;
    if (by_rank_[worker] != nullptr) {
      outgoing.SendOn(by_rank_[worker], reply);
    } else if (!taken_[worker]) {
      early_[worker].push_back({result, reply});
    }
  }
}

void ShardService::SendEarly(int rank) {
  std::vector<EarlyResult> results;
  results.swap(early_[rank]);
  for (const EarlyResult& early : results) {
    Outgoing(early.result, job_.results).SendOn(by_rank_[rank], early.reply);
  }
}

void ShardService::FrameTaken(int worker) {
  MutexLock lock(&mutex_);
  if (by_rank_[worker] != nullptr) by_rank_[worker]->FrameTaken();
}

void ShardService::CloseAll(const absl::Status& failure) {
  MutexLock lock(&mutex_);
  failure_ = failure;
  for (std::vector<EarlyResult>& results : early_) results.clear();
  for (auto& [stream, owned] : streams_) stream->Close(failure);
}

int ShardService::connected_workers() const {
  MutexLock lock(&mutex_);
  return static_cast<int>(
      std::count_if(by_rank_.begin(), by_rank_.end(),
                    [](const WorkerStream* stream) { return stream != nullptr; }));
}

TrafficCounters ShardService::traffic() const {
  MutexLock lock(&mutex_);
  TrafficCounters sum = traffic_of_done_;
  for (const auto& [stream, owned] : streams_) sum += stream->traffic();
  return sum;
}

}  // namespace ringside
