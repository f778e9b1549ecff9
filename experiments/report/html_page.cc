#include "experiments/report/html_page.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "experiments/report/headline.h"
#include "experiments/report/html_style.h"
#include "experiments/report/html_table.h"
#include "experiments/report/html_text.h"
#include "experiments/report/html_verdict.h"
#include "experiments/report/sections.h"
#include "experiments/report/step_parts.h"

namespace ringside {
namespace {

std::string FigureHtml(const DrawnFigure& drawn) {
  const std::string path = absl::StrCat("figures/", EscapeHtml(drawn.figure.name));
  return absl::StrCat("<figure>\n<h3>", EscapeHtml(drawn.figure.title), "</h3>\n", drawn.svg,
                      "<figcaption>", EscapeHtml(drawn.figure.caption),
                      " <span class=\"files\"><a href=\"", path, ".svg\">SVG</a> <a href=\"", path,
                      ".csv\">CSV</a></span></figcaption>\n</figure>\n");
}

bool Matches(const std::string& pattern, const std::string& name) {
  absl::string_view prefix = pattern;
  return absl::ConsumeSuffix(&prefix, "*") ? absl::StartsWith(name, prefix) : name == pattern;
}

// The figures that the block names, as far as they were drawn.
std::string FiguresHtml(const Block& block, const std::vector<DrawnFigure>& figures) {
  std::string html;
  for (const std::string& name : block.names) {
    for (const DrawnFigure& drawn : figures) {
      if (Matches(name, drawn.figure.name)) absl::StrAppend(&html, FigureHtml(drawn));
    }
  }
  return html;
}

// What the parts of a step are, and what goes on behind them, in their colours.
std::string PartsHtml(const ComparisonResult& comparison) {
  std::string html = "<dl class=\"parts\">\n";
  std::vector<StepPart> entries = StepParts();
  if (AnyWaitForSlowest(comparison)) entries.push_back(WaitForSlowest());
  entries.push_back(HiddenCommunication());
  for (const StepPart& part : entries) {
    absl::StrAppend(&html, "<dt><i style=\"background:", part.colour, "\"></i>",
                    EscapeHtml(part.label), "</dt><dd>", EscapeHtml(part.meaning), "</dd>\n");
  }
  return absl::StrCat(html, "</dl>\n");
}

std::string SentencesHtml(const Block& block) {
  std::string html = "<ul class=\"sentences\">\n";
  for (const std::string& sentence : block.sentences)
    absl::StrAppend(&html, "<li>", EscapeHtml(sentence), "</li>\n");
  return absl::StrCat(html, "</ul>\n");
}

std::string TableHtml(const Block& block) {
  const std::string table = HtmlTable(block.table, block.label);
  return absl::StrCat(block.kind == Block::Kind::kWideText
                          ? absl::StrCat("<div class=\"wrap\">\n", table, "</div>\n")
                          : table,
                      block.note.empty()
                          ? ""
                          : absl::StrCat("<p class=\"note\">", EscapeHtml(block.note), "</p>\n"));
}

std::string BlockHtml(const Block& block, const ComparisonResult& comparison) {
  switch (block.kind) {
    case Block::Kind::kTable:
    case Block::Kind::kWideText:
      return TableHtml(block);
    case Block::Kind::kSentences:
      return SentencesHtml(block);
    case Block::Kind::kGates:
      return HtmlGates(comparison);
    case Block::Kind::kCommand:
      return absl::StrCat("<pre><code>", EscapeHtml(block.sentences.front()), "</code></pre>\n");
    case Block::Kind::kFigures:
    case Block::Kind::kStepParts:
      break;  // SectionHtml puts them side by side
  }
  return "";
}

// Empty where nothing that the section names was drawn and it has nothing else.
std::string SectionHtml(const Section& section, const ComparisonResult& comparison,
                        const std::vector<DrawnFigure>& figures) {
  std::string html;
  std::string beside;  // figures and what stands among them
  const auto close_figures = [&] {
    if (!beside.empty()) absl::StrAppend(&html, "<div class=\"figures\">\n", beside, "</div>\n");
    beside.clear();
  };
  for (const Block& block : section.blocks) {
    if (block.kind == Block::Kind::kFigures) {
      absl::StrAppend(&beside, FiguresHtml(block, figures));
    } else if (block.kind == Block::Kind::kStepParts) {
      absl::StrAppend(&beside, PartsHtml(comparison));
    } else if (block.beside && !beside.empty()) {
      absl::StrAppend(&beside, "<div>\n", BlockHtml(block, comparison), "</div>\n");
    } else {
      close_figures();
      absl::StrAppend(&html, BlockHtml(block, comparison));
    }
  }
  close_figures();
  if (html.empty()) return "";
  return absl::StrCat(
      "<section id=\"", section.id, "\">\n<h2>", EscapeHtml(section.title), "</h2>\n",
      section.lead.empty() ? ""
                           : absl::StrCat("<p class=\"lead\">", EscapeHtml(section.lead), "</p>\n"),
      html, "</section>\n");
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

std::string Body(const ComparisonResult& comparison, const std::vector<DrawnFigure>& figures) {
  std::string sections;
  std::string links;
  for (const Section& section : Sections(comparison)) {
    const std::string html = SectionHtml(section, comparison, figures);
    if (html.empty()) continue;
    absl::StrAppend(&sections, html);
    absl::StrAppend(&links, "<a href=\"#", section.id, "\">", EscapeHtml(section.title), "</a>\n");
  }
  return absl::StrCat(Header(comparison), "<section id=\"verdict\" aria-label=\"Verdict\">\n",
                      HtmlVerdict(comparison), HtmlWarnings(comparison), HtmlGlossary(comparison),
                      "</section>\n<nav aria-label=\"On this page\">\n", links, "</nav>\n",
                      sections);
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
