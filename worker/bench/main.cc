// `ps_bench`: the parameter server, what the same frames cost in gRPC alone, and what the machine's
// memory allows, interleaved in one run. The same program is also each of the worker and shard
// processes that it starts.
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/config/flag_parser.h"
#include "common/logging.h"
#include "common/process_info.h"
#include "common/process_memory.h"
#include "common/provenance.h"
#include "common/reduction.h"
#include "common/status_macros.h"
#include "worker/bench/member_server.h"
#include "worker/bench/ps_bench_config.h"
#include "worker/bench/ps_bench_flags.h"
#include "worker/bench/ps_bench_output.h"
#include "worker/bench/ps_bench_run.h"
#include "worker/bench/ps_contenders.h"
#include "worker/bench/ps_endpoints.h"
#include "worker/bench/ps_measurement.h"
#include "worker/bench/ps_tables.h"
#include "worker/bench/ps_targets.h"

namespace ringside {
namespace {

constexpr int kSchemaVersion = 1;

absl::Status RunMember(const MemberRole& role) {
  // The parent may end at any moment; nothing of it may outlive it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  SetLogName(absl::StrCat("rank ", role.rank));
  RINGSIDE_ASSIGN_OR_RETURN(const std::unique_ptr<MemberServer> server,
                            MemberServer::Connect(role.control, role.rank));
  return server->Run();
}

PsBenchRun::Surroundings ReadSurroundings() {
  PsBenchRun::Surroundings surroundings;
  std::error_code error;
  surroundings.binary = std::filesystem::read_symlink("/proc/self/exe", error).string();
  for (char** variable = environ; *variable != nullptr; ++variable) {
    surroundings.environment.emplace_back(*variable);
  }
  return surroundings;
}

// What a reader of the results must know and cannot see in them.
std::vector<std::string> Notes(const PsBenchConfig& config) {
  std::vector<std::string> notes;
  const ProcessInfo info = ReadProcessInfo();
  const auto congestion = info.facts().find("congestion_control");
  notes.push_back(
      absl::StrCat("gRPC ", grpc::Version(), ", kernels ", CpuKernels(), ", congestion control ",
                   congestion == info.facts().end() ? "unknown" : congestion->second, ", ",
                   info.cpus_size(), " cores; malloc keeps freed memory in all processes"));
  notes.push_back("raw/LINK: the better of raw/LINK/callback and raw/LINK/sync");
  const std::vector<std::string> built = ServerLinks();
  std::vector<std::string> lacking;
  for (const std::string& link : config.links) {
    if (std::find(built.begin(), built.end(), link) == built.end()) {
      lacking.push_back(absl::StrCat("ps/", link));
    }
  }
  if (!lacking.empty()) {
    notes.push_back(absl::StrCat("not in this build: ", absl::StrJoin(lacking, ", ")));
  }
  return notes;
}

absl::Status RunBench(const PsBenchConfig& config, const std::vector<std::string>& command) {
  RINGSIDE_ASSIGN_OR_RETURN(
      const std::vector<PsContender> contenders,
      SelectPsContenders(PsContendersOf(config.links, ServerLinks()), config.contenders));
  RINGSIDE_RETURN_IF_ERROR(PreparePsOutput(config.out));
  PsBenchResult result;
  result.set_schema_version(kSchemaVersion);
  for (const std::string& word : command) result.add_command(word);
  *result.mutable_provenance() = ReadProvenance(absl::Now());
  for (const auto& [name, value] : config.Settings()) (*result.mutable_settings())[name] = value;

  fputs(PsTableHeading().c_str(), stdout);
  PsBenchRun run(config, contenders, ReadSurroundings());
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<PsMeasurement> measurements,
                            run.Run([](const std::vector<PsMeasurement>& rows) {
                              fputs(PsTableRows(rows).c_str(), stdout);
                              fflush(stdout);
                            }));
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<PsShardMemory> memory, run.MeasureShardMemory());
  for (const PsMeasurement& each : measurements) *result.add_measurements() = each;
  for (const PsShardMemory& each : memory) *result.add_shard_memory() = each;
  printf("\n%s", PsMemoryTable(memory).c_str());
  for (const std::string& note : Notes(config)) {
    result.add_notes(note);
    printf("# %s\n", note.c_str());
  }
  if (config.targets) {
    const std::vector<PsTarget> targets = EvaluatePsTargets(measurements, memory);
    for (const PsTarget& each : targets) *result.add_targets() = each;
    printf("\n%s", PsTargetTable(targets).c_str());
  }
  RINGSIDE_RETURN_IF_ERROR(WritePsResults(config.out, result));
  return CheckPsMeasurements(measurements);
}

int Main(int argc, char** argv) {
  SetLogName("ps_bench");
  const absl::StatusOr<CommandLine> line = ParseFlags(argc, argv);
  if (!line.ok()) return ExitStatus(line.status());
  if (line->help) {
    printf("usage: ps_bench [--workers_shards=2/1,4/2] [--sizes=4K,1M] [--targets] ...\n\n%s",
           FlagHelp().c_str());
    return 0;
  }
  if (!line->positional.empty()) {
    return ExitStatus(absl::InvalidArgumentError(absl::StrCat(
        "unexpected argument \"", line->positional.front(), "\"; flags begin with --")));
  }
  const absl::StatusOr<MemberRole> role = MemberRoleFromFlags();
  if (!role.ok()) return ExitStatus(role.status());
  if (role->is_member) return ExitStatus(RunMember(*role));
  const absl::StatusOr<PsBenchConfig> config = PsBenchConfigFromFlags(*line);
  if (!config.ok()) return ExitStatus(config.status());
  return ExitStatus(RunBench(*config, std::vector<std::string>(argv, argv + argc)));
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  ringside::KeepFreedMemory();
  signal(SIGPIPE, SIG_IGN);
  return ringside::Main(argc, argv);
}
