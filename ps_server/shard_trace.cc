#include "ps_server/shard_trace.h"

#include <algorithm>
#include <cstdint>

#include "common/network/host_identity.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {
namespace {

constexpr int kRoundTrips = 16;

// Of each unit and step: two spans for each push, and one for each answer.
int64_t Spans(const StepWindow& window, const BucketPlan& plan, const ShardLayout& layout) {
  int64_t units = 0;  // of the shard that has most
  for (int shard = 0; shard < layout.num_shards; ++shard) {
    units = std::max<int64_t>(units, UnitTable(plan, layout, shard).size());
  }
  return window.steps() * units * 3 * layout.world_size;
}

}  // namespace

absl::Status ShardTrace::Begin(const StepWindow& window, const BucketPlan& plan,
                               const ShardLayout& layout, CoordinatorClient* coordinator) {
  if (window.empty()) return absl::OkStatus();
  buffer_ = std::make_unique<TraceBuffer>(window, Spans(window, plan, layout));
  RINGSIDE_ASSIGN_OR_RETURN(*clock_.mutable_first(), coordinator->ReadClock(kRoundTrips));
  return absl::OkStatus();
}

absl::Status ShardTrace::End(int shard, CoordinatorClient* coordinator, ShardResult* result) {
  if (buffer_ == nullptr) return absl::OkStatus();
  RINGSIDE_ASSIGN_OR_RETURN(*clock_.mutable_last(), coordinator->ReadClock(kRoundTrips));
  ProcessTrace* const trace = result->mutable_trace();
  *trace->mutable_id() = ShardId(shard);
  trace->set_hostname(ReadHostIdentity().hostname());
  *trace->mutable_clock() = clock_;
  buffer_->AppendTo(trace);
  return absl::OkStatus();
}

}  // namespace ringside
