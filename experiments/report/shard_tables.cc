#include "experiments/report/shard_tables.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "experiments/report/cell_rows.h"
#include "experiments/report/number_text.h"
#include "experiments/report/traffic_formula.h"

namespace ringside {
namespace {

double Ratio(double a, double b) { return b > 0 ? a / b : 0; }

int64_t FrameBytes(const RunResult& run) {
  const auto found = run.settings().find("frame_bytes");
  int64_t bytes = 0;
  return found != run.settings().end() && absl::SimpleAtoi(found->second, &bytes) ? bytes : 0;
}

// What all shards did in all runs of a cell.
class ShardTotal {
 public:
  void Add(const RunResult& run) {
    if (run.shard_results().empty()) return;
    int64_t least = run.shard_results(0).elements();
    int64_t most = least;
    for (const ShardResult& shard : run.shard_results()) {
      ++shards_;
      least = std::min(least, shard.elements());
      most = std::max(most, shard.elements());
      AddShard(shard);
    }
    const int64_t bytes = WireBytesPerElement(run);
    largest_share_ = std::max(largest_share_, most * bytes);
    difference_ = std::max(difference_, (most - least) * bytes);
    frame_bytes_ = FrameBytes(run);
  }

  bool measured() const { return frames_ > 0; }
  int64_t shards() const { return shards_; }

  std::vector<Field> Fields() const {
    return {
        {Bytes(static_cast<double>(largest_share_))},
        Difference(),
        {RoundedNumber(Ratio(frames_, steps_))},
        {Seconds(Ratio(queue_s_, frames_))},
        {Seconds(Ratio(fold_s_, steps_))},
        {Seconds(Ratio(serialise_s_, steps_))},
        replies_ > 0 ? Field{Seconds(Ratio(reply_s_, replies_))} : NoValue(),
        updates_ > 0 ? Field{RoundedNumber(updates_ / static_cast<double>(shards_))} : NoValue(),
        late_pushes_ > 0 ? Field{WholeNumber(late_pushes_)} : NoValue(),
        snapshots_ > 0 ? Field{WholeNumber(snapshots_), Field::Kind::kText,
                               absl::StrCat(Seconds(snapshot_s_ / snapshots_), " each")}
                       : NoValue()};
  }

 private:
  void AddShard(const ShardResult& shard) {
    steps_ += static_cast<double>(shard.steps());
    frames_ += static_cast<double>(shard.frames());
    queue_s_ += shard.queue_s();
    fold_s_ += shard.fold_s();
    serialise_s_ += shard.serialise_s();
    reply_s_ += shard.reply_s();
    replies_ += static_cast<double>(shard.replies());
    updates_ += Ratio(static_cast<double>(shard.updates()), shard.units());
    late_pushes_ += shard.late_pushes();
    snapshots_ += shard.snapshots_written();
    snapshot_s_ += shard.snapshot_s();
  }

  // One shard may have one frame more than another, as units are dealt out whole.
  Field Difference() const {
    const bool even = frame_bytes_ == 0 || difference_ <= frame_bytes_;
    return {Bytes(static_cast<double>(difference_)), even ? Field::Kind::kPass : Field::Kind::kFail,
            even ? "" : absl::StrCat("more than a frame of ", WholeNumber(frame_bytes_))};
  }

  int64_t shards_ = 0;
  int64_t largest_share_ = 0;  // bytes
  int64_t difference_ = 0;     // bytes
  int64_t frame_bytes_ = 0;
  double steps_ = 0;
  double frames_ = 0;
  double queue_s_ = 0;
  double fold_s_ = 0;
  double serialise_s_ = 0;
  double reply_s_ = 0;
  double replies_ = 0;
  double updates_ = 0;  // of all that a shard owns
  int64_t late_pushes_ = 0;
  int64_t snapshots_ = 0;
  double snapshot_s_ = 0;
};

// Counts by value; the last value stands for itself and more.
class Staleness {
 public:
  void Add(const ShardResult& shard) {
    if (counts_.size() < static_cast<size_t>(shard.staleness_size()))
      counts_.resize(static_cast<size_t>(shard.staleness_size()), 0);
    for (int value = 0; value < shard.staleness_size(); ++value) {
      counts_[static_cast<size_t>(value)] += shard.staleness(value);
      total_ += shard.staleness(value);
    }
  }

