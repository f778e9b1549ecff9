#include "experiments/sweep/sweep_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "experiments/experiment_config.h"
#include "experiments/launch_limit.h"
#include "experiments/report/point.h"
#include "experiments/sweep/hold_outs.h"
#include "experiments/sweep/spec_settings.h"
#include "experiments/trial_order.h"

namespace ringside {
namespace {

// What a report tells series by. Two contenders with one key would be thrown together.
std::string SeriesKey(const JobConfig& job) {
  if (job.uses_servers()) {
    const std::map<std::string, std::string> settings = job.SharedSettings();
    const auto placement = settings.find("placement");
    return absl::StrCat(StrategyName(job.ps_policy()), ", ", job.shards(),
                        " shards, --ps_link=", job.ps_link, placement == settings.end() ? "" : ", ",
                        placement == settings.end() ? "" : placement->second);
  }
  if (job.strategy == "ring") return absl::StrCat("ring, --schedule=", job.schedule);
  return job.strategy;
}

// The flag that a message of JobConfig::Validate is about: "--name=value: ...". Empty: none.
std::string FlagOf(absl::string_view message) {
  if (!absl::ConsumePrefix(&message, "--")) return "";
  size_t length = 0;
  while (length < message.size() &&
         (absl::ascii_isalnum(static_cast<unsigned char>(message[length])) ||
          message[length] == '_')) {
    ++length;
  }
  return std::string(message.substr(0, length));
}

class Planner {
 public:
  Planner(const SpecSource& source, SpecSettings settings, std::string out,
          const std::vector<JobSetting>& overrides)
      : source_(source), settings_(std::move(settings)), out_(std::move(out)) {
    for (const JobSetting& setting : overrides)
      overrides_.push_back({setting.first, setting.second, ""});
    experiment_.worker_counts = settings_.workers;
    experiment_.scaling = source.spec.scaling() == SweepSpec::WEAK ? "weak" : "strong";
    experiment_.global_batch = source.spec.global_batch();
  }

  absl::StatusOr<SweepPlan> Plan() {
    plan_.question = source_.spec.question();
    if (source_.spec.job_time_limit_s() > 0)
      plan_.job_time_limit = absl::Seconds(source_.spec.job_time_limit_s());
    for (const SweepDimension& dimension : settings_.dimensions) {
      if (dimension.values.size() > 1) {
        RINGSIDE_RETURN_IF_ERROR(CheckHeeded(dimension));
        plan_.varied.push_back(dimension.setting);
      }
      combinations_ *= static_cast<int>(dimension.values.size());
    }
    for (int i = 0; i < combinations_; ++i) RINGSIDE_RETURN_IF_ERROR(PlanCombination(i));
    RINGSIDE_RETURN_IF_ERROR(NamePoints());
    plan_.has_forecast = source_.spec.has_forecast();
    RINGSIDE_ASSIGN_OR_RETURN(plan_.forecast, ResolveHoldOuts(source_, settings_, recorded_));
    return std::move(plan_);
  }

 private:
  // Which value of each dimension combination number `index` has: the last changes fastest.
  std::vector<size_t> PlacesOf(int index) const {
    std::vector<size_t> places(settings_.dimensions.size());
    for (size_t i = places.size(); i-- > 0;) {
      const int size = static_cast<int>(settings_.dimensions[i].values.size());
      places[i] = static_cast<size_t>(index % size);
      index /= size;
    }
    return places;
  }

  bool Heeds(const SweepContender& contender, size_t dimension) const {
    return settings_.dimensions[dimension].values.size() == 1 ||
           ringside::Heeds(contender.strategy, settings_.dimensions[dimension].setting);
  }

  absl::Status CheckHeeded(const SweepDimension& dimension) const {
    for (const SweepContender& contender : settings_.contenders) {
      if (ringside::Heeds(contender.strategy, dimension.setting)) return absl::OkStatus();
    }
    return source_.Error(dimension.path, absl::StrCat("no strategy of this sweep takes notice of ",
                                                      dimension.setting));
  }

