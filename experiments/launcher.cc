#include "experiments/launcher.h"

#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/coordinator/member_list.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/logging.h"
#include "common/status_macros.h"
#include "common/suspects.h"
#include "experiments/child_environment.h"
#include "experiments/log_tail.h"
#include "experiments/network/network_commands.h"
#include "experiments/signal_wait.h"

namespace ringside {
namespace {

// How often the coordinator is asked for a verdict and for progress; exits and signals wake us at
// once.
constexpr absl::Duration kTick = absl::Milliseconds(100);
constexpr absl::Duration kProgressInterval = absl::Milliseconds(250);
// After a child's death the coordinator's verdict is due at once; this much patience is for its
// threads.
constexpr absl::Duration kVerdictWait = absl::Milliseconds(500);

absl::StatusOr<std::string> RandomToken() {
  std::string bytes(16, '\0');
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return absl::InternalError("the kernel gives no random bytes for the job's token");
  }
  return absl::BytesToHexString(bytes);
}

std::string BinaryOf(const Launcher::Config& config, Role role) {
  return absl::StrCat(config.binary_dir, "/", role == ROLE_SHARD ? "ps_server" : "worker");
}

absl::Status RequireBinary(const std::string& path) {
  if (access(path.c_str(), X_OK) == 0) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat(path, " is missing: it belongs beside `ringside`; build all targets"));
}

std::vector<std::string> NetworkFlags(const NetworkOptions& network) {
  std::vector<std::string> flags;
  const auto add = [&flags](absl::string_view name, const std::string& value) {
    if (!value.empty()) flags.push_back(absl::StrCat("--", name, "=", value));
  };
  add("interface", network.interface);
  add("listen", network.listen);
  add("advertise", network.advertise);
  add("port_range", network.port_range);
  return flags;
}

}  // namespace

std::vector<MemberId> JobMembers(const JobConfig& job) {
  std::vector<MemberId> members;
  for (int shard = 0; shard < job.shards(); ++shard) members.push_back(ShardId(shard));
  for (int rank = 0; rank < job.worker_processes(); ++rank) members.push_back(WorkerId(rank));
  return members;
}

std::string MetricsFlag(int metrics_port, int shard) {
  return absl::StrCat("--metrics_port=", metrics_port == 0 ? 0 : metrics_port + shard);
}

std::string LogName(const MemberId& member) {
  return absl::StrCat(member.role() == ROLE_SHARD ? "shard-" : "worker-", member.rank());
}

absl::StatusOr<std::unique_ptr<Launcher>> Launcher::Create(Config config) {
  RINGSIDE_RETURN_IF_ERROR(RequireBinary(BinaryOf(config, ROLE_WORKER)));
  if (config.job.shards() > 0)
    RINGSIDE_RETURN_IF_ERROR(RequireBinary(BinaryOf(config, ROLE_SHARD)));
  auto launcher = std::unique_ptr<Launcher>(new Launcher(std::move(config)));
  RINGSIDE_ASSIGN_OR_RETURN(launcher->token_, RandomToken());
  RINGSIDE_RETURN_IF_ERROR(launcher->StartCoordinator());
  return launcher;
}

Launcher::Launcher(Config config) : config_(std::move(config)) {}

absl::Status Launcher::StartCoordinator() {
  CoordinatorServer::Config config;
  if (config_.emulated == nullptr) {
    RINGSIDE_ASSIGN_OR_RETURN(config.bind,
                              ChooseBindAddress(config_.network, Endpoint{"127.0.0.1", 0}));
  } else {
    config.bind.listen_host = config.bind.advertise_host = ControlAddress();
    RINGSIDE_ASSIGN_OR_RETURN(config.bind.ports, ParsePortRange(config_.network.port_range));
  }
  config.token = token_;
  config.world_size = config_.job.worker_processes();
  config.num_shards = config_.job.shards();
  config.lease = config_.job.lease;
  config.join_timeout = config_.job.join_timeout;
  config.restart_shards = config_.job.restart_shards;
  config.announce = [this](const std::string& text) {
    MutexLock lock(&mutex_);
    announcement_ = text;
  };
  const auto start = [this, &config]() -> absl::Status {
    RINGSIDE_ASSIGN_OR_RETURN(coordinator_, CoordinatorServer::Start(std::move(config)));
    return absl::OkStatus();
  };
  return config_.emulated == nullptr ? start() : config_.emulated->control_host().Run(start);
}

