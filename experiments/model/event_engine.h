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
// What is made fast, because a large job is millions of events: timers are told beforehand and
// sorted once; messages come in one latency after they went out, so they do it in the order in
// which they went out; all else waits in a heap, of a few entries for each thread and card.
//
// Thread-compatible.
#ifndef RINGSIDE_EXPERIMENTS_MODEL_EVENT_ENGINE_H_
#define RINGSIDE_EXPERIMENTS_MODEL_EVENT_ENGINE_H_

#include <cstdint>
#include <deque>
#include <tuple>
#include <vector>

#include "experiments/model/fair_queue.h"
#include "experiments/model/min_heap.h"
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
  void Post(int thread, double seconds, Token token, int flow = 0);
  // The same job `times` times in a row, the `b` of whose tokens counts up. REQUIRES: times > 0.
  void PostSeries(int thread, double seconds, Token first, int times);
  // REQUIRES: Run() has not begun.
  void At(double time, Token token);
  // Hands a message to the network, now.
  void Send(const Message& message);
  // Until nothing happens any more.
  void Run(Listener* listener);

 private:
  // Events of one time happen in the order of their numbers.
  struct Moment {
    double time = 0;
    int64_t number = 0;
    bool operator<(const Moment& other) const {
      // Without branches, which nobody could foretell.
      return (time < other.time) | ((time == other.time) & (number < other.number));
    }
  };
  struct Timer {
    Moment moment = {};
    Token token = {};
    bool operator<(const Timer& other) const { return moment < other.moment; }
  };
  struct OnWire {
    Message message = {};
    double out_done = 0;
  };
  // A message begins to come in.
  struct Incoming {
    Moment moment = {};
    OnWire wire = {};
  };
  enum class Kind { kJobDone, kPool, kOutFree, kArrival, kLocalArrival };
  struct Event {
    Moment moment = {};
    Kind kind = Kind::kJobDone;
    int index = 0;  // of a thread, a pool, a host or a local message
    bool operator<(const Event& other) const { return moment < other.moment; }
  };
  struct Job {
    double seconds = 0;
    Token token = {};
    int times = 1;  // that are left
  };
  struct Thread {
    int machine = 0;
    bool busy = false;
    Job job = {};  // that is being done
    FairQueue<Job> jobs;
  };
  struct InPool {
    double end = 0;  // in time of the pool
    int64_t number = 0;
    int thread = 0;
    bool operator<(const InPool& other) const {
      return std::tie(end, number) < std::tie(other.end, other.number);
    }
  };
  // Cores of a machine. Its own time passes as fast as each of its threads progresses.
  struct Pool {
    double time = 0;
    double updated = 0;
    int64_t next = -1;  // number of the event that is the end of the next job
    MinHeap<InPool> running;
  };
  // What goes out by a card.
  struct OutPort {
    double free = 0;      // when
    double level = -1e9;  // of its token bucket: when it would be free, had it no burst to give
    FairQueue<Message> waiting;
  };
  // And what comes in.
  struct InPort {
    bool busy = false;
    double level = -1e9;  // as that of what goes out
    OnWire wire = {};     // that comes in, where it is busy
    FairQueue<OnWire> waiting;
  };

  // Returns its number.
  int64_t Push(double time, Kind kind, int index);
  void Enqueue(int thread, int flow, double size, const Job& job);
  void StartJob(int thread, const Job& job);
  void EndJob(int thread, Listener* listener);
  double Speed(const Pool& pool) const;
  void Progress(Pool* pool);
  void Reschedule(int machine);
  void OnPool(const Event& event, Listener* listener);
  void OnEvent(const Event& event, Listener* listener);
  // Of the connection among all of the card that it goes out by, and that it comes in by.
  int OutFlow(const Message& message) const;
  int InFlow(const Message& message) const;
  void SendLocally(const Message& message);
  // When a message has passed that begins to, now, by a token bucket of that level.
  double Pass(double bytes, double* level) const;
  void StartOut(int host, const Message& message);
  void OnOutFree(int host);
  void OnIncoming(const OnWire& wire);
  void StartIn(int host, const OnWire& wire);
  void OnArrival(int host, Listener* listener);
  void OnLocalArrival(int index, Listener* listener);

  const bool cores_are_shared_;
  const bool one_machine_;
  const double cores_;
  const double beta_;
  const double local_beta_;
  const double latency_;
  const double burst_s_;
  std::vector<int> host_of_;        // by process
  std::vector<int> place_on_host_;  // by process: from 0
  int most_on_host_ = 1;            // processes

  double now_ = 0;
  int64_t numbers_ = 0;
  std::vector<Timer> timers_;
  std::deque<Incoming> incoming_;
  MinHeap<Event> events_;
  std::vector<Thread> threads_;
  std::vector<Pool> pools_;        // by machine
  std::vector<OutPort> out_;       // by host
  std::vector<InPort> in_;         // by host
  std::vector<double> lane_free_;  // by process
  std::vector<Message> local_;     // under way within a host
  std::vector<int> unused_;        // of local_
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MODEL_EVENT_ENGINE_H_
