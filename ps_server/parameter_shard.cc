#include "ps_server/parameter_shard.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<ParameterShard>> ParameterShard::Create(Config config) {
  RINGSIDE_RETURN_IF_ERROR(config.layout.Validate(config.plan));
  if (config.shard < 0 || config.shard >= config.layout.num_shards) {
    return absl::InvalidArgumentError(absl::StrCat("--shard=", config.shard, ": must be from 0 to ",
                                                   config.layout.num_shards - 1));
  }
  const int64_t elements = UnitTable(config.plan, config.layout, config.shard).elements();
  RINGSIDE_ASSIGN_OR_RETURN(std::shared_ptr<Arena> even, Arena::Create(elements, config.placement));
  RINGSIDE_ASSIGN_OR_RETURN(std::shared_ptr<Arena> odd, Arena::Create(elements, config.placement));
  return absl::WrapUnique(new ParameterShard(std::move(config), std::move(even), std::move(odd)));
}

ParameterShard::ParameterShard(Config config, std::shared_ptr<Arena> even,
                               std::shared_ptr<Arena> odd)
    : layout_(config.layout),
      shard_(config.shard),
      group_(config.group),
      generation_(config.generation),
      first_step_(config.first_step),
      table_(config.plan, config.layout, config.shard),
      arenas_{std::move(even), std::move(odd)},
      open_step_(config.first_step),
      units_(table_.size()),
      parked_(static_cast<size_t>(table_.size()) * layout_.world_size, kNone),
      pushed_by_(layout_.world_size, 0) {}

absl::Status ParameterShard::Push(const FrameHeader& header, FramePayload payload,
                                  std::vector<Result>* results) {
  const absl::StatusOr<int> checked = CheckedUnit(header, payload);
  if (!checked.ok()) {
    const auto sender = static_cast<int>(header.sender);
    const bool is_member = header.sender < static_cast<uint32_t>(layout_.world_size);
    return is_member ? WithSuspects(checked.status(), {WorkerId(sender)}) : checked.status();
  }
  const int unit = *checked;
  const auto sender = static_cast<int>(header.sender);
  CountPush(sender);
  if (Turn(unit, sender) == units_[unit].folded) {
    Fold(unit, header, payload);
    FoldParked(unit);
  } else {
    Park(unit, header, std::move(payload));
  }
  if (units_[unit].folded == layout_.world_size) {
    results->push_back(ResultOf(unit));
    if (++complete_units_ == table_.size()) OpenNextStep();
  }
  return absl::OkStatus();
}

absl::StatusOr<int> ParameterShard::CheckedUnit(const FrameHeader& header,
                                                const FramePayload& payload) const {
  const auto refuse = [&](absl::StatusCode code, const auto&... why) {
    return absl::Status(
        code, absl::StrCat("shard ", shard_, " refuses the ", Describe(header), ": ", why...));
  };
  if (header.kind != FrameKind::kPush)
    return refuse(absl::StatusCode::kInvalidArgument, "not a push");
  if (header.group != group_)
    return refuse(absl::StatusCode::kInvalidArgument, "the group is ", group_);
  if (header.generation != generation_) {
    return refuse(absl::StatusCode::kFailedPrecondition, "the generation is ", generation_);
  }
  if (header.sender >= static_cast<uint32_t>(layout_.world_size)) {
    return refuse(absl::StatusCode::kInvalidArgument, "the ranks of the group are 0 to ",
                  layout_.world_size - 1);
  }
  if (header.step < open_step_) {
    return refuse(absl::StatusCode::kFailedPrecondition, "the step is closed, step ", open_step_,
                  " is open");
  }
  if (header.step > open_step_) {
    return refuse(absl::StatusCode::kOutOfRange, "the step is not open yet, step ", open_step_,
                  " is");
  }
  RINGSIDE_ASSIGN_OR_RETURN(const int unit, table_.Find(header));
  if (payload.bytes() != header.payload_bytes()) {
    return refuse(absl::StatusCode::kInvalidArgument, "it carries ", payload.bytes(),
                  " payload bytes instead of ", header.payload_bytes());
  }
  if (HasPushed(unit, static_cast<int>(header.sender))) {
    return refuse(absl::StatusCode::kAlreadyExists, "it is a duplicate");
  }
  return unit;
}

