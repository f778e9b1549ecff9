#include "ps_server/parameter_shard.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "common/suspects.h"
#include "ps_server/asynchronous_shard.h"
#include "ps_server/backup_shard.h"
#include "ps_server/synchronous_shard.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<ParameterShard>> ParameterShard::Create(Config config) {
  RINGSIDE_RETURN_IF_ERROR(config.layout.Validate(config.plan));
  if (config.shard < 0 || config.shard >= config.layout.num_shards) {
    return absl::InvalidArgumentError(absl::StrCat("--shard=", config.shard, ": must be from 0 to ",
                                                   config.layout.num_shards - 1));
  }
  if (config.threads < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--shard_threads=", config.threads, ": must be at least 1"));
  }
  switch (config.policy.mode) {
    case PsMode::kSync:
      return SynchronousShard::Create(std::move(config));
    case PsMode::kAsync:
    case PsMode::kSsp:
      return AsynchronousShard::Create(std::move(config));
    case PsMode::kBackup:
      return BackupShard::Create(std::move(config));
  }
  return absl::InternalError("a mode of the parameter server that does not exist");
}

ParameterShard::Statistics& ParameterShard::Statistics::operator+=(const Statistics& other) {
  pushes += other.pushes;
  answers += other.answers;
  updates += other.updates;
  late_pushes += other.late_pushes;
  // Empty where nothing has been added up yet, and in modes that have none.
  if (staleness.size() < other.staleness.size()) staleness.resize(other.staleness.size(), 0);
  for (size_t missed = 0; missed < other.staleness.size(); ++missed) {
    staleness[missed] += other.staleness[missed];
  }
  return *this;
}

ParameterShard::ParameterShard(const Config& config)
    : layout_(config.layout),
      shard_(config.shard),
      group_(config.group),
      generation_(config.generation),
      table_(config.plan, config.layout, config.shard),
      fork_join_(config.threads),
      finished_(layout_.world_size, false) {}

absl::Status ParameterShard::Push(const FrameHeader& header, FramePayload payload,
                                  std::vector<Result>* results) {
  const size_t before = results->size();
  const absl::Status status = Dispatch(header, std::move(payload), results);
  if (status.ok() && header.kind == FrameKind::kPush) ++statistics_.pushes;
  CountAnswers(*results, before);
  const bool is_member = header.sender < static_cast<uint32_t>(layout_.world_size);
  if (status.ok() || !is_member) return status;
  return WithSuspects(status, {WorkerId(static_cast<int>(header.sender))});
}

void ParameterShard::CountAnswers(const std::vector<Result>& results, size_t first) {
  for (size_t i = first; i < results.size(); ++i) {
    if (results[i].header.kind != FrameKind::kResult) continue;
    statistics_.answers += results[i].worker == kEveryWorker ? layout_.world_size : 1;
  }
}

absl::Status ParameterShard::Dispatch(const FrameHeader& header, FramePayload payload,
                                      std::vector<Result>* results) {
  RINGSIDE_RETURN_IF_ERROR(CheckSender(header));
  if (header.kind == FrameKind::kFinish || header.kind == FrameKind::kPull) {
    if (header.elements > 0 || payload.bytes() > 0) {
      return Refuse(absl::StatusCode::kInvalidArgument, header,
                    absl::StrCat("it carries ", payload.bytes(),
                                 " payload bytes; this kind has no elements and no payload"));
    }
    return header.kind == FrameKind::kPull ? TakePull(header, results)
                                           : TakeFinish(static_cast<int>(header.sender), results);
  }
  if (header.kind != FrameKind::kPush && header.kind != FrameKind::kRestore) {
    return Refuse(absl::StatusCode::kInvalidArgument, header, "not a push");
  }
  if (header.dtype != WireDtype::kFloat32) {  // what is folded has no other
    return Refuse(absl::StatusCode::kInvalidArgument, header, "its elements are not float32");
  }
  RINGSIDE_ASSIGN_OR_RETURN(const int unit, table_.Find(header));
  if (payload.bytes() != header.payload_bytes()) {
    return Refuse(absl::StatusCode::kInvalidArgument, header,
                  absl::StrCat("it carries ", payload.bytes(), " payload bytes instead of ",
                               header.payload_bytes()));
  }
  return header.kind == FrameKind::kPush ? TakePush(unit, header, std::move(payload), results)
                                         : TakeRestored(unit, header, std::move(payload), results);
}

