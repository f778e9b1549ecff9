#include "experiments/report/markdown_summary.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "experiments/report/headline.h"
#include "experiments/report/process_tables.h"
#include "experiments/report/result_tables.h"
#include "experiments/report/shard_tables.h"

namespace ringside {
namespace {

std::string MarkdownField(const Field& field) {
  std::string text = EscapeMarkdown(field.text);
  if (field.kind == Field::Kind::kCode) {
    text = absl::StrCat(
        "`", absl::StrReplaceAll(field.text, {{"`", "'"}, {"|", "\\|"}, {"\n", " "}}), "`");
  }
  if (field.kind == Field::Kind::kFail) text = absl::StrCat("**", text, "**");
  if (!field.note.empty()) absl::StrAppend(&text, " (", EscapeMarkdown(field.note), ")");
  return text;
}

std::string Part(const std::string& title, const Table& table) {
  return table.empty() ? "" : absl::StrCat("\n## ", title, "\n\n", MarkdownTable(table));
}

}  // namespace

std::string EscapeMarkdown(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"},
                                    {"`", "\\`"},
                                    {"*", "\\*"},
                                    {"_", "\\_"},
                                    {"|", "\\|"},
                                    {"[", "\\["},
                                    {"]", "\\]"},
                                    {"<", "&lt;"},
                                    {">", "&gt;"},
                                    {"&", "&amp;"},
                                    {"\n", " "},
                                    {"\r", " "}});
}

std::string MarkdownTable(const Table& table) {
  std::vector<std::string> titles;
  std::vector<std::string> rules;
  for (const Column& column : table.columns) {
    titles.push_back(EscapeMarkdown(column.title));
    rules.push_back(column.numeric ? "---:" : "---");
  }
  std::string text = absl::StrCat("| ", absl::StrJoin(titles, " | "), " |\n| ",
                                  absl::StrJoin(rules, " | "), " |\n");
  for (const std::vector<Field>& row : table.rows) {
    std::vector<std::string> fields;
    for (const Field& field : row) fields.push_back(MarkdownField(field));
    absl::StrAppend(&text, "| ", absl::StrJoin(fields, " | "), " |\n");
  }
  return text;
}

std::string MarkdownSummary(const ComparisonResult& comparison) {
  std::vector<std::string> facts;
  for (const std::string& fact : HeadlineFacts(comparison)) facts.push_back(EscapeMarkdown(fact));
  std::string text = absl::StrCat("# ", EscapeMarkdown(Headline(comparison)), "\n\n",
                                  absl::StrJoin(facts, " · "), "\n\n");
  for (const std::string& line : comparison.verdict())
    absl::StrAppend(&text, "- **", EscapeMarkdown(line), "**\n");
  absl::StrAppend(&text, Part("May these runs be compared?", GateTable(comparison)));
  if (!comparison.warnings().empty()) absl::StrAppend(&text, "\n");
  for (const std::string& warning : comparison.warnings())
    absl::StrAppend(&text, "- ⚠ ", EscapeMarkdown(warning), "\n");
  absl::StrAppend(&text, Part("Same bits", EquivalenceTable(comparison)),
                  Part("Speed and scaling", CellTable(comparison)),
                  Part("Where a step goes", BreakdownTable(comparison)),
                  Part("Learning", EvaluationTable(comparison)),
                  Part("On the wire", WireTable(comparison)));
  absl::StrAppend(&text, Part("Processor and memory", ProcessTable(comparison)),
                  Part("Inside the shards", ShardTable(comparison)),
                  Part("Staleness", StalenessTable(comparison)),
                  Part("Provenance", ProvenanceTable(comparison)));
  const std::string command = CommandLineText(comparison);
  if (!command.empty()) absl::StrAppend(&text, "\n## Run it again\n\n```sh\n", command, "\n```\n");
  absl::StrAppend(&text, "\nEvery number is defined in docs/metrics.md.\n");
  return text;
}

}  // namespace ringside
