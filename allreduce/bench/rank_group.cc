#include "allreduce/bench/rank_group.h"

#include <poll.h>

#include <algorithm>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "allreduce/bench/control_channel.h"
#include "common/network/poll.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// How long the others may take to tell of an error once one has: the cause is often a rank that is
// about to be found dead.
constexpr absl::Duration kAfterError = absl::Seconds(2);
constexpr absl::Duration kLastWords = absl::Seconds(3);
constexpr absl::Duration kFarewell = absl::Seconds(5);

absl::Status AnswerStatus(int rank, const RankDone& answer) {
  return absl::Status(static_cast<absl::StatusCode>(answer.code()),
                      absl::StrCat("rank ", rank, ": ", answer.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<RankGroup>> RankGroup::Start(const Config& config) {
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<ListeningSocket> listener,
                            ListeningSocket::BindLocal());
  auto group = absl::WrapUnique(new RankGroup(config, std::move(listener)));
  RINGSIDE_RETURN_IF_ERROR(group->StartProcesses());
  RINGSIDE_RETURN_IF_ERROR(group->AcceptRanks());
  RankRequest request;
  *request.mutable_setup() = config.setup;
  RINGSIDE_RETURN_IF_ERROR(group->Ask(request, config.start_timeout).status());
  return group;
}

absl::Status RankGroup::StartProcesses() {
  const GroupCommand command =
      MakeGroupCommand(config_.kind, config_.world_size, config_.binary, listener_->name(),
                       config_.as_root, config_.environment);
  for (const std::vector<std::string>& argv : command.argvs) {
    RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<LoggedProcess> process,
                              LoggedProcess::Start(argv, command.environment));
    processes_.push_back(std::move(process));
  }
  return absl::OkStatus();
}

absl::Status RankGroup::AcceptRanks() {
  const absl::Time deadline = absl::Now() + config_.start_timeout;
  for (int accepted = 0; accepted < config_.world_size; ++accepted) {
    std::vector<pollfd> waits = {{listener_->fd(), POLLIN, 0}};
    for (const auto& process : processes_) waits.push_back({process->end_fd(), POLLIN, 0});
    RINGSIDE_ASSIGN_OR_RETURN(const bool ready, PollUntil(absl::MakeSpan(waits), deadline));
    if (!ready) return SilentStatus();
    for (size_t i = 0; i < processes_.size(); ++i) {
      if (waits[i + 1].revents == 0) continue;
      processes_[i]->WaitForEnd(deadline);
      return absl::UnavailableError(absl::StrCat(
          config_.kind.mpirun ? "mpirun" : absl::StrCat("rank ", i), " has ended at once (",
          processes_[i]->EndText(), "): ", LastWords(processes_[i]->Output(), "")));
    }
    RINGSIDE_RETURN_IF_ERROR(AcceptOne(deadline));
  }
  return absl::OkStatus();
}

absl::Status RankGroup::AcceptOne(absl::Time deadline) {
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Socket> socket, listener_->Accept(deadline));
  RankReply reply;
  RINGSIDE_RETURN_IF_ERROR(ReadControlMessage(socket.get(), &reply, deadline));
  const int rank = reply.has_hello() ? reply.hello().rank() : -1;
  if (rank < 0 || rank >= config_.world_size || ranks_[rank].socket != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("a process says that it is rank ", rank, " of ",
                                                   config_.world_size,
                                                   ", which is not to be or here already"));
  }
  ranks_[rank].socket = std::move(socket);
  ranks_[rank].pid = reply.hello().pid();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RankDone>> RankGroup::Ask(const RankRequest& request,
                                                     absl::Duration timeout) {
  absl::Time deadline = absl::Now() + timeout;
  const auto fail = [this](absl::Status status) {
    failed_ = true;
    return status;
  };
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    ranks_[rank].done = ranks_[rank].exchanges = false;
    if (!WriteControlMessage(request, ranks_[rank].socket.get(), deadline).ok()) {
      return fail(EndedStatus(static_cast<int>(rank)));
    }
  }
  absl::Status first_error;
  while (!all_done()) {
    const absl::StatusOr<bool> heard = ReadReplies(deadline);
    if (!heard.ok()) return fail(heard.status());
    if (!*heard) return fail(first_error.ok() ? SilentStatus() : first_error);
    for (size_t rank = 0; first_error.ok() && rank < ranks_.size(); ++rank) {
      if (!ranks_[rank].done || ranks_[rank].answer.code() == 0) continue;
      first_error = AnswerStatus(static_cast<int>(rank), ranks_[rank].answer);
      deadline = std::min(deadline, absl::Now() + kAfterError);
    }
    const absl::Status passed = PassOnExchange(deadline);
    if (!passed.ok()) return fail(passed);
  }
  if (!first_error.ok()) return fail(first_error);
  std::vector<RankDone> answers;
  for (Rank& rank : ranks_) answers.push_back(std::move(rank.answer));
  return answers;
}

