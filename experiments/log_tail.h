// The last words of a process, from its log.
#ifndef RINGSIDE_EXPERIMENTS_LOG_TAIL_H_
#define RINGSIDE_EXPERIMENTS_LOG_TAIL_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ringside {

// The last line of the file that is not empty; of a file that is long, only the end is read. Empty
// where there is none.
std::string LastLogLine(const std::string& path);

// The same for a text. Lines that mark errors ("error: ", see common/logging.h) go before later
// ones that do not.
std::string LastLine(absl::string_view text);

// "12:00:01.123 worker 2: error: message" -> "message"; other lines as they are.
std::string StripLogPrefix(absl::string_view line);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LOG_TAIL_H_