absl::Status ParameterShard::CheckSender(const FrameHeader& header) const {
  if (header.group != group_)
    return Refuse(absl::StatusCode::kInvalidArgument, header,
                  absl::StrCat("the group is ", group_));
  if (header.generation != generation_) {
    return Refuse(absl::StatusCode::kFailedPrecondition, header,
                  absl::StrCat("the generation is ", generation_));
  }
  if (header.sender >= static_cast<uint32_t>(layout_.world_size)) {
    return Refuse(absl::StatusCode::kInvalidArgument, header,
                  absl::StrCat("the ranks of the group are 0 to ", layout_.world_size - 1));
  }
  if (finished_[header.sender]) {
    return Refuse(absl::StatusCode::kFailedPrecondition, header, "the worker has finished");
  }
  return absl::OkStatus();
}

absl::Status ParameterShard::Refuse(absl::StatusCode code, const FrameHeader& header,
                                    absl::string_view why) const {
  return absl::Status(code,
                      absl::StrCat("shard ", shard_, " refuses the ", Describe(header), ": ", why));
}

absl::Status ParameterShard::RefusalOfClosed(const FrameHeader& header) const {
  return Refuse(absl::StatusCode::kFailedPrecondition, header,
                absl::StrCat("the step is closed, step ", open_step(), " is open"));
}

absl::Status ParameterShard::RefusalOfFuture(const FrameHeader& header) const {
  return Refuse(absl::StatusCode::kOutOfRange, header,
                absl::StrCat("the step is not open yet, step ", open_step(), " is"));
}

absl::Status ParameterShard::Elect(const Election& election, std::vector<Result>* /*results*/) {
  return absl::FailedPreconditionError(absl::StrCat("shard ", shard_,
                                                    " was told who counts in step ", election.step,
                                                    ", but in its mode everybody does"));
}

absl::Status ParameterShard::TakeRestored(int /*unit*/, const FrameHeader& header,
                                          FramePayload /*payload*/,
                                          std::vector<Result>* /*results*/) {
  return Refuse(absl::StatusCode::kInvalidArgument, header,
                "this shard has lost nothing that a worker could restore");
}

absl::Status ParameterShard::TakePull(const FrameHeader& header, std::vector<Result>* /*results*/) {
  return Refuse(absl::StatusCode::kInvalidArgument, header, "this shard keeps no parameters");
}

absl::Status ParameterShard::TakeFinish(int worker, std::vector<Result>* results) {
  finished_[worker] = true;
  if (++num_finished_ < layout_.world_size) return absl::OkStatus();
  AppendFinal(results);
  Result end;
  end.header = FrameHeader();
  end.header.kind = FrameKind::kFinish;
  end.header.group = group_;
  end.header.generation = generation_;
  end.header.sender = static_cast<uint32_t>(shard_);
  end.header.step = open_step();
  results->push_back(end);
  return absl::OkStatus();
}

FrameHeader ParameterShard::ResultHeader(int unit, uint64_t step) const {
  const UnitTable::Unit& place = table_.unit(unit);
  FrameHeader header;
  header.kind = FrameKind::kResult;
  header.group = group_;
  header.generation = generation_;
  header.step = step;
  header.bucket = static_cast<uint32_t>(place.bucket);
  header.sender = static_cast<uint32_t>(shard_);
  header.offset = static_cast<uint64_t>(place.range.begin);
  header.elements = static_cast<uint32_t>(place.range.length);
  return header;
}

ParameterShard::Missing ParameterShard::FindMissing() const {
  RINGSIDE_CHECK(table_.size() > 0);
  Missing missing;
  missing.step = open_step();
  for (; missing.bucket < table_.num_buckets(); ++missing.bucket) {
    for (int worker = 0; worker < layout_.world_size; ++worker) {
      int64_t elements = 0;
      for (int unit = table_.first_of_bucket(missing.bucket);
           unit < table_.first_of_bucket(missing.bucket + 1); ++unit) {
        if (!HasPushed(unit, worker)) elements += table_.unit(unit).range.length;
      }
      if (elements > 0) missing.workers.push_back(worker);
      missing.bytes += elements * static_cast<int64_t>(sizeof(float));
    }
    if (!missing.workers.empty()) return missing;
  }
  missing.bucket = table_.num_buckets() - 1;
  return missing;
}

std::string Describe(const ParameterShard::Missing& missing) {
  std::vector<MemberId> workers;
  for (int worker : missing.workers) workers.push_back(WorkerId(worker));
  return absl::StrCat(ToString(workers), " at step ", missing.step, " bucket ", missing.bucket,
                      " (", missing.bytes, " bytes)");
}

}  // namespace ringside
