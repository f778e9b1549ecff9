// The top of report.html: verdict, warnings, what the words mean, and gates. Pure functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_HTML_VERDICT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_HTML_VERDICT_H_

#include <string>

#include "results.pb.h"

namespace ringside {

// What all comparisons say together, then one row for each line of the verdict; where two
// contenders have an interval, it is drawn on a scale that all rows share.
std::string HtmlVerdict(const ComparisonResult& comparison);
std::string HtmlGates(const ComparisonResult& comparison);
// Empty without warnings.
std::string HtmlWarnings(const ComparisonResult& comparison);
// What was compared, and the words of the verdict; empty without runs.
std::string HtmlGlossary(const ComparisonResult& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_HTML_VERDICT_H_
