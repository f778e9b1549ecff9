#include "experiments/report/csv_table.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "experiments/report/number_text.h"
#include "experiments/report/step_parts.h"

namespace ringside {

void CsvTable::AddRow(const std::vector<std::string>& fields) {
  std::vector<std::string> quoted;
  for (const std::string& field : fields) {
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
      quoted.push_back(field);
    } else {
      quoted.push_back(absl::StrCat("\"", absl::StrReplaceAll(field, {{"\"", "\"\""}}), "\""));
    }
  }
  absl::StrAppend(&text_, absl::StrJoin(quoted, ","), "\n");
}

std::string CellsCsv(const ComparisonResult& comparison) {
  using Row = std::vector<std::pair<std::string, std::string>>;
  std::set<std::string> settings;  // that vary
  for (const Cell& cell : comparison.cells()) {
    for (const auto& entry : cell.point()) settings.insert(entry.first);
  }
  const auto row_of = [&settings](const Cell& cell) {
    Row row = {
        {"strategy", cell.strategy()},
        {"workers", absl::StrCat(cell.workers())},
        {"shards", absl::StrCat(cell.shards())},
        {"transport", cell.transport()},
        {"batch_size", absl::StrCat(cell.batch_size())},
        {"global_batch_size", absl::StrCat(cell.global_batch_size())},
        {"trials", absl::StrCat(cell.trials())},
        {"counted_steps", absl::StrCat(cell.counted_steps())},
        {"samples_per_s", ExactNumber(cell.samples_per_s().median())},
        {"samples_per_s_low", ExactNumber(cell.samples_per_s().low())},
        {"samples_per_s_high", ExactNumber(cell.samples_per_s().high())},
        {"sustained_samples_per_s", ExactNumber(cell.sustained_samples_per_s())},
        {"step_s", ExactNumber(cell.step_s().median())},
        {"step_s_low", ExactNumber(cell.step_s().low())},
        {"step_s_high", ExactNumber(cell.step_s().high())},
        {"p90_step_s", ExactNumber(cell.p90_step_s())},
        {"p99_step_s", ExactNumber(cell.p99_step_s())},
        {"mad_step_s", ExactNumber(cell.mad_step_s())},
        {"cv", ExactNumber(cell.cv())},
        {"baseline_workers", absl::StrCat(cell.baseline_workers())},
        {"speed_up", ExactNumber(cell.speed_up())},
        {"efficiency", ExactNumber(cell.efficiency())},
        {"mean_step_s", ExactNumber(cell.mean_step().step_s())},
    };
    for (const StepPart& part : StepParts()) {
      row.emplace_back(absl::StrCat("mean_", part.column),
                       ExactNumber(part.seconds_of(cell.mean_step())));
    }
    row.emplace_back(absl::StrCat("mean_", HiddenCommunication().column),
                     ExactNumber(HiddenCommunication().seconds_of(cell.mean_step())));
    row.emplace_back("accuracy", ExactNumber(cell.accuracy()));
    row.emplace_back("parameters_sha256", absl::StrJoin(cell.hashes(), " "));
    row.emplace_back("baseline", cell.baseline());
    row.emplace_back("placement", cell.placement());
    row.emplace_back("threads", absl::StrCat(cell.busy_threads()));
    row.emplace_back("cores", absl::StrCat(cell.busy_cores()));
    for (const std::string& setting : settings) {
      const auto found = cell.point().find(setting);
      row.emplace_back(absl::StrCat("point_", setting),
                       found == cell.point().end() ? "" : found->second);
    }
    return row;
  };
  std::vector<std::string> header;
  for (const auto& entry : row_of(Cell())) header.push_back(entry.first);
  CsvTable table(header);
  for (const Cell& cell : comparison.cells()) {
    std::vector<std::string> fields;
    for (const auto& entry : row_of(cell)) fields.push_back(entry.second);
    table.AddRow(fields);
  }
  return table.Text();
}

}  // namespace ringside
