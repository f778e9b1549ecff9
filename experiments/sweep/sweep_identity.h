// What must not change within the result of one sweep: the spec, the build, the machine.
#ifndef RINGSIDE_EXPERIMENTS_SWEEP_SWEEP_IDENTITY_H_
#define RINGSIDE_EXPERIMENTS_SWEEP_SWEEP_IDENTITY_H_

#include <map>
#include <string>
#include <vector>

namespace ringside {

using SweepIdentity = std::map<std::string, std::string>;  // what -> its value

// Build commit and type, SHA-256 of `ringside`, `worker` and `ps_server` in `binary_dir`, host
// name, machine id, CPU model, cores, the CPUs that this process may use, and kernel: nothing that
// another boot changes. What the system does not tell, or a binary that is missing, is empty.
SweepIdentity BuildAndMachine(const std::string& binary_dir);

// "build commit was "1234" and is "5678"", for everything that differs. Pure.
std::vector<std::string> Differences(const SweepIdentity& before, const SweepIdentity& now);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SWEEP_SWEEP_IDENTITY_H_
