// The first columns of the tables that have a row, or several, for each cell. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_CELL_ROWS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CELL_ROWS_H_

#include <string>
#include <vector>

#include "experiments/report/series.h"
#include "experiments/report/table.h"
#include "results.pb.h"

namespace ringside {

// Number of workers, series, and what a sweep varies besides: one column for each such setting.
class CellRows {
 public:
  // `shown`: settings that the table has columns of its own for.
  explicit CellRows(const ComparisonResult& comparison, const std::vector<std::string>& shown = {});

  std::vector<Column> Columns() const;
  std::vector<Field> Fields(const Cell& cell) const;
  // For sentences and headings: "ring with 4 workers, network 100 Mbit/s".
  std::string NameOf(const Cell& cell) const;

  const std::vector<Cell>& cells() const { return cells_; }
  // Of a cell, by trial.
  std::vector<const RunResult*> RunsOf(const Cell& cell) const;
  const SeriesNames& names() const { return names_; }

 private:
  const std::vector<Cell> cells_;
  const std::vector<RunResult> runs_;
  const SeriesNames names_;
  std::vector<std::string> varied_;  // that get a column
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CELL_ROWS_H_
