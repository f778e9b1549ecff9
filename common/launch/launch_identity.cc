#include "common/launch/launch_identity.h"

#include <unistd.h>

#include <cstdint>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/launch/hostlist.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

constexpr int kMaxWorldSize = kMaxHostlistEntries;
constexpr int kMaxPort = 65535;
// Where a Slurm step's coordinator listens: below the ports that the kernel gives out by itself.
constexpr int kSlurmFirstPort = 20000;
constexpr int kSlurmPorts = 12000;
// Slurm numbers the batch script and other special steps from here on.
constexpr int64_t kSlurmFirstSpecialStep = 0xfffffff0;

// Reads one launcher's variables; its errors name the launcher, the variable and the value.
class Variables {
 public:
  Variables(std::string launcher, const Environment& environment)
      : launcher_(std::move(launcher)), environment_(environment) {}

  const std::string& launcher() const { return launcher_; }
  bool Has(const std::string& name) const { return environment_.count(name) > 0; }
  std::string Get(const std::string& name) const { return Has(name) ? environment_.at(name) : ""; }

  absl::StatusOr<std::string> Text(const std::string& name) const {
    if (!Has(name)) return Missing(name);
    if (Get(name).empty()) return Bad(name, "must not be empty");
    return Get(name);
  }

  absl::StatusOr<int64_t> Integer(const std::string& name, int64_t least, int64_t most) const {
    if (!Has(name)) return Missing(name);
    int64_t value = 0;
    if (!absl::SimpleAtoi(Get(name), &value) || value < least || value > most) {
      return Bad(name, absl::StrCat("must be an integer from ", least, " to ", most));
    }
    return value;
  }

  absl::Status Missing(const std::string& name) const {
    return absl::InvalidArgumentError(
        absl::StrCat(launcher_, " always sets ", name, ", but it is not set"));
  }

  absl::Status Bad(const std::string& name, absl::string_view rule) const {
    return absl::InvalidArgumentError(
        absl::StrCat(name, "=", Get(name), " (from ", launcher_, "): ", rule));
  }

 private:
  const std::string launcher_;
  const Environment& environment_;
};

std::string HostPort(const std::string& host, int64_t port) {
  const bool bare_ipv6 = absl::StrContains(host, ':') && !absl::StartsWith(host, "[");
  return bare_ipv6 ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

absl::StatusOr<LaunchIdentity> RankAndSize(const Variables& variables, const std::string& rank,
                                           const std::string& size) {
  LaunchIdentity identity;
  identity.source = variables.launcher();
  RINGSIDE_ASSIGN_OR_RETURN(const int64_t world_size, variables.Integer(size, 1, kMaxWorldSize));
  RINGSIDE_ASSIGN_OR_RETURN(const int64_t own, variables.Integer(rank, 0, kMaxWorldSize - 1));
  if (own >= world_size) {
    return variables.Bad(rank, absl::StrCat("must be below ", size, "=", world_size));
  }
  identity.rank = static_cast<int>(own);
  identity.world_size = static_cast<int>(world_size);
  return identity;
}

absl::Status ReadLocal(const Variables& variables, const std::string& rank, const std::string& size,
                       LaunchIdentity* identity) {
  RINGSIDE_ASSIGN_OR_RETURN(const int64_t local_size,
                            variables.Integer(size, 1, identity->world_size));
  RINGSIDE_ASSIGN_OR_RETURN(const int64_t local_rank, variables.Integer(rank, 0, local_size - 1));
  identity->local_rank = static_cast<int>(local_rank);
  identity->local_size = static_cast<int>(local_size);
  return absl::OkStatus();
}

absl::StatusOr<LaunchIdentity> FromFlags(const IdentityFlags& flags) {
  if (!flags.world_size.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rank ", *flags.rank,
        " was given, but not how many there are: --rank needs --workers, --shard needs "
        "--ps_shards"));
  }
  if (*flags.world_size < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a job of ", *flags.world_size, " processes: there must be at least 1"));
  }
  if (*flags.rank < 0 || *flags.rank >= *flags.world_size) {
    return absl::InvalidArgumentError(absl::StrCat("rank ", *flags.rank, " of ", *flags.world_size,
                                                   ": must be from 0 to ", *flags.world_size - 1));
  }
  LaunchIdentity identity;
  identity.source = "flags";
  identity.rank = *flags.rank;
  identity.world_size = *flags.world_size;
  return identity;
}

bool IsTorchrun(const Environment& environment) {
  return environment.count("TORCHELASTIC_RUN_ID") > 0 ||
         (environment.count("RANK") > 0 && environment.count("LOCAL_RANK") > 0);
}

