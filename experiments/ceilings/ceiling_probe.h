// The ceilings of this machine for all runs of one command.
#ifndef RINGSIDE_EXPERIMENTS_CEILINGS_CEILING_PROBE_H_
#define RINGSIDE_EXPERIMENTS_CEILINGS_CEILING_PROBE_H_

#include "absl/types/optional.h"
#include "common/config/job_config.h"
#include "results.pb.h"

namespace ringside {

// Whether a job has several processes that meet over links of this machine itself. Those of an
// emulated network have ceilings of their own, the probes of its links.
bool NeedsCeilings(const JobConfig& job);

// Thread-compatible.
class CeilingProbe {
 public:
  // Probes when it is first called, for less than a second, and remembers. What cannot be probed is
  // logged and left unset. Nothing else should run meanwhile.
  const Ceilings& Get();

 private:
  absl::optional<Ceilings> ceilings_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CEILINGS_CEILING_PROBE_H_
