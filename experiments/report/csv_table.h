// Comma-separated values as in RFC 4180, with numbers that read back exactly.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_CSV_TABLE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CSV_TABLE_H_

#include <string>
#include <vector>

#include "results.pb.h"

namespace ringside {

class CsvTable {
 public:
  explicit CsvTable(const std::vector<std::string>& header) { AddRow(header); }

  // Fields with commas, quotes or line ends are quoted.
  void AddRow(const std::vector<std::string>& fields);
  const std::string& Text() const { return text_; }

 private:
  std::string text_;
};

// results.csv: one row per cell. Settings of a sweep that vary have columns at the end:
// "point_network".
std::string CellsCsv(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CSV_TABLE_H_
