#include "experiments/report/crossover_text.h"

#include "absl/strings/str_cat.h"
#include "experiments/report/number_text.h"
#include "experiments/report/setting_text.h"

namespace ringside {
namespace {

// "340 Mbit/s" of a network's bandwidth.
std::string Value(const Crossover& crossover, double value) {
  if (crossover.unit() == "bytes") return Bytes(value);
  if (crossover.unit() == "us") return absl::StrCat(RoundedNumber(value), " µs");
  if (crossover.unit() == "Mbit/s") return absl::StrCat(RoundedNumber(value), " Mbit/s");
  return SettingNumberText(crossover.setting(), value);
}

std::string Where(const Crossover& crossover) {
  const std::string point = PointText(crossover.point());
  if (crossover.workers() == 0) return point.empty() ? "" : absl::StrCat("With ", point, ", ");
  return absl::StrCat("With ", Counted(crossover.workers(), "worker"),
                      point.empty() ? "" : absl::StrCat(" and ", point), ", ");
}

std::string Sentence(const Crossover& crossover) {
  const bool neighbours = crossover.above() > crossover.below();
  const double low = neighbours ? crossover.below() : crossover.value().low();
  const double high = neighbours ? crossover.above() : crossover.value().high();
  if (!crossover.interpolated()) {
    return absl::StrCat(Where(crossover), crossover.faster_below(), " is faster up to ",
                        Value(crossover, low), " and ", crossover.faster_above(), " from ",
                        Value(crossover, high), "; between them they change places.");
  }
  return absl::StrCat(Where(crossover), crossover.faster_below(), " is faster below ",
                      Value(crossover, crossover.value().median()), ", and ",
                      crossover.faster_above(), " above (95 % interval ",
                      Value(crossover, crossover.value().low()), " to ",
                      Value(crossover, crossover.value().high()), "; measured at ",
                      Value(crossover, low), " and ", Value(crossover, high), ").");
}

}  // namespace

std::vector<std::string> CrossoverSentences(const ComparisonResult& comparison) {
  std::vector<std::string> sentences;
  for (const Crossover& crossover : comparison.crossovers())
    sentences.push_back(Sentence(crossover));
  return sentences;
}

}  // namespace ringside
