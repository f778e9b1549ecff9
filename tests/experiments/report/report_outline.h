// The structure of a report, for tests that must not depend on its looks or numbers.
#ifndef RINGSIDE_TESTS_EXPERIMENTS_REPORT_REPORT_OUTLINE_H_
#define RINGSIDE_TESTS_EXPERIMENTS_REPORT_REPORT_OUTLINE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ringside {

// Of report.html: a line each for headline, sections, titles, tables (columns and number of rows),
// figures and lists (number of entries), in their order.
std::string OutlineOfHtml(absl::string_view html);

// Of summary.md: titles, tables and numbers of list entries.
std::string OutlineOfMarkdown(absl::string_view markdown);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_REPORT_REPORT_OUTLINE_H_
