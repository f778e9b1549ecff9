#include "experiments/network/emulated_network.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "experiments/network/iproute2.h"
#include "experiments/network/network_commands.h"
#include "experiments/network/tap_device.h"

namespace ringside {
namespace {

// Of the network namespace of the calling thread.
constexpr char kCongestionControl[] = "/proc/sys/net/ipv4/tcp_congestion_control";

// The first one of `wanted` that the kernel allows, for new sockets of the calling thread's
// namespace; returns what is in force.
std::string SetCongestionControl(const std::vector<std::string>& wanted) {
  std::string in_force;
  for (const std::string& name : wanted) {
    if (name.empty()) continue;
    std::ofstream(kCongestionControl) << name << std::endl;
    std::ifstream file(kCongestionControl);
    if (std::getline(file, in_force) && in_force == name) break;
  }
  return in_force;
}

absl::Status NotHere(absl::Status status, const NetworkSpec& spec) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("--network=", ToString(spec),
                                                  ": cannot be emulated here: ", status.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<EmulatedNetwork>> EmulatedNetwork::Create(Config config) {
  RINGSIDE_CHECK(!config.spec.empty() && config.hosts >= 1 && config.hosts <= kMaxHosts);
  absl::StatusOr<NetworkNamespace> hub = NetworkNamespace::Create();
  if (!hub.ok()) return NotHere(hub.status(), config.spec);
  absl::StatusOr<NetworkNamespace> control_host = NetworkNamespace::Create();
  if (!control_host.ok()) return NotHere(control_host.status(), config.spec);
  auto network = absl::WrapUnique(
      new EmulatedNetwork(std::move(config), *std::move(hub), *std::move(control_host)));
  absl::Status status = RunCommands("ip", network->hub_, HubDevices());
  if (status.ok()) {
    status = RunCommands("ip", network->control_host_,
                         ControlDevices(network->spec(), network->hub_.path()));
  }
  while (status.ok() && static_cast<int>(network->hosts_.size()) < network->hosts())
    status = network->AddHost();
  if (status.ok()) status = network->Connect();
  if (!status.ok()) return NotHere(status, network->spec());
  return network;
}

absl::Status EmulatedNetwork::AddHost() {
  const int index = static_cast<int>(hosts_.size());
  RINGSIDE_ASSIGN_OR_RETURN(NetworkNamespace host, NetworkNamespace::Create());
  if (spec().latency_us > 0) {
    DelayLine::Wire wire;
    RINGSIDE_RETURN_IF_ERROR(host.Run([&wire] {
      absl::StatusOr<FileDescriptor> device = OpenTapDevice(kHostDevice);
      if (device.ok()) wire.host = *std::move(device);
      return device.status();
    }));
    RINGSIDE_RETURN_IF_ERROR(hub_.Run([&wire, index] {
      absl::StatusOr<FileDescriptor> device = OpenTapDevice(PortName(index));
      if (device.ok()) wire.hub = *std::move(device);
      return device.status();
    }));
    wires_.push_back(std::move(wire));
  }
  RINGSIDE_RETURN_IF_ERROR(RunCommands("ip", host, HostDevices(spec(), index, hub_.path())));
  RINGSIDE_RETURN_IF_ERROR(RunCommands("tc", host, HostShaping(spec())));
  RINGSIDE_RETURN_IF_ERROR(host.Run([this] {
    congestion_control_ = SetCongestionControl({config_.congestion_control, "cubic", "reno"});
    return absl::OkStatus();
  }));
  hosts_.push_back(std::move(host));
  return absl::OkStatus();
}

absl::Status EmulatedNetwork::Connect() {
  RINGSIDE_RETURN_IF_ERROR(RunCommands("ip", hub_, PortDevices(spec(), hosts())));
  RINGSIDE_RETURN_IF_ERROR(RunCommands("tc", hub_, PortShaping(spec(), hosts())));
  if (wires_.empty()) return absl::OkStatus();
  RINGSIDE_ASSIGN_OR_RETURN(
      line_, DelayLine::Start(std::move(wires_), absl::Microseconds(spec().latency_us)));
  return absl::OkStatus();
}

absl::Status CanEmulate(const NetworkSpec& spec) {
  EmulatedNetwork::Config config;
  config.spec = spec;
  config.hosts = 1;
  return EmulatedNetwork::Create(std::move(config)).status();
}

absl::Status CanEmulate() {
  NetworkSpec spec;
  spec.bandwidth_mbit = 1000;
  spec.latency_us = 100;
  return CanEmulate(spec);
}

}  // namespace ringside
