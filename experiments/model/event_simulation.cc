#include "experiments/model/event_simulation.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "allreduce/ring_schedule.h"
#include "common/check.h"
#include "common/shard_map.h"
#include "experiments/model/step_events.h"

namespace ringside {
namespace {

using Token = EventEngine::Token;
using Message = EventEngine::Message;

class RingEvents final : public StepEvents {
 public:
  RingEvents(const StepJob& job, const std::vector<RankTimes>& times)
      : StepEvents(job, times), ranks_(job.workers) {
    for (int rank = 0; rank < job.workers; ++rank) ranks_[rank].thread = engine().AddThread(rank);
  }

  void OnArrival(const Message& message) override {
    ++ranks_[message.to].arrived;
    Advance(message.to);
  }

 private:
  // What the thread of a rank does, one after the other.
  struct Operation {
    double bytes = 0;
    bool receives = false;
    bool adds = false;
    bool sends = false;
  };
  struct Rank {
    int thread = 0;
    int submitted = 0;  // buckets
    int bucket = -1;    // that is being summed
    std::vector<Operation> operations;
    size_t next = 0;
    bool busy = false;
    int64_t arrived = 0;  // messages that are not received yet
  };

  void OnSubmitted(int rank, int bucket) override {
    ranks_[rank].submitted = bucket + 1;
    Advance(rank);
  }

  void OnWorkDone(const Token& token) override {
    Rank& rank = ranks_[token.a];
    const Operation operation = rank.operations[rank.next++];
    rank.busy = false;
    if (operation.sends) {
      engine().Send({token.a, (token.a + 1) % job().workers, operation.bytes, {}});
    }
    Advance(token.a);
  }

  void Advance(int index) {
    Rank& rank = ranks_[index];
    const auto buckets = static_cast<int>(job().buckets.size());
    if (job().workers == 1) return;
    while (rank.next == rank.operations.size()) {
      if (rank.busy || rank.bucket == buckets) return;
      if (rank.bucket + 1 == buckets) {
        rank.bucket = buckets;
        Summed(index);
        return;
      }
      if (rank.submitted <= rank.bucket + 1) return;
      ++rank.bucket;
      rank.next = 0;
      rank.operations = Operations(index, job().buckets[rank.bucket].elements);
    }
    if (rank.busy) return;
    const Operation& operation = rank.operations[rank.next];
    if (operation.receives) {
      if (rank.arrived == 0) return;
      --rank.arrived;
    }
    rank.busy = true;
    engine().Post(rank.thread, Seconds(operation), {kOwnKinds, index, 0});
  }

  double Seconds(const Operation& operation) const {
    const LinkCosts& costs = job().costs;
    const int ways = (operation.receives ? 1 : 0) + (operation.sends ? 1 : 0);
    return (operation.sends ? costs.alpha_s : 0) +
           operation.bytes *
               (costs.cpu_s_per_byte * ways + (operation.adds ? costs.gamma_s_per_byte : 0));
  }

  // As RingAllReducer::Run has them.
  std::vector<Operation> Operations(int index, int64_t elements) const {
    std::vector<Operation> operations;
    if (elements == 0) return operations;
    const RingSchedule schedule(index, job().workers, elements, job().segment_elements,
                                job().lookahead);
    const auto bytes = [&](int chunk, int64_t segment) {
      return static_cast<double>(schedule.segment(chunk, segment).length * job().element_bytes);
    };
    const int own = schedule.step(0).send_chunk;
    const auto send_own = [&](int64_t segment) {
      if (segment < schedule.num_segments(own)) {
        operations.push_back({bytes(own, segment), false, false, true});
      }
    };
    for (int64_t i = 0; i < schedule.lookahead(); ++i) send_own(i);
    for (int64_t wave = 0; wave < schedule.num_waves(); ++wave) {
      send_own(wave + schedule.lookahead());
      for (int step = 0; step < schedule.num_steps(); ++step) {
        const int64_t segment = schedule.segment_in_wave(wave, step);
        if (segment < 0) continue;
        const RingSchedule::Step now = schedule.step(step);
        operations.push_back({bytes(now.receive_chunk, segment), true,
                              now.phase == RingSchedule::Phase::kReduceScatter,
                              step + 1 < schedule.num_steps()});
      }
    }
    return operations;
  }

  std::vector<Rank> ranks_;
};

// Neighbouring units of one bucket and shard that are simulated as one.
struct JoinedUnit {
  int shard = 0;
  double bytes = 0;
  int messages = 0;
};

class ServerEvents final : public StepEvents {
 public:
  // `units` by bucket, in the order in which a worker pushes them.
  ServerEvents(const StepJob& job, const std::vector<RankTimes>& times,
               const std::vector<std::vector<JoinedUnit>>& units)
      : StepEvents(job, times), workers_(job.workers) {
    for (const auto& of_bucket : units) {
      first_of_bucket_.push_back(static_cast<int>(units_.size()));
      units_.insert(units_.end(), of_bucket.begin(), of_bucket.end());
    }
    first_of_bucket_.push_back(static_cast<int>(units_.size()));
    parts_.assign(units_.size(), 0);
    for (int process = 0; process < NumProcesses(job); ++process) {
      receiving_.push_back(engine().AddThread(process));
      sending_.push_back(engine().AddThread(process));
    }
  }

  void OnArrival(const Message& message) override {
    engine().Post(receiving_[message.to], message.bytes * job().costs.cpu_s_per_byte,
                  {message.token.kind == kPush ? kPushed : kPulled, message.token.a, message.to},
                  message.from);
  }

