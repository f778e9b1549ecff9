// A queue that serves several flows fairly: start-time fair queueing (Goyal, Vin and Cheng 1996).
// Of flows that wait, each gets the same share of the service; a single one is served in order.
// Stands for what TCP connections do to each other in a network card, and bounded streams in a
// process. Deterministic. Thread-compatible.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_FAIR_QUEUE_H_
#define RINGSIDE_EXPERIMENTS_MODEL_FAIR_QUEUE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ringside {

template <typename Item>
class FairQueue {
 public:
  bool empty() const { return waiting_.empty(); }

  // `size` is the service that the item will take, in any unit.
  void Push(int64_t flow, double size, Item item) {
    double& end = ends_[flow];
    const double start = std::max(now_, end);
    end = start + size;
    waiting_.push({start, numbers_++, std::move(item)});
  }

  // Nobody waits and nobody is served: what came before counts no more. Whoever is served at once
  // then needs no turn.
  void Rest() {
    if (ends_.empty()) return;
    ends_.clear();
    now_ = 0;
  }

  // REQUIRES: !empty().
  Item Pop() {
    Item item = waiting_.top().item;
    now_ = waiting_.top().start;
    waiting_.pop();
    return item;
  }

 private:
  struct Waiting {
    double start = 0;
    int64_t number = 0;
    Item item = {};
    bool operator>(const Waiting& other) const {
      return std::tie(start, number) > std::tie(other.start, other.number);
    }
  };

  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<Waiting>> waiting_;
  std::unordered_map<int64_t, double> ends_;  // by flow: when its service so far is over
  double now_ = 0;                            // in time of the service
  int64_t numbers_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_FAIR_QUEUE_H_
