// The first law: ps with any number of shards, ring, local and data_parallel give the same bits,
// with real processes and uneven batches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/integration/job.h"

namespace ringside {
namespace {

class EquivalenceTest : public JobTest, public ::testing::WithParamInterface<int> {
 protected:
  // 2 epochs of 50 samples: the last batch of each is short, and with 4 workers some ranks have
  // less than others, or none.
  std::vector<std::string> Flags(const std::string& strategy,
                                 const std::vector<std::string>& more) const {
    std::vector<std::string> flags = {"--strategy=" + strategy,
                                      absl::StrCat("--workers=", GetParam()),
                                      absl::StrCat("--batch_size=", 48 / GetParam()),
                                      "--epochs=2",
                                      "--warmup_steps=0",
                                      "--momentum=0.9"};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }

  static std::string Hash(const ComparisonResult& result) {
    EXPECT_EQ(result.runs_size(), 1);
    const RunResult& run = result.runs(0);
    for (const WorkerResult& worker : run.worker_results()) {
      EXPECT_EQ(worker.parameters_sha256(), run.parameters_sha256());
      EXPECT_NE(worker.parameters_sha256(), worker.initial_parameters_sha256());
      EXPECT_EQ(worker.traffic().payload_bytes_sent(),
                worker.expected_traffic().payload_bytes_sent());
      EXPECT_EQ(worker.traffic().messages_received(),
                worker.expected_traffic().messages_received());
    }
    for (const Gate& gate : result.gates())
      EXPECT_TRUE(gate.passed()) << gate.name() << ": " << gate.detail();
    return run.parameters_sha256();
  }

  std::string RunAndHash(const std::string& strategy, const std::vector<std::string>& more = {}) {
    return Hash(Run(absl::StrCat("run", ++runs_), Flags(strategy, more)));
  }