 private:
  enum Kind {
    kPush = kOwnKinds,  // a: unit, b: worker
    kPushed,            // a: unit
    kFolded,            // a: unit
    kPull,              // a: unit, b: worker
    kPulled,            // a: unit, b: worker
  };

  struct Worker {
    int submitted = 0;  // units
    int pushed = 0;     // units, with the one that is being sent
    bool pushing = false;
    int results = 0;  // units that have come back
  };

  void OnSubmitted(int rank, int bucket) override {
    workers_[rank].submitted = first_of_bucket_[bucket + 1];
    if (!workers_[rank].pushing) PushNext(rank);
  }

  // One unit after the other, so that the thread has none to queue.
  void PushNext(int rank) {
    Worker& worker = workers_[rank];
    worker.pushing = worker.pushed < worker.submitted;
    if (!worker.pushing) return;
    const int unit = worker.pushed++;
    engine().Post(sending_[rank], SendingSeconds(units_[unit]), {kPush, unit, rank});
  }

  void OnWorkDone(const Token& token) override {
    const JoinedUnit& unit = units_[token.a];
    const int shard = job().workers + unit.shard;
    switch (token.kind) {
      case kPush:
        PushNext(token.b);
        engine().Send({token.b, shard, unit.bytes, {kPush, token.a, 0}});
        break;
      case kPushed:
        if (++parts_[token.a] < job().workers) break;
        engine().Post(sending_[shard], job().workers * unit.bytes * job().costs.gamma_s_per_byte,
                      {kFolded, token.a, 0});
        break;
      case kFolded:
        engine().PostSeries(sending_[shard], SendingSeconds(unit), {kPull, token.a, 0},
                            job().workers);
        break;
      case kPull:
        engine().Send({shard, token.b, unit.bytes, {kPull, token.a, 0}});
        break;
      default:
        if (++workers_[token.b].results == static_cast<int>(units_.size())) Summed(token.b);
    }
  }

  double SendingSeconds(const JoinedUnit& unit) const {
    return unit.messages * job().costs.alpha_s + unit.bytes * job().costs.cpu_s_per_byte;
  }

  std::vector<JoinedUnit> units_;
  std::vector<int> first_of_bucket_;
  std::vector<int> parts_;      // by unit: how many workers' have come
  std::vector<int> receiving_;  // threads, by process
  std::vector<int> sending_;
  std::vector<Worker> workers_;
};

// Units of one bucket as `joined` says, shard after shard in turn.
std::vector<JoinedUnit> UnitsOf(const StepJob& job, int64_t elements, int64_t joined) {
  std::vector<std::vector<JoinedUnit>> by_shard(job.shards);
  size_t most = 0;
  for (int shard = 0; shard < job.shards; ++shard) {
    int64_t taken = 0;
    for (const ShardUnit& unit :
         ShardUnits(elements, job.workers, job.shards, shard, job.unit_elements)) {
      if (taken++ % joined == 0) by_shard[shard].push_back({shard, 0, 0});
      by_shard[shard].back().bytes += static_cast<double>(unit.range.length * job.element_bytes);
      ++by_shard[shard].back().messages;
    }
    most = std::max(most, by_shard[shard].size());
  }
  std::vector<JoinedUnit> units;
  for (size_t i = 0; i < most; ++i) {
    for (const auto& of_shard : by_shard) {
      if (i < of_shard.size()) units.push_back(of_shard[i]);
    }
  }
  return units;
}

absl::Status TooMany(int64_t messages) {
  return absl::ResourceExhaustedError(
      absl::StrCat("a step of ", messages, " messages is not simulated event by event; at most ",
                   kMostMessages, " are"));
}

int64_t RingMessages(const StepJob& job) {
  int64_t messages = 0;
  for (const ModelBucket& bucket : job.buckets) {
    const int64_t chunk = (bucket.elements + job.workers - 1) / job.workers;
    const int64_t segments = (chunk + job.segment_elements - 1) / job.segment_elements;
    messages += 2 * (job.workers - 1) * segments * job.workers;
  }
  return messages;
}

}  // namespace

absl::StatusOr<std::vector<double>> SimulateEvents(const StepJob& job,
                                                   const std::vector<RankTimes>& ranks,
                                                   int64_t most_parts) {
  RINGSIDE_CHECK(static_cast<int>(ranks.size()) == job.workers);
  if (!job.servers) {
    if (RingMessages(job) > kMostMessages) return TooMany(RingMessages(job));
    return RingEvents(job, ranks).Run();
  }
  const int64_t least =
      static_cast<int64_t>(job.buckets.size()) * job.shards * job.workers;  // all joined
  if (least > kMostMessages) return TooMany(least);
  for (int64_t joined = 1;; joined *= 2) {
    std::vector<std::vector<JoinedUnit>> units;
    int64_t parts = 0;
    int64_t most_of_shard = 0;
    for (const ModelBucket& bucket : job.buckets) {
      units.push_back(UnitsOf(job, bucket.elements, joined));
      parts += static_cast<int64_t>(units.back().size()) * job.workers;
      most_of_shard =
          std::max(most_of_shard, static_cast<int64_t>(units.back().size()) / job.shards);
    }
    if (parts <= most_parts || most_of_shard <= 1) return ServerEvents(job, ranks, units).Run();
  }
}

}  // namespace ringside
