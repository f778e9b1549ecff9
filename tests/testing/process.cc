#include "tests/testing/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

extern char** environ;

namespace ringside {
namespace {

constexpr int kReadPollMs = 50;
constexpr absl::Duration kPoll = absl::Milliseconds(5);

[[noreturn]] void Die(const std::string& message) {
  fprintf(stderr, "test harness: %s: %s\n", message.c_str(), strerror(errno));
  abort();
}

std::vector<std::string> MakeEnvironment(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> texts;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (changes.count(text.substr(0, text.find('='))) == 0) texts.push_back(text);
  }
  for (const auto& [name, value] : changes) {
    if (!value.empty()) texts.push_back(absl::StrCat(name, "=", value));
  }
  return texts;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// What there is of it: a file of /proc may vanish with its process while it is read.
std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();  // unlike an iterator, does not throw
  return text.str();
}

// POSIX rather than std::regex, whose templates GCC warns about under the sanitizers.
class Pattern {
 public:
  explicit Pattern(const std::string& text) {
    if (regcomp(&regex_, text.c_str(), REG_EXTENDED | REG_NOSUB) != 0) Die("bad pattern " + text);
  }
  ~Pattern() { regfree(&regex_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  bool IsIn(const std::string& text) const {
    return regexec(&regex_, text.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t regex_;
};

// Unset for a process that has ended, reaped or not.
absl::optional<ProcessEntry> ReadProcess(pid_t pid) {
  const std::string folder = absl::StrCat("/proc/", pid);
  const std::string stat = ReadFile(folder + "/stat");
  // The name in parentheses may hold anything; what follows the last ')' is regular.
  const size_t end_of_name = stat.rfind(')');
  if (end_of_name == std::string::npos) return absl::nullopt;
  ProcessEntry entry;
  entry.pid = pid;
  if (sscanf(stat.c_str() + end_of_name + 1, " %c %d %d", &entry.state, &entry.parent,
             &entry.group) != 3) {
    return absl::nullopt;
  }
  if (entry.state == 'Z' || entry.state == 'X') return absl::nullopt;
  entry.command_line = ReadFile(folder + "/cmdline");
  std::replace(entry.command_line.begin(), entry.command_line.end(), '\0', ' ');
  return entry;
}

std::vector<ProcessEntry> AllProcesses() {
  std::vector<ProcessEntry> processes;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc", error), end; !error && it != end;
       it.increment(error)) {
    int pid = 0;
    if (!absl::SimpleAtoi(it->path().filename().string(), &pid)) continue;
    const absl::optional<ProcessEntry> entry = ReadProcess(pid);
    if (entry) processes.push_back(*entry);
  }
  return processes;
}

}  // namespace

std::unique_ptr<TestProcess> TestProcess::Start(const Config& config) {
  const std::vector<char*> argv = Pointers(config.argv);
  const std::vector<std::string> environment_texts = MakeEnvironment(config.environment);
  const std::vector<char*> environment = Pointers(environment_texts);
  int output[2];
  int error[2];
  if (pipe2(output, O_CLOEXEC) != 0 || pipe2(error, O_CLOEXEC) != 0) Die("pipe");
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) Die("fork");
  if (pid == 0) {
    // A test that is killed takes its processes with it.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    dup2(output[1], STDOUT_FILENO);
    dup2(output[1], STDERR_FILENO);
    if (config.working_directory.empty() || chdir(config.working_directory.c_str()) == 0) {
      execve(argv[0], argv.data(), environment.data());
    }
    const int reason = errno;
    const ssize_t ignored = write(error[1], &reason, sizeof(reason));
    static_cast<void>(ignored);
    _exit(127);
  }
  close(output[1]);
  close(error[1]);
  int reason = 0;
  if (read(error[0], &reason, sizeof(reason)) == sizeof(reason)) {
    errno = reason;
    Die(absl::StrCat("cannot start ", config.argv.front()));
  }
  close(error[0]);
  return std::unique_ptr<TestProcess>(new TestProcess(pid, output[0]));
}

TestProcess::TestProcess(pid_t pid, int output_fd) : pid_(pid) {
  reader_ = std::thread([this, output_fd] { ReadOutput(output_fd); });
}

TestProcess::~TestProcess() {
  if (!TryReap()) {
    kill(pid_, SIGKILL);
    AwaitCondition([this] { return TryReap(); }, absl::Seconds(30));
  }
  {
    MutexLock lock(&mutex_);
    stop_reading_ = true;
  }
  reader_.join();
}

void TestProcess::ReadOutput(int output_fd) {
  char buffer[4096];
  while (true) {
    // The process may have left a child that holds the pipe open: reading must be able to end
    // without it.
    pollfd readable = {output_fd, POLLIN, 0};
    const bool ready = poll(&readable, 1, kReadPollMs) > 0;
    const ssize_t got = ready ? read(output_fd, buffer, sizeof(buffer)) : 0;
    if (ready && got < 0 && errno == EINTR) continue;
    MutexLock lock(&mutex_);
    if (!ready && !stop_reading_) continue;
    if (got <= 0) {
      output_ended_ = true;
      changed_.NotifyAll();
      break;
    }
    output_.append(buffer, static_cast<size_t>(got));
    changed_.NotifyAll();
  }
  close(output_fd);
}

void TestProcess::Signal(int signal) const { kill(pid_, signal); }

bool TestProcess::TryReap() {
  MutexLock lock(&mutex_);
  if (status_) return true;
  int wait_status = 0;
  if (waitpid(pid_, &wait_status, WNOHANG) != pid_) return false;
  status_ = WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
  return true;
}

TestProcess::Ended TestProcess::Wait(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  Ended ended;
  const bool reaped = AwaitCondition([this] { return TryReap(); }, timeout);
  MutexLock lock(&mutex_);
  while (reaped && !output_ended_) {
    if (!changed_.WaitUntil(&mutex_, deadline)) break;
  }
  if (status_) ended.status = *status_;
  ended.output = output_;
  return ended;
}

std::string TestProcess::output() const {
  MutexLock lock(&mutex_);
  return output_;
}

bool TestProcess::WaitForOutput(const std::string& pattern, absl::Duration timeout) {
  const Pattern sought(pattern);
  const absl::Time deadline = absl::Now() + timeout;
  MutexLock lock(&mutex_);
  while (!sought.IsIn(output_)) {
    if (output_ended_ || !changed_.WaitUntil(&mutex_, deadline)) return sought.IsIn(output_);
  }
  return true;
}

TestProcess::Ended RunProcess(const TestProcess::Config& config, absl::Duration timeout) {
  return TestProcess::Start(config)->Wait(timeout);
}

std::vector<ProcessEntry> ProcessesMatching(const std::string& text) {
  std::vector<ProcessEntry> matching;
  for (const ProcessEntry& entry : AllProcesses()) {
    if (entry.pid != getpid() && entry.command_line.find(text) != std::string::npos)
      matching.push_back(entry);
  }
  return matching;
}

std::vector<ProcessEntry> DescendantsOf(pid_t pid) {
  const std::vector<ProcessEntry> all = AllProcesses();
  std::vector<ProcessEntry> found;
  std::vector<pid_t> parents = {pid};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    for (const ProcessEntry& entry : all) {
      if (entry.parent != parent) continue;
      found.push_back(entry);
      parents.push_back(entry.pid);
    }
  }
  return found;
}

bool ProcessRuns(pid_t pid) { return ReadProcess(pid).has_value(); }

std::vector<ProcessEntry> AwaitNoProcessMatching(const std::string& text, absl::Duration timeout) {
  AwaitCondition([&text] { return ProcessesMatching(text).empty(); }, timeout);
  return ProcessesMatching(text);
}

bool AwaitCondition(const std::function<bool()>& condition, absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (!condition()) {
    if (absl::Now() >= deadline) return false;
    absl::SleepFor(kPoll);
  }
  return true;
}

}  // namespace ringside
