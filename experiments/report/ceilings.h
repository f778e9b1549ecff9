// How near the processes of a run came to what their links can do at most: a rate above that would
// mean that bytes or times are not what they are said to be. Pure; docs/metrics.md, "Ceilings".
#ifndef RINGSIDE_EXPERIMENTS_REPORT_CEILINGS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CEILINGS_H_

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/types/optional.h"
#include "results.pb.h"

namespace ringside {

struct PayloadFlow;

// By how much a rate may exceed a ceiling: both are measurements (docs/rationale.md).
constexpr double kCeilingTolerance = 0.10;

// One process and what it shares its link with.
struct CeilingUse {
  std::string process;  // "worker", "shard"; "host": of an emulated one, all its processes
  std::string over;     // "a link", "loopback TCP", "Unix sockets", "shared memory"
  // Payload, of the busier direction, over the time in which it can have travelled. Infinite where
  // payload travelled in no time.
  double bytes_per_s = 0;
  double ceiling_bytes_per_s = 0;

  double share() const { return bytes_per_s / ceiling_bytes_per_s; }
  bool is_possible() const { return share() <= 1 + kCeilingTolerance; }
};

// "11.2 MB/s over a link of 11.9 MB/s"
std::string DescribeUse(const CeilingUse& use);

// The ceilings that the runs of one comparison know of. A probe sees a moment; what was faster in
// another is no less possible, so that of several probes of one machine or link the best counts.
class CeilingBook {
 public:
  explicit CeilingBook(const std::vector<RunResult>& runs);

  // Of the process that came nearest to its ceiling, or exceeded it most. Nothing where none was
  // probed, where no payload travels, where so little does that an emulated link lets it pass at
  // once, and where its times cannot be told: a library's own, of `ps backup`, after a loss.
  absl::optional<CeilingUse> MostUsed(const RunResult& run) const;

  // By host name.
  const std::map<std::string, Ceilings>& machines() const { return machines_; }

 private:
  using Link = std::tuple<std::string, double, double>;  // host name, Mbit/s and us asked for

  absl::optional<CeilingUse> UseOfLink(const RunResult& run, const PayloadFlow& flow) const;
  absl::optional<CeilingUse> UseOfMachine(const RunResult& run, const PayloadFlow& flow) const;

  std::map<std::string, Ceilings> machines_;
  std::map<Link, double> probed_mbit_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CEILINGS_H_
