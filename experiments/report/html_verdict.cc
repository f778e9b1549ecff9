#include "experiments/report/html_verdict.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "experiments/report/comparison.h"
#include "experiments/report/html_text.h"
#include "experiments/report/number_text.h"
#include "experiments/report/plain_words.h"
#include "experiments/report/series.h"
#include "experiments/report/setting_text.h"

namespace ringside {
namespace {

constexpr int kManyLines = 8;  // of a verdict: more of them are set smaller

// Splits at the first `separator`, which is dropped; all of it is the first part where there is
// none.
std::pair<std::string, std::string> SplitAt(const std::string& text, const std::string& separator) {
  const size_t at = text.find(separator);
  if (at == std::string::npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + separator.size())};
}

bool Drawable(const Contrast& contrast) {
  return contrast.trials() > 1 && contrast.ratio().low() > 0 &&
         std::isfinite(contrast.ratio().high());
}

// Ratios on a logarithmic scale, in percent of its width, with 1 on it.
class RatioScale {
 public:
  explicit RatioScale(const std::vector<Contrast>& contrasts) {
    double low = 1;
    double high = 1.05;
    for (const Contrast& contrast : contrasts) {
      if (!Drawable(contrast)) continue;
      low = std::min(low, contrast.ratio().low());
      high = std::max(high, contrast.ratio().high());
    }
    const double margin = 0.06 * (std::log(high) - std::log(low));
    from_ = std::log(low) - margin;
    to_ = std::log(high) + margin;
  }

  double Place(double ratio) const { return 100 * (std::log(ratio) - from_) / (to_ - from_); }

  std::string Track(const Interval& ratio, const std::string& colour) const {
    return absl::StrFormat(
        "<div class=\"track\" aria-hidden=\"true\"><div class=\"one\" style=\"left:%.1f%%\"></div>"
        "<div class=\"span\" style=\"left:%.1f%%;width:%.1f%%;background:%s\"></div>"
        "<div class=\"dot\" style=\"left:%.1f%%;background:%s\"></div></div>",
        Place(1), Place(ratio.low()), Place(ratio.high()) - Place(ratio.low()), colour,
        Place(ratio.median()), colour);
  }

 private:
  double from_ = 0;
  double to_ = 1;
};

// The bracketed part of a verdict is set smaller.
std::string WhatHtml(const std::string& text) {
  const std::pair<std::string, std::string> parts = SplitAt(text, " (");
  if (parts.second.empty()) return EscapeHtml(text);
  return absl::StrCat(EscapeHtml(parts.first), " <small>(", EscapeHtml(parts.second), "</small>");
}

// A line of the verdict begins with the number of workers and, of a sweep, the point.
bool IsAbout(const Contrast& contrast, const std::string& who) {
  const std::string workers = Counted(contrast.workers(), "worker");
  if (who == workers) return contrast.point().empty();
  const std::string point = PointText(contrast.point());
  return !point.empty() && absl::StartsWith(who, workers) && absl::StrContains(who, point);
}

std::string PlainHtml(const ComparisonResult& comparison) {
  std::string html;
  for (const std::string& sentence : PlainVerdict(comparison))
    absl::StrAppend(&html, "<p class=\"plain-verdict\">", EscapeHtml(sentence), "</p>\n");
  return html;
}

}  // namespace

std::string HtmlVerdict(const ComparisonResult& comparison) {
  const std::vector<Contrast> contrasts(comparison.contrasts().begin(),
                                        comparison.contrasts().end());
  const SeriesNames names({comparison.cells().begin(), comparison.cells().end()});
  const RatioScale scale(contrasts);
  const bool passed = AllGatesPassed(comparison);
  std::string html = PlainHtml(comparison);
  absl::StrAppend(&html, "<ul class=\"verdict", passed ? "" : " failed",
                  comparison.verdict_size() > kManyLines ? " many" : "",
                  comparison.varied_size() > 0 ? " places" : "", "\">\n");
  bool drawn = false;
  for (const std::string& line : comparison.verdict()) {
    const auto [who, what] = SplitAt(line, ": ");
    std::string tracks;
    for (const Contrast& contrast : contrasts) {
      if (!passed || !IsAbout(contrast, who) || !Drawable(contrast)) continue;
      const std::string colour =
          contrast.significant() ? names.Colour(contrast.faster()) : "var(--mark)";
      absl::StrAppend(&tracks, scale.Track(contrast.ratio(), colour));
    }
    drawn = drawn || !tracks.empty();
    absl::StrAppend(&html, tracks.empty() ? "<li class=\"plain\">" : "<li>", "<span class=\"who\">",
                    EscapeHtml(who), "</span><span class=\"what\">", WhatHtml(what), "</span>",
                    tracks.empty() ? "" : absl::StrCat("<div>", tracks, "</div>"), "</li>\n");
  }
  absl::StrAppend(&html, "</ul>\n");
  if (drawn) {
    absl::StrAppend(&html,
                    "<p class=\"scale\">Bars: 95 % interval of the slower’s step time over the "
                    "faster’s; the upright "
                    "line is “equal”.</p>\n");
  }
  return html;
}

std::string HtmlGlossary(const ComparisonResult& comparison) {
  const std::vector<Explained> entries = Glossary(comparison);
  if (entries.empty()) return "";
  std::string html = "<h2 class=\"words\">What was compared</h2>\n<dl class=\"glossary\">\n";
  for (const Explained& entry : entries) {
    const std::string mark =
        entry.colour.empty()
            ? ""
            : absl::StrCat("<i style=\"background:", EscapeHtml(entry.colour), "\"></i>");
    absl::StrAppend(&html, "<div><dt>", mark, EscapeHtml(entry.what), "</dt><dd>",
                    EscapeHtml(entry.meaning), "</dd></div>\n");
  }
  return absl::StrCat(html, "</dl>\n");
}

std::string HtmlGates(const ComparisonResult& comparison) {
  std::string html = "<ul class=\"gates\">\n";
  for (const Gate& gate : comparison.gates()) {
    absl::StrAppend(&html, gate.passed() ? "<li>" : "<li class=\"failed\">", "<strong>",
                    EscapeHtml(gate.name()),
                    gate.passed() ? " <span class=\"badge pass\">PASS</span>"
                                  : " <span class=\"badge fail\">FAIL</span>",
                    "</strong>", EscapeHtml(gate.detail()), "</li>\n");
  }
  return absl::StrCat(html, "</ul>\n");
}

std::string HtmlWarnings(const ComparisonResult& comparison) {
  if (comparison.warnings().empty()) return "";
  std::string html = "<ul class=\"warnings\" aria-label=\"Warnings\">\n";
  for (const std::string& warning : comparison.warnings()) {
    const auto [what, detail] = SplitAt(warning, ": ");
    absl::StrAppend(&html, "<li><b>", EscapeHtml(what), detail.empty() ? "" : ":", "</b> ",
                    EscapeHtml(detail), "</li>\n");
  }
  return absl::StrCat(html, "</ul>\n");
}

}  // namespace ringside
