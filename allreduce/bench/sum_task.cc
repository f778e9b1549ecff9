#include "allreduce/bench/sum_task.h"

#include <algorithm>

#include "allreduce/bench/stopwatch.h"
#include "allreduce/bench/test_vector.h"
#include "common/status_macros.h"
#include "common/traffic_proto.h"

namespace ringside {

absl::Status SumTask::Sum(absl::Span<const float> in, absl::Span<float> out) {
  summed_elements_.push_back(static_cast<int64_t>(in.size()));
  return config_.reducer->Sum({++step_, 0}, in, out);
}

absl::Status SumTask::RunOutOfPlace(const RankRun& run, RankDone* done) {
  const absl::Span<float> in = config_.input.first(run.elements());
  const absl::Span<float> out = config_.output.first(run.elements());
  FillTestVector(config_.context->rank(), in);
  std::fill(out.begin(), out.end(), -1.0f);
  absl::Status status;
  for (int i = 0; i < run.warmup() + run.iterations() && status.ok(); ++i) {
    const double seconds = SecondsOf([&] { status = Sum(in, out); });
    if (i >= run.warmup()) done->add_durations_s(seconds);
  }
  RINGSIDE_RETURN_IF_ERROR(status);
  done->set_wrong(CountWrongSums(config_.context->world_size(), out) +
                  CountOtherThanTestVector(config_.context->rank(), in));
  return absl::OkStatus();
}

absl::Status SumTask::RunInPlace(const RankRun& run, RankDone* done) {
  const absl::Span<float> buffer = config_.output.first(run.elements());
  int64_t wrong = 0;
  for (int i = 0; i < run.warmup() + run.iterations(); ++i) {
    FillTestVector(config_.context->rank(), buffer);
    // To meet, in the buffer's own first element: no other memory is registered everywhere.
    RINGSIDE_RETURN_IF_ERROR(Sum(buffer.first(1), buffer.first(1)));
    FillTestVector(config_.context->rank(), buffer.first(1));
    absl::Status status;
    const double seconds = SecondsOf([&] { status = Sum(buffer, buffer); });
    RINGSIDE_RETURN_IF_ERROR(status);
    if (i >= run.warmup()) done->add_durations_s(seconds);
    wrong += CountWrongSums(config_.context->world_size(), buffer);
  }
  done->set_wrong(wrong);
  return absl::OkStatus();
}

absl::Status SumTask::Run(const RankRun& run, RankDone* done) {
  summed_elements_.clear();
  summed_elements_.reserve(2 * (run.warmup() + run.iterations()));
  TrafficCounters traffic = config_.reducer->traffic();
  RINGSIDE_RETURN_IF_ERROR(run.in_place() ? RunInPlace(run, done) : RunOutOfPlace(run, done));
  done->set_verified(true);
  if (config_.expected_traffic == nullptr) return absl::OkStatus();
  TrafficCounters counted = config_.reducer->traffic();
  counted -= traffic;
  done->set_traffic_counted(true);
  *done->mutable_traffic() = ToProto(counted);
  *done->mutable_expected_traffic() = ToProto(config_.expected_traffic(summed_elements_));
  return absl::OkStatus();
}

}  // namespace ringside
