#include "experiments/model/event_engine.h"

#include <algorithm>
#include <limits>

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
  std::vector<int> on_host(out_.size(), 0);
  for (int process = 0; process < NumProcesses(job); ++process) {
    host_of_.push_back(HostOf(job, process));
    place_on_host_.push_back(on_host[host_of_.back()]++);
    most_on_host_ = std::max(most_on_host_, place_on_host_.back() + 1);
  }
}

int EventEngine::AddThread(int process) {
  threads_.emplace_back();
  threads_.back().machine = one_machine_ ? 0 : host_of_[process];
  return static_cast<int>(threads_.size()) - 1;
}

int64_t EventEngine::Push(double time, Kind kind, int index) {
  events_.Push({{time, numbers_}, kind, index});
  return numbers_++;
}

void EventEngine::At(double time, Token token) { timers_.push_back({{time, numbers_++}, token}); }

void EventEngine::Post(int thread, double seconds, Token token, int flow) {
  Enqueue(thread, flow, seconds, {seconds, token, 1});
}

void EventEngine::PostSeries(int thread, double seconds, Token first, int times) {
  Enqueue(thread, 0, seconds * times, {seconds, first, times});
}

void EventEngine::Enqueue(int thread, int flow, double size, const Job& job) {
  if (threads_[thread].busy) {
    threads_[thread].jobs.Push(flow, size, job);
  } else {
    threads_[thread].jobs.Rest();
    StartJob(thread, job);
  }
}

void EventEngine::StartJob(int index, const Job& job) {
  Thread& thread = threads_[index];
  thread.busy = true;
  thread.job = job;
  if (!cores_are_shared_ || thread.job.seconds <= 0) {
    Push(now_ + thread.job.seconds, Kind::kJobDone, index);
    return;
  }
  Pool& pool = pools_[thread.machine];
  Progress(&pool);
  pool.running.Push({pool.time + thread.job.seconds, numbers_++, index});
  Reschedule(thread.machine);
}

void EventEngine::EndJob(int index, Listener* listener) {
  Thread& thread = threads_[index];
  const Job done = thread.job;
  thread.busy = false;
  if (done.times > 1) {
    const Token next = {done.token.kind, done.token.a, done.token.b + 1};
    StartJob(index, {done.seconds, next, done.times - 1});
  } else if (!thread.jobs.empty()) {
    StartJob(index, thread.jobs.Pop());
  }
  listener->OnJobDone(done.token);
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
  pool.next = -1;
  if (pool.running.empty()) return;
  const double left = std::max(0.0, pool.running.top().end - pool.time);
  pool.next = Push(now_ + left / Speed(pool), Kind::kPool, machine);
}

void EventEngine::OnPool(const Event& event, Listener* listener) {
  Pool& pool = pools_[event.index];
  if (event.moment.number != pool.next) return;  // something has changed since
  Progress(&pool);
  const InPool done = pool.running.Pop();
  pool.time = std::max(pool.time, done.end);
  Reschedule(event.index);
  EndJob(done.thread, listener);
}

void EventEngine::Send(const Message& message) {
  const int host = host_of_[message.from];
  if (host == host_of_[message.to]) {
    SendLocally(message);
    return;
  }
  OutPort& port = out_[host];
  if (port.waiting.empty() && port.free <= now_) {
    port.waiting.Rest();
    StartOut(host, message);
    return;
  }
  // Whoever is the first to wait sees to it that the next one starts.
  if (port.waiting.empty()) Push(port.free, Kind::kOutFree, host);
  port.waiting.Push(OutFlow(message), message.bytes, message);
}

void EventEngine::SendLocally(const Message& message) {
  auto index = static_cast<int>(local_.size());
  if (unused_.empty()) {
    local_.push_back(message);
  } else {
    index = unused_.back();
    unused_.pop_back();
    local_[index] = message;
  }
  double& free = lane_free_[message.from];
  free = std::max(free, now_) + message.bytes * local_beta_;
  Push(free, Kind::kLocalArrival, index);
}

int EventEngine::OutFlow(const Message& message) const {
  return message.to * most_on_host_ + place_on_host_[message.from];
}

int EventEngine::InFlow(const Message& message) const {
  return message.from * most_on_host_ + place_on_host_[message.to];
}

double EventEngine::Pass(double bytes, double* level) const {
  *level = std::max(*level, now_ - burst_s_) + bytes * beta_;
  return std::max(*level, now_);
}

void EventEngine::StartOut(int host, const Message& message) {
  const double done = Pass(message.bytes, &out_[host].level);
  out_[host].free = done;
  incoming_.push_back({{now_ + latency_, numbers_++}, {message, done}});
}

void EventEngine::OnOutFree(int host) {
  OutPort& port = out_[host];
  StartOut(host, port.waiting.Pop());
  if (!port.waiting.empty()) Push(port.free, Kind::kOutFree, host);
}

void EventEngine::OnIncoming(const OnWire& wire) {
  const int host = host_of_[wire.message.to];
  InPort& port = in_[host];
  if (port.busy) {
    port.waiting.Push(InFlow(wire.message), wire.message.bytes, wire);
  } else {
    port.waiting.Rest();
    StartIn(host, wire);
  }
}

void EventEngine::StartIn(int host, const OnWire& wire) {
  InPort& port = in_[host];
  port.busy = true;
  port.wire = wire;
  Push(std::max(Pass(wire.message.bytes, &port.level), wire.out_done + latency_), Kind::kArrival,
       host);
}

void EventEngine::OnArrival(int host, Listener* listener) {
  InPort& port = in_[host];
  const Message message = port.wire.message;
  port.busy = false;
  if (!port.waiting.empty()) StartIn(host, port.waiting.Pop());
  listener->OnArrival(message);
}

void EventEngine::OnLocalArrival(int index, Listener* listener) {
  const Message message = local_[index];
  unused_.push_back(index);
  listener->OnArrival(message);
}

void EventEngine::OnEvent(const Event& event, Listener* listener) {
  switch (event.kind) {
    case Kind::kJobDone:
      EndJob(event.index, listener);
      break;
    case Kind::kPool:
      OnPool(event, listener);
      break;
    case Kind::kOutFree:
      OnOutFree(event.index);
      break;
    case Kind::kArrival:
      OnArrival(event.index, listener);
      break;
    case Kind::kLocalArrival:
      OnLocalArrival(event.index, listener);
      break;
  }
}

void EventEngine::Run(Listener* listener) {
  constexpr Moment kNever = {std::numeric_limits<double>::infinity(),
                             std::numeric_limits<int64_t>::max()};
  std::sort(timers_.begin(), timers_.end());
  auto timer = timers_.cbegin();
  for (;;) {
    const Moment of_timer = timer == timers_.cend() ? kNever : timer->moment;
    const Moment of_message = incoming_.empty() ? kNever : incoming_.front().moment;
    const Moment of_event = events_.empty() ? kNever : events_.top().moment;
    if (of_event < of_timer && of_event < of_message) {
      now_ = of_event.time;
      OnEvent(events_.Pop(), listener);
    } else if (of_timer < of_message) {
      now_ = of_timer.time;
      listener->OnTimer((timer++)->token);
    } else if (!incoming_.empty()) {
      now_ = of_message.time;
      const OnWire wire = incoming_.front().wire;
      incoming_.pop_front();
      OnIncoming(wire);
    } else {
      return;
    }
  }
}

}  // namespace ringside
