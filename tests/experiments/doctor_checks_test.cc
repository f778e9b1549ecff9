#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "experiments/doctor/checks.h"
#include "experiments/doctor/data_check.h"

namespace ringside {
namespace {

SystemFacts Healthy() {
  SystemFacts facts;
  facts.cores = 8;
  facts.memory_bytes = int64_t{16} << 30;
  facts.blas_path = "/usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3";
  facts.huge_pages = "always [madvise] never";
  facts.shmem_huge_pages = "always within_size advise [never] deny force";
  facts.shm_bytes = int64_t{8} << 30;
  facts.congestion_control = "cubic";
  facts.available_congestion_controls = "reno cubic";
  facts.open_files = 1024;
  facts.open_files_max = 4096;
  facts.free_ports = 1;
  facts.binary_dir = "bin";
  facts.gnuplot = true;
  facts.data = "mnist in data/mnist10k: 10 training samples";
  facts.versions = {{"gRPC", "1.51.1"}, {"Protobuf", "3.21.12"}};
  return facts;
}

Finding Of(const SystemFacts& facts, const std::string& subject) {
  for (const Finding& finding : CheckSystem(facts)) {
    if (finding.subject == subject) return finding;
  }
  ADD_FAILURE() << "no finding on " << subject;
  return {};
}

TEST(DoctorChecksTest, AHealthyMachineHasNothingToMend) {
  for (const Finding& finding : CheckSystem(Healthy())) {
    EXPECT_EQ(finding.health, Health::kOk) << finding.subject;
    EXPECT_EQ(finding.remedy, "") << finding.subject;
  }
  EXPECT_EQ(Of(Healthy(), "versions").fact, "gRPC 1.51.1, Protobuf 3.21.12");
}

TEST(DoctorChecksTest, WhatMakesJobsSlowIsAWarningWithAMend) {
  SystemFacts facts = Healthy();
  facts.cores = 1;
  facts.memory_bytes = int64_t{1} << 30;
  facts.blas_path = "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0";
  facts.huge_pages = "always madvise [never]";
  facts.shm_bytes = int64_t{64} << 20;
  facts.congestion_control = "bbr";
  facts.open_files = 256;
  facts.gnuplot = false;
  facts.network_emulation = absl::PermissionDeniedError("needs root");
  facts.data = absl::NotFoundError("--data_dir=nowhere: has neither");
  for (const char* subject : {"cores", "memory", "BLAS", "huge pages", "/dev/shm", "TCP",
                              "open files", "gnuplot", "--network", "data"}) {
    EXPECT_EQ(Of(facts, subject).health, Health::kWarn) << subject;
    EXPECT_NE(Of(facts, subject).remedy, "") << subject;
  }
  EXPECT_FALSE(AnyFailure(CheckSystem(facts)));
  EXPECT_EQ(Of(facts, "BLAS").remedy, "apt-get install libopenblas0-pthread");
  EXPECT_TRUE(absl::StrContains(Of(facts, "TCP").remedy, "--congestion_control=cubic"));
  facts.available_congestion_controls = "reno bbr";
  EXPECT_TRUE(absl::StrContains(Of(facts, "TCP").remedy, "--congestion_control=reno"));
}

TEST(DoctorChecksTest, WhatKeepsJobsFromRunningIsAFailure) {
  SystemFacts facts = Healthy();
  facts.blas_path = "";
  EXPECT_EQ(Of(facts, "BLAS").health, Health::kFail);
  facts = Healthy();
  facts.missing_binaries = {"worker"};
  EXPECT_EQ(Of(facts, "binaries").fact, "worker missing in bin");
  EXPECT_TRUE(AnyFailure(CheckSystem(facts)));
  facts = Healthy();
  facts.free_ports = 0;
  EXPECT_EQ(Of(facts, "ports").health, Health::kFail);
  facts = Healthy();
  facts.data_given = true;
  facts.data = absl::NotFoundError("--data_dir=nowhere: has neither");
  EXPECT_EQ(Of(facts, "data").health, Health::kFail);
  EXPECT_EQ(Of(facts, "data").fact, "--data_dir=nowhere: has neither");
}

TEST(DoctorChecksTest, PortRangesAreCounted) {
  SystemFacts facts = Healthy();
  facts.port_range = "4000-4009";
  facts.ports = 10;
  facts.free_ports = 9;
  EXPECT_EQ(Of(facts, "ports").health, Health::kOk);
  EXPECT_EQ(Of(facts, "ports").fact, "--port_range=4000-4009: 9 of 10 free on loopback");
  facts.free_ports = 2;
  EXPECT_EQ(Of(facts, "ports").health, Health::kWarn);
  facts.free_ports = 0;
  EXPECT_EQ(Of(facts, "ports").health, Health::kFail);
  facts.port_range_status = absl::InvalidArgumentError("--port_range=x: no range");
  EXPECT_EQ(Of(facts, "ports").fact, "--port_range=x: no range");
}

TEST(DoctorChecksTest, FormatsOneLineAndTheMend) {
  EXPECT_EQ(Format({Health::kOk, "cores", "2", ""}), "ok    cores       2\n");
  EXPECT_EQ(Format({Health::kFail, "BLAS", "gone", "install it"}),
            "FAIL  BLAS        gone\n                  to mend: install it\n");
}

std::string DataOf(const std::string& dataset, const std::string& folder) {
  JobConfig job;
  job.dataset = dataset;
  job.data_dir = folder;
  const absl::StatusOr<std::string> found = CheckDataOf(job);
  return found.ok() ? *found : std::string(found.status().message());
}

// In the words that a worker would say it with.
TEST(DataCheckTest, LooksForWhatTheJobIsTrainedOn) {
  const std::string folder = testing::TempDir() + "/doctor_data";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (const char* dataset : {"mnist", "cifar10", "image_folder", "voc", "imdb", "text"}) {
    const std::string said = DataOf(dataset, folder);
    EXPECT_TRUE(absl::StrContains(said, "--data_dir=" + folder)) << said;
    EXPECT_TRUE(absl::StrContains(said, "it must hold ")) << said;
  }
  EXPECT_TRUE(absl::StrContains(DataOf("text", folder), "has no train.txt")) << folder;
  for (const char* name : {"/train.txt", "/test.txt"}) std::ofstream(folder + name) << "text";
  EXPECT_EQ(DataOf("text", folder), "text in " + folder +
                                        ": 1 training samples, 1 test samples, sequences of 128 "
                                        "tokens with a label a token");
  EXPECT_TRUE(absl::StartsWith(DataOf("synthetic", "nowhere"), "synthetic: 1024 training samples"));
  JobConfig shapes;
  shapes.model = "shapes";
  EXPECT_TRUE(CheckDataOf(shapes).ok());
  std::filesystem::remove_all(folder);
}

TEST(SystemFactsTest, ReadsThisMachine) {
  SystemQuestions questions;
  questions.binary_dir = "nowhere";
  questions.search_path = "/nowhere";
  questions.job.data_dir = "nowhere";
  const SystemFacts facts = ReadSystemFacts(questions);
  EXPECT_GE(facts.cores, 1);
  EXPECT_GT(facts.memory_bytes, 0);
  EXPECT_GT(facts.open_files, 0);
  EXPECT_EQ(facts.missing_binaries.size(), 2u);
  EXPECT_FALSE(facts.gnuplot);
  EXPECT_EQ(facts.data.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(facts.free_ports, 1);
}

}  // namespace
}  // namespace ringside
