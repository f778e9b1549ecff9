#include "common/trace/bucket_life.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/types/optional.h"

namespace ringside {
namespace {

using Moment = absl::optional<int64_t>;
using Key = std::tuple<int64_t, int, int>;  // step, bucket, rank

struct Moments {
  Moment ready;
  Moment submitted;
  Moment sent;  // the first byte, as far as this process can tell
  Moment summed;
  Moment first_arrival;
  Moment last_arrival;
  Moment folded;
  Moment replied;
};

void Earliest(int64_t time, Moment* moment) {
  *moment = moment->has_value() ? std::min(**moment, time) : time;
}

void Latest(int64_t time, Moment* moment) {
  *moment = moment->has_value() ? std::max(**moment, time) : time;
}

void Note(const TraceSpan& span, Moments* moments) {
  switch (span.kind()) {
    case TRACE_READY:
      return Latest(span.end_ns(), &moments->ready);
    case TRACE_SUBMIT:
      return Earliest(span.begin_ns(), &moments->submitted);
    case TRACE_SUM:
      Earliest(span.begin_ns(), &moments->sent);
      return Latest(span.end_ns(), &moments->summed);
    case TRACE_PUSH:
      return Earliest(span.begin_ns(), &moments->sent);
    case TRACE_RESULT:
      return Latest(span.end_ns(), &moments->summed);
    case TRACE_QUEUE:
      Earliest(span.begin_ns(), &moments->first_arrival);
      return Latest(span.begin_ns(), &moments->last_arrival);
    case TRACE_FOLD:
      return Latest(span.end_ns(), &moments->folded);
    case TRACE_REPLY:
      return Latest(span.end_ns(), &moments->replied);
    default:
      return;
  }
}

// Phases between the moments that there are, each no earlier than the one before.
class Phases {
 public:
  // What lies before this moment and after the one before is called `name`.
  void Until(const Moment& moment, const char* name) {
    if (!moment.has_value()) return;
    const int64_t time = last_.has_value() ? std::max(*last_, *moment) : *moment;
    if (last_.has_value()) phases_.push_back({name, *last_, time});
    last_ = time;
  }
  std::vector<BucketLife::Phase> Take() { return std::move(phases_); }

 private:
  Moment last_;
  std::vector<BucketLife::Phase> phases_;
};

std::vector<BucketLife::Phase> WorkerPhases(const Moments& moments, const Moment& applied) {
  Phases phases;
  phases.Until(moments.ready, "");
  phases.Until(moments.submitted, "awaits its turn");
  phases.Until(moments.sent, "queued");
  phases.Until(moments.summed, "on the wire");
  if (moments.summed.has_value()) phases.Until(applied, "awaits the update");
  return phases.Take();
}

std::vector<BucketLife::Phase> ShardPhases(const Moments& moments) {
  Phases phases;
  phases.Until(moments.first_arrival, "");
  phases.Until(moments.last_arrival, "arrives");
  phases.Until(moments.folded, "is folded");
  phases.Until(moments.replied, "is sent back");
  return phases.Take();
}

}  // namespace

std::vector<BucketLife> BucketLives(const ProcessTrace& trace) {
  const bool worker = trace.id().role() == ROLE_WORKER;
  std::map<Key, Moments> moments;
  std::map<int64_t, Moment> applied;  // by step
  for (const TraceSpan& span : trace.spans()) {
    if (span.kind() == TRACE_OPTIMIZER) Latest(span.end_ns(), &applied[span.step()]);
    if (span.bucket() < 0) continue;
    const bool of_rank = span.kind() == TRACE_READY || span.kind() == TRACE_SUBMIT;
    const int rank = !worker ? -1 : of_rank ? span.peer() : trace.id().rank();
    Note(span, &moments[{span.step(), span.bucket(), rank}]);
  }
  std::vector<BucketLife> lives;
  for (const auto& [key, found] : moments) {
    BucketLife life;
    std::tie(life.step, life.bucket, life.rank) = key;
    life.phases = worker ? WorkerPhases(found, applied[life.step]) : ShardPhases(found);
    if (!life.phases.empty()) lives.push_back(std::move(life));
  }
  return lives;
}

}  // namespace ringside
