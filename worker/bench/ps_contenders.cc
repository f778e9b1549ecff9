#include "worker/bench/ps_contenders.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ringside {

using Kind = PsContender::Kind;

std::vector<PsContender> PsContendersOf(const std::vector<std::string>& links,
                                        const std::vector<std::string>& server_links) {
  std::vector<PsContender> contenders;
  for (const std::string& link : links) {
    std::string ceiling = "memory";
    if (link == "shm") {
      contenders.push_back({ceiling, Kind::kMemory, "", ""});
    } else {
      ceiling = absl::StrCat("raw/", link);
      contenders.push_back({absl::StrCat(ceiling, "/callback"), Kind::kRawCallback, link, ""});
      contenders.push_back({absl::StrCat(ceiling, "/sync"), Kind::kRawSync, link, ""});
    }
    if (std::find(server_links.begin(), server_links.end(), link) == server_links.end()) continue;
    contenders.push_back({absl::StrCat("ps/", link), Kind::kServer, link, ceiling});
  }
  contenders.push_back({"add", Kind::kAdd, "", ""});
  contenders.push_back({"fold", Kind::kFold, "", "add"});
  return contenders;
}

absl::StatusOr<std::vector<PsContender>> SelectPsContenders(const std::vector<PsContender>& all,
                                                            const std::vector<std::string>& names) {
  std::vector<PsContender> selected;
  for (const PsContender& each : all) {
    if (names.empty() || std::find(names.begin(), names.end(), each.name) != names.end()) {
      selected.push_back(each);
    }
  }
  for (const std::string& name : names) {
    const auto has_name = [&name](const PsContender& each) { return each.name == name; };
    if (std::any_of(all.begin(), all.end(), has_name)) continue;
    const auto append = [](std::string* text, const PsContender& each) {
      absl::StrAppend(text, each.name);
    };
    return absl::InvalidArgumentError(absl::StrCat("--contenders: no \"", name,
                                                   "\" over these links; there are ",
                                                   absl::StrJoin(all, ", ", append)));
  }
  return selected;
}

absl::StatusOr<PsContender> FindPsContender(absl::string_view name) {
  const std::vector<std::string> links = {"grpc_tcp", "grpc_uds", "shm"};
  for (PsContender& each : PsContendersOf(links, links)) {
    if (each.name == name) return std::move(each);
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown contender \"", name, "\""));
}

bool IsCeiling(absl::string_view ceiling, absl::string_view name) {
  return !ceiling.empty() &&
         (name == ceiling || absl::StartsWith(name, absl::StrCat(ceiling, "/")));
}

}  // namespace ringside
