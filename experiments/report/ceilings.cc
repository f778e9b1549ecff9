#include "experiments/report/ceilings.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "experiments/report/number_text.h"
#include "experiments/report/payload_flow.h"
#include "experiments/report/transport.h"

namespace ringside {
namespace {

constexpr double kBytesPerMbit = 1e6 / 8;
// A link that gave less than this share of what was asked for was not what held the probe back: the
// machine was, which has more to give at one moment than at another.
constexpr double kLeastProbedShare = 0.85;

std::string HostOf(const RunResult& run) {
  return run.worker_results().empty() ? "" : run.worker_results(0).process().hostname();
}

void KeepBest(const SocketCeiling& other, SocketCeiling* best) {
  best->set_bytes_per_s(std::max(best->bytes_per_s(), other.bytes_per_s()));
  if (other.round_trip_us() <= 0) return;
  best->set_round_trip_us(best->round_trip_us() > 0
                              ? std::min(best->round_trip_us(), other.round_trip_us())
                              : other.round_trip_us());
}

void KeepBest(const MemoryCeiling& other, MemoryCeiling* best) {
  best->set_copy_bytes_per_s(std::max(best->copy_bytes_per_s(), other.copy_bytes_per_s()));
  best->set_add_bytes_per_s(std::max(best->add_bytes_per_s(), other.add_bytes_per_s()));
}

void KeepBest(const Ceilings& other, Ceilings* best) {
  KeepBest(other.tcp(), best->mutable_tcp());
  KeepBest(other.uds(), best->mutable_uds());
  KeepBest(other.one_core(), best->mutable_one_core());
  KeepBest(other.all_cores(), best->mutable_all_cores());
  best->set_cached_copy_bytes_per_s(
      std::max(best->cached_copy_bytes_per_s(), other.cached_copy_bytes_per_s()));
  best->set_cores(std::max(best->cores(), other.cores()));
}

double RateOf(double bytes, double seconds) {
  return seconds > 0 ? bytes / seconds : std::numeric_limits<double>::infinity();
}

// How many connections of a process can be at their ceiling at once: each keeps two cores busy.
double AtOnce(int peers, int cores) { return std::min<double>(peers, std::max(1.0, cores / 2.0)); }

// Of the transports, as TransportOf names them, the one that can do most; its rate is 0 where none
// of them was probed. A server over shared memory reads from all cores.
CeilingUse CeilingOf(const RunResult& run, const Ceilings& machine, int peers) {
  CeilingUse most;
  const auto consider = [&most](const char* over, double bytes_per_s) {
    if (bytes_per_s <= most.ceiling_bytes_per_s) return;
    most.over = over;
    most.ceiling_bytes_per_s = bytes_per_s;
  };
  const double at_once = AtOnce(peers, machine.cores());
  for (const absl::string_view transport : absl::StrSplit(TransportOf(run), '+')) {
    if (transport == "tcp" || transport == "grpc")
      consider("loopback TCP", machine.tcp().bytes_per_s() * at_once);
    if (transport == "uds" || transport == "grpc_uds")
      consider("Unix sockets", machine.uds().bytes_per_s() * at_once);
    if (transport == "shm") {
      consider("shared memory", machine.cached_copy_bytes_per_s() *
                                    (run.shards() > 0 ? std::max(1, machine.cores()) : 1));
    }
  }
  return most;
}

}  // namespace

std::string DescribeUse(const CeilingUse& use) {
  return absl::StrCat(
      std::isinf(use.bytes_per_s) ? "payload in no time" : BytesPerSecond(use.bytes_per_s),
      " over ", use.over, " of ", BytesPerSecond(use.ceiling_bytes_per_s));
}

CeilingBook::CeilingBook(const std::vector<RunResult>& runs) {
  for (const RunResult& run : runs) {
    if (run.has_ceilings()) KeepBest(run.ceilings(), &machines_[HostOf(run)]);
    const NetworkReport& network = run.network();
    double& best = probed_mbit_[{HostOf(run), network.bandwidth_mbit(), network.latency_us()}];
    for (const LinkProbe& probe : network.probes()) best = std::max(best, probe.bandwidth_mbit());
  }
}

absl::optional<CeilingUse> CeilingBook::UseOfLink(const RunResult& run,
                                                  const PayloadFlow& flow) const {
  const NetworkReport& network = run.network();
  const double asked_mbit = network.bandwidth_mbit();
  const double probed_mbit = probed_mbit_.at({HostOf(run), asked_mbit, network.latency_us()});
  // Older results do not tell the burst.
  if (asked_mbit <= 0 || probed_mbit <= 0 || network.burst_bytes() <= 0) return absl::nullopt;
  const double at_once = flow.starts * static_cast<double>(network.burst_bytes());
  if (flow.bytes_per_step <= at_once) return absl::nullopt;
  CeilingUse use;
  use.process = flow.process;
  use.over = "a link";
  use.bytes_per_s = RateOf(flow.bytes_per_step - at_once, flow.seconds);
  use.ceiling_bytes_per_s = kBytesPerMbit * (probed_mbit < kLeastProbedShare * asked_mbit
                                                 ? asked_mbit
                                                 : std::min(probed_mbit, asked_mbit));
  return use;
}

absl::optional<CeilingUse> CeilingBook::UseOfMachine(const RunResult& run,
                                                     const PayloadFlow& flow) const {
  const auto machine = machines_.find(HostOf(run));
  if (!run.has_ceilings() || machine == machines_.end()) return absl::nullopt;
  CeilingUse use = CeilingOf(run, machine->second, flow.peers);
  if (use.ceiling_bytes_per_s <= 0) return absl::nullopt;
  use.process = flow.process;
  use.bytes_per_s = RateOf(flow.bytes_per_step, flow.seconds);
  return use;
}

absl::optional<CeilingUse> CeilingBook::MostUsed(const RunResult& run) const {
  absl::optional<CeilingUse> most;
  for (const PayloadFlow& flow : PayloadFlows(run)) {
    const absl::optional<CeilingUse> use =
        run.has_network() ? UseOfLink(run, flow) : UseOfMachine(run, flow);
    if (use.has_value() && (!most.has_value() || use->share() > most->share())) most = use;
  }
  return most;
}

}  // namespace ringside
