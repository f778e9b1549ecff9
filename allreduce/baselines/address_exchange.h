// How ranks tell each other where they are to be reached.
#ifndef RINGSIDE_ALLREDUCE_BASELINES_ADDRESS_EXCHANGE_H_
#define RINGSIDE_ALLREDUCE_BASELINES_ADDRESS_EXCHANGE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ringside {

// Gives every rank the entries of all, by rank. Called by all ranks of a group, in the same order;
// blocks until the last one is here.
using AddressExchange =
    std::function<absl::StatusOr<std::vector<std::string>>(const std::string& mine)>;

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BASELINES_ADDRESS_EXCHANGE_H_
