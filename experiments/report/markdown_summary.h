// summary.md: the report as Markdown, for pull requests.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_MARKDOWN_SUMMARY_H_
#define RINGSIDE_EXPERIMENTS_REPORT_MARKDOWN_SUMMARY_H_

#include <string>

#include "absl/strings/string_view.h"
#include "experiments/report/table.h"
#include "results.pb.h"

namespace ringside {

// Pure. Verdict, gates, warnings, tables, provenance, the command.
std::string MarkdownSummary(const ComparisonResult& comparison);

std::string MarkdownTable(const Table& table);
// Safe in running text and in tables, also against HTML.
std::string EscapeMarkdown(absl::string_view text);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_MARKDOWN_SUMMARY_H_