absl::StatusOr<LaunchIdentity> FromTorchrun(const Environment& environment) {
  const Variables variables("torchrun", environment);
  RINGSIDE_ASSIGN_OR_RETURN(LaunchIdentity identity, RankAndSize(variables, "RANK", "WORLD_SIZE"));
  RINGSIDE_RETURN_IF_ERROR(ReadLocal(variables, "LOCAL_RANK", "LOCAL_WORLD_SIZE", &identity));
  RINGSIDE_ASSIGN_OR_RETURN(const std::string host, variables.Text("MASTER_ADDR"));
  RINGSIDE_ASSIGN_OR_RETURN(int64_t port, variables.Integer("MASTER_PORT", 1, kMaxPort));
  // Then torchrun's agent listens on MASTER_PORT itself, and the coordinator takes a neighbour.
  if (variables.Get("TORCHELASTIC_USE_AGENT_STORE") == "True") port += port < kMaxPort ? 1 : -1;
  identity.coordinator = HostPort(host, port);
  identity.rank0_hosts_coordinator = true;
  return identity;
}

bool IsSlurmStep(const Environment& environment) {
  if (environment.count("SLURM_PROCID") == 0 || environment.count("SLURM_STEP_ID") == 0) {
    return false;
  }
  int64_t step = 0;
  return !absl::SimpleAtoi(environment.at("SLURM_STEP_ID"), &step) || step < kSlurmFirstSpecialStep;
}

// mpirun and mpiexec within an allocation start one helper a node as a Slurm step, and the ranks
// inherit that step's variables: then the inner launcher's word counts. (`srun --mpi=pmi2` sets
// PMI_RANK too, but to the step's own numbers.)
bool MpiWithinSlurm(const Environment& environment) {
  if (environment.count("OMPI_COMM_WORLD_RANK") > 0) return true;
  const auto rank = environment.find("PMI_RANK");
  return rank != environment.end() && environment.count("PMI_SIZE") > 0 &&
         rank->second != environment.at("SLURM_PROCID");
}

// The host of every rank, or nothing where the distribution is one that the variables do not tell.
std::vector<std::string> HostsByRank(const std::string& distribution,
                                     const std::vector<std::string>& nodes,
                                     std::vector<int> tasks) {
  std::vector<std::string> hosts;
  if (distribution.empty() || absl::StartsWith(distribution, "block")) {
    for (size_t node = 0; node < nodes.size(); ++node) {
      hosts.insert(hosts.end(), tasks[node], nodes[node]);
    }
  } else if (absl::StartsWith(distribution, "cyclic")) {
    for (bool any = true; any;) {
      any = false;
      for (size_t node = 0; node < nodes.size(); ++node) {
        if (tasks[node] == 0) continue;
        --tasks[node];
        hosts.push_back(nodes[node]);
        any = true;
      }
    }
  }
  return hosts;
}

absl::Status ReadSlurmNodes(const Variables& variables, LaunchIdentity* identity) {
  RINGSIDE_ASSIGN_OR_RETURN(const std::string node_list, variables.Text("SLURM_STEP_NODELIST"));
  const auto nodes = ExpandHostlist(node_list);
  if (!nodes.ok()) return variables.Bad("SLURM_STEP_NODELIST", nodes.status().message());
  RINGSIDE_ASSIGN_OR_RETURN(const std::string task_list,
                            variables.Text("SLURM_STEP_TASKS_PER_NODE"));
  const auto tasks = ExpandTasksPerNode(task_list);
  if (!tasks.ok()) return variables.Bad("SLURM_STEP_TASKS_PER_NODE", tasks.status().message());
  if (tasks->size() != nodes->size()) {
    return variables.Bad("SLURM_STEP_TASKS_PER_NODE",
                         absl::StrCat("names ", tasks->size(), " nodes, but SLURM_STEP_NODELIST=",
                                      node_list, " names ", nodes->size()));
  }
  const int64_t total = std::accumulate(tasks->begin(), tasks->end(), int64_t{0});
  if (total != identity->world_size) {
    return variables.Bad("SLURM_STEP_TASKS_PER_NODE",
                         absl::StrCat("adds up to ", total, " tasks, not ", identity->world_size));
  }
  identity->hosts = HostsByRank(variables.Get("SLURM_DISTRIBUTION"), *nodes, *tasks);
  if (variables.Has("SLURM_NODEID")) {
    RINGSIDE_ASSIGN_OR_RETURN(
        const int64_t node,
        variables.Integer("SLURM_NODEID", 0, static_cast<int64_t>(nodes->size()) - 1));
    identity->local_size = (*tasks)[node];
  }
  // Rank 0 is on the first node in every distribution.
  RINGSIDE_ASSIGN_OR_RETURN(const int64_t job,
                            variables.Integer("SLURM_JOB_ID", 0, int64_t{1} << 40));
  RINGSIDE_ASSIGN_OR_RETURN(const int64_t step,
                            variables.Integer("SLURM_STEP_ID", 0, kSlurmFirstSpecialStep - 1));
  identity->coordinator =
      HostPort(nodes->front(), kSlurmFirstPort + (job + 37 * step) % kSlurmPorts);
  identity->rank0_hosts_coordinator = true;
  return absl::OkStatus();
}

