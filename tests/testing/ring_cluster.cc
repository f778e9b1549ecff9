#include "tests/testing/ring_cluster.h"

#include <thread>
#include <utility>

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

std::vector<absl::StatusOr<MadeReducer>> ConnectRanks(
    int ranks, const std::function<void(int, ReducerConfig*)>& adjust) {
  std::vector<std::unique_ptr<DataPorts>> ports;
  std::vector<PeerAddress> addresses;
  for (int rank = 0; rank < ranks; ++rank) {
    absl::StatusOr<std::unique_ptr<DataPorts>> opened = DataPorts::Open(LoopbackBind());
    RINGSIDE_CHECK(opened.ok());
    addresses.push_back((*opened)->address());
    ports.push_back(*std::move(opened));
  }
  std::vector<ReducerConfig> configs(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    ReducerConfig& config = configs[rank];
    config.group = Group::World(ranks, rank, /*generation=*/3);
    config.peers = addresses;
    config.link = "tcp";
    config.max_elements = 1 << 16;
    config.token = "secret";
    config.plan_hash = "plan";
    config.step_timeout = absl::Seconds(30);
    config.connect_timeout = absl::Seconds(30);
    if (adjust != nullptr) adjust(rank, &config);
  }
  std::vector<absl::StatusOr<MadeReducer>> made(ranks);
  RunRanks(ranks, [&](int rank) {
    made[rank] = MakeReducer(std::move(ports[rank]), configs[rank]);
    return made[rank].status();
  });
  return made;
}

absl::StatusOr<std::vector<std::unique_ptr<AllReducer>>> MakeReducers(
    int ranks, const std::function<void(int, ReducerConfig*)>& adjust) {
  std::vector<std::unique_ptr<AllReducer>> reducers;
  for (absl::StatusOr<MadeReducer>& made : ConnectRanks(ranks, adjust)) {
    RINGSIDE_RETURN_IF_ERROR(made.status());
    reducers.push_back(std::move(made->reducer));
  }
  return reducers;
}

absl::StatusOr<std::vector<std::unique_ptr<AllReducer>>> MakeRingReducers(
    int ranks, int64_t segment_bytes, absl::Duration step_timeout) {
  return MakeReducers(ranks, [=](int, ReducerConfig* config) {
    config->segment_bytes = segment_bytes;
    config->step_timeout = step_timeout;
  });
}

}  // namespace ringside
