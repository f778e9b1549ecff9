// The style sheet of report.html.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_HTML_STYLE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_HTML_STYLE_H_

namespace ringside {

// Light and dark, from 320 px to print. Needs no font, image or script from elsewhere.
extern const char kHtmlStyle[];

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_HTML_STYLE_H_