absl::StatusOr<LaunchIdentity> FromSlurm(const Environment& environment) {
  const Variables variables("Slurm", environment);
  const std::string size =
      variables.Has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
  RINGSIDE_ASSIGN_OR_RETURN(LaunchIdentity identity, RankAndSize(variables, "SLURM_PROCID", size));
  RINGSIDE_ASSIGN_OR_RETURN(const int64_t local_rank,
                            variables.Integer("SLURM_LOCALID", 0, identity.world_size - 1));
  identity.local_rank = static_cast<int>(local_rank);
  RINGSIDE_RETURN_IF_ERROR(ReadSlurmNodes(variables, &identity));
  return identity;
}

absl::StatusOr<LaunchIdentity> FromOpenMpi(const Environment& environment) {
  const Variables variables("Open MPI", environment);
  RINGSIDE_ASSIGN_OR_RETURN(LaunchIdentity identity,
                            RankAndSize(variables, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"));
  RINGSIDE_RETURN_IF_ERROR(
      ReadLocal(variables, "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", &identity));
  return identity;
}

absl::StatusOr<LaunchIdentity> FromPmi(const Environment& environment) {
  return RankAndSize(Variables("PMI", environment), "PMI_RANK", "PMI_SIZE");
}

absl::StatusOr<LaunchIdentity> FromKubeflow(const Environment& environment) {
  const Variables variables("Kubeflow", environment);
  RINGSIDE_ASSIGN_OR_RETURN(LaunchIdentity identity, RankAndSize(variables, "RANK", "WORLD_SIZE"));
  RINGSIDE_ASSIGN_OR_RETURN(std::string host, variables.Text("MASTER_ADDR"));
  RINGSIDE_ASSIGN_OR_RETURN(const int64_t port, variables.Integer("MASTER_PORT", 1, kMaxPort));
  // Some operator versions tell the master's own pod "localhost"; the others reach it by its name.
  if (host == "localhost" && identity.world_size > 1 && !variables.Get("HOSTNAME").empty()) {
    host = variables.Get("HOSTNAME");
  }
  identity.coordinator = HostPort(host, port);
  identity.rank0_hosts_coordinator = true;
  return identity;
}

// What to say when nothing applies; hints at what was found halfway.
absl::Status NoIdentity(const Environment& environment) {
  if (environment.count("SLURM_JOB_ID") > 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "this is Slurm job ", environment.at("SLURM_JOB_ID"),
        " but no step of it (a batch script, or a shell of salloc): start the processes with srun, "
        "or give --rank and --workers"));
  }
  return absl::FailedPreconditionError(
      "nothing says which rank this process is: give --rank and --workers (or --shard and "
      "--ps_shards), or start it with torchrun, srun, mpirun or a Kubeflow PyTorchJob");
}

absl::StatusOr<LaunchIdentity> FromEnvironment(const Environment& environment) {
  if (IsTorchrun(environment)) return FromTorchrun(environment);
  if (IsSlurmStep(environment) && !MpiWithinSlurm(environment)) return FromSlurm(environment);
  if (environment.count("OMPI_COMM_WORLD_RANK") > 0) return FromOpenMpi(environment);
  if (environment.count("PMI_RANK") > 0) return FromPmi(environment);
  if (environment.count("RANK") > 0) return FromKubeflow(environment);
  return NoIdentity(environment);
}

}  // namespace

absl::StatusOr<LaunchIdentity> ReadLaunchIdentity(const IdentityFlags& flags,
                                                  const Environment& environment) {
  RINGSIDE_ASSIGN_OR_RETURN(LaunchIdentity identity, flags.rank.has_value()
                                                         ? FromFlags(flags)
                                                         : FromEnvironment(environment));
  if (flags.world_size.has_value() && *flags.world_size != identity.world_size) {
    return absl::InvalidArgumentError(absl::StrCat("the flags ask for ", *flags.world_size,
                                                   " processes, but ", identity.source, " started ",
                                                   identity.world_size));
  }
  if (!flags.coordinator.empty()) {
    identity.coordinator = flags.coordinator;
    identity.rank0_hosts_coordinator = false;
  }
  return identity;
}

Environment ReadEnvironment() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const absl::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals == absl::string_view::npos) continue;
    environment.emplace(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
  }
  return environment;
}

}  // namespace ringside
