#include "experiments/report/headline.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "experiments/report/number_text.h"
#include "experiments/report/series.h"
#include "experiments/report/setting_text.h"

namespace ringside {
namespace {

template <typename Number>
std::string Range(const std::set<Number>& values) {
  std::vector<std::string> texts;
  for (Number value : values) texts.push_back(WholeNumber(value));
  return absl::StrJoin(texts, ", ");
}

// Strong: the global batch stays as workers are added. Weak: the batch of each rank does.
std::string Scaling(const ComparisonResult& comparison) {
  std::set<int> workers;
  std::set<int> batches;
  std::set<int64_t> global_batches;
  for (const Cell& cell : comparison.cells()) {
    workers.insert(cell.workers());
    batches.insert(cell.batch_size());
    global_batches.insert(cell.global_batch_size());
  }
  const std::string global = absl::StrCat("global batch ", Range(global_batches));
  if (workers.size() < 2) return global;
  if (global_batches.size() == 1) return absl::StrCat("strong scaling, ", global);
  if (batches.size() == 1) return absl::StrCat("weak scaling, batch per rank ", Range(batches));
  return global;
}

// "network 200mbit, 1gbit"; empty where the cells do not tell.
std::string VariedValues(const ComparisonResult& comparison, const std::string& setting) {
  std::vector<std::string> values;
  for (const Cell& cell : comparison.cells()) {
    const auto found = cell.point().find(setting);
    if (found == cell.point().end()) continue;
    const std::string text = SettingValueText(setting, found->second);
    if (std::find(values.begin(), values.end(), text) == values.end()) values.push_back(text);
  }
  if (values.empty()) return "";
  return absl::StrCat(absl::AsciiStrToLower(SettingTitle(setting)), " ",
                      absl::StrJoin(values, " / "));
}

// As a shell takes it.
std::string ShellWord(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string("-_=./:,+@%").find(c) != std::string::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

}  // namespace

std::string Headline(const ComparisonResult& comparison) {
  if (!comparison.question().empty()) return comparison.question();
  const std::vector<Cell> cells(comparison.cells().begin(), comparison.cells().end());
  std::vector<std::string> contenders;
  const SeriesNames names(cells);
  for (const std::string& series : names.all()) {
    if (!IsOracle(series)) contenders.push_back(series);
  }
  if (contenders.empty()) return names.all().empty() ? "No runs" : absl::StrJoin(names.all(), ", ");
  if (contenders.size() == 1) return contenders.front();
  const std::string last = contenders.back();
  contenders.pop_back();
  return absl::StrCat(absl::StrJoin(contenders, ", "), " or ", last, "?");
}

std::vector<std::string> HeadlineFacts(const ComparisonResult& comparison) {
  if (comparison.runs().empty()) return {};
  const RunResult& first = comparison.runs(0);
  std::set<int> workers;
  std::set<int64_t> trials;
  std::set<int64_t> shards;
  for (const RunResult& run : comparison.runs()) {
    workers.insert(run.workers());
    trials.insert(run.trial());
    if (run.shards() > 0) shards.insert(run.shards());
  }
  std::vector<std::string> facts;
  const std::string model = SettingOf(first, "model");
  const std::string dataset = SettingOf(first, "dataset");
  if (!model.empty())
    facts.push_back(dataset.empty() ? model : absl::StrCat(model, " on ", dataset));
  facts.push_back(Counted(first.parameter_elements(), "parameter"));
  if (SettingOf(first, "precision") == "bf16") facts.push_back("computed in bf16");
  facts.push_back(absl::StrCat(
      Range(workers), workers.size() == 1 && *workers.begin() == 1 ? " worker" : " workers"));
  if (!shards.empty())
    facts.push_back(absl::StrCat(
        Range(shards), shards.size() == 1 && *shards.begin() == 1 ? " shard" : " shards"));
  facts.push_back(Scaling(comparison));
  for (const std::string& setting : comparison.varied()) {
    const std::string values = VariedValues(comparison, setting);
    if (!values.empty()) facts.push_back(values);
  }
  facts.push_back(absl::StrCat(Counted(first.total_steps(), "step"), ", the first ",
                               WholeNumber(first.warmup_steps()), " not counted"));
  facts.push_back(Counted(static_cast<int64_t>(trials.size()), "trial"));
  if (!comparison.provenance().started_at().empty())
    facts.push_back(comparison.provenance().started_at());
  return facts;
}

std::string CommandLineText(const ComparisonResult& comparison) {
  std::vector<std::string> words;
  for (const std::string& word : comparison.command()) words.push_back(ShellWord(word));
  return absl::StrJoin(words, " ");
}

}  // namespace ringside
