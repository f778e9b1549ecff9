// What tests of coordinator and clients over real gRPC on loopback share.
#ifndef RINGSIDE_TESTS_COMMON_COORDINATOR_COORDINATOR_CLUSTER_H_
#define RINGSIDE_TESTS_COMMON_COORDINATOR_COORDINATOR_CLUSTER_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/coordinator/coordinator_client.h"
#include "common/coordinator/coordinator_server.h"
#include "common/coordinator/member_list.h"
#include "common/mutex.h"
#include "common/suspects.h"

namespace ringside {

constexpr absl::Duration kLong = absl::Seconds(30);
using Clients = std::vector<std::unique_ptr<CoordinatorClient>>;

inline BindAddress Loopback(int port = 0) {
  BindAddress bind;
  bind.listen_host = "127.0.0.1";
  bind.advertise_host = "127.0.0.1";
  bind.ports = {port, port};
  return bind;
}

inline CoordinatorServer::Config ServerConfig(absl::Duration lease = absl::Seconds(10)) {
  CoordinatorServer::Config config;
  config.bind = Loopback();
  config.lease = lease;
  return config;
}

inline std::unique_ptr<CoordinatorServer> StartServer(const CoordinatorServer::Config& config) {
  auto server = CoordinatorServer::Start(config);
  EXPECT_TRUE(server.ok()) << server.status();
  return server.ok() ? *std::move(server) : nullptr;
}

inline JoinRequest Request(const MemberId& id, int workers, int shards = 0) {
  JoinRequest request;
  *request.mutable_member()->mutable_id() = id;
  request.mutable_member()->set_data_endpoint(absl::StrCat("127.0.0.1:", 5000 + id.rank()));
  request.set_world_size(workers);
  request.set_num_shards(shards);
  return request;
}

inline CoordinatorClient::Config ClientConfig(const Endpoint& coordinator,
                                              absl::Duration join_timeout = kLong) {
  CoordinatorClient::Config config;
  config.coordinator = coordinator;
  config.join_timeout = join_timeout;
  return config;
}

// Runs `act(i)` for i in [0, count) in threads of their own.
inline void InParallel(int count, const std::function<void(int)>& act) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&act, i] { act(i); });
  for (std::thread& thread : threads) thread.join();
}

// Workers first, then shards.
inline Clients JoinAll(const CoordinatorServer& server, int workers, int shards = 0) {
  Clients clients(workers + shards);
  InParallel(workers + shards, [&](int i) {
    const MemberId id = i < workers ? WorkerId(i) : ShardId(i - workers);
    auto client =
        CoordinatorClient::Join(ClientConfig(server.endpoint()), Request(id, workers, shards));
    ASSERT_TRUE(client.ok()) << client.status();
    clients[i] = *std::move(client);
  });
  return clients;
}

// Waits for something that other threads bring about.
inline ::testing::AssertionResult Eventually(const std::function<bool()>& condition) {
  const absl::Time deadline = absl::Now() + kLong;
  while (!condition()) {
    if (absl::Now() > deadline) return ::testing::AssertionFailure() << "did not happen";
    std::this_thread::yield();
  }
  return ::testing::AssertionSuccess();
}

// Takes the verdict that a client learns.
class VerdictProbe {
 public:
  void Watch(CoordinatorClient* client) {
    client->SetVerdictHandler([this](const absl::Status& status) {
      MutexLock lock(&mutex_);
      EXPECT_TRUE(status_.ok()) << "called twice";
      status_ = status;
      when_ = absl::Now();
      changed_.NotifyAll();
    });
  }
  // OK when none comes.
  absl::Status Await() {
    const absl::Time deadline = absl::Now() + kLong;
    MutexLock lock(&mutex_);
    while (status_.ok() && changed_.WaitUntil(&mutex_, deadline)) {
    }
    return status_;
  }
  absl::Time when() {
    MutexLock lock(&mutex_);
    return when_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  absl::Time when_ ABSL_GUARDED_BY(mutex_);
};

inline std::string Message(const absl::Status& status) { return std::string(status.message()); }

inline void ExpectAborted(const absl::Status& status, const std::vector<MemberId>& culprits,
                          const std::string& message) {
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
  EXPECT_THAT(Message(status), ::testing::HasSubstr(message));
  EXPECT_TRUE(SameMembers(SuspectsOf(status), culprits)) << status;
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_COMMON_COORDINATOR_COORDINATOR_CLUSTER_H_
