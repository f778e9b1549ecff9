// Sees a network namespace vanish without keeping it alive.
#ifndef RINGSIDE_TESTS_EXPERIMENTS_NETWORK_NAMESPACE_WITNESS_H_
#define RINGSIDE_TESTS_EXPERIMENTS_NETWORK_NAMESPACE_WITNESS_H_

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "experiments/network/iproute2.h"
#include "experiments/network/network_namespace.h"
#include "tests/testing/process.h"

namespace ringside {

// Within which all of a network is gone when its processes are. gRPC lets TCP go on trying for a
// minute (TCP_USER_TIMEOUT), which may not count.
constexpr absl::Duration kTakedown = absl::Seconds(15);

// Paths, for NamespaceWitness, of the network namespaces that a process has open: all of which the
// emulated network that it has made consists.
inline std::vector<std::string> NamespacesHeldBy(pid_t pid) {
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(absl::StrCat("/proc/", pid, "/fd"))) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (absl::StartsWith(target, "net:[")) paths.push_back(entry.path().string());
  }
  return paths;
}

// A pair of devices, one in a namespace of the witness's own and one in that which is watched: the
// kernel removes both when it takes down the namespace of either.
class NamespaceWitness {
 public:
  // `path`: NetworkNamespace::path or /proc/<pid>/ns/net.
  explicit NamespaceWitness(const std::string& path) {
    auto space = NetworkNamespace::Create();
    EXPECT_TRUE(space.ok()) << space.status();
    space_ = std::make_unique<NetworkNamespace>(*std::move(space));
    const absl::Status status = RunCommands(
        "ip", *space_,
        absl::StrCat("link add witness type veth peer name watched netns ", path, "\n"));
    EXPECT_TRUE(status.ok()) << status;
  }

  bool there() const { return RunCommands("ip", *space_, "link show dev witness\n").ok(); }
  bool AwaitGone(absl::Duration timeout) const {
    return AwaitCondition([this] { return !there(); }, timeout);
  }

 private:
  std::unique_ptr<NetworkNamespace> space_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_NETWORK_NAMESPACE_WITNESS_H_
