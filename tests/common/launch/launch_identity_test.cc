#include "common/launch/launch_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Environment With(Environment environment, const Environment& changes) {
  for (const auto& [name, value] : changes) environment[name] = value;
  return environment;
}

Environment Without(Environment environment, const std::string& name) {
  environment.erase(name);
  return environment;
}

Environment Torchrun() {
  return {{"RANK", "5"},
          {"WORLD_SIZE", "8"},
          {"LOCAL_RANK", "1"},
          {"LOCAL_WORLD_SIZE", "4"},
          {"MASTER_ADDR", "10.0.0.1"},
          {"MASTER_PORT", "29500"},
          {"TORCHELASTIC_RUN_ID", "none"}};
}

Environment Slurm() {
  return {{"SLURM_JOB_ID", "1234"},
          {"SLURM_STEP_ID", "2"},
          {"SLURM_PROCID", "3"},
          {"SLURM_LOCALID", "1"},
          {"SLURM_NODEID", "1"},
          {"SLURM_NTASKS", "5"},
          {"SLURM_STEP_NUM_TASKS", "5"},
          {"SLURM_STEP_NODELIST", "n[1-3]"},
          {"SLURM_STEP_TASKS_PER_NODE", "2(x2),1"}};
}

Environment OpenMpi() {
  return {{"OMPI_COMM_WORLD_RANK", "2"},
          {"OMPI_COMM_WORLD_SIZE", "4"},
          {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
          {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
}

Environment Pmi() { return {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}; }

Environment Kubeflow() {
  return {{"RANK", "0"},
          {"WORLD_SIZE", "3"},
          {"MASTER_ADDR", "job-master-0"},
          {"MASTER_PORT", "23456"}};
}

IdentityFlags Flags(absl::optional<int> rank, absl::optional<int> world_size,
                    std::string coordinator = "") {
  return {rank, world_size, std::move(coordinator)};
}

TEST(LaunchIdentityTest, FlagsWinOverEverything) {
  const auto identity = ReadLaunchIdentity(Flags(1, 3, "node7:4000"), With(Torchrun(), Slurm()));
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_EQ(identity->source, "flags");
  EXPECT_EQ(identity->rank, 1);
  EXPECT_EQ(identity->world_size, 3);
  EXPECT_FALSE(identity->local_rank.has_value());
  EXPECT_EQ(identity->coordinator, "node7:4000");
  EXPECT_FALSE(identity->rank0_hosts_coordinator);
  EXPECT_THAT(identity->hosts, IsEmpty());
}

TEST(LaunchIdentityTest, Torchrun_) {
  const auto identity = ReadLaunchIdentity({}, Torchrun());
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_EQ(identity->source, "torchrun");
  EXPECT_EQ(identity->rank, 5);
  EXPECT_EQ(identity->world_size, 8);
  EXPECT_EQ(identity->local_rank, 1);
  EXPECT_EQ(identity->local_size, 4);
  EXPECT_EQ(identity->coordinator, "10.0.0.1:29500");
  EXPECT_TRUE(identity->rank0_hosts_coordinator);
}

TEST(LaunchIdentityTest, TorchrunsAgentKeepsMasterPort) {
  Environment environment = With(Torchrun(), {{"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  EXPECT_EQ(ReadLaunchIdentity({}, environment)->coordinator, "10.0.0.1:29501");
  environment["MASTER_PORT"] = "65535";
  EXPECT_EQ(ReadLaunchIdentity({}, environment)->coordinator, "10.0.0.1:65534");
  environment["TORCHELASTIC_USE_AGENT_STORE"] = "False";
  EXPECT_EQ(ReadLaunchIdentity({}, environment)->coordinator, "10.0.0.1:65535");
}

TEST(LaunchIdentityTest, BracketsAnIpv6Master) {
  EXPECT_EQ(ReadLaunchIdentity({}, With(Torchrun(), {{"MASTER_ADDR", "fd00::1"}}))->coordinator,
            "[fd00::1]:29500");
}

TEST(LaunchIdentityTest, SlurmStep) {
  const auto identity = ReadLaunchIdentity({}, Slurm());
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_EQ(identity->source, "Slurm");
  EXPECT_EQ(identity->rank, 3);
  EXPECT_EQ(identity->world_size, 5);
  EXPECT_EQ(identity->local_rank, 1);
  EXPECT_EQ(identity->local_size, 2);
  EXPECT_THAT(identity->hosts, ElementsAre("n1", "n1", "n2", "n2", "n3"));
  EXPECT_EQ(identity->coordinator, "n1:21308");  // 20000 + (1234 + 37 * 2) mod 12000
  EXPECT_TRUE(identity->rank0_hosts_coordinator);
}

TEST(LaunchIdentityTest, SlurmDistributionDecidesTheOrderOfHosts) {
  const auto hosts = [](const std::string& distribution) {
    return ReadLaunchIdentity({}, With(Slurm(), {{"SLURM_DISTRIBUTION", distribution}}))->hosts;
  };
  EXPECT_THAT(hosts("block"), ElementsAre("n1", "n1", "n2", "n2", "n3"));
  EXPECT_THAT(hosts("cyclic"), ElementsAre("n1", "n2", "n3", "n1", "n2"));
  EXPECT_THAT(hosts("plane=4"), IsEmpty());
}

TEST(LaunchIdentityTest, SlurmFallsBackToNtasks) {
  EXPECT_EQ(ReadLaunchIdentity({}, Without(Slurm(), "SLURM_STEP_NUM_TASKS"))->world_size, 5);
}

TEST(LaunchIdentityTest, SlurmPortsStayInTheirRange) {
  const auto port = [](const std::string& job, const std::string& step) {
    return ReadLaunchIdentity({}, With(Slurm(), {{"SLURM_JOB_ID", job}, {"SLURM_STEP_ID", step}}))
        ->coordinator;
  };
  EXPECT_EQ(port("11999", "0"), "n1:31999");
  EXPECT_EQ(port("12000", "0"), "n1:20000");
  EXPECT_EQ(port("1234", "3"), "n1:21345");
}

TEST(LaunchIdentityTest, SlurmBatchScriptIsNoStep) {
  const Environment batch = {{"SLURM_JOB_ID", "1234"}, {"SLURM_PROCID", "0"},
                             {"SLURM_LOCALID", "0"},   {"SLURM_NTASKS", "4"},
                             {"SLURM_NODEID", "0"},    {"SLURM_JOB_NODELIST", "n[1-2]"}};
  for (const Environment& environment :
       {batch, With(batch, {{"SLURM_STEP_ID", "4294967291"}}), Without(batch, "SLURM_PROCID")}) {
    const auto identity = ReadLaunchIdentity({}, environment);
    ASSERT_EQ(identity.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(identity.status().message()), HasSubstr("srun"));
    EXPECT_THAT(std::string(identity.status().message()), HasSubstr("1234"));
  }
  EXPECT_EQ(ReadLaunchIdentity({}, With(batch, OpenMpi()))->source, "Open MPI");
}

TEST(LaunchIdentityTest, MpirunInsideASlurmStepCounts) {
  const auto open_mpi = ReadLaunchIdentity({}, With(Slurm(), OpenMpi()));
  ASSERT_TRUE(open_mpi.ok());
  EXPECT_EQ(open_mpi->source, "Open MPI");
  EXPECT_EQ(open_mpi->rank, 2);
  EXPECT_EQ(ReadLaunchIdentity({}, With(Slurm(), Pmi()))->source, "PMI");
  // srun --mpi=pmi2 sets PMI's variables to the step's own numbers.
  EXPECT_EQ(ReadLaunchIdentity({}, With(Slurm(), {{"PMI_RANK", "3"}, {"PMI_SIZE", "5"}}))->source,
            "Slurm");
}

TEST(LaunchIdentityTest, OpenMpi_) {
  const auto identity = ReadLaunchIdentity(Flags({}, {}, "10.0.0.1:4000"), OpenMpi());
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_EQ(identity->source, "Open MPI");
  EXPECT_EQ(identity->rank, 2);
  EXPECT_EQ(identity->world_size, 4);
  EXPECT_EQ(identity->local_rank, 0);
  EXPECT_EQ(identity->local_size, 2);
  EXPECT_EQ(identity->coordinator, "10.0.0.1:4000");
  EXPECT_FALSE(identity->rank0_hosts_coordinator);
  EXPECT_EQ(ReadLaunchIdentity({}, OpenMpi())->coordinator, "");
}

TEST(LaunchIdentityTest, Pmi_) {
  const auto identity = ReadLaunchIdentity({}, Pmi());
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_EQ(identity->source, "PMI");
  EXPECT_EQ(identity->rank, 1);
  EXPECT_EQ(identity->world_size, 2);
  EXPECT_EQ(identity->coordinator, "");
}

TEST(LaunchIdentityTest, Kubeflow_) {
  const auto identity = ReadLaunchIdentity({}, Kubeflow());
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_EQ(identity->source, "Kubeflow");
  EXPECT_EQ(identity->rank, 0);
  EXPECT_EQ(identity->world_size, 3);
  EXPECT_FALSE(identity->local_rank.has_value());
  EXPECT_EQ(identity->coordinator, "job-master-0:23456");
  EXPECT_TRUE(identity->rank0_hosts_coordinator);
}

TEST(LaunchIdentityTest, KubeflowMasterCalledLocalhostGoesByItsPodsName) {
  const Environment master =
      With(Kubeflow(), {{"MASTER_ADDR", "localhost"}, {"HOSTNAME", "job-master-0"}});
  EXPECT_EQ(ReadLaunchIdentity({}, master)->coordinator, "job-master-0:23456");
  EXPECT_EQ(ReadLaunchIdentity({}, With(master, {{"WORLD_SIZE", "1"}}))->coordinator,
            "localhost:23456");
}

TEST(LaunchIdentityTest, TheFirstThatAppliesDecides) {
  const Environment kubeflow = Kubeflow();
  const Environment pmi = With(kubeflow, Pmi());
  const Environment open_mpi = With(pmi, OpenMpi());
  const Environment torchrun = With(With(open_mpi, Slurm()), Torchrun());
  EXPECT_EQ(ReadLaunchIdentity({}, kubeflow)->source, "Kubeflow");
  EXPECT_EQ(ReadLaunchIdentity({}, With(kubeflow, Slurm()))->source, "Slurm");
  EXPECT_EQ(ReadLaunchIdentity({}, pmi)->source, "PMI");
  EXPECT_EQ(ReadLaunchIdentity({}, open_mpi)->source, "Open MPI");
  EXPECT_EQ(ReadLaunchIdentity({}, torchrun)->source, "torchrun");
  EXPECT_EQ(ReadLaunchIdentity(Flags(0, 1), torchrun)->source, "flags");
}

TEST(LaunchIdentityTest, ACoordinatorFlagReplacesTheConvention) {
  const auto identity = ReadLaunchIdentity(Flags({}, 8, "c:1"), Torchrun());
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_EQ(identity->coordinator, "c:1");
  EXPECT_FALSE(identity->rank0_hosts_coordinator);
}

struct BadCase {
  IdentityFlags flags;
  Environment environment;
  std::string message;
};

TEST(LaunchIdentityTest, NamesWhatIsWrong) {
  const BadCase cases[] = {
      {Flags(2, {}), Torchrun(), "rank 2 was given, but not how many"},
      {Flags(2, 2), {}, "rank 2 of 2: must be from 0 to 1"},
      {Flags(-1, 2), {}, "rank -1 of 2"},
      {Flags(0, 0), {}, "a job of 0 processes"},
      {Flags({}, 4), Torchrun(), "the flags ask for 4 processes, but torchrun started 8"},
      {{}, With(Torchrun(), {{"RANK", "x"}}), "RANK=x (from torchrun): must be an integer"},
      {{}, With(Torchrun(), {{"RANK", ""}}), "RANK= (from torchrun): must be an integer"},
      {{}, With(Torchrun(), {{"RANK", "8"}}), "RANK=8 (from torchrun): must be below WORLD_SIZE=8"},
      {{}, With(Torchrun(), {{"RANK", "-1"}}), "RANK=-1"},
      {{}, With(Torchrun(), {{"WORLD_SIZE", "0"}}), "WORLD_SIZE=0"},
      {{}, With(Torchrun(), {{"WORLD_SIZE", "99999999999"}}), "WORLD_SIZE=99999999999"},
      {{}, With(Torchrun(), {{"LOCAL_RANK", "4"}}), "LOCAL_RANK=4"},
      {{}, With(Torchrun(), {{"LOCAL_WORLD_SIZE", "9"}}), "LOCAL_WORLD_SIZE=9"},
      {{}, With(Torchrun(), {{"MASTER_PORT", "65536"}}), "MASTER_PORT=65536"},
      {{}, With(Torchrun(), {{"MASTER_ADDR", ""}}), "MASTER_ADDR= (from torchrun): must not be"},
      {{}, Without(Torchrun(), "RANK"), "torchrun always sets RANK"},
      {{}, Without(Torchrun(), "WORLD_SIZE"), "torchrun always sets WORLD_SIZE"},
      {{}, Without(Torchrun(), "LOCAL_WORLD_SIZE"), "torchrun always sets LOCAL_WORLD_SIZE"},
      {{}, Without(Torchrun(), "MASTER_ADDR"), "torchrun always sets MASTER_ADDR"},
      {{}, Without(Torchrun(), "MASTER_PORT"), "torchrun always sets MASTER_PORT"},
      {{}, With(Slurm(), {{"SLURM_PROCID", "5"}}), "SLURM_PROCID=5"},
      {{}, With(Slurm(), {{"SLURM_STEP_NODELIST", "n[1-"}}), "SLURM_STEP_NODELIST=n[1-"},
      {{}, With(Slurm(), {{"SLURM_STEP_NODELIST", "n[1-2]"}}), "names 3 nodes"},
      {{}, With(Slurm(), {{"SLURM_STEP_TASKS_PER_NODE", "2(x"}}), "SLURM_STEP_TASKS_PER_NODE=2(x"},
      {{}, With(Slurm(), {{"SLURM_STEP_TASKS_PER_NODE", "1(x3)"}}), "adds up to 3 tasks, not 5"},
      {{}, With(Slurm(), {{"SLURM_STEP_ID", "x"}}), "SLURM_STEP_ID=x"},
      {{}, With(Slurm(), {{"SLURM_NODEID", "3"}}), "SLURM_NODEID=3"},
      {{}, Without(Slurm(), "SLURM_LOCALID"), "Slurm always sets SLURM_LOCALID"},
      {{}, Without(Slurm(), "SLURM_STEP_NODELIST"), "Slurm always sets SLURM_STEP_NODELIST"},
      {{}, Without(Slurm(), "SLURM_JOB_ID"), "Slurm always sets SLURM_JOB_ID"},
      {{}, With(OpenMpi(), {{"OMPI_COMM_WORLD_SIZE", "2"}}), "OMPI_COMM_WORLD_RANK=2"},
      {{}, Without(OpenMpi(), "OMPI_COMM_WORLD_SIZE"), "Open MPI always sets OMPI_COMM_WORLD_SIZE"},
      {{}, Without(Pmi(), "PMI_SIZE"), "PMI always sets PMI_SIZE"},
      {{}, With(Pmi(), {{"PMI_RANK", "2"}}), "PMI_RANK=2"},
      {{}, Without(Kubeflow(), "WORLD_SIZE"), "Kubeflow always sets WORLD_SIZE"},
      {{}, Without(Kubeflow(), "MASTER_ADDR"), "Kubeflow always sets MASTER_ADDR"},
      {{}, With(Kubeflow(), {{"RANK", "3"}}), "RANK=3 (from Kubeflow)"},
  };
  for (const BadCase& test : cases) {
    const auto identity = ReadLaunchIdentity(test.flags, test.environment);
    EXPECT_EQ(identity.status().code(), absl::StatusCode::kInvalidArgument) << test.message;
    EXPECT_THAT(std::string(identity.status().message()), HasSubstr(test.message));
  }
}

TEST(LaunchIdentityTest, NeverAssumesAWorldOfOne) {
  for (const Environment& environment :
       {Environment{}, Environment{{"WORLD_SIZE", "4"}}, Environment{{"LOCAL_RANK", "0"}},
        Environment{{"MASTER_ADDR", "x"}, {"MASTER_PORT", "1"}}}) {
    const auto identity = ReadLaunchIdentity({}, environment);
    EXPECT_EQ(identity.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(identity.status().message()), HasSubstr("--rank and --workers"));
  }
}

TEST(LaunchIdentityTest, ReadsTheRealEnvironment) {
  ASSERT_EQ(setenv("RINGSIDE_LAUNCH_TEST", "a=b", 1), 0);
  EXPECT_EQ(ReadEnvironment().at("RINGSIDE_LAUNCH_TEST"), "a=b");
}

}  // namespace
}  // namespace ringside
