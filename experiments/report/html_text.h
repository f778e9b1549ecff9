// Text inside HTML and SVG.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_HTML_TEXT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_HTML_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ringside {

// Safe between tags and inside quoted attributes.
std::string EscapeHtml(absl::string_view text);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_HTML_TEXT_H_
