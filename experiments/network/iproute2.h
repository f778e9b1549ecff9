// Runs `ip` and `tc` of iproute2 in a network namespace.
#ifndef RINGSIDE_EXPERIMENTS_NETWORK_IPROUTE2_H_
#define RINGSIDE_EXPERIMENTS_NETWORK_IPROUTE2_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "experiments/network/network_namespace.h"

namespace ringside {

// Lets `tool`, "ip" or "tc", carry out `commands`, one a line, in `space`; nothing where there are
// none. Main thread only (child_process.h).
// FAILED_PRECONDITION: the tool is not installed; UNAVAILABLE: it refuses a command, with the
// command and what it says.
absl::Status RunCommands(const std::string& tool, const NetworkNamespace& space,
                         absl::string_view commands);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_NETWORK_IPROUTE2_H_
