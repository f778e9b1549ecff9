// Coordinator, servers and workers started one by one, as on several hosts; and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/integration/job.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

class ByHandTest : public JobTest {
 protected:
  void SetUp() override { WriteMnistFiles(data_dir(), 40, 20); }

  // Starts `ringside coordinator` on a free port and reads from its output which one.
  void StartCoordinator(int workers, int shards) {
    std::vector<std::string> flags = {"coordinator", "--coordinator=127.0.0.1:0",
                                      absl::StrCat("--workers=", workers)};
    if (shards > 0) {
      flags.insert(flags.end(), {"--strategy=ps", absl::StrCat("--ps_shards=", shards)});
    }
    coordinator_ = TestProcess::Start(Command("ringside", flags));
    ASSERT_TRUE(coordinator_->WaitForOutput("127\\.0\\.0\\.1:[1-9][0-9]*", absl::Seconds(20)));
    const std::string output = coordinator_->output();
    const size_t at = output.find("127.0.0.1:");
    address_ = output.substr(at, output.find_first_not_of("0123456789", at + 10) - at);
  }

  std::unique_ptr<TestProcess> StartWorker(int rank, int workers,
                                           const std::vector<std::string>& more) {
    std::vector<std::string> flags =
        JobFlags({absl::StrCat("--rank=", rank), absl::StrCat("--workers=", workers),
                  "--coordinator=" + address_, "--steps=5", "--batch_size=8", "--warmup_steps=0"});
    flags.insert(flags.end(), more.begin(), more.end());
    return TestProcess::Start(Command("worker", flags));
  }

  std::unique_ptr<TestProcess> StartShard(int shard, int shards, int workers) {
    return TestProcess::Start(
        Command("ps_server", {absl::StrCat("--shard=", shard), absl::StrCat("--ps_shards=", shards),
                              absl::StrCat("--workers=", workers), "--coordinator=" + address_}));
  }

  static void ExpectFine(TestProcess* process) {
    const TestProcess::Ended ended = process->Wait(absl::Minutes(1));
    EXPECT_EQ(ended.status, 0) << ended.output;
  }

  std::unique_ptr<TestProcess> coordinator_;
  std::string address_;
};

TEST_F(ByHandTest, ServersAndWorkersFindEachOther) {
  StartCoordinator(2, 2);
  const auto worker1 = StartWorker(1, 2, {"--strategy=ps", "--ps_shards=2"});
  EXPECT_TRUE(coordinator_->WaitForOutput("worker 0", absl::Seconds(20)));  // says whom it lacks
  const auto shard0 = StartShard(0, 2, 2);
  const auto shard1 = StartShard(1, 2, 2);
  const auto worker0 =
      StartWorker(0, 2, {"--strategy=ps", "--ps_shards=2", "--out=" + folder() + "/out"});
  for (TestProcess* process :
       {worker0.get(), worker1.get(), shard0.get(), shard1.get(), coordinator_.get()}) {
    ExpectFine(process);
  }
  EXPECT_TRUE(std::filesystem::exists(folder() + "/out/results.json"));
}

TEST_F(ByHandTest, WorkerZeroCanHostTheCoordinator) {
  StartCoordinator(1, 0);  // only to find a free port
  coordinator_.reset();
  const auto worker0 = StartWorker(0, 2, {"--strategy=ring", "--host_coordinator"});
  const auto worker1 = StartWorker(1, 2, {"--strategy=ring", "--host_coordinator"});
  ExpectFine(worker0.get());
  ExpectFine(worker1.get());
}

