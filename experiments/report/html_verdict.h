// The top of report.html: verdict, gates and warnings. Pure functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_HTML_VERDICT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_HTML_VERDICT_H_

#include <string>

#include "results.pb.h"

namespace ringside {

// One row per number of workers; where two contenders have an interval, it is drawn on a scale that
// all rows share.
std::string HtmlVerdict(const ComparisonResult& comparison);
std::string HtmlGates(const ComparisonResult& comparison);
// Empty without warnings.
std::string HtmlWarnings(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_HTML_VERDICT_H_
