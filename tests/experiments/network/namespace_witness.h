// Sees a network namespace vanish without keeping it alive.
#ifndef RINGSIDE_TESTS_EXPERIMENTS_NETWORK_NAMESPACE_WITNESS_H_
#define RINGSIDE_TESTS_EXPERIMENTS_NETWORK_NAMESPACE_WITNESS_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "experiments/network/iproute2.h"
#include "experiments/network/network_namespace.h"
#include "tests/testing/process.h"

namespace ringside {

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
