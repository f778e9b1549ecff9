#include "worker/bench/raw_task.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "allreduce/bench/stopwatch.h"
#include "allreduce/bench/test_vector.h"
#include "common/arena.h"
#include "common/network/grpc_frame.h"
#include "common/status_macros.h"
#include "common/unit_table.h"
#include "worker/bench/ps_endpoints.h"
#include "worker/bench/raw_echo_service.h"
#include "worker/bench/raw_stream.h"

namespace ringside {
namespace {

// Closed connections leave nothing to wait for: clients have hung up, or are gone.
constexpr std::chrono::milliseconds kShutdownGrace(500);

class WorkerTask final : public MemberTask {
 public:
  WorkerTask(const BenchMember* member, const BenchPlan& plan, std::unique_ptr<Arena> values,
             std::unique_ptr<Arena> echoes, std::vector<std::unique_ptr<RawStream>> streams)
      : member_(*member),
        plan_(plan.plan),
        values_(std::move(values)),
        echoes_(std::move(echoes)),
        streams_(std::move(streams)),
        frames_of_(streams_.size()) {
    FillTestVector(member_.rank, values_->span());
    MakeFrames(plan);
  }

  absl::Status Run(const RankRun& run, RankDone* done) override {
    done->set_verified(true);
    RINGSIDE_RETURN_IF_ERROR(Verify(done));
    for (int i = 0; i < run.warmup(); ++i) RINGSIDE_RETURN_IF_ERROR(Exchange(/*keep=*/false));
    RINGSIDE_RETURN_IF_ERROR(member_.Meet());
    for (int i = 0; i < run.iterations(); ++i) {
      absl::Status status;
      const double seconds = SecondsOf([&] { status = Exchange(/*keep=*/false); });
      RINGSIDE_RETURN_IF_ERROR(status);
      done->add_durations_s(seconds);
    }
    RINGSIDE_RETURN_IF_ERROR(Verify(done));
    return member_.Meet();
  }

  absl::Status HangUp() override {
    streams_.clear();
    return absl::OkStatus();
  }

 private:
  struct Frame {
    int shard = 0;
    grpc::ByteBuffer message;
  };

  void MakeFrames(const BenchPlan& plan) {
    std::vector<UnitTable> tables;
    for (int shard = 0; shard < plan.layout.num_shards; ++shard) {
      tables.emplace_back(plan.plan, plan.layout, shard);
    }
    for (int bucket = 0; bucket < plan_.size(); ++bucket) {
      for (int shard = 0; shard < plan.layout.num_shards; ++shard) {
        const UnitTable& table = tables[shard];
        for (int unit = table.first_of_bucket(bucket); unit < table.first_of_bucket(bucket + 1);
             ++unit) {
          frames_.push_back({shard, MakeUnitFrame(bucket, table.unit(unit).range)});
          ++frames_of_[shard];
        }
      }
    }
  }

  grpc::ByteBuffer MakeUnitFrame(int bucket, const ElementRange& range) const {
    FrameHeader header;
    header.bucket = static_cast<uint32_t>(bucket);
    header.sender = static_cast<uint32_t>(member_.rank);
    header.offset = static_cast<uint64_t>(range.begin);
    header.elements = static_cast<uint32_t>(range.length);
    float* const payload = values_->span().data() + plan_.bucket(bucket).begin + range.begin;
    return MakeFrame(header,
                     grpc::Slice(payload, range.length * sizeof(float), grpc::Slice::STATIC_SLICE));
  }

  absl::Status Exchange(bool keep) {
    for (size_t shard = 0; shard < streams_.size(); ++shard) {
      streams_[shard]->Expect(frames_of_[shard], keep);
    }
    for (const Frame& frame : frames_) streams_[frame.shard]->Send(&frame.message);
    const absl::Time deadline = absl::Now() + member_.timeout;
    for (size_t shard = 0; shard < streams_.size(); ++shard) {
      const absl::Status status = streams_[shard]->Await(deadline);
      if (status.ok()) continue;
      return absl::Status(status.code(), absl::StrCat("shard ", shard, ": ", status.message()));
    }
    return absl::OkStatus();
  }

