// What the operating system says about this process, for the results.
#ifndef RINGSIDE_COMMON_PROCESS_INFO_H_
#define RINGSIDE_COMMON_PROCESS_INFO_H_

#include "results.pb.h"

namespace ringside {

// Host name, pid, affinity mask, CPU seconds (user and system, since the process started), peak
// resident memory, and as facts "congestion_control" (the network namespace's default) and
// "huge_pages" where the kernel tells them. Thread-safe.
ProcessInfo ReadProcessInfo();

}  // namespace ringside

#endif  // RINGSIDE_COMMON_PROCESS_INFO_H_
