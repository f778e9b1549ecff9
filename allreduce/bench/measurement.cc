#include "allreduce/bench/measurement.h"

#include <algorithm>
#include <cmath>

#include <google/protobuf/util/message_differencer.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "allreduce/bench/bench_config.h"
#include "allreduce/bench/sample_statistics.h"

namespace ringside {
namespace {

constexpr double kMaxIterations = 20000;
constexpr double kGiga = 1e9;

void Accumulate(const Traffic& more, Traffic* sum) {
  sum->set_payload_bytes_sent(sum->payload_bytes_sent() + more.payload_bytes_sent());
  sum->set_payload_bytes_received(sum->payload_bytes_received() + more.payload_bytes_received());
  sum->set_messages_sent(sum->messages_sent() + more.messages_sent());
  sum->set_messages_received(sum->messages_received() + more.messages_received());
  sum->set_header_bytes_sent(sum->header_bytes_sent() + more.header_bytes_sent());
  sum->set_header_bytes_received(sum->header_bytes_received() + more.header_bytes_received());
}

// The mean over ranks of every iteration of a round; counters are added to `measurement`.
std::vector<double> TakeRound(const std::vector<RankDone>& answers,
                              AllReduceMeasurement* measurement) {
  std::vector<std::vector<double>> by_rank;
  for (const RankDone& answer : answers) {
    by_rank.emplace_back(answer.durations_s().begin(), answer.durations_s().end());
    measurement->set_verified(answer.verified());
    measurement->set_wrong(measurement->wrong() + answer.wrong());
    if (!answer.traffic_counted()) continue;
    measurement->set_traffic_counted(true);
    Accumulate(answer.traffic(), measurement->mutable_traffic());
    Accumulate(answer.expected_traffic(), measurement->mutable_expected_traffic());
  }
  return MeanOverRanks(by_rank);
}

const AllReduceMeasurement* Find(const std::vector<AllReduceMeasurement>& measurements,
                                 const std::string& contender, const AllReduceMeasurement& like) {
  for (const AllReduceMeasurement& each : measurements) {
    if (each.contender() == contender && each.world_size() == like.world_size() &&
        each.bytes() == like.bytes()) {
      return &each;
    }
  }
  return nullptr;
}

}  // namespace

int IterationsFor(int64_t bytes, double seconds, absl::Duration min_time) {
  constexpr int64_t kBytesPerTurn = 64 << 20;
  const auto least =
      static_cast<double>(std::min<int64_t>(200, std::max<int64_t>(5, kBytesPerTurn / bytes)));
  const double wanted =
      seconds > 0 ? std::ceil(absl::ToDoubleSeconds(min_time) / seconds) : kMaxIterations;
  return static_cast<int>(std::min(kMaxIterations, std::max(least, wanted)));
}

AllReduceMeasurement Measure(const Contender& contender, int world_size, int64_t bytes,
                             const std::string& type, bool in_place,
                             const std::vector<std::vector<RankDone>>& rounds) {
  AllReduceMeasurement measurement;
  measurement.set_contender(contender.name);
  measurement.set_world_size(world_size);
  measurement.set_bytes(bytes);
  measurement.set_elements(bytes / int64_t{sizeof(float)});
  measurement.set_type(type);
  measurement.set_in_place(in_place);
  measurement.set_ceiling(contender.ceiling);
  std::vector<std::vector<double>> samples;
  for (const std::vector<RankDone>& answers : rounds) {
    samples.push_back(TakeRound(answers, &measurement));
  }
  const SampleStatistics statistics = RecordTimes(samples, &measurement);
  if (statistics.median > 0) {
    const double algbw = static_cast<double>(bytes) / statistics.median / kGiga;
    measurement.set_algbw_gb_per_s(algbw);
    measurement.set_busbw_gb_per_s(algbw * 2 * (world_size - 1) / world_size);
  }
  return measurement;
}

void AddCeilingShares(std::vector<AllReduceMeasurement>* measurements) {
  for (AllReduceMeasurement& each : *measurements) {
    const AllReduceMeasurement* ceiling = Find(*measurements, each.ceiling(), each);
    if (ceiling == nullptr || each.time_us() <= 0) continue;
    each.set_ceiling_share(ceiling->time_us() / each.time_us());
  }
}

bool TrafficAsExpected(const AllReduceMeasurement& measurement) {
  return google::protobuf::util::MessageDifferencer::Equals(measurement.traffic(),
                                                            measurement.expected_traffic());
}

absl::Status CheckMeasurements(const std::vector<AllReduceMeasurement>& measurements) {
  std::vector<std::string> complaints;
  for (const AllReduceMeasurement& each : measurements) {
    const std::string who = absl::StrCat(each.contender(), ", ", each.world_size(), " ranks, ",
                                         SizeText(each.bytes()), ": ");
    if (each.wrong() != 0) {
      complaints.push_back(absl::StrCat(who, each.wrong(), " elements are wrong"));
    }
    if (each.traffic_counted() && !TrafficAsExpected(each)) {
      complaints.push_back(absl::StrCat(who, "counted ", each.traffic().ShortDebugString(),
                                        " instead of ",
                                        each.expected_traffic().ShortDebugString()));
    }
  }
  if (complaints.empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrJoin(complaints, "; "));
}

}  // namespace ringside
