#include "worker/bench/ps_measurement.h"

#include <algorithm>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "allreduce/bench/bench_config.h"
#include "allreduce/bench/sample_statistics.h"
#include "common/check.h"

namespace ringside {
namespace {

constexpr double kGiga = 1e9;

bool SameCase(const PsMeasurement& a, const PsMeasurement& b) {
  return a.workers() == b.workers() && a.shards() == b.shards() && a.bytes() == b.bytes();
}

int64_t Number(const RankDone& answer, const std::string& name) {
  const auto found = answer.numbers().find(name);
  return found == answer.numbers().end() ? 0 : static_cast<int64_t>(found->second);
}

}  // namespace

std::vector<double> TurnSamples(const PsShape& shape, const std::vector<RankDone>& answers) {
  std::vector<std::vector<double>> workers;
  std::vector<std::vector<double>> shards;
  for (size_t i = 0; i < answers.size(); ++i) {
    auto& by_rank = static_cast<int>(i) < shape.workers ? workers : shards;
    by_rank.emplace_back(answers[i].durations_s().begin(), answers[i].durations_s().end());
  }
  std::vector<double> samples = MeanOverRanks(workers);
  const std::vector<double> more = MeanOverRanks(shards);
  if (more.empty()) return samples;
  if (samples.empty()) return more;
  RINGSIDE_CHECK(samples.size() == more.size());
  std::transform(samples.begin(), samples.end(), more.begin(), samples.begin(),
                 std::plus<double>());
  return samples;
}

PsMeasurement MeasurePs(const PsContender& contender, const PsShape& shape, int64_t bytes,
                        const std::vector<std::vector<RankDone>>& rounds) {
  PsMeasurement measurement;
  measurement.set_contender(contender.name);
  measurement.set_link(contender.link);
  measurement.set_workers(shape.workers);
  measurement.set_shards(shape.shards);
  measurement.set_bytes(bytes);
  measurement.set_ceiling(contender.ceiling);
  std::vector<std::vector<double>> samples;
  for (const std::vector<RankDone>& answers : rounds) {
    for (const RankDone& answer : answers) {
      measurement.set_verified(measurement.verified() || answer.verified());
      measurement.set_wrong(measurement.wrong() + answer.wrong());
    }
    samples.push_back(TurnSamples(shape, answers));
  }
  const SampleStatistics statistics = RecordTimes(samples, &measurement);
  if (statistics.median > 0) {
    measurement.set_gb_per_s(static_cast<double>(bytes) / statistics.median / kGiga);
  }
  return measurement;
}

const PsMeasurement* FastestCeiling(const std::vector<PsMeasurement>& results,
                                    const PsMeasurement& measurement) {
  const PsMeasurement* fastest = nullptr;
  for (const PsMeasurement& each : results) {
    if (!IsCeiling(measurement.ceiling(), each.contender()) || !SameCase(each, measurement) ||
        each.time_us() <= 0) {
      continue;
    }
    if (fastest == nullptr || each.time_us() < fastest->time_us()) fastest = &each;
  }
  return fastest;
}

void AddPsCeilingShares(std::vector<PsMeasurement>* measurements) {
  for (PsMeasurement& each : *measurements) {
    const PsMeasurement* ceiling = FastestCeiling(*measurements, each);
    if (ceiling == nullptr || each.time_us() <= 0) continue;
    each.set_ceiling_share(ceiling->time_us() / each.time_us());
  }
}

std::vector<PsShardMemory> ShardMemoryOf(const PsContender& contender, const PsShape& shape,
                                         int64_t bytes, const std::vector<RankDone>& answers) {
  std::vector<PsShardMemory> memory;
  for (int shard = 0; shard < shape.shards; ++shard) {
    const RankDone& answer = answers[shape.workers + shard];
    PsShardMemory each;
    each.set_contender(contender.name);
    each.set_link(contender.link);
    each.set_workers(shape.workers);
    each.set_shards(shape.shards);
    each.set_bytes(bytes);
    each.set_shard(shard);
    each.set_peak_rss_bytes(Number(answer, "peak_rss_bytes"));
    each.set_arena_bytes(Number(answer, "arena_bytes"));
    each.set_parked_bytes(Number(answer, "parked_bytes"));
    each.set_excess_bytes(
        std::max<int64_t>(0, each.peak_rss_bytes() - each.arena_bytes() - each.parked_bytes()));
    memory.push_back(each);
  }
  return memory;
}

absl::Status CheckPsMeasurements(const std::vector<PsMeasurement>& measurements) {
  std::vector<std::string> bad;
  for (const PsMeasurement& each : measurements) {
    if (each.wrong() == 0) continue;
    bad.push_back(absl::StrCat(each.contender(), " with ", each.workers(), "/", each.shards(),
                               " workers/shards at ", SizeText(each.bytes()), ": ", each.wrong(),
                               " wrong elements"));
  }
  if (bad.empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrJoin(bad, "; "));
}

}  // namespace ringside