  // Whether the contender runs there: once for all values of what it takes no notice of.
  bool RunsAt(const SweepContender& contender, int index) const {
    const std::vector<size_t> places = PlacesOf(index);
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] > 0 && !Heeds(contender, i)) return false;
    }
    return true;
  }

  // Where one that runs at `index` stands beside the others.
  std::vector<int> StandsAt(const SweepContender& contender, int index) const {
    const std::vector<size_t> own = PlacesOf(index);
    std::vector<int> points;
    for (int other = index; other < combinations_; ++other) {
      const std::vector<size_t> places = PlacesOf(other);
      bool same = true;
      for (size_t i = 0; i < own.size(); ++i)
        same = same && (places[i] == own[i] || !Heeds(contender, i));
      if (same) points.push_back(other);
    }
    return points;
  }

  absl::Status PlanCombination(int index) {
    // Of one trial; the others differ in their number alone.
    std::map<std::pair<std::string, int>, SweepJob> prototypes;
    std::vector<std::string> labels;
    std::map<std::string, std::string> point;
    for (const SweepContender& contender : settings_.contenders) {
      if (!RunsAt(contender, index)) continue;
      labels.push_back(contender.label);
      for (int workers : settings_.workers) {
        RINGSIDE_ASSIGN_OR_RETURN(SweepJob job, MakeJob(contender, workers, index));
        RINGSIDE_RETURN_IF_ERROR(CheckPoint(contender, index, &job, &point));
        RINGSIDE_RETURN_IF_ERROR(CheckDistinct(contender, job.job));
        job.points = StandsAt(contender, index);
        prototypes[{contender.label, workers}] = std::move(job);
      }
    }
    for (const PlannedJob& planned : MakeTrialOrder(labels, settings_.workers, settings_.trials)) {
      const SweepContender& contender = ContenderOf(planned.strategy);
      if (planned.trial > contender.trials) continue;
      SweepJob job = prototypes.at({planned.strategy, planned.workers});
      Name(planned, contender, &job);
      plan_.jobs.push_back(std::move(job));
    }
    return absl::OkStatus();
  }

  const SweepContender& ContenderOf(const std::string& label) const {
    return *std::find_if(settings_.contenders.begin(), settings_.contenders.end(),
                         [&](const SweepContender& contender) { return contender.label == label; });
  }

  absl::StatusOr<SweepJob> MakeJob(const SweepContender& contender, int workers, int index) const {
    std::vector<SpecSetting> values;
    const std::vector<size_t> places = PlacesOf(index);
    for (size_t i = 0; i < places.size(); ++i)
      values.push_back(settings_.dimensions[i].values[places[i]]);
    std::vector<SpecSetting> all = settings_.shared;
    // The later of two settings of one flag counts.
    all.insert(all.end(), values.begin(), values.end());
    all.insert(all.end(), contender.settings.begin(), contender.settings.end());
    all.insert(all.end(), overrides_.begin(), overrides_.end());
    std::vector<JobSetting> flags = {{"strategy", contender.strategy}};
    for (const SpecSetting& setting : all) flags.push_back({setting.name, setting.value});
    SweepJob result;
    result.label = contender.label;
    RINGSIDE_ASSIGN_OR_RETURN(result.job, JobConfigFromSettings(flags, workers));
    // Before the batch is divided: a message about a derived batch would hide what is wrong.
    JobConfig undivided = result.job;
    undivided.out = out_;
    absl::Status valid = undivided.Validate();
    if (valid.ok()) {
      const absl::StatusOr<int> batch = experiment_.BatchSize(result.job.batch_size, workers);
      if (!batch.ok()) {
        return source_.Error(experiment_.global_batch > 0 ? "global_batch" : "workers[0]",
                             batch.status().message());
      }
      result.job.batch_size = *batch;
      valid = result.job.Validate();
    }
    if (valid.ok()) valid = RequireLaunchable(result.job);
    if (valid.ok()) return result;
    const std::string flag = FlagOf(valid.message());
    std::string path = contender.path;
    for (const SpecSetting& setting : all) {
      if (setting.name == flag) path = setting.path;
    }
    return source_.Error(
        path, absl::StrCat(contender.label, ", ", workers, workers == 1 ? " worker" : " workers",
                           ": ", valid.message()));
  }

  // All jobs of a point record the same values, or the report would not find them together.
  absl::Status CheckPoint(const SweepContender& contender, int index, SweepJob* job,
                          std::map<std::string, std::string>* point) {
    const std::map<std::string, std::string> settings = job->job.SharedSettings();
    const std::vector<size_t> places = PlacesOf(index);
    for (size_t i = 0; i < places.size(); ++i) {
      if (!Heeds(contender, i)) continue;
      const SpecSetting& value = settings_.dimensions[i].values[places[i]];
      const std::string& text = settings.at(value.name);
      job->point[value.name] = text;
      recorded_[{value.name, value.value}] = text;
      const std::string& before = point->emplace(value.name, text).first->second;
      if (before == text) continue;
      return source_.Error(value.path,
                           absl::StrCat(value.name, "=", value.value, " is \"", before,
                                        "\" with some jobs and \"", text, "\" with ", job->label,
                                        "; what varies must mean the same to all of them"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckDistinct(const SweepContender& contender, const JobConfig& job) {
    const auto [same, is_new] = series_.emplace(SeriesKey(job), contender.label);
    if (is_new || same->second == contender.label) return absl::OkStatus();
    return source_.Error(contender.path,
                         absl::StrCat("a report could not tell \"", contender.label, "\" from \"",
                                      same->second, "\": both are ", same->first));
  }

  absl::Status NamePoints() {
    for (const SweepDimension& dimension : settings_.dimensions) {
      std::map<std::string, std::string> told;  // by what is recorded
      for (const SpecSetting& value : dimension.values) {
        const auto [same, is_new] =
            told.emplace(recorded_.at({value.name, value.value}), value.value);
        if (is_new) continue;
        return source_.Error(value.path, absl::StrCat("\"", value.value, "\" is the same as \"",
                                                      same->second, "\"; each once"));
      }
    }
    for (int index = 0; index < combinations_; ++index) {
      const std::vector<size_t> places = PlacesOf(index);
      std::map<std::string, std::string> point;
      for (size_t i = 0; i < places.size(); ++i) {
        const SpecSetting& value = settings_.dimensions[i].values[places[i]];
        point[value.name] = recorded_.at({value.name, value.value});
      }
      plan_.points.push_back(std::move(point));
    }
    return absl::OkStatus();
  }

  void Name(const PlannedJob& planned, const SweepContender& contender, SweepJob* job) const {
    const auto same = std::count_if(
        settings_.contenders.begin(), settings_.contenders.end(),
        [&](const SweepContender& other) { return other.strategy == contender.strategy; });
    std::string folder = absl::StrCat(contender.strategy, "-w", planned.workers);
    if (same > 1) absl::StrAppend(&folder, "-s", &contender - settings_.contenders.data() + 1);
    if (combinations_ > 1) absl::StrAppendFormat(&folder, "-p%02d", job->points.front() + 1);
    absl::StrAppend(&folder, "-t", planned.trial);
    job->folder = folder;
    job->job.trial = planned.trial;
    job->job.out = absl::StrCat(out_, "/runs/", folder);
    const std::string point = SweepPointText(job->point);
    job->title = absl::StrCat(planned.strategy, ", ", planned.workers,
                              planned.workers == 1 ? " worker" : " workers",
                              point.empty() ? "" : ", ", point, ", trial ", planned.trial);
  }

  const SpecSource& source_;
  const SpecSettings settings_;
  const std::string out_;
  std::vector<SpecSetting> overrides_;
  ExperimentConfig experiment_;
  int combinations_ = 1;
  std::map<JobSetting, std::string> recorded_;  // varied setting and value as told -> as recorded
  std::map<std::string, std::string> series_;   // SeriesKey -> label of the contender
  SweepPlan plan_;
};

}  // namespace

absl::StatusOr<SweepPlan> PlanSweep(const SpecSource& source, const std::string& out,
                                    const std::vector<JobSetting>& overrides) {
  RINGSIDE_ASSIGN_OR_RETURN(SpecSettings settings, ReadSpecSettings(source));
  return Planner(source, std::move(settings), out, overrides).Plan();
}

absl::Status LeaveOutWhatCannotRun(const JobCheck& can_run,
                                   const std::function<bool(const SweepJob&)>& has_run,
                                   SweepPlan* plan) {
  using Place = std::pair<int, int>;  // index of the point, workers
  std::map<Place, std::string> reasons;
  for (const SweepJob& job : plan->jobs) {
    if (has_run(job)) continue;
    const absl::Status status = can_run(job.job);
    if (status.ok()) continue;
    for (int point : job.points)
      reasons.emplace(Place{point, job.job.workers}, std::string(status.message()));
  }
  if (reasons.empty()) return absl::OkStatus();
  std::vector<SweepJob> kept;
  for (SweepJob& job : plan->jobs) {
    const bool stands = std::any_of(job.points.begin(), job.points.end(), [&](int point) {
      return reasons.count(Place{point, job.job.workers}) == 0;
    });
    if (stands) kept.push_back(std::move(job));
  }
  if (kept.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("no job of this sweep can run here: ", reasons.begin()->second));
  }
  std::map<std::string, std::vector<std::string>> left_out;  // by reason
  for (const auto& [place, reason] : reasons) {
    const std::string text = SweepPointText(plan->points[static_cast<size_t>(place.first)]);
    const std::string workers =
        absl::StrCat(place.second, place.second == 1 ? " worker" : " workers");
    left_out[reason].push_back(text.empty() ? workers : absl::StrCat(text, " with ", workers));
  }
  for (const auto& [reason, places] : left_out) {
    plan->warnings.push_back(
        absl::StrCat("Left out: ", absl::StrJoin(places, "; "), ": ", reason, "."));
  }
  plan->jobs = std::move(kept);
  return absl::OkStatus();
}

std::string SweepPointText(const std::map<std::string, std::string>& point) {
  return absl::StrJoin(point, ", ", absl::PairFormatter("="));
}

}  // namespace ringside
