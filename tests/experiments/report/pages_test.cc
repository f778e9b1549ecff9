#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "experiments/report/breakdown_figure.h"
#include "experiments/report/comparison.h"
#include "experiments/report/csv_table.h"
#include "experiments/report/figures.h"
#include "experiments/report/headline.h"
#include "experiments/report/html_page.h"
#include "experiments/report/html_text.h"
#include "experiments/report/learning_figures.h"
#include "experiments/report/markdown_summary.h"
#include "experiments/report/svg_theme.h"
#include "tests/experiments/report/sample_runs.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kHostile[] = "<script>alert('x')</script>&|`\"";

const ComparisonResult& SampleComparison() {
  static const auto* comparison =
      new ComparisonResult(BuildComparison(SampleGrid(2, 30), SampleCommand(), SampleProvenance()));
  return *comparison;
}

std::vector<DrawnFigure> DrawnByHand(const ComparisonResult& comparison) {
  std::vector<DrawnFigure> drawn;
  for (const Figure& figure : Figures(comparison))
    drawn.push_back({figure, "<svg id=\"" + figure.name + "\"></svg>"});
  return drawn;
}

std::string Page(const ComparisonResult& comparison) {
  return HtmlPage(comparison, DrawnByHand(comparison));
}

TEST(HtmlPageTest, HasEverySectionInOrder) {
  const std::string page = Page(SampleComparison());
  size_t before = 0;
  for (const char* id : {"verdict", "gates", "speed", "training", "step", "wire", "processes",
                         "shards", "skew", "learning", "provenance", "command", "settings"}) {
    const size_t at = page.find(absl::StrCat("<section id=\"", id, "\""));
    ASSERT_NE(at, std::string::npos) << id;
    EXPECT_GT(at, before) << id;
    before = at;
  }
  for (const char* name :
       {"throughput", "efficiency", "training_time", "breakdown", "skew", "loss", "loss_time"}) {
    EXPECT_THAT(page, HasSubstr(absl::StrCat("href=\"figures/", name, ".csv\"")));
    EXPECT_THAT(page, HasSubstr(absl::StrCat("<svg id=\"", name, "\">")));
  }
  EXPECT_THAT(page, HasSubstr("<title>ps or ring? – Ringside</title>"));
  EXPECT_THAT(page, HasSubstr("class=\"badge pass\">PASS"));
  EXPECT_THAT(page, Not(HasSubstr("FAIL")));
}