absl::StatusOr<bool> RankGroup::ReadReplies(absl::Time deadline) {
  std::vector<pollfd> waits;
  for (const Rank& rank : ranks_) {
    // Those that are done are watched too: one that ends now is the cause of what others will say.
    // When all are to end, nobody who does is a cause of anything.
    const int fd = rank.done && finishing_ ? -1 : rank.socket->fd();
    waits.push_back({fd, static_cast<short>(rank.done ? POLLRDHUP : POLLIN), 0});
  }
  RINGSIDE_ASSIGN_OR_RETURN(const bool ready, PollUntil(absl::MakeSpan(waits), deadline));
  for (size_t i = 0; i < waits.size(); ++i) {
    if (waits[i].revents == 0) continue;
    const auto rank = static_cast<int>(i);
    if (ranks_[i].done) return EndedStatus(rank);
    RINGSIDE_RETURN_IF_ERROR(TakeReply(rank, deadline));
  }
  return ready;
}

absl::Status RankGroup::TakeReply(int rank, absl::Time deadline) {
  RankReply reply;
  const absl::Status status = ReadControlMessage(ranks_[rank].socket.get(), &reply, deadline);
  if (absl::IsUnavailable(status)) return EndedStatus(rank);
  RINGSIDE_RETURN_IF_ERROR(status);
  if (reply.has_done()) {
    ranks_[rank].done = true;
    ranks_[rank].answer = std::move(*reply.mutable_done());
  } else {
    ranks_[rank].exchanges = true;
    ranks_[rank].entry = std::move(*reply.mutable_exchange());
  }
  return absl::OkStatus();
}

absl::Status RankGroup::PassOnExchange(absl::Time deadline) {
  const bool complete =
      std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.exchanges; });
  if (!complete) return absl::OkStatus();
  RankRequest request;
  for (const Rank& rank : ranks_) *request.mutable_exchanged()->add_entries() = rank.entry;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    ranks_[rank].exchanges = false;
    if (!WriteControlMessage(request, ranks_[rank].socket.get(), deadline).ok()) {
      return EndedStatus(static_cast<int>(rank));
    }
  }
  return absl::OkStatus();
}

absl::Status RankGroup::EndedStatus(int rank) {
  // mpirun writes what a rank has said, and ends, a little later than the rank itself.
  LoggedProcess& process = *processes_[config_.kind.mpirun ? 0 : rank];
  process.WaitForEnd(absl::Now() + kLastWords);
  const std::string words = LastWords(process.Output(), config_.kind.mpirun ? MpirunTag(rank) : "");
  return absl::UnavailableError(absl::StrCat(
      "rank ", rank, " (process ", ranks_[rank].pid,
      ") has ended: ", config_.kind.mpirun ? "mpirun: " : "", process.EndText(),
      words.empty() ? "; it said nothing" : absl::StrCat("; its last words: ", words)));
}

absl::Status RankGroup::SilentStatus() const {
  std::vector<std::string> silent;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    // Who waits for an exchange waits for one of the others.
    if (!ranks_[rank].done && !ranks_[rank].exchanges) silent.push_back(absl::StrCat(rank));
  }
  return absl::DeadlineExceededError(
      absl::StrCat("no answer in time from rank ", absl::StrJoin(silent, ", ")));
}

bool RankGroup::all_done() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.done; });
}

RankGroup::~RankGroup() {
  const bool connected = std::all_of(ranks_.begin(), ranks_.end(),
                                     [](const Rank& rank) { return rank.socket != nullptr; });
  if (!connected || failed_) return;  // the processes' destructors end them
  RankRequest request;
  request.mutable_finish();
  finishing_ = true;
  if (!Ask(request, kFarewell).ok()) return;
  const absl::Time deadline = absl::Now() + kFarewell;
  for (const auto& process : processes_) process->WaitForEnd(deadline);
}

}  // namespace ringside
