#include "worker/bench/ps_bench_config.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "allreduce/bench/bench_config.h"

namespace ringside {
namespace {

constexpr int kMaxWorkers = 32;  // sums of the test data are exact up to here
constexpr int kMaxShards = 32;
constexpr int64_t kMaxSizeBytes = int64_t{1} << 30;
constexpr const char* kLinks[] = {"grpc_tcp", "grpc_uds", "shm"};

}  // namespace

absl::StatusOr<PsShape> ParsePsShape(absl::string_view text) {
  PsShape shape;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('/', 1));
  if (absl::SimpleAtoi(parts.first, &shape.workers) &&
      absl::SimpleAtoi(parts.second, &shape.shards) && shape.workers > 0 && shape.shards > 0) {
    return shape;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is no number of workers and of shards such as 4/2"));
}

std::string ToString(const PsShape& shape) {
  return absl::StrCat(shape.workers, "/", shape.shards);
}

absl::Status PsBenchConfig::Validate() const {
  if (shapes.empty()) return absl::InvalidArgumentError("--workers_shards is empty");
  if (sizes_bytes.empty()) return absl::InvalidArgumentError("--sizes is empty");
  if (links.empty()) return absl::InvalidArgumentError("--links is empty");
  for (const PsShape& shape : shapes) {
    if (shape.workers < 1 || shape.workers > kMaxWorkers || shape.shards < 1 ||
        shape.shards > kMaxShards) {
      return absl::InvalidArgumentError(absl::StrCat("--workers_shards=", ToString(shape),
                                                     ": 1 to ", kMaxWorkers, " workers and 1 to ",
                                                     kMaxShards, " shards are possible"));
    }
  }
  for (const int64_t bytes : sizes_bytes) {
    if (bytes < 4 * kMaxShards || bytes % 4 != 0 || bytes > kMaxSizeBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("--sizes: ", bytes, " is no multiple of 4 bytes from ", 4 * kMaxShards,
                       " to ", SizeText(kMaxSizeBytes)));
    }
  }
  for (const std::string& link : links) {
    if (std::find(std::begin(kLinks), std::end(kLinks), link) == std::end(kLinks)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--links: ", link, ": must be one of ", absl::StrJoin(kLinks, ", ")));
    }
  }
  if (rounds < 1 || iterations < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--rounds=", rounds, " --iterations=", iterations,
                     ": at least 1 round, and no negative number of iterations"));
  }
  for (const absl::Duration duration : {min_time, max_time, timeout}) {
    if (duration > absl::ZeroDuration() && duration < absl::InfiniteDuration()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--min_time=", absl::FormatDuration(min_time), " --max_time=",
                     absl::FormatDuration(max_time), " --timeout=", absl::FormatDuration(timeout),
                     ": all must be positive and finite, e.g. 100ms"));
  }
  return absl::OkStatus();
}

std::map<std::string, std::string> PsBenchConfig::Settings() const {
  return {{"workers_shards", absl::StrJoin(shapes, ",",
                                           [](std::string* text, const PsShape& shape) {
                                             absl::StrAppend(text, ToString(shape));
                                           })},
          {"sizes", absl::StrJoin(sizes_bytes, ",",
                                  [](std::string* text, int64_t bytes) {
                                    absl::StrAppend(text, SizeText(bytes));
                                  })},
          {"links", absl::StrJoin(links, ",")},
          {"contenders", absl::StrJoin(contenders, ",")},
          {"rounds", absl::StrCat(rounds)},
          {"iterations", absl::StrCat(iterations)},
          {"min_time", absl::FormatDuration(min_time)},
          {"max_time", absl::FormatDuration(max_time)},
          {"timeout", absl::FormatDuration(timeout)}};
}

int64_t PsBenchConfig::max_bytes() const {
  return *std::max_element(sizes_bytes.begin(), sizes_bytes.end());
}

PsBenchConfig SmokeConfig() {
  PsBenchConfig config;
  config.shapes = {{2, 1}, {3, 2}};
  config.sizes_bytes = {4 << 10, 3 << 20};
  config.rounds = 2;
  config.iterations = 3;
  config.min_time = absl::Milliseconds(1);
  return config;
}

}  // namespace ringside
