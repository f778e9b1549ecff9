#include "allreduce/bench/result_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"

namespace ringside {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

AllReduceMeasurement Ring() {
  AllReduceMeasurement ring;
  ring.set_contender("ring_tcp");
  ring.set_world_size(4);
  ring.set_bytes(1 << 20);
  ring.set_elements(1 << 18);
  ring.set_type("fp32");
  ring.set_time_us(1234.5);
  ring.set_busbw_gb_per_s(1.25);
  ring.set_verified(true);
  ring.set_ceiling("raw_tcp");
  ring.set_ceiling_share(0.9);
  ring.set_traffic_counted(true);
  (*ring.mutable_facts())["left_link"] = "tcp";
  return ring;
}

std::vector<size_t> LineLengths(const std::string& text) {
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  std::vector<size_t> lengths;
  for (const std::string& line : lines) lengths.push_back(line.size());
  return lengths;
}

TEST(ResultTableTest, LinesAreAlignedWithTheHeading) {
  AllReduceMeasurement ceiling = Ring();
  ceiling.set_contender("memory");
  ceiling.set_verified(false);
  ceiling.set_ceiling("");
  ceiling.set_ceiling_share(0);
  ceiling.set_traffic_counted(false);
  const std::string text = TableHeading() + TableRows({Ring(), ceiling});
  const std::vector<size_t> lengths = LineLengths(text);
  ASSERT_EQ(lengths.size(), 3u);
  EXPECT_THAT(lengths, Each(lengths[0]));
  EXPECT_THAT(text, HasSubstr("1234.50"));
  EXPECT_THAT(text, HasSubstr("0.900  raw_tcp     ok"));
}

TEST(ResultTableTest, BytesThatDifferFromTheFormulaAreOff) {
  AllReduceMeasurement ring = Ring();
  ring.mutable_traffic()->set_messages_sent(1);
  EXPECT_THAT(TableRows({ring}), HasSubstr("  off\n"));
}

TEST(ResultTableTest, FactsAreToldOnceForAllWorldSizesThatShareThem) {
  AllReduceMeasurement two = Ring();
  two.set_world_size(2);
  AllReduceMeasurement other = Ring();
  other.set_world_size(8);
  (*other.mutable_facts())["left_link"] = "shm";
  EXPECT_EQ(TableFacts({two, Ring(), Ring(), other}),
            "# ring_tcp, N=8: left_link=shm\n# ring_tcp, N=2,4: left_link=tcp\n");
}

TEST(CsvTest, EveryLineHasTheFieldsOfTheHeading) {
  const std::string csv = Csv({Ring(), Ring()});
  const std::vector<std::string> lines = absl::StrSplit(csv, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 3u);
  for (const std::string& line : lines) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','),
              std::count(lines[0].begin(), lines[0].end(), ','));
  }
  EXPECT_THAT(lines[1], HasSubstr("ring_tcp,4,1048576,262144,fp32,out,1234.5,"));
}

}  // namespace
}  // namespace ringside
