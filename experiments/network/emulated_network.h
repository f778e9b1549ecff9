// Hosts on one machine with a network between them that is slow in the way that was asked for.
//
// What is emulated: the bandwidth of each host, each way (token buckets at both ends of its wire),
// and the latency between hosts (a delay line). What is not: CPUs, memory and disks stay the
// machine's own, and traffic within a host is not shaped. docs/network.md tells more.
//
// Everything lives in network namespaces that only this process and the processes that it puts
// there hold (network_namespace.h): when they have ended, however that came, the kernel takes all
// down within seconds, also where connections were cut in mid-stream (network_commands.h). Nothing
// of the machine's own network is changed or used. Thread-compatible.
#ifndef RINGSIDE_EXPERIMENTS_NETWORK_EMULATED_NETWORK_H_
#define RINGSIDE_EXPERIMENTS_NETWORK_EMULATED_NETWORK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/config/network_spec.h"
#include "experiments/network/delay_line.h"
#include "experiments/network/network_namespace.h"

namespace ringside {

class EmulatedNetwork {
 public:
  static constexpr int kMaxHosts = 256;

  struct Config {
    NetworkSpec spec;  // not empty
    int hosts = 0;     // 1 to kMaxHosts
    // The TCP congestion control that hosts are to have by default; empty, or not to be had: cubic,
    // else reno, else what the kernel gives.
    std::string congestion_control;
  };

  // Main thread only (child_process.h). PERMISSION_DENIED, FAILED_PRECONDITION, UNAVAILABLE: this
  // process may not, or iproute2 or something of the kernel is missing; the message says what.
  static absl::StatusOr<std::unique_ptr<EmulatedNetwork>> Create(Config config);

  const NetworkSpec& spec() const { return config_.spec; }
  int hosts() const { return config_.hosts; }
  const NetworkNamespace& host(int index) const { return hosts_[index]; }
  // Beside the hosts, with a wire that is not shaped: hosts reach what listens here at
  // ControlAddress() (network_commands.h). On the way to a host the latency does not count.
  const NetworkNamespace& control_host() const { return control_host_; }
  // Where all wires meet. Not for sockets.
  const NetworkNamespace& hub() const { return hub_; }
  // In force on the hosts.
  const std::string& congestion_control() const { return congestion_control_; }
  // Of the delay line; 0 where there is none.
  int64_t refused_frames() const { return line_ == nullptr ? 0 : line_->refused_frames(); }

 private:
  EmulatedNetwork(Config config, NetworkNamespace hub, NetworkNamespace control_host)
      : config_(std::move(config)), hub_(std::move(hub)), control_host_(std::move(control_host)) {}

  absl::Status AddHost();
  absl::Status Connect();

  const Config config_;
  const NetworkNamespace hub_;
  const NetworkNamespace control_host_;
  std::vector<NetworkNamespace> hosts_;
  std::string congestion_control_;
  std::vector<DelayLine::Wire> wires_;  // until the line has them
  std::unique_ptr<DelayLine> line_;
};

// Whether this process can emulate `spec` here: tries it with one host. Errors as Create's. Main
// thread only.
absl::Status CanEmulate(const NetworkSpec& spec);
// The same for any bandwidth and latency.
absl::Status CanEmulate();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_NETWORK_EMULATED_NETWORK_H_
