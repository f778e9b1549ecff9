// Reports of stored results in a headless Chromium: nothing that scrolls sideways, no errors, every
// figure there. The page itself stays as it is; it is measured from outside, in frames as wide as a
// phone and a desk's screen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "experiments/report/figures.h"
#include "experiments/report/html_text.h"
#include "experiments/report/report_writer.h"
#include "experiments/report/text_file.h"
#include "tests/testing/process.h"

namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr absl::Duration kPatience = absl::Seconds(90);

// Measures each frame once all have loaded, and writes what it found as lines of text.
constexpr char kProbe[] = R"js(
window.addEventListener('load', () => {
  const lines = [];
  for (const frame of document.querySelectorAll('iframe')) {
    const page = frame.contentDocument;
    const root = page.documentElement;
    const say = (what, value) => lines.push(`probe ${frame.width} ${what}=${value}`);
    say('inner', frame.contentWindow.innerWidth);
    say('scrolls', root.scrollWidth > root.clientWidth ? root.scrollWidth : 'no');
    const inBox = (element) => element.closest('.scroll') !== null;
    const wide = [...page.body.querySelectorAll('*')].filter(
        (e) => !inBox(e) && !e.closest('svg') && e.getBoundingClientRect().right > root.clientWidth + 0.5);
    say('sticking-out', wide.length === 0 ? 'none' : wide[0].outerHTML.slice(0, 80));
    const drawings = [...page.querySelectorAll('figure svg')];
    say('figures', drawings.length);
    say('empty-figures', drawings.filter(
        (svg) => svg.getBoundingClientRect().width < 100 || svg.querySelectorAll('path, circle, use, rect').length === 0).length);
    const letters = drawings.flatMap((svg) => [...svg.querySelectorAll('text')]).filter((t) => t.textContent.trim() !== '');
    say('small-letters', letters.filter((t) => t.getBoundingClientRect().height < 9).length);
    const ids = [...page.querySelectorAll('[id]')].map((e) => e.id);
    say('doubled-ids', ids.length - new Set(ids).size);
    const dead = [...page.querySelectorAll('a[href^="#"]')].filter((a) => !page.getElementById(a.getAttribute('href').slice(1)));
    say('dead-links', dead.length);
    const scripts = page.querySelectorAll('script').length;
    say('scripts', scripts);
  }
  const out = document.createElement('pre');
  out.textContent = lines.join('\n') + '\nprobe end';
  document.body.append(out);
});
)js";

class BrowserTest : public ::testing::Test {
 protected:
  BrowserTest() {
    std::string name = ::testing::TempDir() + "browser_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~BrowserTest() override { std::filesystem::remove_all(folder_); }

  // Everything that Chromium says, the page as it is after its scripts included.
  TestProcess::Ended Browse(const std::string& page) {
    return RunProcess(
        {{"/bin/sh", "-c", "exec \"$0\" \"$@\"", "chromium", "--headless=new", "--no-sandbox",
          "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--enable-logging=stderr",
          "--v=0", absl::StrCat("--user-data-dir=", folder_, "/profile"), "--window-size=1800,1200",
          "--dump-dom", absl::StrCat("file://", page)},
         {},
         ""},
        kPatience);
  }

  // Why no browser can be had; empty where it can.
  std::string WhyNot() {
    const std::string page = absl::StrCat(folder_, "/blank.html");
    EXPECT_TRUE(WriteTextFile(page, "<!doctype html><p>it works</p>").ok());
    const TestProcess::Ended ended = Browse(page);
    if (ended.status == 127) return "there is no chromium in PATH";
    if (ended.status != 0 || !absl::StrContains(ended.output, "it works"))
      return absl::StrCat("chromium does not run here: status ", ended.status);
    return "";
  }

  struct Findings {
    std::vector<std::string> lines;
    // What a page does wrong, it says there: a refused style, a missing file, an error of a script.
    std::vector<std::string> console;
  };

  Findings Probe(const std::string& page) {
    const std::string around = absl::StrCat(
        "<!doctype html><html><head><meta charset=\"utf-8\"></head><body>\n", Frame(page, 390),
        Frame(page, 1280), "<script>", kProbe, "</script></body></html>\n");
    EXPECT_TRUE(WriteTextFile(folder_ + "/probe.html", around).ok());
    const TestProcess::Ended ended = Browse(folder_ + "/probe.html");
    EXPECT_EQ(ended.status, 0) << ended.output;
    Findings findings;
    for (const absl::string_view line : absl::StrSplit(ended.output, '\n')) {
      const absl::string_view text = absl::StripPrefix(line, "<pre>");
      if (absl::StartsWith(text, "probe ")) findings.lines.emplace_back(text);
      if (absl::StrContains(line, "CONSOLE")) findings.console.emplace_back(line);
    }
    return findings;
  }

  std::string folder_;

 private:
  // The page in a frame: of the same origin as the one around it, which may then look into it.
  static std::string Frame(const std::string& page, int width) {
    return absl::StrCat("<iframe width=\"", width, "\" height=\"900\" srcdoc=\"", EscapeHtml(page),
                        "\"></iframe>\n");
  }
};

class ReportBrowserTest : public BrowserTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(ReportBrowserTest, FitsEveryWidthAndShowsEveryFigure) {
  const std::string reason = WhyNot();
  if (!reason.empty()) GTEST_SKIP() << reason;
  const auto comparison =
      ReadComparison(absl::StrCat(RINGSIDE_REPORT_TESTDATA, "/", GetParam(), ".json"));
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  ASSERT_TRUE(WriteReport(*comparison, folder_).ok());
  const auto page = ReadTextFile(folder_ + "/report.html");
  ASSERT_TRUE(page.ok()) << page.status();
  const Findings findings = Probe(*page);
  const size_t figures = Figures(*comparison).size();
  for (const char* width : {"390", "1280"}) {
    for (const std::string& expected :
         {absl::StrCat("inner=", width), std::string("scrolls=no"),
          std::string("sticking-out=none"), absl::StrCat("figures=", figures),
          std::string("empty-figures=0"), std::string("small-letters=0"),
          std::string("doubled-ids=0"), std::string("dead-links=0"), std::string("scripts=0")}) {
      EXPECT_THAT(findings.lines, Contains(absl::StrCat("probe ", width, " ", expected)));
    }
  }
  EXPECT_THAT(findings.console, IsEmpty());
}

// What the test above relies on.
TEST_F(BrowserTest, TheProbeFindsWhatIsWrong) {
  const std::string reason = WhyNot();
  if (!reason.empty()) GTEST_SKIP() << reason;
  const Findings findings = Probe(
      "<!doctype html><body><div style='width:900px'>wide</div><figure><svg></svg></figure>"
      "<a href='#nowhere'>x</a><script>throw new Error('oops')</script>");
  for (const char* expected :
       {"probe 390 figures=1", "probe 390 empty-figures=1", "probe 390 dead-links=1",
        "probe 390 scripts=1", "probe 1280 scrolls=no"}) {
    EXPECT_THAT(findings.lines, Contains(expected));
  }
  EXPECT_THAT(findings.lines, Not(Contains("probe 390 scrolls=no")));
  EXPECT_THAT(findings.lines, Not(Contains("probe 390 sticking-out=none")));
  EXPECT_THAT(findings.console, Contains(HasSubstr("oops")));
}

INSTANTIATE_TEST_SUITE_P(Stored, ReportBrowserTest,
                         ::testing::Values("single", "comparison", "sweep"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace ringside
