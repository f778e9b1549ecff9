// How many threads of a run compute at the same time, against the cores that they have. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_CORE_LOAD_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CORE_LOAD_H_

#include <string>

#include "results.pb.h"

namespace ringside {

// Of the machine that has the most threads for a core. Emulated hosts share the cores of theirs.
struct CoreLoad {
  int threads = 0;  // --threads for each worker process, one for each shard
  int cores = 0;    // of the processes' affinity masks together; 0: not known

  bool oversubscribed() const { return cores > 0 && threads > cores; }
};

CoreLoad LoadOf(const RunResult& run);
CoreLoad LoadOf(const Cell& cell);

// "6 threads on 2 cores"
std::string LoadText(const CoreLoad& load);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CORE_LOAD_H_
