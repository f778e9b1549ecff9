// Gloo's stock all-reduce algorithms over its TCP transport on the loopback interface, behind our
// interface: an opponent to measure against.
#ifndef RINGSIDE_ALLREDUCE_BASELINES_GLOO_GLOO_ALL_REDUCER_H_
#define RINGSIDE_ALLREDUCE_BASELINES_GLOO_GLOO_ALL_REDUCER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "allreduce/all_reducer.h"
#include "allreduce/baselines/address_exchange.h"
#include "common/mutex.h"

namespace gloo {
class Algorithm;
class Context;
}  // namespace gloo

namespace ringside {

// Gloo adds in an order of its own, so the bits are not those of our law; in its plain ring every
// rank has another order, so that the ranks' bits differ. It counts no bytes: traffic() is zero.
//
// An algorithm of Gloo is bound to one buffer for life, and binding is collective. So a sum whose
// `out` lies in the registered buffer works there, in place (after a copy where `in` is another
// buffer); any other one goes through a buffer of this object, with two copies. Either is bound at
// the first sum of its length and offset and kept. All ranks must agree in where their sums lie.
class GlooAllReducer final : public AllReducer {
 public:
  enum class Kind { kRing, kRingChunked, kBcube };

  struct Config {
    Kind kind = Kind::kRing;
    int rank = 0;
    int size = 1;
    absl::Span<float> registered;                // must outlive this object; may be empty
    absl::Duration timeout = absl::Seconds(60);  // of one wait for a peer
    AddressExchange exchange;
  };

  // Blocks until all ranks are connected. INVALID_ARGUMENT: bcube with an odd number of ranks above
  // 1. UNAVAILABLE: Gloo cannot connect; has its reason.
  static absl::StatusOr<std::unique_ptr<GlooAllReducer>> Create(const Config& config);
  ~GlooAllReducer() override;

  // INVALID_ARGUMENT: more than 2^29 - 1 elements, which Gloo cannot count. UNAVAILABLE: Gloo's own
  // error, a peer that is gone or silent among them; it names no suspect.
  absl::Status Sum(CollectiveId id, absl::Span<const float> in, absl::Span<float> out) override;

  // Closes the connections. Gloo may notice only when the timeout of a running wait is over.
  void Abort(absl::Status cause) override;

  TrafficCounters traffic() const override { return {}; }

 private:
  // A buffer and what is bound to it.
  //
  // Of bcube with more than one level there are two, which take turns: a rank that has finished may
  // start again before a peer of another level has read what it was sent last, and would overwrite
  // it. Between two runs of one object, a run of the other one makes sure that it has.
  struct Bound {
    std::vector<float> own;  // empty where the buffer is a part of the registered one
    std::vector<std::unique_ptr<gloo::Algorithm>> algorithms;
    size_t next = 0;
  };

  GlooAllReducer(const Config& config, std::shared_ptr<gloo::Context> context);
  absl::Status error() const;
  bool IsRegistered(absl::Span<const float> buffer) const;
  void SumInPlace(absl::Span<float> buffer);
  void SumThroughOwnBuffer(absl::Span<const float> in, absl::Span<float> out);
  std::unique_ptr<gloo::Algorithm> MakeAlgorithm(float* buffer, int elements) const;
  void RunIn(absl::Span<float> buffer, Bound* bound);

  const Kind kind_;
  const int size_;
  const absl::Span<float> registered_;
  const std::shared_ptr<gloo::Context> context_;
  std::map<std::pair<int64_t, int64_t>, Bound> bound_;  // by offset (-1: own buffer) and elements
  mutable Mutex mutex_;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);  // sticky
};

}  // namespace ringside

#endif  // RINGSIDE_ALLREDUCE_BASELINES_GLOO_GLOO_ALL_REDUCER_H_
