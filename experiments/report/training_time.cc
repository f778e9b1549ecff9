#include "experiments/report/training_time.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "experiments/report/bar_figure.h"
#include "experiments/report/cell_rows.h"
#include "experiments/report/csv_table.h"
#include "experiments/report/number_text.h"
#include "experiments/report/setting_text.h"
#include "experiments/report/statistics.h"

namespace ringside {
namespace {

constexpr char kStallColour[] = "#cf3f6c";

// What the runs of a cell took.
struct CellTimes {
  IntervalEstimate train_s;
  double stall_s = 0;  // median
  double write_s = 0;  // mean of one checkpoint, in the background
  int64_t written = 0;
  int64_t bytes = 0;
};

CellTimes TimesOf(const std::vector<const RunResult*>& runs) {
  Trials train_s;
  std::vector<double> stall_s;
  CellTimes times;
  for (const RunResult* run : runs) {
    const double seconds = TrainingSeconds(*run);
    if (seconds <= 0) continue;
    train_s.push_back({seconds});
    stall_s.push_back(SavingStallSeconds(*run));
    for (const WorkerResult& worker : run->worker_results()) {
      times.written += worker.checkpoints().written();
      times.write_s += worker.checkpoints().write_s();
      times.bytes = std::max(times.bytes, worker.checkpoints().bytes());
    }
  }
  if (times.written > 0) times.write_s /= static_cast<double>(times.written);
  times.train_s = MedianInterval(train_s);
  times.stall_s = Median(stall_s);
  return times;
}

bool AnyCheckpoints(const ComparisonResult& comparison) {
  for (const RunResult& run : comparison.runs()) {
    for (const WorkerResult& worker : run.worker_results()) {
      if (worker.checkpoints().written() > 0) return true;
    }
  }
  return false;
}

Field IntervalField(const IntervalEstimate& seconds, size_t trials) {
  Field field = {Seconds(seconds.median)};
  if (trials > 1) field.note = absl::StrCat(Seconds(seconds.low), " to ", Seconds(seconds.high));
  return field;
}

void AddCheckpoints(const CellTimes& times, std::vector<Field>* row) {
  if (times.written == 0) {
    row->insert(row->end(), 3, NoValue());
    return;
  }
  row->push_back({Seconds(times.stall_s), Field::Kind::kText,
                  Percent(times.stall_s / times.train_s.median, 1)});
  row->push_back({WholeNumber(times.written), Field::Kind::kText,
                  absl::StrCat(Bytes(static_cast<double>(times.bytes)), " each")});
  row->push_back({Seconds(times.write_s)});
}

// "10 steps of a global batch of 128", all that the runs have in common.
std::string WorkText(const ComparisonResult& comparison) {
  std::set<int64_t> steps;
  std::set<int64_t> batches;
  for (const RunResult& run : comparison.runs()) {
    steps.insert(run.total_steps());
    batches.insert(run.global_batch_size());
  }
  if (steps.size() != 1) return "";
  std::string text = Counted(*steps.begin(), "step");
  if (batches.size() == 1)
    absl::StrAppend(&text, " of ", WholeNumber(*batches.begin()), " samples each");
  return text;
}

}  // namespace

double TrainingSeconds(const RunResult& run) {
  double longest = 0;
  for (const WorkerResult& worker : run.worker_results())
    longest = std::max(longest, worker.train_s());
  return longest;
}

double SavingStallSeconds(const RunResult& run) {
  double stall = 0;
  for (const WorkerResult& worker : run.worker_results())
    stall = std::max(stall, worker.checkpoints().copy_s() + worker.checkpoints().wait_s());
  return stall;
}

Table TrainingTimeTable(const ComparisonResult& comparison) {
  const CellRows rows(comparison);
  const bool checkpoints = AnyCheckpoints(comparison);
  Table table;
  table.columns = rows.Columns();
  table.columns.push_back({"Training time", true});
  table.columns.push_back({"Speed-up", true});
  if (checkpoints) {
    for (const char* title :
         {"of it, standing still to save", "Checkpoints", "Written behind, each"})
      table.columns.push_back({title, true});
  }
  std::map<std::pair<std::string, std::string>, double> baselines;  // by series and point
  for (const Cell& cell : rows.cells()) {
    const std::vector<const RunResult*> runs = rows.RunsOf(cell);
    const CellTimes times = TimesOf(runs);
    if (times.train_s.median <= 0) continue;
    const double baseline =
        baselines
            .emplace(std::make_pair(rows.names().Of(cell), PointText(cell.point())),
                     times.train_s.median)
            .first->second;
    std::vector<Field> row = rows.Fields(cell);
    row.push_back(IntervalField(times.train_s, runs.size()));
    row.push_back({absl::StrCat("×", FixedNumber(baseline / times.train_s.median, 2))});
    if (checkpoints) AddCheckpoints(times, &row);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Figure TrainingTimeFigure(const ComparisonResult& comparison) {
  const CellRows rows(comparison);
  CsvTable csv({"series", "workers", "point", "train_s_low", "train_s_median", "train_s_high",
                "saving_stall_s", "checkpoints"});
  std::vector<Bar> bars;
  for (const Cell& cell : rows.cells()) {
    const CellTimes times = TimesOf(rows.RunsOf(cell));
    const double train_s = times.train_s.median;
    if (train_s <= 0) continue;
    const std::string series = rows.names().Of(cell);
    const std::string point = PointText(cell.point());
    csv.AddRow({series, absl::StrCat(cell.workers()), point, ExactNumber(times.train_s.low),
                ExactNumber(train_s), ExactNumber(times.train_s.high), ExactNumber(times.stall_s),
                absl::StrCat(times.written)});
    bars.push_back(
        {absl::StrCat(Counted(cell.workers(), "worker"), point.empty() ? "" : ", ", point),
         series,
         {{rows.names().Colour(series), 0, train_s - times.stall_s, false},
          {kStallColour, train_s - times.stall_s, train_s, false}}});
  }
  std::vector<LegendEntry> legend;
  for (const std::string& series : rows.names().all())
    legend.push_back({series, rows.names().Colour(series)});
  if (AnyCheckpoints(comparison)) legend.push_back({"standing still to save", kStallColour});
  const std::string work = WorkText(comparison);
  Figure figure;
  figure.name = "training_time";
  figure.title = "Total training time";
  figure.caption = absl::StrCat(
      "From the start of the first step to the end of the last, saving of checkpoints included",
      work.empty() ? "" : absl::StrCat(": ", work), ". Median of the trials. Shorter is better.");
  figure.csv = csv.Text();
  DrawBars(bars, legend, "seconds", &figure);
  return figure;
}

}  // namespace ringside
