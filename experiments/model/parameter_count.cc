#include "experiments/model/parameter_count.h"

#include <cmath>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

// Beyond that a plan of buckets takes too much memory.
constexpr double kMostParameters = 1e11;

// 1 for a digit: a bare number.
double FactorOf(char suffix) {
  switch (suffix) {
    case 'k':
      return 1e3;
    case 'm':
      return 1e6;
    case 'b':
      return 1e9;
    default:
      return 1;
  }
}

}  // namespace

absl::StatusOr<int64_t> ParseParameterCount(absl::string_view text) {
  std::string digits = absl::AsciiStrToLower(absl::StripAsciiWhitespace(text));
  const double factor = digits.empty() ? 1 : FactorOf(digits.back());
  if (factor > 1) digits.pop_back();
  double count = 0;
  // Also refuses what is not a number: no comparison with it is true.
  if (absl::SimpleAtod(digits, &count) && count * factor >= 1 && count * factor <= kMostParameters)
    return static_cast<int64_t>(std::llround(count * factor));
  return absl::InvalidArgumentError(
      absl::StrCat("--parameters=", text,
                   ": must be a number from 1 to 1e11, k, M or B behind it or not, e.g. "
                   "--parameters=25.6M"));
}

}  // namespace ringside