JobOutcome Launcher::Run() {
  printer_ =
      std::make_unique<ProgressPrinter>(config_.live_title ? "" : config_.title, config_.terminal);
  const absl::Status spawned = SpawnAll();
  if (!spawned.ok()) {
    children_.clear();  // kills those that had started
    return {1, std::string(spawned.message()), {}, 0};
  }
  supervisor_ = std::make_unique<JobSupervisor>(
      JobSupervisor::Config{JobMembers(config_.job), config_.job.lease, config_.job.join_timeout,
                            config_.job.step_timeout, config_.job.restart_shards,
                            config_.job.checkpoints()},
      MonotonicNow());
  Watch();
  printer_ = nullptr;
  return Outcome();
}

absl::Status Launcher::SpawnAll() {
  for (const MemberId& member : JobMembers(config_.job)) {
    RINGSIDE_ASSIGN_OR_RETURN(ChildProcess child, SpawnOne(member, /*restarts=*/0));
    // The first child leads the group. It is not reaped before all are there, so the group cannot
    // vanish meanwhile.
    if (group_ == 0) group_ = child.pid();
    children_.push_back(std::move(child));
  }
  return absl::OkStatus();
}

std::vector<std::string> Launcher::ArgumentsOf(const MemberId& member) const {
  std::vector<std::string> arguments = {
      absl::StrCat("--coordinator=", ToString(coordinator_->endpoint()))};
  const char* const number = member.role() == ROLE_SHARD ? "--shard=" : "--rank=";
  arguments.push_back(absl::StrCat(number, member.rank()));
  const std::vector<std::string> flags = config_.job.ToFlags();
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  if (member.role() == ROLE_SHARD && config_.metrics_port.has_value())
    arguments.push_back(MetricsFlag(*config_.metrics_port, member.rank()));
  const std::vector<std::string> network = NetworkFlags(config_.network);
  arguments.insert(arguments.end(), network.begin(), network.end());
  return arguments;
}

absl::StatusOr<ChildProcess> Launcher::SpawnOne(const MemberId& member, int restarts) const {
  ChildProcess::Config config;
  config.binary = BinaryOf(config_, member.role());
  config.arguments = ArgumentsOf(member);
  config.environment = ChildEnvironment(config_.environment, token_, config_.job.threads);
  config.log_path = LogPath(member, restarts);
  config.group = group_;
  if (config_.emulated != nullptr)
    config.network_namespace_fd = config_.emulated->NamespaceOf(member).fd();
  return ChildProcess::Spawn(config);
}

void Launcher::Watch() {
  while (true) {
    const absl::Time now = MonotonicNow();
    ReapChildren(now);
    AskCoordinator(now);
    EndLostShards();
    if (supervisor_->AllEnded()) break;
    SignalWorker0(supervisor_->NextSignalForWorker0());
    for (int signal = supervisor_->NextSignal(now); signal != 0;
         signal = supervisor_->NextSignal(now)) {
      SignalGroup(signal);
    }
    ShowProgress(now);
    const int signal = WaitForJobSignal(kTick);
    // A worker that is only starting would be killed by it.
    if (signal == SIGUSR1) save_asked_ = true;
    if (save_asked_ && supervisor_->joined()) {
      save_asked_ = false;
      SignalWorker0(SIGUSR1);
    }
    if (signal != 0 && signal != SIGCHLD && signal != SIGUSR1) {
      supervisor_->OnInterrupt(signal, MonotonicNow());
    }
  }
  // The last to end may have been the one whose end decides what is said: let the coordinator come
  // to its verdict.
  const absl::Time deadline = MonotonicNow() + kVerdictWait;
  while (!supervisor_->Error().empty() && supervisor_->joined() && !coordinator_->verdict() &&
         MonotonicNow() < deadline) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  AskCoordinator(MonotonicNow());
}

void Launcher::ReapChildren(absl::Time now) {
  for (size_t i = 0; i < children_.size(); ++i) {
    if (!children_[i].running() || !children_[i].Poll().has_value()) continue;
    const ChildExit exit = *children_[i].Poll();
    // Asked here and not at the last tick: a job may join and lose a process within one, and a
    // process that ends because of the verdict is not started again.
    AskCoordinator(now);
    if (supervisor_->OnExit(static_cast<int>(i), exit, now)) {
      Restart(i, now);
    } else if (!exit.ok()) {
      coordinator_->ReportExit(supervisor_->processes()[i].member, ToString(exit));
    }
  }
}

