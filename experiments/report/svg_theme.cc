#include "experiments/report/svg_theme.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "experiments/report/html_text.h"

namespace ringside {
namespace {

constexpr char kOpening[] =
    "<svg class=\"figure\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" ";

// gnuplot writes a group for each change of state; most of them are empty.
std::string WithoutEmptyGroups(const std::string& svg) {
  const std::vector<absl::string_view> lines = absl::StrSplit(svg, '\n');
  std::string kept;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool opens = absl::StartsWith(lines[i], "<g ");
    if (opens && i + 1 < lines.size() && lines[i + 1] == "</g>") {
      ++i;
      continue;
    }
    if (!lines[i].empty()) absl::StrAppend(&kept, lines[i], "\n");
  }
  return kept;
}

// Cuts everything from `begin` to the `end` that follows it, both included.
void Cut(std::string& text, absl::string_view begin, absl::string_view end) {
  const size_t from = text.find(begin.data(), 0, begin.size());
  if (from == std::string::npos) return;
  const size_t to = text.find(end.data(), from, end.size());
  if (to != std::string::npos) text.erase(from, to + end.size() - from);
}

}  // namespace

absl::StatusOr<std::string> InlineSvg(const Figure& figure, const std::string& gnuplot_svg) {
  const size_t open = gnuplot_svg.find("<svg");
  const size_t body = open == std::string::npos ? open : gnuplot_svg.find('>', open);
  const size_t close = gnuplot_svg.rfind("</svg>");
  if (body == std::string::npos || close == std::string::npos || close < body) {
    return absl::InternalError(absl::StrCat("gnuplot drew no SVG for the figure ", figure.name));
  }
  std::string svg = gnuplot_svg.substr(body + 1, close - body - 1);
  while (absl::StrContains(svg, "<title>"))
    Cut(svg, "<title>", "</title>");  // "loss_plot_1" would show as a tooltip
  Cut(svg, "<desc>", "</desc>");
  while (absl::StrContains(svg, "<filter")) Cut(svg, "<filter", "</filter>");
  svg = absl::StrReplaceAll(svg,
                            {
                                {"rgb(  1,   2,   3)", "currentColor"},
                                {"rgb(1,2,3)", "currentColor"},
                                {"color=\"black\" ", ""},
                                {"font-family=\"sans-serif\" ", ""},
                                {"color='white'", "color='transparent'"},  // a halo around points
                                {"xlink:href", "href"},
                                {"gpDot", absl::StrCat(figure.name, "_dot")},
                                {"gpPt", absl::StrCat(figure.name, "_point_")},
                                {" id=\"gnuplot_canvas\"", ""},
                                {" class=\"gridline\"", " stroke-opacity=\"0.16\""},
                                {"stroke-linejoin=\"miter\"", "stroke-linejoin=\"round\""},
                            });
  return absl::StrCat(kOpening, "viewBox=\"0 0 ", figure.width, " ", figure.height,
                      "\" aria-label=\"", EscapeHtml(figure.title), "\">\n",
                      WithoutEmptyGroups(svg), "</svg>\n");
}

std::string StandaloneSvg(const std::string& inline_svg) {
  const size_t body = inline_svg.find(">\n") + 1;
  return absl::StrCat("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n", inline_svg.substr(0, body),
                      "\n<style>svg { color: #24292f; font-family: system-ui, sans-serif; } "
                      "@media (prefers-color-scheme: dark) { svg { color: #d5dae0; } }</style>",
                      inline_svg.substr(body));
}

}  // namespace ringside
