// Makes of gnuplot's SVG a drawing that fits any page: text and axes take the colour of the
// surrounding text, the size follows the page, ids do not clash with those of other figures. Pure
// functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_SVG_THEME_H_
#define RINGSIDE_EXPERIMENTS_REPORT_SVG_THEME_H_

#include <string>

#include "absl/status/statusor.h"
#include "experiments/report/figure.h"

namespace ringside {

// What scripts draw axes, grid and text in; replaced by the colour of the page's text.
constexpr char kInkSentinel[] = "#010203";

// For a place inside an HTML page. INTERNAL: gnuplot wrote something that is not SVG.
absl::StatusOr<std::string> InlineSvg(const Figure& figure, const std::string& gnuplot_svg);

// For a file of its own, from the inline form: knows its colours on light and dark backgrounds.
std::string StandaloneSvg(const std::string& inline_svg);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_SVG_THEME_H_
