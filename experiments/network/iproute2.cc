#include "experiments/network/iproute2.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "common/network/socket.h"
#include "common/status_macros.h"
#include "experiments/child_process.h"

namespace ringside {
namespace {

// They take milliseconds.
constexpr absl::Duration kTimeout = absl::Seconds(20);
constexpr absl::Duration kPollInterval = absl::Milliseconds(1);
constexpr size_t kMaxOutputBytes = 4096;

absl::StatusOr<std::string> PathOf(const std::string& tool) {
  for (const char* folder : {"/usr/sbin/", "/sbin/", "/usr/bin/", "/bin/"}) {
    const std::string path = folder + tool;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return absl::FailedPreconditionError(
      absl::StrCat("`", tool, "` is not installed: apt-get install iproute2"));
}

absl::StatusOr<FileDescriptor> MemoryFile(absl::string_view content) {
  FileDescriptor file(memfd_create("ringside-commands", MFD_CLOEXEC));
  if (!file.valid() || pwrite(file.get(), content.data(), content.size(), 0) !=
                           static_cast<ssize_t>(content.size())) {
    return absl::UnavailableError(absl::StrCat("no file in memory: ", strerror(errno)));
  }
  return file;
}

std::string ContentOf(const FileDescriptor& file) {
  std::string text(kMaxOutputBytes, '\0');
  const ssize_t size = pread(file.get(), text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return text;
}

// "RTNETLINK answers: File exists\nCommand failed -:2\n" -> the second command and the first line.
absl::Status Refusal(const std::string& tool, absl::string_view commands,
                     const std::string& output) {
  std::string said;
  std::string command;
  const std::vector<absl::string_view> lines = absl::StrSplit(commands, '\n');
  for (absl::string_view line : absl::StrSplit(output, '\n', absl::SkipEmpty())) {
    size_t number = 0;
    if (!absl::ConsumePrefix(&line, "Command failed -:")) {
      if (said.empty()) said = std::string(line);
    } else if (absl::SimpleAtoi(line, &number) && number >= 1 && number <= lines.size()) {
      command = absl::StrCat(" ", lines[number - 1]);
    }
  }
  return absl::UnavailableError(
      absl::StrCat("`", tool, command, "` fails: ", said.empty() ? "it does not say why" : said));
}

}  // namespace

absl::Status RunCommands(const std::string& tool, const NetworkNamespace& space,
                         absl::string_view commands) {
  if (commands.empty()) return absl::OkStatus();
  RINGSIDE_ASSIGN_OR_RETURN(const std::string path, PathOf(tool));
  RINGSIDE_ASSIGN_OR_RETURN(const FileDescriptor input, MemoryFile(commands));
  RINGSIDE_ASSIGN_OR_RETURN(const FileDescriptor output, MemoryFile(""));
  ChildProcess::Config config;
  config.binary = path;
  config.arguments = {"-batch", "-"};
  config.environment = {"LC_ALL=C"};
  config.log_path = absl::StrCat("/proc/self/fd/", output.get());
  config.input_fd = input.get();
  config.network_namespace_fd = space.fd();
  RINGSIDE_ASSIGN_OR_RETURN(ChildProcess child, ChildProcess::Spawn(config));
  const absl::Time deadline = absl::Now() + kTimeout;
  while (!child.Poll().has_value()) {
    if (absl::Now() >= deadline) {
      return absl::UnavailableError(
          absl::StrCat("`", tool, "` has not ended within ", absl::FormatDuration(kTimeout)));
    }
    absl::SleepFor(kPollInterval);
  }
  return child.Poll()->ok() ? absl::OkStatus() : Refusal(tool, commands, ContentOf(output));
}

}  // namespace ringside
