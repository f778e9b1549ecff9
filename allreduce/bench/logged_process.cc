#include "allreduce/bench/logged_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/memory/memory.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "common/network/poll.h"

namespace ringside {
namespace {

constexpr off_t kTailBytes = 64 << 10;
constexpr absl::Duration kGrace = absl::Seconds(3);

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

absl::Status CannotStart(const std::string& program, int error) {
  return absl::FailedPreconditionError(
      absl::StrCat("cannot start ", program, ": ", strerror(error)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<LoggedProcess>> LoggedProcess::Start(
    const std::vector<std::string>& argv, const std::vector<std::string>& environment) {
  FileDescriptor log(memfd_create("ringside-bench-log", MFD_CLOEXEC));
  if (!log.valid()) return CannotStart(argv[0], errno);
  // So that several writers add to it.
  fcntl(log.get(), F_SETFL, O_APPEND);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, log.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, log.get(), STDERR_FILENO);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, argv[0].c_str(), &actions, nullptr, Pointers(argv).data(),
                                 Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return CannotStart(argv[0], error);
  // The child cannot be reaped by anybody else, so its number is still its own. glibc's pidfd_open
  // is not declared for C++ everywhere.
  FileDescriptor end(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!end.valid()) {
    const int why = errno;
    kill(pid, SIGKILL);
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return CannotStart(argv[0], why);
  }
  return absl::WrapUnique(new LoggedProcess(pid, std::move(end), std::move(log)));
}

LoggedProcess::~LoggedProcess() {
  if (WaitForEnd(absl::InfinitePast())) return;
  kill(pid_, SIGTERM);
  if (WaitForEnd(absl::Now() + kGrace)) return;
  kill(pid_, SIGKILL);
  WaitForEnd(absl::InfiniteFuture());
}

bool LoggedProcess::WaitForEnd(absl::Time deadline) {
  if (ended_) return true;
  pollfd end = {end_.get(), POLLIN, 0};
  const absl::StatusOr<bool> ready = PollUntil(absl::MakeSpan(&end, 1), deadline);
  if (!ready.ok() || !*ready) return false;
  while (waitpid(pid_, &wait_status_, 0) < 0 && errno == EINTR) {
  }
  ended_ = true;
  return true;
}

std::string LoggedProcess::EndText() const {
  if (!ended_) return "still running";
  if (WIFSIGNALED(wait_status_)) {
    const int signal = WTERMSIG(wait_status_);
    return absl::StrCat("killed by signal ", signal, " (", strsignal(signal), ")");
  }
  return absl::StrCat("exit status ", WEXITSTATUS(wait_status_));
}

std::string LoggedProcess::Output() const {
  const off_t size = lseek(log_.get(), 0, SEEK_END);
  if (size <= 0) return "";
  std::string text(static_cast<size_t>(std::min(size, kTailBytes)), '\0');
  const ssize_t got =
      pread(log_.get(), text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, got)));
  return text;
}

std::string LastWords(absl::string_view output, absl::string_view tag) {
  std::vector<absl::string_view> lines = absl::StrSplit(output, '\n', absl::SkipWhitespace());
  if (lines.empty()) return "";
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (tag.empty() || !absl::ConsumePrefix(&*line, tag)) continue;
    return std::string(absl::StripAsciiWhitespace(*line));
  }
  return std::string(absl::StripAsciiWhitespace(lines.back()));
}

}  // namespace ringside
