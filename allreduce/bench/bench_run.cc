#include "allreduce/bench/bench_run.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "allreduce/bench/measurement.h"
#include "allreduce/bench/sample_statistics.h"
#include "common/logging.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

constexpr int kCalibrationIterations = 3;
// By so much a rank's own deadline comes first, because it knows more.
constexpr absl::Duration kRanksKnowMore = absl::Seconds(5);

absl::Status Annotate(const absl::Status& status, const std::string& where) {
  return absl::Status(status.code(), absl::StrCat(where, ": ", status.message()));
}

double MedianSeconds(const std::vector<RankDone>& answers) {
  std::vector<std::vector<double>> by_rank;
  for (const RankDone& answer : answers) {
    by_rank.emplace_back(answer.durations_s().begin(), answer.durations_s().end());
  }
  return Summarize(MeanOverRanks(by_rank)).median;
}

}  // namespace

absl::StatusOr<std::vector<AllReduceMeasurement>> BenchRun::Run(const Progress& progress) {
  std::vector<AllReduceMeasurement> all;
  for (const int world_size : config_.world_sizes) {
    Groups groups;
    RINGSIDE_ASSIGN_OR_RETURN(const std::vector<Entry> entries, PrepareAll(world_size, &groups));
    for (const int64_t bytes : config_.sizes_bytes) {
      RINGSIDE_ASSIGN_OR_RETURN(const std::vector<AllReduceMeasurement> measurements,
                                MeasureSize(entries, world_size, bytes));
      progress(measurements);
      all.insert(all.end(), measurements.begin(), measurements.end());
    }
  }
  return all;
}

absl::StatusOr<RankGroup*> BenchRun::GroupOf(const Contender& contender, int world_size,
                                             Groups* groups) {
  std::unique_ptr<RankGroup>& group = (*groups)[contender.group];
  if (group != nullptr) return group.get();
  RankGroup::Config config;
  config.kind = FindGroup(contender.group);
  config.world_size = world_size;
  config.binary = surroundings_.binary;
  config.environment = surroundings_.environment;
  config.as_root = surroundings_.as_root;
  config.setup.set_world_size(world_size);
  config.setup.set_max_elements(config_.max_elements());
  config.setup.set_wire_dtype(config_.wire_dtype);
  config.setup.set_segment_bytes(config_.segment_bytes);
  config.setup.set_congestion_control(config_.congestion_control);
  config.setup.set_timeout_s(absl::ToDoubleSeconds(config_.timeout));
  absl::StatusOr<std::unique_ptr<RankGroup>> started = RankGroup::Start(config);
  if (!started.ok()) {
    return Annotate(started.status(),
                    absl::StrCat("group ", contender.group, ", ", world_size, " ranks"));
  }
  group = *std::move(started);
  return group.get();
}

absl::StatusOr<std::vector<BenchRun::Entry>> BenchRun::PrepareAll(int world_size, Groups* groups) {
  std::vector<Entry> entries;
  for (const Contender& contender : contenders_) {
    if (contender.even_ranks_only && world_size % 2 != 0) {
      notes_.push_back(absl::StrCat(contender.name, " is left out with ", world_size,
                                    " ranks: it needs an even number"));
      continue;
    }
    RINGSIDE_ASSIGN_OR_RETURN(RankGroup * group, GroupOf(contender, world_size, groups));
    RankRequest request;
    request.mutable_prepare()->set_contender(contender.name);
    const absl::StatusOr<std::vector<RankDone>> answers =
        group->Ask(request, config_.timeout + kRanksKnowMore);
    if (!answers.ok()) {
      return Annotate(answers.status(), absl::StrCat(contender.name, ", ", world_size, " ranks"));
    }
    const auto& facts = answers->front().facts();
    entries.push_back({&contender, group, {facts.begin(), facts.end()}});
  }
  return entries;
}

bool BenchRun::InPlace(const Contender& contender) const {
  return contender.in_place || (config_.in_place && !contender.is_ceiling());
}

absl::StatusOr<std::vector<RankDone>> BenchRun::Turn(const Entry& entry, int world_size,
                                                     int64_t bytes, int warmup, int iterations) {
  RankRequest request;
  RankRun& run = *request.mutable_run();
  run.set_contender(entry.contender->name);
  run.set_elements(bytes / int64_t{sizeof(float)});
  run.set_warmup(warmup);
  run.set_iterations(iterations);
  run.set_in_place(InPlace(*entry.contender));
  absl::StatusOr<std::vector<RankDone>> answers =
      entry.group->Ask(request, config_.timeout + kRanksKnowMore);
  if (answers.ok()) return answers;
  return Annotate(answers.status(), absl::StrCat(entry.contender->name, ", ", world_size,
                                                 " ranks, ", SizeText(bytes)));
}

absl::StatusOr<std::vector<AllReduceMeasurement>> BenchRun::MeasureSize(
    const std::vector<Entry>& entries, int world_size, int64_t bytes) {
  LogInfo(absl::StrCat(world_size, " ranks, ", SizeText(bytes), ": ", entries.size(),
                       " contenders, ", config_.rounds, " rounds"));
  std::vector<int> iterations;
  for (const Entry& entry : entries) {
    RINGSIDE_ASSIGN_OR_RETURN(const std::vector<RankDone> answers,
                              Turn(entry, world_size, bytes, 2, kCalibrationIterations));
    iterations.push_back(IterationsFor(bytes, MedianSeconds(answers), config_.min_time));
  }
  std::vector<std::vector<std::vector<RankDone>>> rounds(entries.size());
  for (int round = 0; round < config_.rounds; ++round) {
    for (size_t turn = 0; turn < entries.size(); ++turn) {
      const size_t i = round % 2 == 0 ? turn : entries.size() - 1 - turn;
      // Long enough for the kernel to spread ranks that it has woken on one core.
      const int warmup = std::max(1, iterations[i] * 2 / 5);
      RINGSIDE_ASSIGN_OR_RETURN(std::vector<RankDone> answers,
                                Turn(entries[i], world_size, bytes, warmup, iterations[i]));
      rounds[i].push_back(std::move(answers));
    }
  }
  std::vector<AllReduceMeasurement> measurements;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Contender& contender = *entries[i].contender;
    const bool ours = contender.kind == Contender::Kind::kOwn;
    measurements.push_back(Measure(contender, world_size, bytes, ours ? config_.wire_dtype : "fp32",
                                   InPlace(contender), rounds[i]));
    measurements.back().mutable_facts()->insert(entries[i].facts.begin(), entries[i].facts.end());
  }
  AddCeilingShares(&measurements);
  return measurements;
}

}  // namespace ringside