TEST(HtmlPageTest, LoadsNothingAndRunsNothing) {
  const std::string page = Page(SampleComparison());
  for (const char* part :
       {"http://", "https://", "<script", "<link", "<img", "@import", "url(", "src="}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST(HtmlPageTest, EscapesWhatComesFromOutside) {
  std::vector<RunResult> runs = SampleGrid(2, 30);
  for (RunResult& run : runs) {
    (*run.mutable_settings())["model"] = kHostile;
    (*run.mutable_settings())[kHostile] = kHostile;
    if (run.strategy() == "ps") run.set_strategy(kHostile);
    run.mutable_provenance()->set_cpu_model(kHostile);
    for (WorkerResult& worker : *run.mutable_worker_results()) {
      worker.mutable_process()->set_hostname(kHostile);
      worker.set_parameters_sha256(kHostile);
    }
  }
  Provenance provenance = SampleProvenance();
  provenance.set_kernel(kHostile);
  const std::string page = Page(BuildComparison(runs, {"ringside", kHostile}, provenance));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;|`&quot;"));
}

TEST(HtmlPageTest, AFailedGateIsLoud) {
  std::vector<RunResult> runs = SampleGrid(2, 30);
  runs[1].mutable_worker_results(0)->set_parameters_sha256(std::string(64, 'b'));
  const std::string page = Page(BuildComparison(runs, {}, {}));
  EXPECT_THAT(page, HasSubstr("<ul class=\"verdict failed\">"));
  EXPECT_THAT(page, HasSubstr("no verdict: failed the gate equivalence"));
  EXPECT_THAT(page, HasSubstr("class=\"badge fail\">FAIL"));
  EXPECT_THAT(page, HasSubstr("class=\"badge fail\">differ"));
  EXPECT_THAT(page, Not(HasSubstr("class=\"track\"")));
}

TEST(HtmlPageTest, OfOneRunAndOfNone) {
  const std::string one = Page(BuildComparison({MakeRun({})}, SampleCommand(), SampleProvenance()));
  EXPECT_THAT(one, HasSubstr("Can this run be trusted?"));
  EXPECT_THAT(one, HasSubstr("<h1>ring</h1>"));
  EXPECT_THAT(Page(BuildComparison({}, {}, {})), HasSubstr("there is no run"));
}

TEST(FiguresTest, OnlyThoseThatHaveSomethingToShow) {
  const auto names = [](const ComparisonResult& comparison) {
    std::vector<std::string> found;
    for (const Figure& figure : Figures(comparison)) found.push_back(figure.name);
    return found;
  };
  EXPECT_THAT(names(SampleComparison()), ElementsAre("throughput", "efficiency", "training_time",
                                                     "breakdown", "skew", "loss", "loss_time"));
  EXPECT_THAT(names(BuildComparison({MakeRun({})}, {}, {})),
              ElementsAre("breakdown", "skew", "loss", "loss_time"));
  SampleRun all_warm_up;
  all_warm_up.steps = 5;
  EXPECT_THAT(names(BuildComparison({MakeRun(all_warm_up)}, {}, {})),
              ElementsAre("loss", "loss_time"));
  EXPECT_THAT(names(BuildComparison({}, {}, {})), ElementsAre());
}

TEST(FiguresTest, ACsvHoldsEveryStep) {
  const Figure loss = LossFigure(BuildComparison({MakeRun({})}, {}, {}));
  const std::vector<std::string> lines = absl::StrSplit(loss.csv, '\n');
  ASSERT_EQ(lines.size(), 32u);  // header, 30 steps, and what follows the last line end
  EXPECT_EQ(lines[0], "workers,series,point,trial,step,time_s,loss");
  EXPECT_THAT(lines[1], StartsWith("2,ring,,0,1,0.01,2.4"));
}

TEST(FiguresTest, LossIsTheSumOverRanks) {
  RunResult run = MakeRun({});
  for (WorkerResult& worker : *run.mutable_worker_results())
    worker.mutable_steps(0)->set_loss(0.25);
  EXPECT_THAT(LossFigure(BuildComparison({run}, {}, {})).csv,
              HasSubstr("\n2,ring,,0,1,0.01,0.5\n"));
}

TEST(BreakdownTest, ShowsHiddenCommunicationBesideExposed) {
  RunResult run = MakeRun({});
  for (WorkerResult& worker : *run.mutable_worker_results()) {
    for (StepRecord& step : *worker.mutable_steps()) {
      step.set_hidden_comm_s(0.00390625);
      step.set_exposed_comm_s(0.0009765625);
    }
  }
  const ComparisonResult comparison = BuildComparison({run}, {}, {});
  const Figure figure = BreakdownFigure(comparison);
  EXPECT_THAT(figure.csv, HasSubstr("\nring,2,,exposed_comm_s,0.0009765625\n"));
  EXPECT_THAT(figure.csv, HasSubstr("\nring,2,,hidden_comm_s,0.00390625\n"));
  EXPECT_THAT(figure.caption, HasSubstr("Hidden communication goes on behind"));
  const std::string summary = MarkdownSummary(comparison);
  EXPECT_THAT(summary, HasSubstr("| Hidden communication |\n"));
  EXPECT_THAT(summary, HasSubstr("| 3.91 ms (80 % of communication) |\n"));
  EXPECT_THAT(Page(comparison), HasSubstr("</i>Hidden communication</dt>"));
}

TEST(BreakdownTest, TellsWaitingForTheSlowestFromTheRest) {
  RunResult run = MakeRun({});
  EXPECT_THAT(Page(BuildComparison({run}, {}, {})), Not(HasSubstr("Waiting for the slowest")));
  for (WorkerResult& worker : *run.mutable_worker_results()) {
    for (StepRecord& step : *worker.mutable_steps()) {
      step.set_exposed_comm_s(0.0078125);
      step.set_wait_slowest_s(0.00390625);
    }
  }
  const ComparisonResult comparison = BuildComparison({run}, {}, {});
  EXPECT_THAT(BreakdownFigure(comparison).csv,
              AllOf(HasSubstr("\nring,2,,wait_slowest_s,0.00390625\n"),
                    HasSubstr("\nring,2,,exposed_comm_s,0.0078125\n")));
  EXPECT_THAT(MarkdownSummary(comparison), HasSubstr("of exposed, waiting for the slowest"));
  EXPECT_THAT(Page(comparison), HasSubstr("</i>Waiting for the slowest</dt>"));
}

TEST(BreakdownTest, SaysNothingOfCommunicationWhereThereIsNone) {
  SampleRun local;
  local.strategy = "local";
  const ComparisonResult comparison = BuildComparison({MakeRun(local)}, {}, {});
  EXPECT_THAT(BreakdownFigure(comparison).caption, Not(HasSubstr("Hidden")));
  EXPECT_THAT(MarkdownSummary(comparison), HasSubstr(" | – |\n\nMean over"));
}

TEST(EquivalenceTableTest, WhatIsExemptNeitherAgreesNorFails) {
  std::vector<RunResult> runs = SampleGrid(1, 30);
  for (RunResult& run : runs) {
    (*run.mutable_settings())["wire_dtype"] = "bf16";
    if (run.strategy() != "ps") continue;
    for (WorkerResult& worker : *run.mutable_worker_results())
      worker.set_parameters_sha256(std::string(64, 'c'));
  }
  const std::string summary = MarkdownSummary(BuildComparison(runs, {}, {}));
  EXPECT_THAT(summary, HasSubstr("| 4 | 128 | identical | ring, local | "));
  EXPECT_THAT(summary, HasSubstr("| 4 | 128 | exempt | ps | "));
  EXPECT_THAT(summary, Not(HasSubstr("differ |")));
}

TEST(WireTableTest, TellsTheTransport) {
  const std::string summary = MarkdownSummary(SampleComparison());
  EXPECT_THAT(summary, HasSubstr("| 4 | ring | 4 workers | tcp | "));
  EXPECT_THAT(summary, HasSubstr("| 4 | ps | 2 shards | grpc | "));
  EXPECT_THAT(summary, HasSubstr("| 4 | local | 1 process | – | "));
}

TEST(ShardTableTest, LooksIntoTheShards) {
  SampleRun sample;
  sample.strategy = "ps";
  sample.shards = 3;  // of 1,000 parameters: 334, 333, 333
  RunResult run = MakeRun(sample);
  const std::string summary = MarkdownSummary(BuildComparison({run}, {}, {}));
  EXPECT_THAT(summary, HasSubstr("| Workers | Strategy | Shards | Parameters / shard | Largest "
                                 "difference | Frames / step | Queue / frame | Fold / step |"));
  // Two units from two workers in 31 exchanges, over 30 steps.
  EXPECT_THAT(summary, HasSubstr("| 2 | ps | 3 | 1.30 KiB | 4.00 B | 4.13 | 50.0 µs | 82.7 µs | "
                                 "10.3 µs | 200 µs | – | – | – |"));
  run.mutable_shard_results(1)->set_elements(1 << 20);
  EXPECT_THAT(Page(BuildComparison({run}, {}, {})), HasSubstr("more than a frame of 1,048,576"));
}

TEST(ShardTableTest, CountsUpdatesLatePushesAndSnapshots) {
  SampleRun sample;
  sample.strategy = "ps backup 1";
  RunResult run = MakeRun(sample);
  run.mutable_shard_results(0)->set_late_pushes(5);
  run.mutable_shard_results(1)->set_late_pushes(6);
  run.mutable_shard_results(0)->set_snapshots_written(2);
  run.mutable_shard_results(0)->set_snapshot_s(0.5);
  EXPECT_THAT(MarkdownSummary(BuildComparison({run}, {}, {})),
              HasSubstr("| 200 µs | 30.0 | 11 | 2 (250 ms each) |"));
}

TEST(ShardTableTest, IsLeftOutWhereNothingWasMeasured) {
  EXPECT_THAT(MarkdownSummary(BuildComparison({MakeRun({})}, {}, {})),
              Not(HasSubstr("## Inside the servers")));
  SampleRun sample;
  sample.strategy = "ps";
  RunResult old = MakeRun(sample);
  for (ShardResult& shard : *old.mutable_shard_results()) shard.clear_frames();
  EXPECT_THAT(Page(BuildComparison({old}, {}, {})), Not(HasSubstr("id=\"shards\"")));
}

TEST(StalenessTableTest, OfModesThatHaveIt) {
  SampleRun sample;
  sample.strategy = "ps ssp 3";
  RunResult run = MakeRun(sample);
  // Of two shards: 120 at once, 60 after one update, 16 after two, 4 after three or more.
  EXPECT_THAT(MarkdownSummary(BuildComparison({run}, {}, {})),
              HasSubstr("| 2 | ps ssp 3 | 200 | 60 % | ≥ 0.52 | 0 | ≥ 3 | ≥ 3 |"));
  for (ShardResult& shard : *run.mutable_shard_results()) shard.set_staleness(3, 0);
  EXPECT_THAT(MarkdownSummary(BuildComparison({run}, {}, {})),
              HasSubstr("| 2 | ps ssp 3 | 196 | 61 % | 0.47 | 0 | 2 | 2 |"));
  EXPECT_THAT(MarkdownSummary(SampleComparison()), Not(HasSubstr("Units pushed")));
}

TEST(EquivalenceTableTest, RunsThatDependOnTimingAreExemptAndTheirRanksAreNot) {
  std::vector<RunResult> runs;
  for (int trial = 0; trial < 2; ++trial) {
    SampleRun sample;
    sample.strategy = "ps async";
    sample.trial = trial;
    runs.push_back(MakeRun(sample));
    for (WorkerResult& worker : *runs.back().mutable_worker_results())
      worker.set_parameters_sha256(std::string(64, trial == 0 ? 'c' : 'd'));
  }
  const std::string summary = MarkdownSummary(BuildComparison(runs, {}, {}));
  EXPECT_THAT(summary, HasSubstr("| exempt | ps async | `cccc"));
  EXPECT_THAT(summary, HasSubstr("| exempt | ps async | `dddd"));
  runs[1].mutable_worker_results(1)->set_parameters_sha256(std::string(64, 'e'));
  EXPECT_THAT(MarkdownSummary(BuildComparison(runs, {}, {})),
              HasSubstr("| **differ** | ps async | `eeee"));
}

TEST(FiguresTest, TextOfTheScriptCannotEndItsQuotes) {
  std::vector<RunResult> runs = {MakeRun({})};
  runs[0].set_strategy("a'\nset output '/x'");
  const Figure figure = BreakdownFigure(BuildComparison(runs, {}, {}));
  EXPECT_THAT(figure.script, HasSubstr("'a'' set output ''/x'''"));
}

TEST(SvgThemeTest, RefusesWhatIsNoSvg) {
  EXPECT_EQ(InlineSvg(Figure(), "gnuplot said no").status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(InlineSvg(Figure(), "").status().code(), absl::StatusCode::kInternal);
}

TEST(SvgThemeTest, TakesTheColourOfThePage) {
  Figure figure;
  figure.name = "loss";
  figure.title = "A & B";
  const auto svg = InlineSvg(
      figure,
      "<?xml version=\"1.0\"?>\n<svg \n width=\"1\">\n<title>loss</title>\n<desc>x</desc>\n"
      "<g fill=\"none\" color=\"black\" stroke=\"currentColor\">\n</g>\n"
      "<path stroke='rgb(  1,   2,   3)' id='gpPt1'/>\n<use xlink:href='#gpPt1'/>\n</svg>\n");
  ASSERT_TRUE(svg.ok());
  EXPECT_THAT(
      *svg, AllOf(HasSubstr("<path stroke='currentColor' id='loss_point_1'/>"),
                  HasSubstr("<use href='#loss_point_1'/>"), HasSubstr("aria-label=\"A &amp; B\"")));
  EXPECT_THAT(*svg,
              AllOf(Not(HasSubstr("<g ")), Not(HasSubstr("<title>")), Not(HasSubstr("<desc>"))));
  EXPECT_THAT(StandaloneSvg(*svg),
              AllOf(StartsWith("<?xml"), HasSubstr("prefers-color-scheme: dark")));
}

TEST(MarkdownSummaryTest, HasVerdictGatesAndTables) {
  const std::string summary = MarkdownSummary(SampleComparison());
  EXPECT_THAT(summary, StartsWith("# ps or ring?\n"));
  EXPECT_THAT(summary, HasSubstr("- **4 workers: "));
  EXPECT_THAT(
      summary,
      HasSubstr("| equivalence | PASS | final parameters are bit-identical in all 18 runs"));
  EXPECT_THAT(summary, HasSubstr("⚠ Single host"));
  EXPECT_THAT(summary, HasSubstr("## Bytes and messages"));
  EXPECT_THAT(summary, HasSubstr("```sh\nringside compare "));
}

TEST(MarkdownSummaryTest, ATableCannotBeBroken) {
  Table table;
  table.columns = {{"a|b"}, {"n", true}};
  table.rows = {{{"x|y\nz"}, {"<b>"}}, {{"p|`q", Field::Kind::kCode}, {"_"}}};
  EXPECT_EQ(MarkdownTable(table),
            "| a\\|b | n |\n| --- | ---: |\n| x\\|y z | &lt;b&gt; |\n| `p\\|'q` | \\_ |\n");
}

TEST(HeadlineTest, QuotesTheCommandForAShell) {
  ComparisonResult comparison;
  comparison.add_command("ringside");
  comparison.add_command("--out=a b");
  comparison.add_command("it's");
  comparison.add_command("");
  EXPECT_EQ(CommandLineText(comparison), "ringside '--out=a b' 'it'\\''s' ''");
}

TEST(HeadlineTest, NamesTheScaling) {
  std::vector<RunResult> runs = {MakeRun({})};
  SampleRun larger;
  larger.workers = 4;
  runs.push_back(MakeRun(larger));
  EXPECT_THAT(HeadlineFacts(BuildComparison(runs, {}, {})),
              ::testing::Contains("weak scaling, batch per rank 64"));
  EXPECT_THAT(HeadlineFacts(SampleComparison()),
              ::testing::Contains("strong scaling, global batch 128"));
}

TEST(HeadlineTest, SaysWhereAModelComputesInHalfPrecision) {
  RunResult run = MakeRun({});
  const auto facts = [&run] { return HeadlineFacts(BuildComparison({run}, {}, {})); };
  EXPECT_THAT(facts(), ::testing::Not(::testing::Contains("computed in bf16")));
  (*run.mutable_settings())["precision"] = "bf16";
  EXPECT_THAT(facts(), ::testing::Contains("computed in bf16"));
}

TEST(CsvTableTest, NumbersReadBackExactly) {
  const ComparisonResult comparison = SampleComparison();
  const std::vector<std::string> lines =
      absl::StrSplit(CellsCsv(comparison), '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 10u);
  const std::vector<std::string> header = absl::StrSplit(lines[0], ',');
  const auto column = [&header](absl::string_view name) {
    return static_cast<size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  };
  for (int i = 0; i < comparison.cells_size(); ++i) {
    const Cell& cell = comparison.cells(i);
    const std::vector<std::string> fields = absl::StrSplit(lines[static_cast<size_t>(i) + 1], ',');
    ASSERT_EQ(fields.size(), header.size());
    EXPECT_EQ(std::strtod(fields[column("step_s")].c_str(), nullptr), cell.step_s().median());
    EXPECT_EQ(std::strtod(fields[column("samples_per_s_high")].c_str(), nullptr),
              cell.samples_per_s().high());
    EXPECT_EQ(std::strtod(fields[column("mean_exposed_comm_s")].c_str(), nullptr),
              cell.mean_step().exposed_comm_s());
    EXPECT_EQ(std::strtod(fields[column("mean_hidden_comm_s")].c_str(), nullptr),
              cell.mean_step().hidden_comm_s());
    EXPECT_EQ(fields[column("transport")], cell.transport());
    EXPECT_EQ(std::strtod(fields[column("p99_step_s")].c_str(), nullptr), cell.p99_step_s());
    EXPECT_EQ(fields[column("parameters_sha256")], cell.hashes(0));
  }
}

TEST(CsvTableTest, QuotesWhereNeeded) {
  CsvTable table({"a", "b"});
  table.AddRow({"x,y", "say \"no\""});
  EXPECT_EQ(table.Text(), "a,b\n\"x,y\",\"say \"\"no\"\"\"\n");
}

TEST(EscapeHtmlTest, AllFive) { EXPECT_EQ(EscapeHtml("<&>\"'"), "&lt;&amp;&gt;&quot;&#39;"); }

}  // namespace
}  // namespace ringside
