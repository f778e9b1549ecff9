// NonFiniteCensus by way of the job's coordinator.
//
// Where lost shards are replaced, one worker may have the sum of a step and ask, while another
// lacks a part of it and waits for all, in order to make a loss good. So there the census is a
// meeting that ends, for all alike, with the first replacement of the job; after that nobody asks.
#ifndef RINGSIDE_WORKER_COORDINATOR_CENSUS_H_
#define RINGSIDE_WORKER_COORDINATOR_CENSUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/coordinator/coordinator_client.h"
#include "worker/synchronizers/non_finite.h"

namespace ringside {

class CoordinatorCensus final : public NonFiniteCensus {
 public:
  // `client` outlives the object. `timeout`: how long to wait for the others' answers.
  CoordinatorCensus(CoordinatorClient* client, std::vector<MemberId> workers,
                    absl::Duration timeout);

  // ABORTED: a shard was lost, or the job has a verdict; the suspects are all workers. Other
  // errors are those of CoordinatorClient::GatherForAll.
  absl::StatusOr<std::vector<std::string>> Ask(int64_t step, const std::string& own) override;

 private:
  CoordinatorClient* const client_;
  const std::vector<MemberId> workers_;
  const absl::Duration timeout_;
  const std::string prefix_;  // of the meetings' names
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_COORDINATOR_CENSUS_H_
