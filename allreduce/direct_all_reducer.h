// The all-reduce of ranks that share memory, without a ring: each folds its own chunk out of
// everybody's buffers, in law order, and writes the sum into all of them. Two hand-overs instead of
// 2 (N-1), and half of the ring's memory traffic; only for ranks on one host. Reported as "direct",
// never as the ring.
//
// Long sums:   all come to a meeting, with where their buffers are; rank r reads chunk r of all
//              ranks and writes the sum to all ranks; all meet again, and everything is done.
// Short sums:  every rank leaves a copy of its values in a slot that all can read; all meet; each
//              folds all of it for itself. One hand-over. There are two slots, used in turn: who
//              writes a slot again has met everybody once since, who therefore has read it.
//
// A sum of S bytes over N ranks is short where S <= 4 KiB (N - 1), up to a slot of 64 KiB: the more
// ranks, the dearer a meeting (measured, docs/rationale.md).
//
// Buffers outside of the shared arenas take part through windows of shared memory, part of every
// chunk at a time.
#ifndef RINGSIDE_ALLREDUCE_DIRECT_ALL_REDUCER_H_
#define RINGSIDE_ALLREDUCE_DIRECT_ALL_REDUCER_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "allreduce/all_reducer.h"
#include "allreduce/patience.h"
#include "allreduce/shm/direct_board.h"
#include "common/element_range.h"
#include "common/group.h"
#include "common/mutex.h"
#include "common/network/socket.h"
#include "common/shared_memory/own_memory.h"
#include "common/shared_memory/peer_memory.h"

namespace ringside {

class DirectAllReducer final : public AllReducer {
 public:
  struct Peer {
    std::unique_ptr<PeerMemory> memory;
    std::unique_ptr<Socket> socket;  // tells when the peer has gone
  };
  struct Config {
    Group group;
    std::unique_ptr<OwnMemory> memory;  // with kControlBytes and kStagingBytes
    std::vector<Peer> peers;            // by index in the group; none at the own index
    absl::Duration step_timeout = absl::Seconds(60);  // for one Sum
  };

  // Of OwnMemory.
  static constexpr int64_t kControlBytes = sizeof(DirectBoard);
  static constexpr int64_t kSlotBytes = 64 << 10;
  static constexpr int64_t kWindowBytes = 1 << 20;
  static constexpr int64_t kStagingBytes = 2 * kSlotBytes + 2 * kWindowBytes;

  // INVALID_ARGUMENT: peers that do not fit the group, a timeout that is not positive.
  static absl::StatusOr<std::unique_ptr<DirectAllReducer>> Create(Config config);

  // As AllReducer has it. An error says step, bucket, and who is missing or what a peer sums
  // instead.
  absl::Status Sum(CollectiveId id, absl::Span<const float> in, absl::Span<float> out) override;
  void Abort(absl::Status cause) override;
  // Bytes that this rank has read from and written to others' memory.
  TrafficCounters traffic() const override;

 private:
  // One Sum that is under way.
  struct Exchange {
    CollectiveId id;
    absl::Span<const float> in;
    absl::Span<float> out;
    absl::Time deadline;
  };

  explicit DirectAllReducer(Config config);

  int64_t size() const { return group_.size(); }
  absl::Status Run(const Exchange& exchange);
  absl::Status SumShort(const Exchange& exchange);
  absl::Status SumLong(const Exchange& exchange);
  absl::Status SumInWindows(const Exchange& exchange);
  // Folds this part of ins_ and writes it to all of outs_, which are that long altogether.
  void FoldOwn(ElementRange range, int64_t whole_elements);
  void Announce(const Exchange& exchange);
  // Whether all announce this very sum.
  absl::Status CheckAnnouncements(const Exchange& exchange) const;
  // Points ins_ and outs_ to everybody's arenas; false where a buffer lies in none.
  absl::StatusOr<bool> FindBuffers(const Exchange& exchange);
  // Blocks until all ranks have come.
  absl::Status Meet(absl::Time deadline);
  absl::Status CheckPeers(uint32_t ended);
  absl::Status MissingError() const;
  // Float at this byte of the staging memory of a rank.
  float* Staging(int index, int64_t offset) const;
  const DirectBoard& BoardOf(int index) const { return *boards_[index]; }
  void CountLong(int64_t own_elements);
  absl::Status FirstError() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Fail(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);

  // Constant after construction.
  const Group group_;
  const std::unique_ptr<OwnMemory> memory_;
  const std::vector<Peer> peers_;
  const absl::Duration step_timeout_;
  std::vector<DirectBoard*> boards_;  // by index
  std::vector<uint8_t*> staging_;     // by index
  SharedMeeting* const meeting_;      // on the first rank's board

  // Of the thread that sums.
  uint64_t sums_ = 0;
  uint64_t short_sums_ = 0;
  uint64_t meetings_ = 0;
  Patience patience_{kMemoryPatience};
  std::vector<const float*> ins_;  // by index
  std::vector<float*> outs_;
  std::vector<const float*> terms_;  // of the fold of the own chunk, in law order

  std::atomic<bool> interrupted_{false};
  std::atomic<int64_t> bytes_read_{0};
  std::atomic<int64_t> bytes_written_{0};
  std::atomic<int64_t> messages_read_{0};
  std::atomic<int64_t> messages_written_{0};

  Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

// By formula, what the rank at `index` of `size` reads and writes for one sum of each length, with
// L elements and N ranks: a short sum reads (N-1) L; a long one reads and writes (N-1) |chunk
// index|.
TrafficCounters DirectTraffic(absl::Span<const int64_t> elements, int size, int index);

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_DIRECT_ALL_REDUCER_H_
