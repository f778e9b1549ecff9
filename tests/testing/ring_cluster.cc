#include "tests/testing/ring_cluster.h"

#include <thread>

#include "common/check.h"
#include "common/status_macros.h"

namespace ringside {

BindAddress LoopbackBind() { return {"127.0.0.1", "127.0.0.1", {}}; }

std::vector<absl::Status> RunRanks(int ranks, const std::function<absl::Status(int)>& body) {
  std::vector<absl::Status> statuses(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] { statuses[rank] = body(rank); });
  }
  for (std::thread& thread : threads) thread.join();
  return statuses;
}

std::vector<absl::StatusOr<std::unique_ptr<TcpRingLink>>> ConnectRing(
    int ranks, const std::function<void(int, TcpRingLink::Config*)>& adjust) {
  std::vector<std::unique_ptr<TcpRingListener>> listeners;
  for (int rank = 0; rank < ranks; ++rank) {
    absl::StatusOr<std::unique_ptr<TcpRingListener>> listener =
        TcpRingListener::Open(LoopbackBind());
    RINGSIDE_CHECK(listener.ok());
    listeners.push_back(*std::move(listener));
  }
  std::vector<TcpRingLink::Config> configs(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    configs[rank].group = Group::World(ranks, rank, /*generation=*/3);
    configs[rank].right = listeners[(rank + 1) % ranks]->endpoint();
    configs[rank].token = "secret";
    configs[rank].plan_hash = "plan";
    configs[rank].connect_timeout = absl::Seconds(30);
    if (adjust != nullptr) adjust(rank, &configs[rank]);
  }
  std::vector<absl::StatusOr<std::unique_ptr<TcpRingLink>>> links(ranks);
  RunRanks(ranks, [&](int rank) {
    links[rank] = TcpRingLink::Connect(std::move(listeners[rank]), configs[rank]);
    return links[rank].status();
  });
  return links;
}

absl::StatusOr<std::vector<std::unique_ptr<AllReducer>>> MakeRingReducers(
    int ranks, int64_t segment_bytes, absl::Duration step_timeout) {
  std::vector<absl::StatusOr<std::unique_ptr<TcpRingLink>>> links(1);
  if (ranks > 1) links = ConnectRing(ranks);
  std::vector<std::unique_ptr<AllReducer>> reducers;
  for (int rank = 0; rank < ranks; ++rank) {
    RingAllReducer::Config config;
    config.group = Group::World(ranks, rank, /*generation=*/3);
    if (ranks > 1) {
      RINGSIDE_ASSIGN_OR_RETURN(config.link, std::move(links[rank]));
    }
    config.segment_bytes = segment_bytes;
    config.step_timeout = step_timeout;
    RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<RingAllReducer> reducer,
                              RingAllReducer::Create(std::move(config)));
    reducers.push_back(std::move(reducer));
  }
  return reducers;
}

}  // namespace ringside