  int64_t total() const { return total_; }

  std::vector<Field> Fields() const {
    double sum = 0;
    size_t largest = 0;
    for (size_t value = 0; value < counts_.size(); ++value) {
      sum += static_cast<double>(value) * static_cast<double>(counts_[value]);
      if (counts_[value] > 0) largest = value;
    }
    const bool cut = largest + 1 == counts_.size();
    return {{WholeNumber(total_)},
            {Percent(static_cast<double>(counts_[0]) / static_cast<double>(total_), 0)},
            {absl::StrCat(cut ? "≥ " : "", FixedNumber(sum / static_cast<double>(total_), 2))},
            {Value(Percentile(0.5))},
            {Value(Percentile(0.99))},
            {Value(largest)}};
  }

 private:
  // The smallest value that at least this share of the counts do not exceed.
  size_t Percentile(double share) const {
    int64_t seen = 0;
    for (size_t value = 0; value < counts_.size(); ++value) {
      seen += counts_[value];
      if (static_cast<double>(seen) >= share * static_cast<double>(total_)) return value;
    }
    return counts_.size() - 1;
  }
  std::string Value(size_t value) const {
    return absl::StrCat(value + 1 == counts_.size() ? "≥ " : "", value);
  }

  std::vector<int64_t> counts_;
  int64_t total_ = 0;
};

// Columns and a row for each cell of which `fields_of` has any fields to say, behind those of the
// cells.
template <typename FieldsOf>
Table CellsTable(const ComparisonResult& comparison, const std::vector<Column>& columns,
                 FieldsOf fields_of) {
  const CellRows rows(comparison, {"ps_shards"});
  Table table;
  table.columns = rows.Columns();
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  for (const Cell& cell : rows.cells()) {
    std::vector<Field> fields = fields_of(cell, rows.RunsOf(cell));
    if (fields.empty()) continue;
    std::vector<Field> row = rows.Fields(cell);
    for (Field& field : fields) row.push_back(std::move(field));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Table ShardTable(const ComparisonResult& comparison) {
  const auto fields_of = [](const Cell& cell, const std::vector<const RunResult*>& runs) {
    ShardTotal total;
    for (const RunResult* run : runs) total.Add(*run);
    std::vector<Field> fields;
    if (!total.measured()) return fields;
    fields = total.Fields();
    fields.insert(fields.begin(), Field{absl::StrCat(cell.shards())});
    return fields;
  };
  return CellsTable(comparison,
                    {{"Shards", true},
                     {"Parameters / shard", true},
                     {"Largest difference"},
                     {"Frames / step", true},
                     {"Queue / frame", true},
                     {"Fold / step", true},
                     {"Serialise / step", true},
                     {"Reply", true},
                     {"Updates", true},
                     {"Late pushes", true},
                     {"Snapshots", true}},
                    fields_of);
}

Table StalenessTable(const ComparisonResult& comparison) {
  const auto fields_of = [](const Cell&, const std::vector<const RunResult*>& runs) {
    Staleness staleness;
    for (const RunResult* run : runs) {
      for (const ShardResult& shard : run->shard_results()) staleness.Add(shard);
    }
    return staleness.total() > 0 ? staleness.Fields() : std::vector<Field>();
  };
  return CellsTable(comparison,
                    {{"Units pushed", true},
                     {"None", true},
                     {"Mean", true},
                     {"Median", true},
                     {"p99", true},
                     {"Largest", true}},
                    fields_of);
}

}  // namespace ringside
