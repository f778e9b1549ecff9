#include "experiments/report/plain_words.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "experiments/report/comparison.h"
#include "experiments/report/number_text.h"
#include "experiments/report/series.h"

namespace ringside {
namespace {

std::string ServerMeaning(absl::string_view strategy) {
  const std::string server =
      "Parameter server: every worker sends its gradient to servers, which add them up. ";
  if (absl::StartsWith(strategy, "ps server-update"))
    return absl::StrCat(server, "The servers also update the parameters, which workers then get.");
  if (absl::StartsWith(strategy, "ps async"))
    return absl::StrCat(server, "No worker waits for another, so gradients may be out of date.");
  if (absl::StartsWith(strategy, "ps ssp"))
    return absl::StrCat(server, "A worker may run ahead of the slowest by a few steps, no more.");
  if (absl::StartsWith(strategy, "ps backup"))
    return absl::StrCat(server, "The last few workers of a step are not waited for.");
  return absl::StrCat(server, "All wait for the sum, then go on.");
}

std::string Meaning(absl::string_view strategy) {
  if (IsParameterServer(strategy)) return ServerMeaning(strategy);
  if (strategy == "ring")
    return "Ring all-reduce: workers pass pieces of their gradients round a ring and add as they "
           "go. There is no server.";
  if (strategy == "direct")
    return "Direct all-reduce: each worker adds up one piece of everybody's gradient and hands the "
           "sum to all. There is no server.";
  if (strategy == "local")
    return "One process that plays all workers in turn. It proves the numbers of the others and is "
           "no contender.";
  if (strategy == "data_parallel")
    return "One process with a thread for each worker; gradients are added in its memory.";
  return absl::StrCat("All-reduce by the library ", strategy, ".");
}

// What the contrasts of two contenders say.
struct PairTally {
  std::map<std::string, std::vector<double>> wins;  // ratios, by the faster one
  int ties = 0;
  int untold = 0;  // a single trial
};

std::string Ratios(const std::vector<double>& ratios) {
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  const std::string low = absl::StrFormat("%.2f", *least);
  const std::string high = absl::StrFormat("%.2f", *most);
  return absl::StrCat(low, low == high ? "" : absl::StrCat(" to ", high), " times as fast");
}

std::string PairSentence(const std::string& a, const std::string& b, const PairTally& tally,
                         size_t comparisons) {
  if (tally.wins.empty())
    return absl::StrCat("Between ", a, " and ", b,
                        " no comparison showed a significant difference.");
  std::string text;
  for (const auto& [winner, ratios] : tally.wins) {
    const std::string count =
        comparisons == 1 ? "their only comparison"
        : ratios.size() == comparisons
            ? absl::StrCat("all ", comparisons, " comparisons")
            : absl::StrCat(ratios.size(), " of ", comparisons, " comparisons");
    absl::StrAppend(&text, text.empty() ? "" : "; ", winner, " was faster than ",
                    winner == a ? b : a, " in ", count, " (", Ratios(ratios), ")");
  }
  if (tally.ties > 0) absl::StrAppend(&text, "; ", tally.ties, " showed no significant difference");
  if (tally.untold > 0) absl::StrAppend(&text, "; ", tally.untold, " had too few trials to tell");
  return absl::StrCat(text, ".");
}

}  // namespace

std::vector<Explained> Glossary(const ComparisonResult& comparison) {
  const SeriesNames names({comparison.cells().begin(), comparison.cells().end()});
  std::vector<Explained> glossary;
  std::set<std::string> explained;
  for (const std::string& series : names.all()) {
    for (const Cell& cell : comparison.cells()) {
      if (names.Of(cell) != series || !explained.insert(series).second) continue;
      glossary.push_back({series, Meaning(cell.strategy()), names.Colour(series)});
    }
  }
  if (glossary.empty()) return glossary;
  glossary.push_back({"step",
                      "One round of training: each worker computes the gradient of its part of the "
                      "batch, the gradients are added, and all apply the same update. It is over "
                      "when the slowest worker is done.",
                      ""});
  if (comparison.contrasts_size() > 0) {
    glossary.push_back({"95 % interval",
                        "Where the ratio would be found in 95 of 100 repetitions on this machine. "
                        "Where it holds 1, the difference is not significant.",
                        ""});
  }
  return glossary;
}

std::vector<std::string> PlainVerdict(const ComparisonResult& comparison) {
  if (comparison.contrasts_size() < 2 || !AllGatesPassed(comparison)) return {};
  std::map<std::pair<std::string, std::string>, PairTally> tallies;
  std::map<std::pair<std::string, std::string>, size_t> comparisons;
  for (const Contrast& contrast : comparison.contrasts()) {
    const auto pair = std::minmax(contrast.faster(), contrast.slower());
    PairTally& tally = tallies[pair];
    ++comparisons[pair];
    if (contrast.trials() < 2) {
      ++tally.untold;
    } else if (contrast.significant()) {
      tally.wins[contrast.faster()].push_back(contrast.ratio().median());
    } else {
      ++tally.ties;
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [pair, tally] : tallies) {
    if (comparisons[pair] == static_cast<size_t>(tally.untold)) continue;
    sentences.push_back(PairSentence(pair.first, pair.second, tally, comparisons[pair]));
  }
  return sentences;
}

}  // namespace ringside
