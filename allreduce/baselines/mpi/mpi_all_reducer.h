// MPI_Allreduce behind our interface: an opponent to measure against. The process must have been
// started by mpirun.
#ifndef RINGSIDE_ALLREDUCE_BASELINES_MPI_MPI_ALL_REDUCER_H_
#define RINGSIDE_ALLREDUCE_BASELINES_MPI_MPI_ALL_REDUCER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "allreduce/all_reducer.h"
#include "common/mutex.h"

namespace ringside {

// MPI_COMM_WORLD from MPI_Init to MPI_Finalize. One a process, once in its life; all calls from the
// thread that made it.
class MpiWorld {
 public:
  // UNAVAILABLE: MPI does not start. FAILED_PRECONDITION: it was started before.
  static absl::StatusOr<std::unique_ptr<MpiWorld>> Start();
  ~MpiWorld();
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  // "Open MPI v4.1.4"
  static std::string LibraryVersion();

 private:
  MpiWorld(int rank, int size) : rank_(rank), size_(size) {}
  const int rank_;
  const int size_;
};

// MPI adds in an order of its own, so the bits are not those of our law. It counts no bytes:
// traffic() is zero.
class MpiAllReducer final : public AllReducer {
 public:
  // Any number may share a world, which must outlive them.
  explicit MpiAllReducer(MpiWorld* world) : world_(world) {}

  // INVALID_ARGUMENT: unequal lengths, or more than 2^31 - 1 elements. UNAVAILABLE: MPI's own
  // error. MPI has no deadlines: a rank that is gone ends the others through mpirun.
  absl::Status Sum(CollectiveId id, absl::Span<const float> in, absl::Span<float> out) override;

  // Ends later sums. A running one cannot be woken: MPI has no call for that.
  void Abort(absl::Status cause) override;

  TrafficCounters traffic() const override { return {}; }

 private:
  MpiWorld* const world_;
  mutable Mutex mutex_;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);  // sticky
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BASELINES_MPI_MPI_ALL_REDUCER_H_
