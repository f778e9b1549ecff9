#include "experiments/child_environment.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

bool NamesForeignRank(absl::string_view name) {
  constexpr absl::string_view kPrefixes[] = {"SLURM_", "OMPI_", "PMI_", "PMIX_", "TORCHELASTIC_"};
  constexpr absl::string_view kNames[] = {
      "RANK",        "WORLD_SIZE",  "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK",
      "MASTER_ADDR", "MASTER_PORT", "ROLE_RANK",  "ROLE_WORLD_SIZE"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [name](absl::string_view prefix) { return absl::StartsWith(name, prefix); }) ||
         std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

std::vector<std::string> ChildEnvironment(const Environment& base, absl::string_view token,
                                          int threads) {
  Environment environment;
  for (const auto& [name, value] : base) {
    if (!NamesForeignRank(name)) environment[name] = value;
  }
  environment["RINGSIDE_TOKEN"] = std::string(token);
  environment["GRPC_ENABLE_FORK_SUPPORT"] = "0";
  environment["OPENBLAS_NUM_THREADS"] = absl::StrCat(threads);
  environment["OMP_NUM_THREADS"] = absl::StrCat(threads);
  std::vector<std::string> texts;
  for (const auto& [name, value] : environment) texts.push_back(absl::StrCat(name, "=", value));
  return texts;
}

}  // namespace ringside
