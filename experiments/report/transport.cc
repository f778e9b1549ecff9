#include "experiments/report/transport.h"

#include <set>

#include "absl/strings/str_join.h"
#include "experiments/report/series.h"

namespace ringside {
namespace {

// As the workers report them; gRPC over TCP where they do not. It is called by the ring's name for
// the same transport.
std::set<std::string> ServerLinks(const RunResult& run) {
  std::set<std::string> links;
  for (const WorkerResult& worker : run.worker_results()) {
    const auto found = worker.process().facts().find("ps_link");
    const bool told = found != worker.process().facts().end() && found->second != "grpc_tcp";
    links.insert(told ? found->second : "grpc");
  }
  return links;
}

std::set<std::string> LinksOf(const RunResult& run) {
  if (IsOneProcess(run.strategy())) return {};
  if (run.shards() > 0) return ServerLinks(run);
  std::set<std::string> links;
  for (const WorkerResult& worker : run.worker_results()) {
    for (const char* side : {"left_link", "right_link"}) {
      const auto found = worker.process().facts().find(side);
      if (found != worker.process().facts().end()) links.insert(found->second);
    }
  }
  return links;
}

}  // namespace

std::string TransportOf(const RunResult& run) { return absl::StrJoin(LinksOf(run), "+"); }

std::string TransportOf(const std::vector<const RunResult*>& runs) {
  std::set<std::string> links;
  for (const RunResult* run : runs) {
    for (const std::string& link : LinksOf(*run)) links.insert(link);
  }
  return absl::StrJoin(links, "+");
}

bool UsesTcp(const RunResult& run) {
  const std::set<std::string> links = LinksOf(run);
  return links.count("tcp") + links.count("grpc") > 0;
}

}  // namespace ringside
