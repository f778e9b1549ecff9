// The environment that the launcher gives its children. Pure.
#ifndef RINGSIDE_EXPERIMENTS_CHILD_ENVIRONMENT_H_
#define RINGSIDE_EXPERIMENTS_CHILD_ENVIRONMENT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/launch/launch_identity.h"

namespace ringside {

// `base` without what names another launcher's ranks (a job of ours may itself run under Slurm,
// torchrun or mpirun, and the flags that we give would then contradict the environment), with the
// job's token, `threads` for the BLAS (which LibTorch does not pass on to OpenBLAS) and no fork
// handlers of gRPC. As "NAME=value".
std::vector<std::string> ChildEnvironment(const Environment& base, absl::string_view token,
                                          int threads);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CHILD_ENVIRONMENT_H_
