#include "worker/bench/ps_bench_run.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "allreduce/bench/bench_config.h"
#include "allreduce/bench/measurement.h"
#include "allreduce/bench/sample_statistics.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "worker/bench/ps_measurement.h"

namespace ringside {
namespace {

constexpr int kCalibrationIterations = 3;
// From here on one exchange tells enough, and three take seconds.
constexpr int64_t kLargeBytes = 64 << 20;
// Enough that frames of every kind have been parked and every buffer is as large as it gets.
constexpr int kMemoryIterations = 10;
// By so much a member's own deadline comes first, because it knows more.
constexpr absl::Duration kMembersKnowMore = absl::Seconds(5);

// "2 workers (ranks 0 to 1), 1 shards (from rank 2)": a member is called by its rank in errors.
std::string Ranks(const PsShape& shape) {
  return absl::StrCat(shape.workers, " workers (ranks 0 to ", shape.workers - 1, "), ",
                      shape.shards, " shards (from rank ", shape.workers, ")");
}

absl::Status Annotate(const absl::Status& status, const std::string& where) {
  return absl::Status(status.code(), absl::StrCat(where, ": ", status.message()));
}

}  // namespace

absl::StatusOr<std::vector<PsMeasurement>> PsBenchRun::Run(const Progress& progress) {
  std::vector<PsMeasurement> all;
  for (const PsShape& shape : config_.shapes) {
    RINGSIDE_ASSIGN_OR_RETURN(const std::unique_ptr<RankGroup> group, StartGroup(shape));
    for (const int64_t bytes : config_.sizes_bytes) {
      RINGSIDE_ASSIGN_OR_RETURN(const std::vector<PsMeasurement> measurements,
                                MeasureSize(shape, bytes, group.get()));
      progress(measurements);
      all.insert(all.end(), measurements.begin(), measurements.end());
    }
  }
  return all;
}

absl::StatusOr<std::unique_ptr<RankGroup>> PsBenchRun::StartGroup(const PsShape& shape) const {
  RankGroup::Config config;
  config.kind.name = "ps_bench";
  config.kind.tuned_malloc = false;  // the program itself sets what ps_server and worker set
  config.world_size = shape.workers + shape.shards;
  config.binary = surroundings_.binary;
  config.environment = surroundings_.environment;
  config.setup.set_world_size(config.world_size);
  config.setup.set_shards(shape.shards);
  config.setup.set_max_elements(config_.max_bytes() / int64_t{sizeof(float)});
  config.setup.set_timeout_s(absl::ToDoubleSeconds(config_.timeout));
  absl::StatusOr<std::unique_ptr<RankGroup>> group = RankGroup::Start(config);
  if (group.ok()) return group;
  return Annotate(group.status(), Ranks(shape));
}

absl::StatusOr<std::vector<RankDone>> PsBenchRun::Turn(const PsContender& contender,
                                                       const PsShape& shape, int64_t bytes,
                                                       int warmup, int iterations,
                                                       RankGroup* group) const {
  RankRequest request;
  request.mutable_run()->set_contender(contender.name);
  request.mutable_run()->set_elements(bytes / int64_t{sizeof(float)});
  request.mutable_run()->set_warmup(warmup);
  request.mutable_run()->set_iterations(iterations);
  absl::StatusOr<std::vector<RankDone>> answers =
      group->Ask(request, config_.timeout + kMembersKnowMore);
  if (answers.ok()) return answers;
  return Annotate(answers.status(),
                  absl::StrCat(contender.name, ", ", Ranks(shape), ", ", SizeText(bytes)));
}

absl::StatusOr<TurnPlan> PsBenchRun::Calibrate(const PsShape& shape, int64_t bytes,
                                               RankGroup* group) const {
  TurnPlan wanted;
  wanted.rounds = config_.rounds;
  std::vector<double> seconds;
  const bool large = bytes >= kLargeBytes;
  for (const PsContender& contender : contenders_) {
    RINGSIDE_ASSIGN_OR_RETURN(
        const std::vector<RankDone> answers,
        Turn(contender, shape, bytes, large ? 1 : 2, large ? 1 : kCalibrationIterations, group));
    seconds.push_back(Summarize(TurnSamples(shape, answers)).median);
    wanted.iterations.push_back(config_.iterations > 0
                                    ? config_.iterations
                                    : IterationsFor(bytes, seconds.back(), config_.min_time));
  }
  return config_.iterations > 0 ? wanted : FitTurns(wanted, seconds, config_.max_time);
}

absl::StatusOr<std::vector<PsMeasurement>> PsBenchRun::MeasureSize(const PsShape& shape,
                                                                   int64_t bytes,
                                                                   RankGroup* group) const {
  LogInfo(absl::StrCat(ToString(shape), " workers/shards, ", SizeText(bytes), ": ",
                       contenders_.size(), " contenders, ", config_.rounds, " rounds"));
  RINGSIDE_ASSIGN_OR_RETURN(const TurnPlan plan, Calibrate(shape, bytes, group));
  std::vector<std::vector<std::vector<RankDone>>> rounds(contenders_.size());
  for (int round = 0; round < plan.rounds; ++round) {
    for (size_t turn = 0; turn < contenders_.size(); ++turn) {
      const size_t i = round % 2 == 0 ? turn : contenders_.size() - 1 - turn;
      const int iterations = plan.iterations[i];
      RINGSIDE_ASSIGN_OR_RETURN(
          std::vector<RankDone> answers,
          Turn(contenders_[i], shape, bytes, WarmupIterations(iterations), iterations, group));
      rounds[i].push_back(std::move(answers));
    }
  }
  std::vector<PsMeasurement> measurements;
  for (size_t i = 0; i < contenders_.size(); ++i) {
    measurements.push_back(MeasurePs(contenders_[i], shape, bytes, rounds[i]));
  }
  AddPsCeilingShares(&measurements);
  return measurements;
}

absl::StatusOr<std::vector<PsShardMemory>> PsBenchRun::MeasureShardMemory() {
  std::vector<PsShardMemory> memory;
  for (const PsContender& contender : contenders_) {
    if (contender.kind != PsContender::Kind::kServer) continue;
    for (const PsShape& shape : config_.shapes) {
      RINGSIDE_ASSIGN_OR_RETURN(const std::unique_ptr<RankGroup> group, StartGroup(shape));
      RINGSIDE_ASSIGN_OR_RETURN(
          const std::vector<RankDone> answers,
          Turn(contender, shape, config_.max_bytes(), 1, kMemoryIterations, group.get()));
      for (PsShardMemory& each : ShardMemoryOf(contender, shape, config_.max_bytes(), answers)) {
        memory.push_back(std::move(each));
      }
    }
  }
  return memory;
}

}  // namespace ringside
