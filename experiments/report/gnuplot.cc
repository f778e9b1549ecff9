#include "experiments/report/gnuplot.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "experiments/report/text_file.h"

namespace ringside {
namespace {

constexpr size_t kMostOutputBytes = 4096;

// A started gnuplot, and the reading end of what it says. Killed and reaped when dropped early.
class Process {
 public:
  static absl::StatusOr<Process> Start(const std::string& program, const std::string& work_dir,
                                       const std::string& script) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return absl::ErrnoToStatus(errno, "pipe for gnuplot's messages");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, work_dir.c_str());
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    std::string program_copy = program;
    std::string script_copy = script;
    char* arguments[] = {program_copy.data(), script_copy.data(), nullptr};
    pid_t pid = 0;
    const int error = posix_spawnp(&pid, program.c_str(), &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error == 0) return Process(pid, ends[0]);
    close(ends[0]);
    if (error == ENOENT || error == EACCES) {
      return absl::UnavailableError(absl::StrCat("figures are drawn by gnuplot, and ", program,
                                                 " is not there: install the package gnuplot-nox"));
    }
    return absl::UnknownError(absl::StrCat("starting ", program, ": ", strerror(error)));
  }

  Process(Process&& other) noexcept : pid_(other.pid_), output_(other.output_) { other.pid_ = 0; }
  Process& operator=(Process&&) = delete;
  ~Process() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    Reap();
  }

  // What it said until it closed its output, which is when it ends.
  absl::StatusOr<std::string> ReadAll(absl::Time deadline) {
    std::string said;
    while (true) {
      const int64_t left_ms = absl::ToInt64Milliseconds(deadline - absl::Now());
      pollfd waiting = {output_, POLLIN, 0};
      const int ready =
          left_ms > 0 ? poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left_ms, 1'000'000)))
                      : 0;
      if (ready < 0 && errno == EINTR) continue;
      if (ready < 0) return absl::ErrnoToStatus(errno, "waiting for gnuplot");
      if (ready == 0)
        return absl::DeadlineExceededError("gnuplot did not end in time and was killed");
      std::array<char, 1024> buffer;
      const ssize_t count = read(output_, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return absl::ErrnoToStatus(errno, "reading from gnuplot");
      if (count == 0) return said;
      if (said.size() < kMostOutputBytes) said.append(buffer.data(), static_cast<size_t>(count));
    }
  }

  // Exit status, or 128 and more for a signal.
  int Reap() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    close(output_);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  Process(pid_t pid, int output) : pid_(pid), output_(output) {}

  pid_t pid_;  // 0: reaped or moved from
  int output_;
};

}  // namespace

absl::StatusOr<std::string> DrawSvg(const Figure& figure, const std::string& work_dir,
                                    const std::string& program, absl::Duration timeout) {
  const std::string script_name = absl::StrCat(figure.name, ".gp");
  const std::string drawing_name = absl::StrCat(figure.name, ".svg");
  // Names are relative to the folder that gnuplot starts in, so that no path needs quoting.
  const std::string script = absl::StrCat(
      "set encoding utf8\n",
      absl::StrFormat("set terminal svg size %d,%d fixed noenhanced font 'sans-serif,13' linewidth "
                      "1 name '%s'\n",
                      figure.width, figure.height, figure.name),
      "set output '", drawing_name, "'\n",
      absl::StrReplaceAll(figure.script, {{"'data'", absl::StrCat("'", figure.name, ".dat'")}}),
      "unset output\n");
  RINGSIDE_RETURN_IF_ERROR(
      WriteTextFile(absl::StrCat(work_dir, "/", figure.name, ".dat"), figure.data));
  RINGSIDE_RETURN_IF_ERROR(WriteTextFile(absl::StrCat(work_dir, "/", script_name), script));
  RINGSIDE_ASSIGN_OR_RETURN(Process process, Process::Start(program, work_dir, script_name));
  RINGSIDE_ASSIGN_OR_RETURN(const std::string said, process.ReadAll(absl::Now() + timeout));
  const int exit_status = process.Reap();
  if (exit_status != 0) {
    return absl::InternalError(absl::StrCat("gnuplot ended with status ", exit_status,
                                            " on the figure ", figure.name, ": ",
                                            absl::StripAsciiWhitespace(said)));
  }
  return ReadTextFile(absl::StrCat(work_dir, "/", drawing_name));
}

}  // namespace ringside
