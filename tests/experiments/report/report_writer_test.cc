// Draws with the real gnuplot.
#include "experiments/report/report_writer.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "experiments/report/comparison.h"
#include "experiments/report/figures.h"
#include "experiments/report/gnuplot.h"
#include "experiments/report/learning_figures.h"
#include "experiments/report/text_file.h"
#include "tests/experiments/report/sample_runs.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ReportWriterTest : public ::testing::Test {
 protected:
  ReportWriterTest() {
    std::string name = ::testing::TempDir() + "report_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~ReportWriterTest() override { std::filesystem::remove_all(folder_); }

  std::string Read(const std::string& name) {
    const auto text = ReadTextFile(folder_ + "/" + name);
    EXPECT_TRUE(text.ok()) << text.status();
    return text.ok() ? *text : "";
  }

  std::string folder_;
};

TEST_F(ReportWriterTest, WritesEverythingAndReadsItBack) {
  const ComparisonResult comparison =
      BuildComparison(SampleGrid(2, 30), SampleCommand(), SampleProvenance());
  ASSERT_TRUE(WriteReport(comparison, folder_ + "/new/out").ok());
  const auto read = ReadComparison(folder_ + "/new/out/results.json");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(comparison, *read));
  EXPECT_THAT(Read("new/out/results.json"),
              AllOf(HasSubstr("\"schema_version\":1"), HasSubstr("\"parameters_sha256\"")));
  EXPECT_THAT(Read("new/out/results.csv"), HasSubstr("\nring,4,0,tcp,32,128,2,"));
  EXPECT_THAT(Read("new/out/summary.md"), HasSubstr("# ps or ring?"));
  for (const char* name :
       {"throughput", "efficiency", "training_time", "breakdown", "skew", "loss", "loss_time"}) {
    EXPECT_THAT(Read(std::string("new/out/figures/") + name + ".svg"),
                HasSubstr("<svg class=\"figure\""));
    EXPECT_THAT(Read(std::string("new/out/figures/") + name + ".csv"), HasSubstr("workers"));
  }
  // Nothing but the report stays behind.
  int entries = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::recursive_directory_iterator(folder_ + "/new/out"))
    ++entries;
  EXPECT_EQ(entries, 4 + 1 + 14);
}

TEST_F(ReportWriterTest, ThePageIsSelfContained) {
  ASSERT_TRUE(
      WriteReport(BuildComparison(SampleGrid(2, 30), SampleCommand(), SampleProvenance()), folder_)
          .ok());
  const std::string page = Read("report.html");
  const std::string without_namespace =
      absl::StrReplaceAll(page, {{"xmlns=\"http://www.w3.org/2000/svg\"", ""}});
  for (const char* part : {"http://", "https://", "<script", "<link", "url(", "src=", "rgb(1,2,3)",
                           "gpPt", "color=\"black\""}) {
    EXPECT_THAT(without_namespace, Not(HasSubstr(part)));
  }
  EXPECT_THAT(page, HasSubstr("aria-label=\"Loss over steps\""));
  EXPECT_THAT(page, HasSubstr("rgb( 43, 123, 212)"));  // the colour of ps
}

TEST_F(ReportWriterTest, ASingleRunAndAFailedOne) {
  RunResult run = MakeRun({});
  EXPECT_TRUE(WriteReport(BuildComparison({run}, {}, {}), folder_).ok());
  run.mutable_worker_results()->RemoveLast();
  run.mutable_worker_results(0)->clear_steps();
  EXPECT_TRUE(WriteReport(BuildComparison({run}, {}, {}), folder_).ok());
  EXPECT_THAT(Read("report.html"), HasSubstr("worker 1 is missing"));
  EXPECT_TRUE(WriteReport(BuildComparison({}, {}, {}), folder_).ok());
}

TEST_F(ReportWriterTest, OddNamesAndNumbersCanBeDrawn) {
  std::vector<RunResult> runs = SampleGrid(1, 30);
  for (RunResult& run : runs) {
    if (run.strategy() == "ps") run.set_strategy("it's `{a}_^\"");
    for (WorkerResult& worker : *run.mutable_worker_results()) {
      worker.mutable_steps(3)->set_loss(std::numeric_limits<double>::quiet_NaN());
      worker.mutable_steps(4)->set_loss(std::numeric_limits<double>::infinity());
    }
  }
  const absl::Status status = WriteReport(BuildComparison(runs, {}, {}), folder_);
  EXPECT_TRUE(status.ok()) << status;
  const auto read = ReadComparison(folder_ + "/results.json");
  EXPECT_TRUE(read.ok()) << read.status();
}

TEST_F(ReportWriterTest, ReadingNamesWhatIsWrong) {
  EXPECT_EQ(ReadComparison(folder_ + "/none.json").status().code(), absl::StatusCode::kNotFound);
  const std::string path = folder_ + "/results.json";
  ASSERT_TRUE(WriteTextFile(path, "{\"worker_results\":[]}").ok());
  EXPECT_EQ(ReadComparison(path).status().code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(WriteTextFile(path, "{\"schema_version\":9}").ok());
  EXPECT_THAT(std::string(ReadComparison(path).status().message()),
              HasSubstr("schema version 9, this program reads 1"));
}

TEST_F(ReportWriterTest, AnUnwritableFolder) {
  ASSERT_TRUE(WriteTextFile(folder_ + "/file", "x").ok());
  const absl::Status status = WriteReport(BuildComparison({}, {}, {}), folder_ + "/file/out");
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("/file/out"));
}

TEST_F(ReportWriterTest, AMissingGnuplotIsNamedWithItsPackage) {
  const Figure figure = LossFigure(BuildComparison({MakeRun({})}, {}, {}));
  const absl::Status status = DrawSvg(figure, folder_, "no-such-gnuplot").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("install the package gnuplot-nox"));
}

TEST_F(ReportWriterTest, WhatGnuplotRefusesIsTold) {
  Figure figure;
  figure.name = "bad";
  figure.script = "plot nonsense(\n";
  const absl::Status status = DrawSvg(figure, folder_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("figure bad"), HasSubstr("bad.gp")));
}

TEST_F(ReportWriterTest, AGnuplotThatHangsIsKilled) {
  Figure figure;
  figure.name = "slow";
  figure.script = "pause 1000\n";
  const absl::Time start = absl::Now();
  const absl::Status status = DrawSvg(figure, folder_, "gnuplot", absl::Milliseconds(200)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_LT(absl::Now() - start, absl::Seconds(30));
}

}  // namespace
}  // namespace ringside