void Launcher::Restart(size_t index, absl::Time now) {
  const ChildExit exit = *children_[index].Poll();
  const JobSupervisor::Process& process = supervisor_->processes()[index];
  coordinator_->ReportRestart(process.member, ToString(exit));
  int64_t step = 0;
  bool awaited = false;
  for (const CoordinatorServer::MemberState& state : coordinator_->Members()) {
    if (!SameMember(state.member.id(), process.member)) continue;
    step = state.progress.step();
    awaited = state.awaits_replacement;
  }
  // The coordinator, who knows more, may not stand the loss, or the shard had left in good order.
  absl::StatusOr<ChildProcess> child =
      awaited && !coordinator_->verdict()
          ? SpawnOne(process.member, process.restarts)
          : absl::FailedPreconditionError("the job has no place for it any more");
  if (!child.ok()) {
    const std::string why(child.status().message());
    coordinator_->ReportExit(process.member, why);
    supervisor_->OnRestartFailed(static_cast<int>(index), exit, why, now);
    return;
  }
  std::string how = exit.signal != 0 ? absl::StrCat("was killed by signal ", exit.signal)
                                     : absl::StrCat("ended with exit status ", exit.status);
  if (ended_.count(children_[index].pid()) > 0) how = "counted as lost";
  children_[index] = *std::move(child);
  printer_->Clear();
  LogInfo(absl::StrCat(ToString(process.member), " ", how, " at step ", step, "; restart ",
                       supervisor_->restarts(), " of ", config_.job.restart_shards));
}

void Launcher::EndLostShards() {
  if (config_.job.restart_shards == 0) return;
  for (const CoordinatorServer::MemberState& state : coordinator_->Members()) {
    if (!state.awaits_replacement) continue;
    // Its successor, which has another number, may be running already.
    for (const ChildProcess& child : children_) {
      if (!child.running() || child.pid() != state.member.pid()) continue;
      ended_.insert(child.pid());
      kill(child.pid(), SIGKILL);
    }
  }
}

void Launcher::AskCoordinator(absl::Time now) {
  if (!supervisor_->joined() && !coordinator_->Members().empty()) supervisor_->OnJoined(now);
  const absl::optional<Verdict> verdict = coordinator_->verdict();
  if (verdict) supervisor_->OnVerdict(*verdict, now);
}

void Launcher::SignalGroup(int signal) {
  // While one child is not reaped its group exists, so the number cannot have gone to a stranger.
  if (std::none_of(children_.begin(), children_.end(),
                   [](const ChildProcess& c) { return c.running(); }))
    return;
  kill(-group_, signal);
}

void Launcher::SignalWorker0(int signal) {
  if (signal == 0) return;
  for (size_t i = 0; i < children_.size(); ++i) {
    if (!SameMember(supervisor_->processes()[i].member, WorkerId(0))) continue;
    // Not reaped yet, so the number cannot have gone to a stranger.
    if (children_[i].running()) kill(children_[i].pid(), signal);
  }
}

void Launcher::ShowProgress(absl::Time now) {
  if (now < next_progress_) return;
  next_progress_ = now + kProgressInterval;
  if (!supervisor_->joined()) {
    MutexLock lock(&mutex_);
    Show(announcement_.empty() ? "starting" : absl::StrCat("starting: ", announcement_), now);
    return;
  }
  std::vector<WorkerProgress> workers;
  for (const CoordinatorServer::MemberState& state : coordinator_->Members()) {
    if (state.member.id().role() != ROLE_WORKER) continue;
    workers.push_back({state.member.id().rank(), state.progress});
  }
  Show(FormatProgress(meter_.Update(workers, now)), now);
}

void Launcher::Show(const std::string& line, absl::Time now) {
  printer_->Show(config_.live_title ? absl::StrCat(config_.live_title(now), ": ", line) : line,
                 now);
}

JobOutcome Launcher::Outcome() const {
  JobOutcome outcome;
  outcome.launcher_status = supervisor_->LauncherStatus();
  outcome.error = supervisor_->Error();
  outcome.restarts = supervisor_->restarts();
  if (outcome.ok()) return outcome;
  const bool interrupted = outcome.launcher_status > 128;
  for (size_t i = 0; i < supervisor_->processes().size() && !interrupted; ++i) {
    const JobSupervisor::Process& process = supervisor_->processes()[i];
    if (!process.exit || process.exit->ok()) continue;
    // While they waited for the others to join we ended them, and that says nothing about them.
    if (process.signaled && !supervisor_->joined()) continue;
    const std::string last = LastLogLine(LogPath(process.member, process.restarts));
    const std::string how = process.signaled && process.exit->signal != 0 ? "ended by ringside"
                                                                          : ToString(*process.exit);
    if (static_cast<int>(i) == supervisor_->Culprit() && !supervisor_->joined() && !last.empty()) {
      absl::StrAppend(&outcome.error, ": ", StripLogPrefix(last));
    }
    outcome.details.push_back(absl::StrCat(ToString(process.member), ", ", how,
                                           last.empty() ? ", log empty" : ": ", last));
  }
  return outcome;
}

std::string Launcher::LogPath(const MemberId& member, int restarts) const {
  const std::string again = restarts > 0 ? absl::StrCat(".restart-", restarts) : "";
  return absl::StrCat(config_.log_dir, "/", LogName(member), again, ".log");
}

}  // namespace ringside
