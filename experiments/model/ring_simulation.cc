#include "experiments/model/ring_simulation.h"

#include <algorithm>
#include <cstdint>

#include "allreduce/ring_schedule.h"
#include "common/check.h"

namespace ringside {
namespace {

// Lengths of the chunks of one bucket, and of their segments: the same for all ranks.
class Chunks {
 public:
  Chunks(const RingSchedule& schedule, int size, int64_t element_bytes) {
    for (int chunk = 0; chunk < size; ++chunk) {
      segments_.push_back(schedule.num_segments(chunk));
      most_ = std::max(most_, segments_.back());
      first_.push_back(static_cast<int64_t>(bytes_.size()));
      for (int64_t i = 0; i < segments_.back(); ++i) {
        bytes_.push_back(static_cast<double>(schedule.segment(chunk, i).length * element_bytes));
      }
    }
  }

  int64_t most() const { return most_; }
  bool Has(int chunk, int64_t segment) const { return segment < segments_[chunk]; }
  double Bytes(int chunk, int64_t segment) const { return bytes_[first_[chunk] + segment]; }

 private:
  std::vector<int64_t> segments_;
  std::vector<int64_t> first_;
  std::vector<double> bytes_;
  int64_t most_ = 0;
};

// Times of arrival at the right neighbour, in the order of sending.
struct Wire {
  std::vector<double> arrivals;
  int64_t sent = 0;
  int64_t received = 0;
};

class Ring {
 public:
  explicit Ring(const StepJob& job)
      : job_(job),
        thread_(job.workers, 0),
        link_(job.workers, -BurstSeconds(job)),
        wires_(job.workers) {
    const double inside = job.costs.beta_s_per_byte;
    const double saved = BurstSeconds(job);
    for (int rank = 0; rank < job.workers; ++rank) {
      const bool leaves = HostOf(job, rank) != HostOf(job, (rank + 1) % job.workers);
      beta_.push_back(leaves ? LinkSecondsPerByte(job) : inside);
      latency_.push_back(leaves ? job.network.latency_s : 0);
      burst_s_.push_back(leaves ? saved : 0);
    }
  }

  double thread(int rank) const { return thread_[rank]; }
  void Await(int rank, double time) { thread_[rank] = std::max(thread_[rank], time); }

  void Sum(int64_t elements) {
    if (elements == 0) return;
    const RingSchedule schedule(0, job_.workers, elements, job_.segment_elements, job_.lookahead);
    const Chunks chunks(schedule, job_.workers, job_.element_bytes);
    for (Wire& wire : wires_) wire.sent = wire.received = 0;
    const int64_t lookahead = schedule.lookahead();
    for (int64_t i = 0; i < lookahead; ++i) SendOwn(chunks, i);
    for (int64_t wave = 0; wave < schedule.num_waves(); ++wave) {
      SendOwn(chunks, wave + lookahead);
      // Steps of which some segment is due in this wave.
      const int64_t behind = std::max<int64_t>(0, wave - chunks.most() + 1);
      const int64_t first = (behind + lookahead - 1) / lookahead;
      const int64_t last = std::min<int64_t>(schedule.num_steps() - 1, wave / lookahead);
      for (int64_t step = first; step <= last; ++step) {
        Receive(schedule, chunks, static_cast<int>(step), wave - step * lookahead);
      }
    }
  }

 private:
  void SendOwn(const Chunks& chunks, int64_t segment) {
    for (int rank = 0; rank < job_.workers; ++rank) {
      if (!chunks.Has(rank, segment)) continue;
      const double bytes = chunks.Bytes(rank, segment);
      thread_[rank] += job_.costs.alpha_s + bytes * job_.costs.cpu_s_per_byte;
      Transmit(rank, bytes);
    }
  }

  void Receive(const RingSchedule& schedule, const Chunks& chunks, int step, int64_t segment) {
    const RingSchedule::Step of_rank_0 = schedule.step(step);
    const bool adds = of_rank_0.phase == RingSchedule::Phase::kReduceScatter;
    const bool passes_on = step + 1 < schedule.num_steps();
    const LinkCosts& costs = job_.costs;
    const double per_byte =
        costs.cpu_s_per_byte * (passes_on ? 2 : 1) + (adds ? costs.gamma_s_per_byte : 0);
    const double per_message = passes_on ? costs.alpha_s : 0;
    int chunk = of_rank_0.receive_chunk;  // of rank r: r more
    for (int rank = 0; rank < job_.workers; ++rank) {
      if (chunks.Has(chunk, segment)) {
        const double bytes = chunks.Bytes(chunk, segment);
        Wire& wire = wires_[rank == 0 ? job_.workers - 1 : rank - 1];
        const double arrival = wire.arrivals[wire.received++];
        thread_[rank] = std::max(thread_[rank], arrival) + (per_message + bytes * per_byte);
        if (passes_on) Transmit(rank, bytes);
      }
      if (++chunk == job_.workers) chunk = 0;
    }
  }

  void Transmit(int rank, double bytes) {
    Wire& wire = wires_[rank];
    link_[rank] = std::max(link_[rank], thread_[rank] - burst_s_[rank]) + bytes * beta_[rank];
    const double arrival = std::max(link_[rank], thread_[rank]) + latency_[rank];
    if (wire.sent == static_cast<int64_t>(wire.arrivals.size())) {
      wire.arrivals.push_back(arrival);
    } else {
      wire.arrivals[wire.sent] = arrival;
    }
    ++wire.sent;
  }

  const StepJob& job_;
  std::vector<double> thread_;   // by rank: when its thread is free
  std::vector<double> link_;     // and its link to the right, had it begun a burst earlier
  std::vector<double> beta_;     // of that link
  std::vector<double> latency_;  // of that link
  std::vector<double> burst_s_;  // of that link
  std::vector<Wire> wires_;
};

}  // namespace

std::vector<double> SimulateRing(const StepJob& job, const std::vector<RankTimes>& ranks) {
  RINGSIDE_CHECK(!job.servers && !CoresAreShared(job) &&
                 static_cast<int>(ranks.size()) == job.workers);
  Ring ring(job);
  if (job.workers > 1) {
    for (const ModelBucket& bucket : job.buckets) {
      for (int rank = 0; rank < job.workers; ++rank) {
        const RankTimes& times = ranks[rank];
        ring.Await(rank, times.start_s +
                             ReadySeconds(job, bucket, times.before_backward_s, times.backward_s));
      }
      ring.Sum(bucket.elements);
    }
  }
  std::vector<double> ends;
  for (int rank = 0; rank < job.workers; ++rank) {
    const RankTimes& times = ranks[rank];
    ring.Await(rank, times.start_s + times.before_backward_s + times.backward_s);
    ends.push_back(ring.thread(rank) + times.after_s);
  }
  return ends;
}

}  // namespace ringside
