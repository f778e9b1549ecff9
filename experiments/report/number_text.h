// Numbers as people read them and as programs do.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_NUMBER_TEXT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_NUMBER_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace ringside {

// Shortest decimal that reads back as the same double: "0.1", "1234.5678", "nan".
std::string ExactNumber(double value);

// Three significant digits, thousands apart: "3.1e-08", "0.0123", "12.3", "12,345".
std::string RoundedNumber(double value);
std::string WholeNumber(int64_t value);  // "12,345,678"
std::string FixedNumber(double value, int decimals);

// Three significant digits with a fitting unit: "950 ns", "12.3 µs", "20.8 ms", "1.25 s".
std::string Seconds(double seconds);
std::string Bytes(double bytes);          // "12.3 KiB", "1.50 MiB"
std::string BytesPerSecond(double rate);  // "950 B/s", "11.2 MB/s": of 10^6 bytes, as links
std::string Percent(double fraction, int decimals);  // "97.4 %"

// "1 worker", "4 workers"
std::string Counted(int64_t count, absl::string_view noun);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_NUMBER_TEXT_H_