 private:
  int runs_ = 0;
};

TEST_P(EquivalenceTest, PsRingAndOneProcessHaveOneHash) {
  WriteMnistFiles(data_dir(), 50, 20);
  const std::string local = RunAndHash("local");
  EXPECT_EQ(local.size(), 64u);
  EXPECT_EQ(RunAndHash("data_parallel"), local);
  EXPECT_EQ(RunAndHash("ring"), local);
  for (int shards = 1; shards <= 3; ++shards) {
    EXPECT_EQ(RunAndHash("ps", {absl::StrCat("--ps_shards=", shards)}), local)
        << shards << " shards";
  }
}

TEST_P(EquivalenceTest, SmallFramesAndOtherOptimizersChangeNothing) {
  WriteMnistFiles(data_dir(), 50, 20);
  const std::vector<std::string> adam = {"--optimizer=adamw", "--learning_rate=0.01",
                                         "--momentum=0", "--weight_decay=0.1",
                                         "--frame_bytes=1024"};
  const std::string local = RunAndHash("local", adam);
  EXPECT_EQ(RunAndHash("ring", adam), local);
  EXPECT_EQ(RunAndHash("ps", adam), local);
}

TEST_P(EquivalenceTest, TheOptimizerOnTheServerHasTheSameBits) {
  WriteMnistFiles(data_dir(), 50, 20);
  const std::string local = RunAndHash("local");
  EXPECT_EQ(RunAndHash("ps", {"--update=server", "--ps_shards=2"}), local);
  const std::vector<std::string> adam = {"--optimizer=adam",    "--learning_rate=0.01",
                                         "--momentum=0",        "--lr_schedule=cosine",
                                         "--lr_warmup_steps=2", "--lr_total_steps=8"};
  std::vector<std::string> on_server = adam;
  on_server.insert(on_server.end(), {"--update=server", "--ps_shards=3"});
  EXPECT_EQ(RunAndHash("ps", on_server), RunAndHash("local", adam));
}

TEST_P(EquivalenceTest, MicroBatchesHaveOneHashToo) {
  WriteMnistFiles(data_dir(), 50, 20);
  const std::vector<std::string> micro = {"--accumulate=3"};
  const std::string local = RunAndHash("local", micro);
  for (const char* strategy : {"data_parallel", "ring", "ps"}) {
    EXPECT_EQ(RunAndHash(strategy, micro), local) << strategy;
  }
}

TEST_P(EquivalenceTest, EveryLinkAndScheduleHasTheSameHash) {
  WriteMnistFiles(data_dir(), 50, 20);
  const std::string local = RunAndHash("local");
  for (const char* link : {"tcp", "uds", "shm", "grpc"}) {
    EXPECT_EQ(RunAndHash("ring", {absl::StrCat("--ring_link=", link), "--segment_bytes=1024"}),
              local)
        << link;
  }
  EXPECT_EQ(RunAndHash("ring", {"--schedule=direct"}), local);
  EXPECT_EQ(RunAndHash("ring", {"--schedule=auto", "--overlap=off"}), local);
}

// A ring that rounds at every hop agrees with the one process that plays all ranks.
TEST_P(EquivalenceTest, SixteenBitRingsAgreeOverEveryLink) {
  WriteMnistFiles(data_dir(), 50, 20);
  for (const char* dtype : {"--wire_dtype=bf16", "--wire_dtype=fp16"}) {
    const std::string local = RunAndHash("local", {dtype});
    for (const char* link : {"tcp", "shm", "grpc"}) {
      EXPECT_EQ(RunAndHash("ring", {dtype, absl::StrCat("--ring_link=", link)}), local)
          << dtype << " over " << link;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, EquivalenceTest, ::testing::Values(1, 2, 3, 4));

// What no strategy decides: the losses of one global batch, however it is cut, on real digits.
class CutTest : public JobTest {};

TEST_F(CutTest, TheLossesAgreeForOneTwoAndFourWorkers) {
  const auto losses = [this](int workers, const std::string& strategy) {
    const RunResult run =
        Run(absl::StrCat("workers", workers),
            {strategy, absl::StrCat("--workers=", workers),
             absl::StrCat("--batch_size=", 64 / workers), "--steps=20", "--warmup_steps=0",
             "--hidden=256,128", "--momentum=0.9", "--evaluate=false",
             absl::StrCat("--data_dir=", RINGSIDE_SOURCE_DIR, "/data/mnist10k")})
            .runs(0);
    std::vector<double> sums(20, 0);
    for (const WorkerResult& worker : run.worker_results()) {
      EXPECT_EQ(worker.steps_size(), 20);
      for (const StepRecord& record : worker.steps()) sums.at(record.step() - 1) += record.loss();
    }
    return sums;
  };
  const std::vector<double> one = losses(1, "--strategy=local");
  EXPECT_LT(one.back(), 0.8 * one.front());
  for (int workers : {2, 4}) {
    const std::vector<double> more = losses(workers, "--strategy=ring");
    for (size_t i = 0; i < one.size(); ++i) {
      EXPECT_NEAR(more[i], one[i], 1e-4) << workers << " workers, step " << i + 1;
    }
  }
}

class LabelTest : public JobTest {};

TEST_F(LabelTest, ADirectScheduleIsNeverReportedAsTheRing) {
  WriteMnistFiles(data_dir(), 40, 20);
  const std::vector<std::string> flags = {"--workers=2", "--batch_size=8", "--steps=4",
                                          "--warmup_steps=0", "--strategy=ring"};
  const auto run = [&](const std::string& name, const std::string& more) {
    std::vector<std::string> all = flags;
    all.push_back(more);
    return Run(name, all).runs(0);
  };
  const RunResult ring = run("ring", "--schedule=ring");
  EXPECT_EQ(ring.strategy(), "ring");
  EXPECT_EQ(ring.worker_results(0).process().facts().at("left_link"), "shm");
  const RunResult direct = run("direct", "--schedule=auto");
  EXPECT_EQ(direct.strategy(), "direct");
  EXPECT_EQ(direct.parameters_sha256(), ring.parameters_sha256());
  EXPECT_EQ(run("tcp", "--ring_link=tcp").worker_results(1).process().facts().at("right_link"),
            "tcp");
}

struct ModelCase {
  const char* name;
  std::vector<std::string> flags;
};

void PrintTo(const ModelCase& model, std::ostream* out) { *out << model.name; }

// Convolutions, running statistics, dropout, attention: parameters and buffers have one hash each.
class ModelsTest : public JobTest, public ::testing::WithParamInterface<ModelCase> {};

TEST_P(ModelsTest, HaveOneHashToo) {
  WriteMnistFiles(data_dir(), 40, 20);
  const auto run = [this](const std::string& strategy) {
    std::vector<std::string> flags = {"--strategy=" + strategy, "--workers=2", "--steps=3",
                                      "--warmup_steps=0"};
    flags.insert(flags.end(), GetParam().flags.begin(), GetParam().flags.end());
    return Run(strategy, flags).runs(0);
  };
  const RunResult local = run("local");
  for (const char* strategy : {"data_parallel", "ring", "ps"}) {
    const RunResult other = run(strategy);
    EXPECT_EQ(other.parameters_sha256(), local.parameters_sha256()) << strategy;
    for (const WorkerResult& worker : other.worker_results()) {
      EXPECT_EQ(worker.buffers_sha256(), local.worker_results(0).buffers_sha256()) << strategy;
    }
    EXPECT_EQ(other.evaluation().correct(), local.evaluation().correct()) << strategy;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, ModelsTest,
    ::testing::Values(
        ModelCase{"lenet", {"--model=lenet", "--batch_size=8", "--data_threads=2"}},
        ModelCase{"resnet18",
                  {"--model=resnet18", "--batch_size=3", "--accumulate=2",
                   "--dataset_args=samples=40,rows=32,columns=32,classes=10"}},
        ModelCase{"resnet18_mean",
                  {"--model=resnet18", "--batch_size=3", "--buffers=mean", "--data_threads=2",
                   "--dataset_args=samples=40,rows=32,columns=32,classes=10"}},
        ModelCase{"transformer",
                  {"--model=transformer", "--batch_size=4", "--accumulate=2",
                   "--model_args=layers=2,width=32,heads=2,feedforward=64,dropout=0.2"}},
        ModelCase{"lenet_bf16", {"--model=lenet", "--batch_size=8", "--precision=bf16"}},
        ModelCase{"transformer_bf16",
                  {"--model=transformer", "--batch_size=4", "--precision=bf16",
                   "--model_args=layers=2,width=32,heads=2,feedforward=64,dropout=0.2"}},
        ModelCase{"gpt",
                  {"--model=gpt", "--batch_size=4",
                   "--model_args=layers=2,width=32,heads=2,feedforward=64,dropout=0.2"}}),
    [](const auto& tested) { return tested.param.name; });

class PrecisionTest : public JobTest {};

TEST_F(PrecisionTest, IsRecordedAndHasBitsOfItsOwn) {
  WriteMnistFiles(data_dir(), 40, 20);
  const auto run = [this](const std::string& precision) {
    return Run(precision, {"--strategy=local", "--model=mlp", "--workers=2", "--batch_size=8",
                           "--steps=3", "--warmup_steps=0", "--precision=" + precision})
        .runs(0);
  };
  const RunResult full = run("fp32");
  const RunResult half = run("bf16");
  EXPECT_EQ(full.settings().at("precision"), "fp32");
  EXPECT_EQ(half.settings().at("precision"), "bf16");
  EXPECT_EQ(half.worker_results(0).initial_parameters_sha256(),
            full.worker_results(0).initial_parameters_sha256());
  EXPECT_NE(half.parameters_sha256(), full.parameters_sha256());
  EXPECT_NEAR(half.evaluation().mean_loss(), full.evaluation().mean_loss(), 0.05);
}

class CompareTest : public JobTest {};

TEST_F(CompareTest, LeavesAReportOfAllRuns) {
  WriteMnistFiles(data_dir(), 64, 20);
  std::vector<std::string> flags =
      JobFlags({"--strategies=ps,ring,local", "--workers=1,2", "--trials=2", "--steps=4",
                "--warmup_steps=1", "--global_batch=16", "--out=" + folder() + "/out"});
  flags.insert(flags.begin(), "compare");
  const TestProcess::Ended ended = RunProcess(Command("ringside", flags), absl::Minutes(2));
  ASSERT_EQ(ended.status, 0) << ended.output;
  const ComparisonResult result = ReadResult(folder() + "/out");
  EXPECT_EQ(result.runs_size(), 12);
  EXPECT_EQ(result.cells_size(), 6);
  EXPECT_EQ(result.verdict_size(), 2);
  for (const Gate& gate : result.gates())
    EXPECT_TRUE(gate.passed()) << gate.name() << ": " << gate.detail();
  EXPECT_THAT(result.gates(result.gates_size() - 1).detail(), ::testing::HasSubstr(" moved "));
  for (const RunResult& run : result.runs()) {
    EXPECT_EQ(run.global_batch_size(), 16);
    const bool is_alone = run.worker_results_size() + run.shard_results_size() == 1;
    EXPECT_EQ(run.has_ceilings(), !is_alone) << run.strategy() << ", " << run.workers();
    EXPECT_EQ(run.ceilings().tcp().bytes_per_s() > 0, !is_alone);
  }
  for (const char* name : {"report.html", "summary.md", "results.csv"}) {
    EXPECT_TRUE(std::filesystem::exists(folder() + "/out/" + name)) << name;
  }
  // Results are not overwritten by accident.
  const TestProcess::Ended again = RunProcess(Command("ringside", flags), absl::Minutes(1));
  EXPECT_EQ(again.status, 2) << again.output;
  EXPECT_THAT(again.output, ::testing::HasSubstr("--overwrite"));
}

}  // namespace
}  // namespace ringside
