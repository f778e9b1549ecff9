#include "experiments/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

namespace ringside {
namespace {

// Everything that the child needs, prepared before fork: nothing is allocated after it.
struct ExecPlan {
  const char* binary;
  char* const* argv;
  char* const* environment;
  int input_fd;
  int log_fd;
  int error_fd;  // closed by a successful exec; gets errno otherwise
  pid_t group;
  pid_t parent;
  int network_namespace_fd;  // -1: none to enter
};

class UniqueFd {
 public:
  explicit UniqueFd(int fd) : fd_(fd) {}
  ~UniqueFd() { Close(); }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

[[noreturn]] void FailInChild(int error_fd) {
  const int error = errno;
  const ssize_t ignored = write(error_fd, &error, sizeof(error));
  static_cast<void>(ignored);
  _exit(127);
}

// Runs in the forked child: async-signal-safe calls only.
[[noreturn]] void ExecInChild(const ExecPlan& plan) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) FailInChild(plan.error_fd);
  // The parent may have ended before prctl took effect: then nobody would ever signal us.
  if (getppid() != plan.parent) _exit(127);
  if (setpgid(0, plan.group) != 0) FailInChild(plan.error_fd);
  if (plan.network_namespace_fd >= 0 && setns(plan.network_namespace_fd, CLONE_NEWNET) != 0)
    FailInChild(plan.error_fd);
  for (int signal : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGQUIT}) {
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (dup2(plan.input_fd, STDIN_FILENO) < 0 || dup2(plan.log_fd, STDOUT_FILENO) < 0 ||
      dup2(plan.log_fd, STDERR_FILENO) < 0) {
    FailInChild(plan.error_fd);
  }
  // Sockets that libraries opened without O_CLOEXEC would keep our ports busy. Older kernels lack
  // the call: no harm.
  close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  execve(plan.binary, plan.argv, plan.environment);
  FailInChild(plan.error_fd);
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

absl::Status SpawnError(const std::string& binary, int error) {
  const std::string message = absl::StrCat("cannot start ", binary, ": ", strerror(error));
  if (error == ENOENT) return absl::NotFoundError(message);
  return error == EACCES ? absl::PermissionDeniedError(message) : absl::InternalError(message);
}

}  // namespace

absl::StatusOr<ChildProcess> ChildProcess::Spawn(const Config& config) {
  std::vector<std::string> argv_texts = {config.binary};
  argv_texts.insert(argv_texts.end(), config.arguments.begin(), config.arguments.end());
  const std::vector<char*> argv = Pointers(argv_texts);
  const std::vector<char*> environment = Pointers(config.environment);
  UniqueFd null_fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  UniqueFd log_fd(
      open(config.log_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  if (log_fd.get() < 0) {
    return absl::PermissionDeniedError(
        absl::StrCat("cannot write the log ", config.log_path, ": ", strerror(errno)));
  }
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) return SpawnError(config.binary, errno);
  UniqueFd error_reader(pipe_fds[0]);
  UniqueFd error_writer(pipe_fds[1]);
  const ExecPlan plan = {config.binary.c_str(),
                         argv.data(),
                         environment.data(),
                         config.input_fd >= 0 ? config.input_fd : null_fd.get(),
                         log_fd.get(),
                         error_writer.get(),
                         config.group,
                         getpid(),
                         config.network_namespace_fd};

  const pid_t pid = fork();
  if (pid < 0) return SpawnError(config.binary, errno);
  if (pid == 0) ExecInChild(plan);
  ChildProcess child(pid);
  // Both sides set the group, so that it exists whoever runs first. It fails where the child has
  // called exec already.
  setpgid(pid, config.group);
  error_writer.Close();
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(error_reader.get(), &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  if (got == sizeof(error)) return SpawnError(config.binary, error);
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), exit_(other.exit_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    KillAndReap();
    pid_ = std::exchange(other.pid_, -1);
    exit_ = other.exit_;
  }
  return *this;
}

ChildProcess::~ChildProcess() { KillAndReap(); }

const absl::optional<ChildExit>& ChildProcess::Poll() {
  int wait_status = 0;
  if (running() && waitpid(pid_, &wait_status, WNOHANG) == pid_)
    exit_ = ChildExitFromWaitStatus(wait_status);
  return exit_;
}

void ChildProcess::KillAndReap() {
  if (!running()) return;
  kill(pid_, SIGKILL);
  int wait_status = 0;
  while (waitpid(pid_, &wait_status, 0) < 0 && errno == EINTR) {
  }
  exit_ = ChildExitFromWaitStatus(wait_status);
}

}  // namespace ringside
