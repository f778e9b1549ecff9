// A queue that serves several flows fairly: start-time fair queueing (Goyal, Vin and Cheng 1996).
// Of flows that wait, each gets the same share of the service; a single one is served in order.
// Stands for what TCP connections do to each other in a network card, and bounded streams in a
// process. Deterministic. Thread-compatible.
//
// Items of one flow are served as they came, so only the first of each flow stands in the priority
// queue; the others wait in a list. A queue of thousands of items of a few flows costs little.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_FAIR_QUEUE_H_
#define RINGSIDE_EXPERIMENTS_MODEL_FAIR_QUEUE_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "experiments/model/min_heap.h"

namespace ringside {

template <typename Item>
class FairQueue {
 public:
  bool empty() const { return first_of_flows_.empty(); }

  // `size` is the service that the item will take, in any unit, at least 0. Flows are numbered from
  // 0; memory goes with the largest number.
  void Push(int flow, double size, Item item) {
    const int index = IndexOf(flow);
    Flow& its = flows_[index];
    if (its.rests != rests_) {
      its.rests = rests_;
      its.end = 0;
    }
    const double start = std::max(now_, its.end);
    its.end = start + size;
    const int64_t number = numbers_++;
    const int place = Store(std::move(item));
    if (its.last == kNone) {
      first_of_flows_.Push({start, number, index, place});
    } else {
      Waiting& before = waiting_[its.last];
      before.next = place;
      before.next_start = start;
      before.next_number = number;
    }
    its.last = place;
  }

  // Nobody waits and nobody is served: what came before counts no more. Whoever is served at once
  // then needs no turn. REQUIRES: empty().
  void Rest() {
    ++rests_;
    now_ = 0;
  }

  // REQUIRES: !empty().
  Item Pop() {
    const First first = first_of_flows_.Pop();
    now_ = first.start;
    Waiting& its = waiting_[first.place];
    if (its.next == kNone) {
      flows_[first.flow].last = kNone;
    } else {
      first_of_flows_.Push({its.next_start, its.next_number, first.flow, its.next});
    }
    Item item = std::move(its.item);
    its.next = unused_;
    unused_ = first.place;
    // Of a large job, what waits is spread over more memory than a cache has.
    if (!empty()) __builtin_prefetch(&waiting_[first_of_flows_.top().place]);
    return item;
  }

 private:
  static constexpr int kNone = -1;

  // What is known of the next one of the flow stands here, so that it need not be looked at.
  struct Waiting {
    int next = kNone;  // of its flow, or of the unused ones
    double next_start = 0;
    int64_t next_number = 0;
    Item item = {};
  };
  struct Flow {
    double end = 0;     // when its service so far is over
    int64_t rests = 0;  // of the queue, when `end` was set
    int last = kNone;
  };
  struct First {
    double start = 0;
    int64_t number = 0;
    int flow = 0;
    int place = 0;  // of waiting_
    bool operator<(const First& other) const {
      // Without branches, which nobody could foretell.
      return (start < other.start) | ((start == other.start) & (number < other.number));
    }
  };

  int IndexOf(int flow) {
    if (flow >= static_cast<int>(indices_.size())) indices_.resize(flow + 1, kNone);
    int& index = indices_[flow];
    if (index == kNone) {
      index = static_cast<int>(flows_.size());
      flows_.emplace_back();
    }
    return index;
  }

  int Store(Item item) {
    if (unused_ == kNone) {
      waiting_.push_back({kNone, 0, 0, std::move(item)});
      return static_cast<int>(waiting_.size()) - 1;
    }
    const int place = unused_;
    unused_ = waiting_[place].next;
    waiting_[place] = {kNone, 0, 0, std::move(item)};
    return place;
  }

  std::vector<Waiting> waiting_;  // and places that are unused
  int unused_ = kNone;
  std::vector<Flow> flows_;
  std::vector<int> indices_;  // of flows_, by flow; kNone: has never waited
  MinHeap<First> first_of_flows_;
  double now_ = 0;  // in time of the service
  int64_t rests_ = 0;
  int64_t numbers_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_FAIR_QUEUE_H_
