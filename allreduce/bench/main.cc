// `allreduce_bench`: our all-reducers, foreign ones and the machine's ceilings, interleaved in one
// run. The same program is also each of the rank processes that it starts.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "allreduce/bench/bench_config.h"
#include "allreduce/bench/bench_flags.h"
#include "allreduce/bench/bench_output.h"
#include "allreduce/bench/bench_run.h"
#include "allreduce/bench/contender_catalog.h"
#include "allreduce/bench/foreign_contenders.h"
#include "allreduce/bench/measurement.h"
#include "allreduce/bench/rank_server.h"
#include "allreduce/bench/result_table.h"
#include "allreduce/bench/targets.h"
#include "common/config/flag_parser.h"
#include "common/logging.h"
#include "common/network/socket.h"
#include "common/process_info.h"
#include "common/provenance.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

constexpr int kSchemaVersion = 1;

// The rank's number: from the command line, or from mpirun.
absl::StatusOr<int> RankNumber(const RankRole& role) {
  if (role.rank >= 0) return role.rank;
  const char* text = getenv("OMPI_COMM_WORLD_RANK");
  int rank = 0;
  if (text != nullptr && absl::SimpleAtoi(text, &rank)) return rank;
  return absl::FailedPreconditionError("no --rank, and OMPI_COMM_WORLD_RANK is not set");
}

absl::Status RunRank(const RankRole& role) {
  // The parent may end at any moment; nothing of it may outlive it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Libraries that write to a peer that is gone shall get an error.
  signal(SIGPIPE, SIG_IGN);
  RINGSIDE_ASSIGN_OR_RETURN(const int rank, RankNumber(role));
  SetLogName(absl::StrCat("rank ", rank));
  RINGSIDE_ASSIGN_OR_RETURN(const std::unique_ptr<RankServer> server,
                            RankServer::Connect(role.control, rank));
  return server->Run();
}

BenchRun::Surroundings ReadSurroundings() {
  BenchRun::Surroundings surroundings;
  std::error_code error;
  surroundings.binary = std::filesystem::read_symlink("/proc/self/exe", error).string();
  for (char** variable = environ; *variable != nullptr; ++variable) {
    surroundings.environment.emplace_back(*variable);
  }
  surroundings.as_root = geteuid() == 0;
  return surroundings;
}

// What a reader of the results must know and cannot see in them.
std::vector<std::string> Notes(const BenchConfig& config,
                               const std::vector<Contender>& contenders) {
  std::vector<std::string> notes;
  const ProcessInfo info = ReadProcessInfo();
  const auto system = info.facts().find("congestion_control");
  const std::string system_name = system == info.facts().end() ? "unknown" : system->second;
  bool foreign_tcp = false;
  for (const Contender& each : contenders) {
    foreign_tcp = foreign_tcp || (each.foreign() && each.ceiling == "raw_tcp");
  }
  if (foreign_tcp && !config.congestion_control.empty() &&
      config.congestion_control != system_name) {
    notes.push_back(absl::StrCat("congestion control: our sockets and raw_tcp use ",
                                 config.congestion_control, ", Gloo and Open MPI the system's ",
                                 system_name));
  }
  if (config.wire_dtype != "fp32") {
    notes.push_back(absl::StrCat("our elements travel as ", config.wire_dtype,
                                 ", those of foreign contenders and ceilings as fp32"));
  }
  return notes;
}

absl::Status RunBench(BenchConfig config, const std::vector<std::string>& command) {
  const BuiltBaselines built = BaselinesOfThisBuild();
  if (config.targets && config.contenders.empty()) config.contenders = TargetContenders(built);
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<Contender> contenders,
                            SelectContenders(config.contenders, built));
  if (!config.congestion_control.empty()) {
    RINGSIDE_RETURN_IF_ERROR(CheckCongestionControl(config.congestion_control));
  }
  RINGSIDE_RETURN_IF_ERROR(PrepareOutputFolder(config));
  AllReduceBenchResult result;
  result.set_schema_version(kSchemaVersion);
  for (const std::string& word : command) result.add_command(word);
  *result.mutable_provenance() = ReadProvenance(absl::Now());
  for (const auto& [name, value] : config.Settings()) (*result.mutable_settings())[name] = value;

  const bool table = config.Writes("table");
  if (table) fputs(TableHeading().c_str(), stdout);
  BenchRun run(config, contenders, ReadSurroundings());
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<AllReduceMeasurement> measurements,
                            run.Run([table](const std::vector<AllReduceMeasurement>& rows) {
                              if (!table) return;
                              fputs(TableRows(rows).c_str(), stdout);
                              fflush(stdout);
                            }));
  for (const AllReduceMeasurement& each : measurements) *result.add_measurements() = each;
  std::vector<std::string> notes = Notes(config, contenders);
  notes.insert(notes.end(), run.notes().begin(), run.notes().end());
  for (const std::string& note : notes) result.add_notes(note);
  std::vector<AllReduceTarget> targets;
  if (config.targets) targets = EvaluateTargets(measurements);
  for (const AllReduceTarget& each : targets) *result.add_targets() = each;
  if (table) {
    fputs(TableFacts(measurements).c_str(), stdout);
    for (const std::string& note : notes) printf("# %s\n", note.c_str());
    if (config.targets) printf("\n%s", TargetTable(targets).c_str());
  }
  RINGSIDE_RETURN_IF_ERROR(WriteResults(config, result));
  return CheckMeasurements(measurements);
}

int Main(int argc, char** argv) {
  SetLogName("allreduce_bench");
  const absl::StatusOr<CommandLine> line = ParseFlags(argc, argv);
  if (!line.ok()) return ExitStatus(line.status());
  if (line->help) {
    printf("usage: allreduce_bench [--contenders=ring_shm,gloo,mpi] [--sizes=4K,1M] ...\n\n%s",
           FlagHelp().c_str());
    return 0;
  }
  if (!line->positional.empty()) {
    return ExitStatus(absl::InvalidArgumentError(absl::StrCat(
        "unexpected argument \"", line->positional.front(), "\"; flags begin with --")));
  }
  const absl::StatusOr<RankRole> role = RankRoleFromFlags();
  if (!role.ok()) return ExitStatus(role.status());
  if (role->is_rank) return ExitStatus(RunRank(*role));
  const absl::StatusOr<BenchConfig> config = BenchConfigFromFlags();
  if (!config.ok()) return ExitStatus(config.status());
  return ExitStatus(RunBench(*config, std::vector<std::string>(argv, argv + argc)));
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) { return ringside::Main(argc, argv); }
