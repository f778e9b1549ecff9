// What `ringside doctor` reads from the machine. Reading is here, judging in checks.h.
#ifndef RINGSIDE_EXPERIMENTS_DOCTOR_SYSTEM_FACTS_H_
#define RINGSIDE_EXPERIMENTS_DOCTOR_SYSTEM_FACTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "common/config/job_config.h"
#include "common/network/endpoint.h"

namespace ringside {

struct SystemFacts {
  int cores = 0;  // that this process may use
  int64_t memory_bytes = 0;
  std::string blas_path;              // what the loader resolves libblas.so.3 to; empty: nothing
  std::string huge_pages;             // e.g. "always [madvise] never"; empty: the kernel has none
  std::string shmem_huge_pages;       // the same for shared memory
  absl::optional<int64_t> shm_bytes;  // size of /dev/shm
  std::string congestion_control;
  std::string available_congestion_controls;
  int64_t open_files = 0;      // soft limit
  int64_t open_files_max = 0;  // hard limit
  std::string port_range;      // as given; empty: any
  absl::Status port_range_status;
  int ports = 0;       // in the range; 0: any
  int free_ports = 0;  // of those
  std::vector<std::pair<std::string, std::string>> versions;
  std::string binary_dir;
  std::vector<std::string> missing_binaries;  // of ours
  bool gnuplot = false;
  absl::Status network_emulation;  // whether --network can be had
  absl::StatusOr<std::string> data = absl::UnknownError("not looked for");  // what there is of it
  bool data_given = false;                                                  // by flags
};

struct SystemQuestions {
  std::string binary_dir;
  std::string search_path;  // PATH
  std::string port_range;
  JobConfig job;            // whose data is looked for
  bool data_given = false;  // by flags
};

SystemFacts ReadSystemFacts(const SystemQuestions& questions);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DOCTOR_SYSTEM_FACTS_H_
