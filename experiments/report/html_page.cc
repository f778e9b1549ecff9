#include "experiments/report/html_page.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "experiments/report/headline.h"
#include "experiments/report/html_style.h"
#include "experiments/report/html_table.h"
#include "experiments/report/html_text.h"
#include "experiments/report/html_verdict.h"
#include "experiments/report/process_tables.h"
#include "experiments/report/result_tables.h"
#include "experiments/report/shard_tables.h"
#include "experiments/report/step_parts.h"

namespace ringside {
namespace {

// `html` is markup already. Nothing where it is empty.
std::string Section(const std::string& id, const std::string& title, const std::string& lead,
                    const std::string& html) {
  if (html.empty()) return "";
  return absl::StrCat("<section id=\"", id, "\">\n<h2>", title, "</h2>\n",
                      lead.empty() ? "" : absl::StrCat("<p class=\"lead\">", lead, "</p>\n"), html,
                      "</section>\n");
}

std::string FigureHtml(const DrawnFigure& drawn) {
  return absl::StrCat("<figure>\n<h3>", EscapeHtml(drawn.figure.title), "</h3>\n", drawn.svg,
                      "<figcaption>", EscapeHtml(drawn.figure.caption),
                      "</figcaption>\n</figure>\n");
}

// The figures with these names and whatever is to stand beside them, in columns; empty where there
// is neither.
std::string FiguresHtml(const std::vector<DrawnFigure>& figures,
                        const std::vector<std::string>& names, const std::string& beside = "") {
  std::string html;
  for (const std::string& name : names) {
    for (const DrawnFigure& drawn : figures) {
      if (drawn.figure.name == name) absl::StrAppend(&html, FigureHtml(drawn));
    }
  }
  absl::StrAppend(&html, beside);
  return html.empty() ? "" : absl::StrCat("<div class=\"figures\">\n", html, "</div>\n");
}

// What the parts of a step are, and what goes on behind them, in their colours.
std::string PartsHtml() {
  std::string html = "<dl class=\"parts\">\n";
  std::vector<StepPart> entries = StepParts();
  entries.push_back(HiddenCommunication());
  for (const StepPart& part : entries) {
    absl::StrAppend(&html, "<dt><i style=\"background:", part.colour, "\"></i>",
                    EscapeHtml(part.label), "</dt><dd>", EscapeHtml(part.meaning), "</dd>\n");
  }
  return absl::StrCat(html, "</dl>\n");
}

std::string TableHtml(const Table& table, const std::string& label) {
  return table.empty() ? "" : HtmlTable(table, label);
}

// Tables of long words break them instead of scrolling.
std::string WrappedTableHtml(const Table& table, const std::string& label) {
  return table.empty()
             ? ""
             : absl::StrCat("<div class=\"wrap\">\n", HtmlTable(table, label), "</div>\n");
}

std::string Header(const ComparisonResult& comparison) {
  std::string facts;
  for (const std::string& fact : HeadlineFacts(comparison)) {
    absl::StrAppend(&facts, "<span>", EscapeHtml(fact), "</span>");
  }
  return absl::StrCat("<header>\n<p class=\"kicker\">Ringside</p>\n<h1>",
                      EscapeHtml(Headline(comparison)), "</h1>\n", "<p class=\"facts\">", facts,
                      "</p>\n</header>\n");
}

std::string Footer() {
  return "<footer><p>Beside this page: <code>results.json</code> (every step of every rank), "
         "<code>results.csv</code>, "
         "<code>summary.md</code>, and each figure with its numbers in <code>figures/</code>. "
         "<code>docs/metrics.md</code> defines every number: unit, formula, and what it leaves "
         "out.</p></footer>\n";
}

// What the processes of each role sent, used and, of shards, measured.
std::string ProcessSections(const ComparisonResult& comparison) {
  std::string html;
  absl::StrAppend(
      &html,
      Section("wire", "On the wire",
              "Payload of one process and step, counted where it is written and read. The formula "
              "follows from the plan of buckets, never from what was counted.",
              TableHtml(WireTable(comparison), "Traffic by role")));
  absl::StrAppend(
      &html, Section("processes", "Processor and memory",
                     "Mean over processes; memory is the largest of them.",
                     TableHtml(ProcessTable(comparison), "Processor time and memory by role")));
  absl::StrAppend(
      &html,
      Section("shards", "Inside the shards",
              "Where the time of one shard goes. Frames wait for their turn, are folded, and each "
              "unit that is complete is sent to whom it is due.",
              TableHtml(ShardTable(comparison), "Times, updates and balance of the shards")));
  absl::StrAppend(
      &html, Section("staleness", "Staleness",
                     "By how many updates of others a unit had moved since its worker was sent it.",
                     TableHtml(StalenessTable(comparison), "Staleness of what was pushed")));
  return html;
}

std::string Body(const ComparisonResult& comparison, const std::vector<DrawnFigure>& figures) {
  std::string body = Header(comparison);
  absl::StrAppend(&body, "<section id=\"verdict\" aria-label=\"Verdict\">\n",
                  HtmlVerdict(comparison), "</section>\n");
  absl::StrAppend(&body,
                  Section("gates",
                          comparison.runs_size() == 1 ? "Can this run be trusted?"
                                                      : "May these runs be compared?",
                          "", absl::StrCat(HtmlGates(comparison), HtmlWarnings(comparison))));
  absl::StrAppend(
      &body,
      Section(
          "equivalence", "Same bits",
          "Every run hashes its final parameters. One hash for a number of workers means that only "
          "the way gradients meet has differed.",
          TableHtml(EquivalenceTable(comparison), "Hashes of the final parameters")));
  const Table evaluation = EvaluationTable(comparison);
  absl::StrAppend(&body, Section("learning", "Learning", "",
                                 FiguresHtml(figures, {"loss"},
                                             TableHtml(evaluation, "Accuracy on the test set"))));
  absl::StrAppend(&body,
                  Section("speed", "Speed and scaling",
                          "A step takes as long as its slowest rank. Intervals hold the median "
                          "with 95 % confidence, "
                          "by resampling trials, then steps within them.",
                          absl::StrCat(FiguresHtml(figures, {"throughput", "efficiency"}),
                                       TableHtml(CellTable(comparison), "Speed and scaling"))));
  const Table breakdown = BreakdownTable(comparison);
  if (!breakdown.empty()) {
    absl::StrAppend(&body, Section("step", "Where a step goes", "",
                                   absl::StrCat(FiguresHtml(figures, {"breakdown"}, PartsHtml()),
                                                TableHtml(breakdown, "Parts of the mean step"))));
  }
  absl::StrAppend(&body, ProcessSections(comparison));
  absl::StrAppend(&body,
                  Section("provenance", "Provenance", "",
                          WrappedTableHtml(ProvenanceTable(comparison), "Machine and versions")));
  const std::string command = CommandLineText(comparison);
  if (!command.empty()) {
    absl::StrAppend(&body,
                    Section("command", "Run it again", "",
                            absl::StrCat("<pre><code>", EscapeHtml(command), "</code></pre>\n")));
  }
  absl::StrAppend(&body,
                  Section("settings", "Settings",
                          "Every setting, defaults included; values that differ between runs are "
                          "listed.",
                          WrappedTableHtml(SettingsTable(comparison), "Settings")));
  return body;
}

}  // namespace

std::string HtmlPage(const ComparisonResult& comparison, const std::vector<DrawnFigure>& figures) {
  // The policy makes browsers refuse anything from elsewhere, so that "self-contained" is enforced
  // and not just intended.
  return absl::StrCat("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "style-src 'unsafe-inline'\">\n",
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
                      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
                      EscapeHtml(Headline(comparison)), " – Ringside</title>\n<style>", kHtmlStyle,
                      "</style>\n</head>\n<body>\n<main>\n", Body(comparison, figures), Footer(),
                      "</main>\n</body>\n</html>\n");
}

}  // namespace ringside
