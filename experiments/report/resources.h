// What a run had at its disposal. Pure.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_RESOURCES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RESOURCES_H_

#include "results.pb.h"

namespace ringside {

struct Resources {
  int hosts = 0;  // with a worker or a shard on it; those of an emulated network where there is one
  int cores = 0;  // that workers or shards were allowed to run on, over all machines; 0: not known
};

Resources ResourcesOf(const RunResult& run);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RESOURCES_H_
