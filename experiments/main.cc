// `ringside`: starts jobs, compares strategies and reports. It knows no LibTorch.
#include <stdio.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/config/flag_parser.h"
#include "common/logging.h"
#include "experiments/command_context.h"
#include "experiments/compare_command.h"
#include "experiments/coordinator_command.h"
#include "experiments/diff_command.h"
#include "experiments/doctor/doctor_command.h"
#include "experiments/export_command.h"
#include "experiments/predict_command.h"
#include "experiments/report_command.h"
#include "experiments/run_command.h"
#include "experiments/signal_wait.h"
#include "experiments/sweep/sweep_command.h"

namespace ringside {
namespace {

struct Command {
  const char* name;
  const char* summary;
  int (*run)(const CommandContext&);
  bool waits_for_signals;
  bool takes_positional;
};

int Help(const CommandContext&);

constexpr Command kCommands[] = {
    {"run", "train once: --strategy=ps|ring|local --workers=N --steps=N|--epochs=N", &RunCommand,
     true, false},
    {"compare", "train with --strategies=ps,ring,local --workers=1,2,4 --trials=T and compare",
     &CompareCommand, true, false},
    {"sweep",
     "SPEC.textproto --out=DIR: an experiment from a file; goes on where it was interrupted",
     &SweepCommand, true, true},
    {"report", "DIR...: make the pages again from results, of several folders together",
     &ReportCommand, false, true},
    {"diff", "A B: is B significantly slower than A? exit status 1 if so", &DiffCommand, false,
     true},
    {"predict", "DIR --workers=8,64,1024 --bandwidth=25gbit --latency=20us: what more would take",
     &PredictCommand, false, true},
    {"export", "--checkpoint=FILE --out=FILE.safetensors: a model for other frameworks",
     &ExportCommand, false, false},
    {"coordinator", "meeting point for processes started by hand: --coordinator=host:port",
     &CoordinatorCommand, true, false},
    {"doctor", "look at this machine: what is missing or slow, and how to mend it", &DoctorCommand,
     false, false},
    {"help", "all flags", &Help, false, false},
};

void PrintUsage(FILE* stream) {
  fputs("usage: ringside COMMAND [--flags]\n\n", stream);
  for (const Command& command : kCommands)
    fprintf(stream, "  %-12s %s\n", command.name, command.summary);
  fputs("\ntry: ringside run --strategy=ring --workers=2 --steps=100\n", stream);
}

int Help(const CommandContext&) {
  PrintUsage(stdout);
  printf("\nflags:\n%s", FlagHelp().c_str());
  return 0;
}

std::string OwnFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

const Command* Find(const std::string& name) {
  for (const Command& command : kCommands) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

int Main(int argc, char** argv) {
  SetLogName("ringside");
  if (argc < 2) {
    PrintUsage(stderr);
    return 2;
  }
  const std::string name = argv[1];
  if (name == "--help" || name == "-h") return Help({});
  const Command* command = Find(name);
  if (command == nullptr) {
    const std::string known = absl::StrJoin(
        kCommands, ", ", [](std::string* out, const Command& each) { out->append(each.name); });
    return ExitStatus(absl::InvalidArgumentError(
        absl::StrCat("unknown command \"", name, "\": must be one of ", known)));
  }
  if (command->waits_for_signals) BlockJobSignals();
  // Children are made by fork and exec, with nothing of gRPC in between: its fork handlers would
  // only get in the way.
  setenv("GRPC_ENABLE_FORK_SUPPORT", "0", 1);
  // gRPC's own words on connections that break would fall into the live line; what matters comes as
  // a verdict.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  CommandContext context;
  context.argv.assign(argv, argv + argc);
  context.environment = ReadEnvironment();
  context.binary_dir = OwnFolder();
  absl::StatusOr<CommandLine> line = ParseFlags(argc - 1, argv + 1);
  if (!line.ok()) return ExitStatus(line.status());
  if (line->help) return Help({});
  if (!command->takes_positional && !line->positional.empty()) {
    return ExitStatus(absl::InvalidArgumentError(
        absl::StrCat("ringside ", name, ": unexpected argument \"", line->positional.front(),
                     "\"; flags begin with --")));
  }
  context.command_line = *std::move(line);
  return command->run(context);
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) { return ringside::Main(argc, argv); }
