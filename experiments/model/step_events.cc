#include "experiments/model/step_events.h"

namespace ringside {

StepEvents::StepEvents(const StepJob& job, const std::vector<RankTimes>& ranks)
    : job_(job), ranks_(ranks), engine_(job), waits_for_(job.workers, 2), ends_(job.workers, 0) {
  for (int rank = 0; rank < job.workers; ++rank) {
    compute_threads_.push_back(engine_.AddThread(rank));
  }
}

bool StepEvents::computes_on_cores() const {
  return job_.compute.holds_core && CoresAreShared(job_);
}

std::vector<double> StepEvents::Run() {
  for (int rank = 0; rank < job_.workers; ++rank) {
    const RankTimes& times = ranks_[rank];
    if (computes_on_cores()) {
      engine_.At(times.start_s, {kStart, rank, 0});
      continue;
    }
    const auto buckets = static_cast<int>(job_.buckets.size());
    for (int bucket = 0; bucket < buckets; ++bucket) {
      engine_.At(times.start_s + ReadySeconds(job_, job_.buckets[bucket], times.before_backward_s,
                                              times.backward_s),
                 {kReady, rank, bucket});
    }
    engine_.At(times.start_s + times.before_backward_s + times.backward_s, {kBackwardEnd, rank, 0});
  }
  if (job_.buckets.empty() || (!job_.servers && job_.workers == 1)) {
    for (int& waits : waits_for_) --waits;  // there is nothing to sum
  }
  engine_.Run(this);
  return ends_;
}

void StepEvents::OnTimer(const EventEngine::Token& token) {
  switch (token.kind) {
    case kStart:
      ComputeNext(token.a, 0);
      break;
    case kReady:
      OnSubmitted(token.a, token.b);
      break;
    case kBackwardEnd:
      EndIfDone(token.a);
      break;
    default:
      OnWorkDone(token);
  }
}

void StepEvents::OnJobDone(const EventEngine::Token& token) {
  switch (token.kind) {
    case kComputed:
      OnComputed(token.a, token.b);
      break;
    case kEnd:
      ends_[token.a] = engine_.now();
      break;
    default:
      OnWorkDone(token);
  }
}

// Piece 0 is what comes before backward; piece i + 1 ends with the submission of bucket i, and the
// last one with backward.
void StepEvents::ComputeNext(int rank, int piece) {
  const RankTimes& times = ranks_[rank];
  const double before = times.before_backward_s;
  const auto buckets = static_cast<int>(job_.buckets.size());
  const auto end = [&](int i) {
    if (i == 0) return before;
    if (i > buckets) return before + times.backward_s;
    return ReadySeconds(job_, job_.buckets[i - 1], before, times.backward_s);
  };
  engine_.Post(compute_threads_[rank], end(piece) - (piece == 0 ? 0 : end(piece - 1)),
               {kComputed, rank, piece});
}

void StepEvents::OnComputed(int rank, int piece) {
  const auto buckets = static_cast<int>(job_.buckets.size());
  if (0 < piece && piece <= buckets) OnSubmitted(rank, piece - 1);
  if (piece <= buckets) {
    ComputeNext(rank, piece + 1);
  } else {
    EndIfDone(rank);
  }
}

void StepEvents::Summed(int rank) { EndIfDone(rank); }

void StepEvents::EndIfDone(int rank) {
  if (--waits_for_[rank] > 0) return;
  engine_.Post(compute_threads_[rank], ranks_[rank].after_s, {kEnd, rank, 0});
}

}  // namespace ringside
