// Slurm's compressed lists of hosts and of tasks per node. Pure.
#ifndef RINGSIDE_COMMON_LAUNCH_HOSTLIST_H_
#define RINGSIDE_COMMON_LAUNCH_HOSTLIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ringside {

// More entries than this are refused: no machine is that large, but a typing error in a range is.
constexpr int kMaxHostlistEntries = 65536;

// "n[0-3,7],gpu-a[001-003,010]-ib[0-1]" -> n0, n1, n2, n3, n7, gpu-a001-ib0, gpu-a001-ib1, ...
// Several brackets in one name are crossed, the rightmost fastest; a range keeps the width of its
// first number ("[08-10]" -> 08, 09, 10). The order is that of `scontrol show hostnames`.
// INVALID_ARGUMENT: names the text and what is wrong with it.
absl::StatusOr<std::vector<std::string>> ExpandHostlist(absl::string_view text);

// "2(x2),1" -> 2, 2, 1. INVALID_ARGUMENT: names the text and what is wrong with it.
absl::StatusOr<std::vector<int>> ExpandTasksPerNode(absl::string_view text);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_LAUNCH_HOSTLIST_H_
