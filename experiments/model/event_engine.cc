#include "experiments/model/event_engine.h"

#include <algorithm>

namespace ringside {

EventEngine::EventEngine(const StepJob& job)
    : cores_are_shared_(CoresAreShared(job)),
      one_machine_(job.one_machine),
      cores_(job.cores),
      beta_(LinkSecondsPerByte(job)),
      local_beta_(job.costs.beta_s_per_byte),
      latency_(job.network.latency_s),
      burst_s_(BurstSeconds(job)),
      pools_(job.one_machine ? 1 : NumHosts(job)),
      out_(NumHosts(job)),
      in_(NumHosts(job)),
      lane_free_(NumProcesses(job), 0) {
  for (int process = 0; process < NumProcesses(job); ++process) {
    host_of_.push_back(HostOf(job, process));
  }
}

int EventEngine::AddThread(int process) {
  threads_.emplace_back();
  threads_.back().machine = one_machine_ ? 0 : host_of_[process];
  return static_cast<int>(threads_.size()) - 1;
}

void EventEngine::Push(double time, Kind kind, int index, Token token) {
  events_.push({time, numbers_++, kind, index, token});
}

void EventEngine::At(double time, Token token) { Push(time, Kind::kTimer, 0, token); }

void EventEngine::Post(int thread, double seconds, Token token, int64_t flow) {
  if (threads_[thread].busy) {
    threads_[thread].jobs.Push(flow, seconds, {seconds, token});
  } else {
    threads_[thread].jobs.Rest();
    StartJob(thread, {seconds, token});
  }
}

void EventEngine::StartJob(int index, const Job& job) {
  Thread& thread = threads_[index];
  thread.busy = true;
  thread.job = job;
  if (!cores_are_shared_ || thread.job.seconds <= 0) {
    Push(now_ + thread.job.seconds, Kind::kJobDone, index, Token());
    return;
  }
  Pool& pool = pools_[thread.machine];
  Progress(&pool);
  pool.running.push({pool.time + thread.job.seconds, numbers_++, index});
  Reschedule(thread.machine);
}

void EventEngine::EndJob(int thread, Listener* listener) {
  const Token token = threads_[thread].job.token;
  FairQueue<Job>& jobs = threads_[thread].jobs;
  threads_[thread].busy = false;
  if (!jobs.empty()) StartJob(thread, jobs.Pop());
  listener->OnJobDone(token);
}

double EventEngine::Speed(const Pool& pool) const {
  const auto running = static_cast<double>(pool.running.size());
  return running <= cores_ ? 1 : cores_ / running;
}

void EventEngine::Progress(Pool* pool) {
  pool->time += (now_ - pool->updated) * Speed(*pool);
  pool->updated = now_;
}

void EventEngine::Reschedule(int machine) {
  Pool& pool = pools_[machine];
  ++pool.version;
  if (pool.running.empty()) return;
  const double left = std::max(0.0, pool.running.top().end - pool.time);
  Push(now_ + left / Speed(pool), Kind::kPool, machine, {0, pool.version, 0});
}

void EventEngine::OnPool(const Event& event, Listener* listener) {
  Pool& pool = pools_[event.index];
  if (event.token.a != pool.version) return;  // something has changed since
  Progress(&pool);
  const InPool done = pool.running.top();
  pool.time = std::max(pool.time, done.end);
  pool.running.pop();
  Reschedule(event.index);
  EndJob(done.thread, listener);
}

void EventEngine::Send(const Message& message) {
  int index = static_cast<int>(wire_.size());
  if (unused_.empty()) {
    wire_.emplace_back();
  } else {
    index = unused_.back();
    unused_.pop_back();
  }
  wire_[index].message = message;
  const int host = host_of_[message.from];
  wire_[index].local = host == host_of_[message.to];
  if (wire_[index].local) {
    double& free = lane_free_[message.from];
    free = std::max(free, now_) + message.bytes * local_beta_;
    Push(free, Kind::kArrival, index, Token());
    return;
  }
  Port& port = out_[host];
  if (port.waiting.empty() && port.free <= now_) {
    port.waiting.Rest();
    StartOut(host, index);
    return;
  }
  // Whoever is the first to wait sees to it that the next one starts.
  if (port.waiting.empty()) Push(port.free, Kind::kOutFree, host, Token());
  port.waiting.Push(FlowOf(message), message.bytes, index);
}

int64_t EventEngine::FlowOf(const Message& message) const {
  return static_cast<int64_t>(message.from) * static_cast<int64_t>(host_of_.size()) + message.to;
}

double EventEngine::Pass(double bytes, Port* port) const {
  port->level = std::max(port->level, now_ - burst_s_) + bytes * beta_;
  return std::max(port->level, now_);
}

void EventEngine::StartOut(int host, int index) {
  out_[host].free = wire_[index].out_done = Pass(wire_[index].message.bytes, &out_[host]);
  Push(now_ + latency_, Kind::kIncoming, index, Token());
}

void EventEngine::OnOutFree(int host) {
  Port& port = out_[host];
  StartOut(host, port.waiting.Pop());
  if (!port.waiting.empty()) Push(port.free, Kind::kOutFree, host, Token());
}

void EventEngine::OnIncoming(int index) {
  const Message& message = wire_[index].message;
  Port& port = in_[host_of_[message.to]];
  if (port.busy) {
    port.waiting.Push(FlowOf(message), message.bytes, index);
  } else {
    port.waiting.Rest();
    StartIn(index);
  }
}

void EventEngine::StartIn(int index) {
  const OnWire& wire = wire_[index];
  Port& port = in_[host_of_[wire.message.to]];
  port.busy = true;
  Push(std::max(Pass(wire.message.bytes, &port), wire.out_done + latency_), Kind::kArrival, index,
       Token());
}

void EventEngine::OnArrival(int index, Listener* listener) {
  const Message message = wire_[index].message;
  const bool local = wire_[index].local;
  unused_.push_back(index);
  if (!local) {
    Port& port = in_[host_of_[message.to]];
    port.busy = false;
    if (!port.waiting.empty()) StartIn(port.waiting.Pop());
  }
  listener->OnArrival(message);
}

void EventEngine::Run(Listener* listener) {
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.time;
    switch (event.kind) {
      case Kind::kTimer:
        listener->OnTimer(event.token);
        break;
      case Kind::kJobDone:
        EndJob(event.index, listener);
        break;
      case Kind::kPool:
        OnPool(event, listener);
        break;
      case Kind::kOutFree:
        OnOutFree(event.index);
        break;
      case Kind::kIncoming:
        OnIncoming(event.index);
        break;
      case Kind::kArrival:
        OnArrival(event.index, listener);
        break;
    }
  }
}

}  // namespace ringside
