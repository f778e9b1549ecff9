// Pages from stored results: their structure is golden, neither their numbers nor their looks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "experiments/report/figures.h"
#include "experiments/report/html_page.h"
#include "experiments/report/markdown_summary.h"
#include "experiments/report/report_writer.h"
#include "experiments/report/text_file.h"
#include "tests/experiments/report/report_outline.h"

namespace ringside {
namespace {

class StoredResultsTest : public ::testing::TestWithParam<std::string> {
 protected:
  static std::string Path(const std::string& ending) {
    return std::string(RINGSIDE_REPORT_TESTDATA) + "/" + GetParam() + ending;
  }

  // To write the golden files anew, after a look at the difference: RINGSIDE_WRITE_GOLDEN=1.
  static void ExpectGolden(const std::string& actual, const std::string& ending) {
    if (std::getenv("RINGSIDE_WRITE_GOLDEN") != nullptr) {
      ASSERT_TRUE(WriteTextFile(Path(ending), actual).ok());
    }
    const auto golden = ReadTextFile(Path(ending));
    ASSERT_TRUE(golden.ok()) << golden.status();
    EXPECT_EQ(actual, *golden);
  }

  static ComparisonResult Read() {
    const auto comparison = ReadComparison(Path(".json"));
    EXPECT_TRUE(comparison.ok()) << comparison.status();
    return comparison.ok() ? *comparison : ComparisonResult();
  }
};

TEST_P(StoredResultsTest, ThePageHasItsStructure) {
  const ComparisonResult comparison = Read();
  std::vector<DrawnFigure> drawn;
  for (const Figure& figure : Figures(comparison)) drawn.push_back({figure, "<svg></svg>"});
  ExpectGolden(OutlineOfHtml(HtmlPage(comparison, drawn)), ".html.outline");
}

TEST_P(StoredResultsTest, TheSummaryHasItsStructure) {
  ExpectGolden(OutlineOfMarkdown(MarkdownSummary(Read())), ".md.outline");
}

INSTANTIATE_TEST_SUITE_P(Stored, StoredResultsTest,
                         ::testing::Values("single", "comparison", "sweep", "probed"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace ringside
