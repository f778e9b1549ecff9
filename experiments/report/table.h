// A table of a report, built once and rendered as HTML and as Markdown.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_TABLE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_TABLE_H_

#include <string>
#include <vector>

namespace ringside {

// Plain text of one field; renderers escape it.
struct Field {
  enum class Kind { kText, kCode, kSeries, kPass, kFail };

  std::string text;
  Kind kind = Kind::kText;
  std::string note = "";    // smaller, behind the text
  std::string colour = "";  // of a series: "#rrggbb"
};

struct Column {
  std::string title;
  bool numeric = false;  // right-aligned
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Field>> rows;  // each as long as `columns`

  bool empty() const { return rows.empty(); }
};

// For numbers that do not exist, such as the spread of a single trial.
inline Field NoValue() { return {"–"}; }

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_TABLE_H_
