// report.html: the whole report on one page that needs nothing else, no network and no script.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_HTML_PAGE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_HTML_PAGE_H_

#include <string>
#include <vector>

#include "experiments/report/drawn_figure.h"
#include "results.pb.h"

namespace ringside {

// Pure. Every text that comes from outside is escaped.
std::string HtmlPage(const ComparisonResult& comparison, const std::vector<DrawnFigure>& figures);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_HTML_PAGE_H_
