#include "experiments/report/ceiling_table.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "experiments/report/ceilings.h"
#include "experiments/report/cell_rows.h"
#include "experiments/report/number_text.h"

namespace ringside {
namespace {

CeilingBook BookOf(const ComparisonResult& comparison) {
  return CeilingBook({comparison.runs().begin(), comparison.runs().end()});
}

Field Reached(const CeilingUse& use) {
  return std::isinf(use.bytes_per_s) ? Field{"all in no time"}
                                     : Field{BytesPerSecond(use.bytes_per_s)};
}

Field ShareField(const CeilingUse& use) {
  return {absl::StrCat(RoundedNumber(100 * use.share()), " %"),
          use.is_possible() ? Field::Kind::kPass : Field::Kind::kFail};
}

std::string SocketText(const SocketCeiling& ceiling, const std::string& what) {
  return absl::StrCat(what, " ", BytesPerSecond(ceiling.bytes_per_s()),
                      " each way at once, a byte there and back in ",
                      Seconds(ceiling.round_trip_us() * 1e-6));
}

std::string MemoryText(const MemoryCeiling& ceiling, const std::string& who) {
  return absl::StrCat(who, " ", BytesPerSecond(ceiling.copy_bytes_per_s()), " copied or ",
                      BytesPerSecond(ceiling.add_bytes_per_s()), " added");
}

std::string MachineText(const Ceilings& machine) {
  std::string text;
  const auto add = [&text](const std::string& part) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", part);
  };
  if (machine.tcp().bytes_per_s() > 0) add(SocketText(machine.tcp(), "TCP over loopback"));
  if (machine.uds().bytes_per_s() > 0) add(SocketText(machine.uds(), "a Unix socket"));
  if (machine.one_core().copy_bytes_per_s() > 0) {
    add(MemoryText(machine.one_core(), "memory, one core:"));
    if (machine.cores() > 1)
      add(MemoryText(machine.all_cores(), absl::StrCat("all ", machine.cores(), " cores:")));
  }
  if (machine.cached_copy_bytes_per_s() > 0) {
    add(absl::StrCat("within its cache, one core copies ",
                     BytesPerSecond(machine.cached_copy_bytes_per_s())));
  }
  return text;
}

}  // namespace

Table CeilingTable(const ComparisonResult& comparison) {
  const CeilingBook book = BookOf(comparison);
  const CellRows rows(comparison);
  Table table;
  table.columns = rows.Columns();
  for (const Column& column : std::vector<Column>{{"Process"},
                                                  {"Over"},
                                                  {"Ceiling", true},
                                                  {"Reached", true},
                                                  {"Reached ÷ ceiling", true}})
    table.columns.push_back(column);
  for (const Cell& cell : rows.cells()) {
    absl::optional<CeilingUse> most;
    for (const RunResult* run : rows.RunsOf(cell)) {
      const absl::optional<CeilingUse> use = book.MostUsed(*run);
      if (use.has_value() && (!most.has_value() || use->share() > most->share())) most = use;
    }
    if (!most.has_value()) continue;
    std::vector<Field> row = rows.Fields(cell);
    row.insert(row.end(), {{most->process},
                           {most->over},
                           {BytesPerSecond(most->ceiling_bytes_per_s)},
                           Reached(*most),
                           ShareField(*most)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<std::string> CeilingSentences(const ComparisonResult& comparison) {
  const CeilingBook book = BookOf(comparison);
  std::vector<std::string> sentences;
  for (const auto& [host, machine] : book.machines()) {
    const std::string text = MachineText(machine);
    if (text.empty()) continue;
    sentences.push_back(absl::StrCat("Probed before the first run",
                                     host.empty() ? "" : absl::StrCat(" on ", host), ": ", text,
                                     "."));
  }
  return sentences;
}

}  // namespace ringside