TEST_F(ByHandTest, RanksMayComeFromTheEnvironment) {
  StartCoordinator(2, 0);
  std::vector<std::unique_ptr<TestProcess>> workers;
  for (int rank = 0; rank < 2; ++rank) {
    TestProcess::Config config = Command(
        "worker",
        JobFlags({"--coordinator=" + address_, "--strategy=ring", "--steps=3", "--batch_size=8"}));
    config.environment = {{"OMPI_COMM_WORLD_RANK", absl::StrCat(rank)},
                          {"OMPI_COMM_WORLD_SIZE", "2"},
                          {"OMPI_COMM_WORLD_LOCAL_RANK", absl::StrCat(rank)},
                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
    workers.push_back(TestProcess::Start(config));
  }
  for (const auto& worker : workers) ExpectFine(worker.get());
}

TEST_F(ByHandTest, ADuplicateRankIsRefusedAndTheOthersGoOn) {
  StartCoordinator(2, 0);
  const auto first = StartWorker(1, 2, {"--strategy=ring"});
  ASSERT_TRUE(coordinator_->WaitForOutput("have[^\n]*worker 1", absl::Seconds(20)));
  const auto second = StartWorker(1, 2, {"--strategy=ring"});
  const TestProcess::Ended refused = second->Wait(absl::Seconds(30));
  EXPECT_EQ(refused.status, 2) << refused.output;
  EXPECT_THAT(refused.output, HasSubstr("worker 1"));
  const auto worker0 = StartWorker(0, 2, {"--strategy=ring"});
  ExpectFine(worker0.get());
  ExpectFine(first.get());
}

TEST_F(ByHandTest, OtherSettingsAreRefusedByName) {
  StartCoordinator(2, 0);
  const auto worker0 = StartWorker(0, 2, {"--strategy=ring"});
  ASSERT_TRUE(coordinator_->WaitForOutput("have[^\n]*worker 0", absl::Seconds(20)));
  const auto other_rate = StartWorker(1, 2, {"--strategy=ring", "--learning_rate=0.25"});
  const TestProcess::Ended refused = other_rate->Wait(absl::Seconds(30));
  EXPECT_EQ(refused.status, 2) << refused.output;
  EXPECT_THAT(refused.output, HasSubstr("learning_rate=0.25"));
  EXPECT_THAT(refused.output, HasSubstr("0.1"));
  const TestProcess::Ended other_model =
      StartWorker(1, 2, {"--strategy=ring", "--model=lenet"})->Wait(absl::Seconds(30));
  EXPECT_EQ(other_model.status, 2) << other_model.output;
  EXPECT_THAT(other_model.output, HasSubstr("lenet"));
  const TestProcess::Ended other_size =
      StartWorker(2, 3, {"--strategy=ring"})->Wait(absl::Seconds(30));
  EXPECT_EQ(other_size.status, 2) << other_size.output;
  EXPECT_THAT(other_size.output, HasSubstr("3"));
}

// Worker 0 makes the vocabulary for all, whatever words the files of the others have.
TEST_F(ByHandTest, OneVocabularyServesAll) {
  const auto write = [this](const std::string& name, const std::string& text) {
    const std::string path = folder() + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    WriteFile(path, text);
  };
  for (const char* host : {"a", "b"}) {
    for (const char* split : {"train", "test"}) {
      for (int i = 0; i < 6; ++i) {
        const std::string words = host == std::string("a") ? "film" : "another one";
        write(absl::StrCat(host, "/", split, "/neg/", i, ".txt"), absl::StrCat("bad ", words, i));
        write(absl::StrCat(host, "/", split, "/pos/", i, ".txt"), absl::StrCat("good ", words, i));
      }
    }
  }
  const std::vector<std::string> model = {
      "--dataset=imdb", "--model=transformer", "--dataset_args=length=4,vocabulary=9",
      "--model_args=layers=1,width=8,heads=2,feedforward=8,dropout=0.1", "--batch_size=3"};
  const auto with = [&model](const std::vector<std::string>& more) {
    std::vector<std::string> flags = model;
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  };
  StartCoordinator(2, 0);
  const auto worker1 =
      StartWorker(1, 2, with({"--strategy=ring", "--data_dir=" + folder() + "/b"}));
  const auto worker0 =
      StartWorker(0, 2, with({"--strategy=ring", "--data_dir=" + folder() + "/a"}));
  ExpectFine(worker0.get());
  ExpectFine(worker1.get());
  // With the same files everywhere the bits are those of the one process that plays all ranks.
  const auto hash = [&](const std::string& strategy) {
    return Run(strategy, with({"--strategy=" + strategy, "--workers=2", "--steps=4",
                               "--warmup_steps=0", "--data_dir=" + folder() + "/a"}))
        .runs(0)
        .parameters_sha256();
  };
  const std::string local = hash("local");
  EXPECT_EQ(local.size(), 64u);
  EXPECT_EQ(hash("ring"), local);
  EXPECT_EQ(hash("ps"), local);
}

TEST_F(ByHandTest, AMissingWorkerIsNamedAtTheDeadline) {
  StartCoordinator(2, 1);
  const auto worker0 = StartWorker(0, 2, {"--strategy=ps", "--ps_shards=1", "--join_timeout=3s"});
  const TestProcess::Ended ended = worker0->Wait(absl::Seconds(30));
  EXPECT_EQ(ended.status, 1) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("worker 1"));
  EXPECT_THAT(ended.output, HasSubstr("shard 0"));
}

TEST_F(ByHandTest, WithoutARankNothingIsGuessed) {
  const TestProcess::Ended ended =
      RunProcess(Command("worker", JobFlags({"--strategy=ring", "--steps=1"})), absl::Seconds(30));
  EXPECT_EQ(ended.status, 2) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("--rank"));
}

}  // namespace
}  // namespace ringside