  // Every element must have come back to where it was.
  absl::Status Verify(RankDone* done) {
    std::fill(echoes_->span().begin(), echoes_->span().end(), -1.0F);
    RINGSIDE_RETURN_IF_ERROR(Exchange(/*keep=*/true));
    for (const auto& stream : streams_) {
      for (const grpc::ByteBuffer& message : stream->TakeKept()) {
        RINGSIDE_ASSIGN_OR_RETURN(const ReceivedFrame frame, SplitFrame(message));
        if (frame.header.bucket >= static_cast<uint32_t>(plan_.size())) {
          return absl::DataLossError(
              absl::StrCat("an echo that was not sent: ", Describe(frame.header)));
        }
        const auto begin = static_cast<size_t>(
            plan_.bucket(static_cast<int>(frame.header.bucket)).begin + frame.header.offset);
        if (begin + frame.header.elements > echoes_->span().size()) {
          return absl::DataLossError(
              absl::StrCat("an echo that was not sent: ", Describe(frame.header)));
        }
        frame.payload.CopyTo(echoes_->span().subspan(begin, frame.header.elements));
      }
    }
    done->set_wrong(done->wrong() + CountOtherThanTestVector(member_.rank, echoes_->span()));
    return absl::OkStatus();
  }

  const BenchMember& member_;
  const BucketPlan plan_;
  const std::unique_ptr<Arena> values_;
  const std::unique_ptr<Arena> echoes_;
  std::vector<std::unique_ptr<RawStream>> streams_;  // by shard
  std::vector<Frame> frames_;
  std::vector<int64_t> frames_of_;  // by shard
};

class ShardTask final : public MemberTask {
 public:
  explicit ShardTask(const BenchMember* member) : member_(*member) {}

  ~ShardTask() override {
    if (server_.server != nullptr) {
      server_.server->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);
    }
  }

  absl::Status Listen(const PsContender& contender) {
    RINGSIDE_ASSIGN_OR_RETURN(server_, ListenOn(contender.link, [&](grpc::ServerBuilder* builder) {
                                if (contender.kind == PsContender::Kind::kRawCallback) {
                                  builder->RegisterCallbackGenericService(&callback_service_);
                                } else {
                                  builder->RegisterService(&sync_service_);
                                }
                              }));
    return member_.exchange(server_.target).status();
  }

  absl::Status Run(const RankRun& /*run*/, RankDone* /*done*/) override {
    RINGSIDE_RETURN_IF_ERROR(member_.Meet());
    return member_.Meet();
  }

 private:
  const BenchMember& member_;
  CallbackEchoService callback_service_;
  SyncEchoService sync_service_;
  BenchServer server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MemberTask>> MakeRawTask(const BenchMember* member,
                                                        const PsContender& contender,
                                                        const BenchPlan& plan) {
  if (!member->is_worker()) {
    auto task = std::make_unique<ShardTask>(member);
    RINGSIDE_RETURN_IF_ERROR(task->Listen(contender));
    return std::unique_ptr<MemberTask>(std::move(task));
  }
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<std::string> addresses, member->exchange(""));
  std::vector<std::unique_ptr<RawStream>> streams;
  for (int shard = 0; shard < member->shards; ++shard) {
    RINGSIDE_ASSIGN_OR_RETURN(std::shared_ptr<grpc::Channel> channel,
                              ConnectTo(contender.link, addresses[member->workers + shard]));
    streams.push_back(contender.kind == PsContender::Kind::kRawCallback
                          ? OpenCallbackStream(std::move(channel))
                          : OpenSyncStream(std::move(channel)));
  }
  const int64_t elements = plan.plan.total_elements();
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> values,
                            Arena::Create(elements, Arena::Placement::kHeap));
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> echoes,
                            Arena::Create(elements, Arena::Placement::kHeap));
  return std::unique_ptr<MemberTask>(std::make_unique<WorkerTask>(
      member, plan, std::move(values), std::move(echoes), std::move(streams)));
}

}  // namespace ringside
