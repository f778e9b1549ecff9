// Tables as HTML.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_HTML_TABLE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_HTML_TABLE_H_

#include <string>

#include "experiments/report/table.h"

namespace ringside {

// In a box of its own, which scrolls sideways where the page is too narrow. A value that repeats
// the one above it in the first column is shown faintly.
std::string HtmlTable(const Table& table, const std::string& label);

// "<span class=...>" for one field.
std::string HtmlField(const Field& field);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_HTML_TABLE_H_
