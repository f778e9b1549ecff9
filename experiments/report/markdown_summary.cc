#include "experiments/report/markdown_summary.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "experiments/report/headline.h"
#include "experiments/report/plain_words.h"
#include "experiments/report/result_tables.h"
#include "experiments/report/sections.h"

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

std::string BlockMarkdown(const Block& block, const ComparisonResult& comparison) {
  switch (block.kind) {
    case Block::Kind::kTable:
    case Block::Kind::kWideText:
      return absl::StrCat(
          MarkdownTable(block.table),
          block.note.empty() ? "" : absl::StrCat("\n", EscapeMarkdown(block.note), "\n"));
    case Block::Kind::kGates:
      return MarkdownTable(GateTable(comparison));
    case Block::Kind::kSentences: {
      std::string text;
      for (const std::string& sentence : block.sentences)
        absl::StrAppend(&text, "- ", EscapeMarkdown(sentence), "\n");
      return text;
    }
    case Block::Kind::kCommand:
      return absl::StrCat("```sh\n", block.sentences.front(), "\n```\n");
    case Block::Kind::kFigures:
    case Block::Kind::kStepParts:
      break;  // for report.html
  }
  return "";
}

std::string SectionMarkdown(const Section& section, const ComparisonResult& comparison) {
  std::string text;
  for (const Block& block : section.blocks) {
    const std::string part = BlockMarkdown(block, comparison);
    if (!part.empty()) absl::StrAppend(&text, "\n", part);
  }
  return text.empty() ? "" : absl::StrCat("\n## ", EscapeMarkdown(section.title), "\n", text);
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
  for (const std::string& sentence : PlainVerdict(comparison))
    absl::StrAppend(&text, EscapeMarkdown(sentence), "\n\n");
  for (const std::string& line : comparison.verdict())
    absl::StrAppend(&text, "- **", EscapeMarkdown(line), "**\n");
  if (!comparison.warnings().empty()) absl::StrAppend(&text, "\n");
  for (const std::string& warning : comparison.warnings())
    absl::StrAppend(&text, "- ⚠ ", EscapeMarkdown(warning), "\n");
  for (const Section& section : Sections(comparison)) {
    // A page to read; who wants every setting has results.json.
    if (section.id != "settings") absl::StrAppend(&text, SectionMarkdown(section, comparison));
  }
  absl::StrAppend(&text, "\nEvery number is defined in docs/metrics.md.\n");
  return text;
}

}  // namespace ringside
