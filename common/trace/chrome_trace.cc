#include "common/trace/chrome_trace.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/suspects.h"
#include "common/trace/bucket_life.h"
#include "common/trace/clock_alignment.h"

namespace ringside {
namespace {

struct Lane {
  int number = 0;
  std::string name;
};

std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&quoted, "\\u%04x", static_cast<int>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

// Where a span is drawn. A process may play several ranks, and then at once.
Lane LaneOf(const TraceSpan& span, int own_rank) {
  switch (span.kind()) {
    case TRACE_SUM:
      return {2, "sums"};
    case TRACE_REDUCE_SCATTER:
      return {3, "reduce-scatter"};
    case TRACE_ALL_GATHER:
      return {4, "all-gather"};
    case TRACE_PUSH:
      return {10 + 2 * span.peer(), absl::StrCat("to shard ", span.peer())};
    case TRACE_RESULT:
      return {11 + 2 * span.peer(), absl::StrCat("from shard ", span.peer())};
    case TRACE_PARK:
    case TRACE_FOLD:
      return {1, "folds"};
    default:
      if (span.peer() < 0 || span.peer() == own_rank) return {1, "training"};
      return {1'000'000 + span.peer(), absl::StrCat("rank ", span.peer())};
  }
}

std::string NameOf(const TraceSpan& span) {
  switch (span.kind()) {
    case TRACE_STEP:
      return absl::StrCat("step ", span.step());
    case TRACE_DATA:
      return "data";
    case TRACE_FORWARD:
      return "forward";
    case TRACE_BACKWARD:
      return "backward";
    case TRACE_WAIT:
      return "wait";
    case TRACE_OPTIMIZER:
      return "optimizer";
    case TRACE_READY:
      return absl::StrCat("ready ", span.bucket());
    case TRACE_SUBMIT:
      return absl::StrCat("submit ", span.bucket());
    case TRACE_PARK:
      return absl::StrCat("park ", span.bucket());
    case TRACE_FOLD:
      return absl::StrCat("fold ", span.bucket());
    case TRACE_QUEUE:
      return "in the queue";
    case TRACE_REPLY:
      return "reply";
    default:
      return absl::StrCat("bucket ", span.bucket());
  }
}

bool Overlaps(TraceKind kind) { return kind == TRACE_QUEUE || kind == TRACE_REPLY; }

class Writer {
 public:
  Writer(const std::vector<ProcessTrace>& processes, const StepWindow& window)
      : processes_(processes), window_(window) {
    origin_ = std::numeric_limits<int64_t>::max();
    for (const ProcessTrace& process : processes_) {
      for (const TraceSpan& span : process.spans()) {
        origin_ = std::min(origin_, CoordinatorTime(process.clock(), span.begin_ns()));
      }
    }
  }

  std::string Write() {
    FindArrows();
    json_ = "{\"displayTimeUnit\":\"ms\",\n\"traceEvents\":[";
    for (size_t i = 0; i < processes_.size(); ++i) WriteProcess(static_cast<int>(i));
    absl::StrAppend(&json_, "\n],\n\"otherData\":", OtherData(), "}\n");
    return std::move(json_);
  }

 private:
  // Step, bucket, worker, shard.
  using ArrowKey = std::tuple<int64_t, int, int, int>;
  struct Arrow {
    int number = 0;
    const TraceSpan* push = nullptr;   // the first
    const TraceSpan* taken = nullptr;  // the first
  };

  static void KeepFirst(const TraceSpan& span, const TraceSpan** first) {
    if (*first == nullptr || span.begin_ns() < (*first)->begin_ns()) *first = &span;
  }

  void FindArrows() {
    for (const ProcessTrace& process : processes_) {
      const int own = process.id().rank();
      for (const TraceSpan& span : process.spans()) {
        if (span.kind() == TRACE_PUSH) {
          KeepFirst(span, &arrows_[{span.step(), span.bucket(), own, span.peer()}].push);
        } else if (span.kind() == TRACE_PARK || span.kind() == TRACE_FOLD) {
          KeepFirst(span, &arrows_[{span.step(), span.bucket(), span.peer(), own}].taken);
        }
      }
    }
    int number = 0;
    for (auto& [key, arrow] : arrows_) arrow.number = ++number;
  }

  std::string Microseconds(int64_t own_ns) const {
    const int64_t ns = CoordinatorTime(process_->clock(), own_ns) - origin_;
    return absl::StrFormat("%.3f", static_cast<double>(ns) / 1e3);
  }

  // One event; `rest` are more of its fields, each after a comma.
  void Event(absl::string_view phase, int lane, absl::string_view name, int64_t own_ns,
             absl::string_view rest) {
    absl::StrAppend(&json_, first_ ? "\n" : ",\n", "{\"ph\":\"", phase, "\",\"pid\":", pid_,
                    ",\"tid\":", lane, ",\"name\":", Quoted(name), ",\"ts\":", Microseconds(own_ns),
                    rest, "}");
    first_ = false;
  }

  void Metadata(absl::string_view name, int lane, absl::string_view arguments) {
    absl::StrAppend(&json_, first_ ? "\n" : ",\n", "{\"ph\":\"M\",\"pid\":", pid_,
                    ",\"tid\":", lane, ",\"name\":\"", name, "\",\"args\":{", arguments, "}}");
    first_ = false;
  }

