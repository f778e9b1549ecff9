#include "experiments/report/number_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ringside {
namespace {

constexpr int kSignificantDigits = 3;

// Decimals that leave kSignificantDigits, at least 0. Rounds first: 9.999 has two digits before the
// point once rounded.
int DecimalsFor(double value) {
  if (value == 0) return 0;
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value) * (1 + 5e-4))));
  return std::max(0, kSignificantDigits - 1 - magnitude);
}

std::string WithThousands(std::string digits) {
  const size_t sign = digits[0] == '-' ? 1 : 0;
  size_t end = digits.find('.');
  if (end == std::string::npos) end = digits.size();
  while (end > sign + 3) {
    end -= 3;
    digits.insert(end, ",");
  }
  return digits;
}

struct Unit {
  double size;
  const char* name;
};

template <size_t n>
std::string InUnit(double value, const std::array<Unit, n>& ascending) {
  const Unit* chosen = &ascending[0];
  for (const Unit& unit : ascending) {
    if (std::abs(value) >= unit.size * 0.9995) chosen = &unit;
  }
  return absl::StrCat(RoundedNumber(value / chosen->size), " ", chosen->name);
}

}  // namespace

std::string ExactNumber(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  for (int precision = 1; precision < 17; ++precision) {
    const std::string text = absl::StrFormat("%.*g", precision, value);
    double read = 0;
    if (absl::SimpleAtod(text, &read) && read == value) return text;
  }
  return absl::StrFormat("%.17g", value);
}

std::string FixedNumber(double value, int decimals) {
  if (!std::isfinite(value)) return ExactNumber(value);
  return WithThousands(absl::StrFormat("%.*f", decimals, value));
}

std::string RoundedNumber(double value) {
  if (!std::isfinite(value)) return ExactNumber(value);
  if (value != 0 && std::abs(value) < 1e-4) return absl::StrFormat("%.1e", value);
  return FixedNumber(value, DecimalsFor(value));
}

std::string WholeNumber(int64_t value) { return WithThousands(absl::StrCat(value)); }

std::string Seconds(double seconds) {
  static constexpr std::array<Unit, 4> kUnits = {
      {{1e-9, "ns"}, {1e-6, "µs"}, {1e-3, "ms"}, {1, "s"}}};
  return seconds == 0 ? "0 s" : InUnit(seconds, kUnits);
}

std::string Bytes(double bytes) {
  static constexpr std::array<Unit, 5> kUnits = {{{1, "B"},
                                                  {1024.0, "KiB"},
                                                  {1048576.0, "MiB"},
                                                  {1073741824.0, "GiB"},
                                                  {1099511627776.0, "TiB"}}};
  return InUnit(bytes, kUnits);
}

std::string BytesPerSecond(double rate) {
  static constexpr std::array<Unit, 4> kUnits = {
      {{1, "B/s"}, {1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}}};
  return InUnit(rate, kUnits);
}

std::string Percent(double fraction, int decimals) {
  return absl::StrCat(FixedNumber(fraction * 100, decimals), " %");
}

std::string Counted(int64_t count, absl::string_view noun) {
  return absl::StrCat(WholeNumber(count), " ", noun, count == 1 ? "" : "s");
}

}  // namespace ringside