int ParameterShard::Turn(int unit, int sender) const {
  return (sender - table_.unit(unit).chunk + layout_.world_size) % layout_.world_size;
}

bool ParameterShard::HasPushed(int unit, int worker) const {
  return Turn(unit, worker) < units_[unit].folded || Parked(unit, worker) != kNone;
}

void ParameterShard::Park(int unit, const FrameHeader& header, FramePayload payload) {
  if (free_nodes_.empty()) {
    free_nodes_.push_back(static_cast<Node>(nodes_.size()));
    nodes_.emplace_back();
  }
  const Node node = free_nodes_.back();
  free_nodes_.pop_back();
  nodes_[node] = {header, std::move(payload)};
  Parked(unit, static_cast<int>(header.sender)) = node;
}

void ParameterShard::Fold(int unit, const FrameHeader& header, const FramePayload& payload) {
  UnitState& state = units_[unit];
  if (state.folded == 0) {
    payload.CopyTo(Sum(unit));
  } else {
    payload.AddTo(Sum(unit));
  }
  ++state.folded;
  state.finite = state.finite && header.finite;
  state.weight += header.weight;
}

void ParameterShard::FoldParked(int unit) {
  while (units_[unit].folded < layout_.world_size) {
    const int next = (table_.unit(unit).chunk + units_[unit].folded) % layout_.world_size;
    const Node node = Parked(unit, next);
    if (node == kNone) return;
    Fold(unit, nodes_[node].header, nodes_[node].payload);
    nodes_[node].payload = FramePayload();  // gives the memory back to the transport
    Parked(unit, next) = kNone;
    free_nodes_.push_back(node);
  }
}

absl::Span<float> ParameterShard::Sum(int unit) {
  const UnitTable::Unit& place = table_.unit(unit);
  return arenas_[open_step_ % 2]->span().subspan(place.position, place.range.length);
}

ParameterShard::Result ParameterShard::ResultOf(int unit) {
  const UnitTable::Unit& place = table_.unit(unit);
  FrameHeader header;
  header.kind = FrameKind::kResult;
  header.finite = units_[unit].finite;
  header.group = group_;
  header.generation = generation_;
  header.step = open_step_;
  header.bucket = static_cast<uint32_t>(place.bucket);
  header.sender = static_cast<uint32_t>(shard_);
  header.offset = static_cast<uint64_t>(place.range.begin);
  header.elements = static_cast<uint32_t>(place.range.length);
  header.weight = units_[unit].weight;
  return {header, Sum(unit), arenas_[open_step_ % 2]};
}

void ParameterShard::CountPush(int worker) {
  ++pushed_units_;
  if (++pushed_by_[worker] == table_.size()) ++complete_workers_;
}

void ParameterShard::OpenNextStep() {
  ++open_step_;
  std::fill(units_.begin(), units_.end(), UnitState());
  std::fill(pushed_by_.begin(), pushed_by_.end(), 0);
  pushed_units_ = 0;
  complete_workers_ = 0;
  complete_units_ = 0;
}

ParameterShard::Missing ParameterShard::FindMissing() const {
  RINGSIDE_CHECK(table_.size() > 0);
  const auto incomplete = std::find_if(units_.begin(), units_.end(), [&](const UnitState& state) {
    return state.folded < layout_.world_size;
  });
  RINGSIDE_CHECK(incomplete != units_.end());  // else the next step would be open
  Missing missing;
  missing.step = open_step_;
  missing.bucket = table_.unit(static_cast<int>(incomplete - units_.begin())).bucket;
  for (int worker = 0; worker < layout_.world_size; ++worker) {
    int64_t elements = 0;
    for (int unit = table_.first_of_bucket(missing.bucket);
         unit < table_.first_of_bucket(missing.bucket + 1); ++unit) {
      if (!HasPushed(unit, worker)) elements += table_.unit(unit).range.length;
    }
    if (elements > 0) missing.workers.push_back(worker);
    missing.bytes += elements * static_cast<int64_t>(sizeof(float));
  }
  return missing;
}

std::string Describe(const ParameterShard::Missing& missing) {
  std::vector<MemberId> workers;
  for (int worker : missing.workers) workers.push_back(WorkerId(worker));
  return absl::StrCat(ToString(workers), " at step ", missing.step, " bucket ", missing.bucket,
                      " (", missing.bytes, " bytes)");
}

}  // namespace ringside