  void WriteProcess(int index) {
    process_ = &processes_[index];
    pid_ = index + 1;
    const int own_rank = process_->id().role() == ROLE_WORKER ? process_->id().rank() : -1;
    Metadata("process_name", 0, absl::StrCat("\"name\":", Quoted(ToString(process_->id()))));
    Metadata("process_sort_index", 0, absl::StrCat("\"sort_index\":", index));
    std::map<int, std::string> lanes;
    for (const TraceSpan& span : process_->spans()) {
      if (Overlaps(span.kind())) continue;
      Lane lane = LaneOf(span, own_rank);
      lanes.emplace(lane.number, std::move(lane.name));
    }
    for (const auto& [number, name] : lanes) {
      Metadata("thread_name", number, absl::StrCat("\"name\":", Quoted(name)));
    }
    int64_t number = 0;
    for (const TraceSpan& span : process_->spans()) WriteSpan(span, own_rank, ++number);
    for (const BucketLife& life : BucketLives(*process_)) WriteLife(life);
  }

  void WriteSpan(const TraceSpan& span, int own_rank, int64_t number) {
    const std::string arguments =
        absl::StrCat(",\"args\":{\"step\":", span.step(), ",\"bucket\":", span.bucket(),
                     ",\"peer\":", span.peer(), "}");
    const std::string name = NameOf(span);
    if (Overlaps(span.kind())) {
      Pair("frame", absl::StrCat(pid_, ".", number), name, span.begin_ns(), span.end_ns(),
           arguments);
      return;
    }
    const int lane = LaneOf(span, own_rank).number;
    if (span.kind() == TRACE_READY) {
      Event("i", lane, name, span.begin_ns(), absl::StrCat(",\"s\":\"t\"", arguments));
      return;
    }
    const auto length = static_cast<double>(span.end_ns() - span.begin_ns()) / 1e3;
    Event("X", lane, name, span.begin_ns(),
          absl::StrCat(",\"dur\":", absl::StrFormat("%.3f", length), arguments));
    WriteArrow(span, lane);
  }

  void WriteArrow(const TraceSpan& span, int lane) {
    const int own = process_->id().rank();
    const bool push = span.kind() == TRACE_PUSH;
    if (!push && span.kind() != TRACE_PARK && span.kind() != TRACE_FOLD) return;
    const int worker = push ? own : span.peer();
    const int shard = push ? span.peer() : own;
    const Arrow& arrow = arrows_.at({span.step(), span.bucket(), worker, shard});
    if (arrow.push == nullptr || arrow.taken == nullptr) return;
    if (&span != (push ? arrow.push : arrow.taken)) return;
    Event(push ? "s" : "f", lane, "push", span.begin_ns(),
          absl::StrCat(",\"cat\":\"push\",\"id\":", arrow.number, push ? "" : ",\"bp\":\"e\""));
  }

  // An asynchronous span.
  void Pair(absl::string_view category, const std::string& id, absl::string_view name,
            int64_t begin_ns, int64_t end_ns, absl::string_view arguments) {
    const std::string rest = absl::StrCat(",\"cat\":\"", category, "\",\"id\":", Quoted(id));
    Event("b", 0, name, begin_ns, absl::StrCat(rest, arguments));
    Event("e", 0, name, end_ns, rest);
  }

  void WriteLife(const BucketLife& life) {
    const std::string id =
        absl::StrCat(pid_, ".", life.step, ".", life.bucket, ".", std::max(life.rank, 0));
    const std::string arguments =
        absl::StrCat(",\"args\":{\"step\":", life.step, ",\"bucket\":", life.bucket, "}");
    const std::string rest = absl::StrCat(",\"cat\":\"bucket\",\"id\":", Quoted(id));
    const std::string name = absl::StrCat("bucket ", life.bucket);
    Event("b", 0, name, life.phases.front().begin_ns, absl::StrCat(rest, arguments));
    for (const BucketLife::Phase& phase : life.phases) {
      if (phase.begin_ns == phase.end_ns) continue;
      Pair("bucket", id, phase.name, phase.begin_ns, phase.end_ns, arguments);
    }
    Event("e", 0, name, life.phases.back().end_ns, rest);
  }

  std::string OtherData() const {
    std::string data = absl::StrCat("{\"steps\":\"", window_.from, ":", window_.to,
                                    "\",\"clock\":\"the coordinator's; each process's is within "
                                    "error_us of it\",\"processes\":[");
    for (size_t i = 0; i < processes_.size(); ++i) {
      const ProcessTrace& process = processes_[i];
      absl::StrAppend(
          &data, i == 0 ? "" : ",", "\n{\"name\":", Quoted(ToString(process.id())),
          ",\"host\":", Quoted(process.hostname()), ",\"spans\":", process.spans_size(),
          ",\"dropped\":", process.dropped(),
          absl::StrFormat(",\"offset_us\":%.3f,\"error_us\":%.3f,\"drift_ppm\":%.3f}",
                          static_cast<double>(process.clock().first().offset_ns()) / 1e3,
                          static_cast<double>(ErrorBoundNs(process.clock())) / 1e3,
                          DriftPpm(process.clock())));
    }
    return data + "]}";
  }

  const std::vector<ProcessTrace>& processes_;
  const StepWindow window_;
  int64_t origin_ = 0;  // of the coordinator's clock
  std::map<ArrowKey, Arrow> arrows_;

  std::string json_;
  bool first_ = true;
  const ProcessTrace* process_ = nullptr;  // that is being written
  int pid_ = 0;
};

}  // namespace

std::string ChromeTrace(const std::vector<ProcessTrace>& processes, const StepWindow& window) {
  return Writer(processes, window).Write();
}

}  // namespace ringside
