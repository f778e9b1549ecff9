// Discrete-event simulation of what processes of a job share: threads, cores, and links between
// hosts. Deterministic: events of one moment happen in the order in which they were caused.
//
// Every process has threads that do one job after another. Where a machine has fewer cores than
// threads, all threads with a job progress at the same speed (processor sharing: Kleinrock 1976,
// as a fair scheduler does it); else each has a core.
//
// Every host has one network card, whose two directions carry one message after another; those of
// different connections take turns (fair_queue.h). A message begins to come in one latency after
// it began to go out, and has come in when both ends have carried its bytes: an uncontended message
// costs its bytes once, not at both ends. A direction that has rested lets a burst pass at once (a
// token bucket; in this form the generic cell rate algorithm of ITU-T I.371). Messages between
// processes of one host pass the card by: each process has a lane of its own for them.
//
// Thread-compatible.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_EVENT_ENGINE_H_
#define RINGSIDE_EXPERIMENTS_MODEL_EVENT_ENGINE_H_

#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "experiments/model/fair_queue.h"
#include "experiments/model/step_job.h"

namespace ringside {

class EventEngine {
 public:
  // What whoever listens knows an event by.
  struct Token {
    int kind = 0;
    int a = 0;
    int b = 0;
  };
  struct Message {
    int from = 0;  // process
    int to = 0;
    double bytes = 0;
    Token token = {};
  };
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void OnTimer(const Token& token) = 0;
    virtual void OnJobDone(const Token& token) = 0;
    virtual void OnArrival(const Message& message) = 0;
  };

  explicit EventEngine(const StepJob& job);

  double now() const { return now_; }
  // Of the machine on which `process` runs; returns its number.
  int AddThread(int process);
  // Queues work for a thread. Jobs of one flow are done in order, flows take turns.
  void Post(int thread, double seconds, Token token, int64_t flow = 0);
  void At(double time, Token token);
  // Hands a message to the network, now.
  void Send(const Message& message);
  // Until nothing happens any more.
  void Run(Listener* listener);

 private:
  enum class Kind { kTimer, kJobDone, kPool, kOutFree, kIncoming, kArrival };
  struct Event {
    double time = 0;
    int64_t number = 0;
    Kind kind = Kind::kTimer;
    int index = 0;     // of a thread, a pool or a message
    Token token = {};  // of a timer; of a pool its version in `a`
    bool operator>(const Event& other) const {
      return std::tie(time, number) > std::tie(other.time, other.number);
    }
  };
  struct Job {
    double seconds = 0;
    Token token = {};
  };
  struct Thread {
    int machine = 0;
    bool busy = false;
    Job job;  // that is being done
    FairQueue<Job> jobs;
  };
  struct InPool {
    double end = 0;  // in time of the pool
    int64_t number = 0;
    int thread = 0;
    bool operator>(const InPool& other) const {
      return std::tie(end, number) > std::tie(other.end, other.number);
    }
  };
  // Cores of a machine. Its own time passes as fast as each of its threads progresses.
  struct Pool {
    double time = 0;
    double updated = 0;
    int version = 0;  // of the event that says when the next job ends
    std::priority_queue<InPool, std::vector<InPool>, std::greater<InPool>> running;
  };
  struct OnWire {
    Message message = {};
    bool local = false;
    double out_done = 0;
  };
  // One direction of a card.
  struct Port {
    bool busy = false;       // of what comes in
    double free = 0;         // of what goes out: when
    double level = -1e9;     // of the token bucket: when it would be free, had it no burst to give
    FairQueue<int> waiting;  // indices of messages
  };

  void Push(double time, Kind kind, int index, Token token);
  void StartJob(int thread, const Job& job);
  void EndJob(int thread, Listener* listener);
  double Speed(const Pool& pool) const;
  void Progress(Pool* pool);
  void Reschedule(int machine);
  void OnPool(const Event& event, Listener* listener);
  int64_t FlowOf(const Message& message) const;
  // When a message has passed that begins to, now.
  double Pass(double bytes, Port* port) const;
  void StartOut(int host, int index);
  void OnOutFree(int host);
  void OnIncoming(int index);
  void StartIn(int index);
  void OnArrival(int index, Listener* listener);

  const bool cores_are_shared_;
  const bool one_machine_;
  const double cores_;
  const double beta_;
  const double local_beta_;
  const double latency_;
  const double burst_s_;
  std::vector<int> host_of_;  // by process

  double now_ = 0;
  int64_t numbers_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events_;
  std::vector<Thread> threads_;
  std::vector<Pool> pools_;        // by machine
  std::vector<Port> out_;          // by host
  std::vector<Port> in_;           // by host
  std::vector<double> lane_free_;  // by process
  std::vector<OnWire> wire_;
  std::vector<int> unused_;  // of wire_
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_EVENT_ENGINE_H_
