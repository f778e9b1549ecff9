#include "worker/event_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "tests/worker/event_file.h"
#include "worker/tf_record.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

const absl::Time kStart = absl::FromUnixSeconds(1700000000);

class EventWriterTest : public ::testing::Test {
 protected:
  EventWriterTest() {
    std::string pattern = ::testing::TempDir() + "event_writer_XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~EventWriterTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

TEST(TfRecordTest, ChecksumsAreThoseOfThePublishedExamples) {
  // RFC 3720, B.4: 32 bytes of zeros, of ones, ascending.
  const auto unmasked = [](const std::string& bytes) {
    const uint32_t masked = MaskedCrc32c(bytes) - 0xa282ead8u;
    return (masked >> 17) | (masked << 15);
  };
  EXPECT_EQ(unmasked(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(unmasked(std::string(32, '\xff')), 0x62a8ab43u);
  std::string ascending;
  for (char byte = 0; byte < 32; ++byte) ascending.push_back(byte);
  EXPECT_EQ(unmasked(ascending), 0x46dd794eu);
  EXPECT_EQ(unmasked(""), 0u);
  for (int length = 0; length < 70; ++length) {
    const std::string bytes(static_cast<size_t>(length), static_cast<char>(length * 37));
    EXPECT_EQ(MaskedCrc32c(bytes), SlowMaskedCrc32c(bytes)) << length;
  }
}

TEST_F(EventWriterTest, WritesTheVersionAndWhatItIsGiven) {
  auto writer = EventWriter::Create(folder_, kStart);
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_THAT((*writer)->path(), HasSubstr("/events.out.tfevents.1700000000."));
  const double infinity = std::numeric_limits<double>::infinity();
  ASSERT_TRUE((*writer)->Append(1, kStart, {{"a", 0.5}, {"b", -infinity}}).ok());
  ASSERT_TRUE((*writer)->Append(2, kStart + absl::Milliseconds(1500), {{"a", std::nan("")}}).ok());
  ASSERT_TRUE((*writer)->Restart(2, kStart).ok());
  ASSERT_TRUE((*writer)->Close().ok());
  const auto events = ReadEvents((*writer)->path());
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_EQ(events[0].wall_time(), 1700000000.0);
  EXPECT_EQ(events[1].step(), 1);
  ASSERT_EQ(events[1].summary().value_size(), 2);
  EXPECT_EQ(events[1].summary().value(0).tag(), "a");
  EXPECT_EQ(events[1].summary().value(0).simple_value(), 0.5f);
  EXPECT_EQ(events[1].summary().value(1).simple_value(), -infinity);
  EXPECT_EQ(events[2].wall_time(), 1700000001.5);
  EXPECT_TRUE(std::isnan(events[2].summary().value(0).simple_value()));
  EXPECT_EQ(events[3].session_log().status(), tensorboard::SessionLog::START);
  EXPECT_EQ(events[3].step(), 2);
}

TEST_F(EventWriterTest, WholeRecordsReachTheFileEveryFewSeconds) {
  auto writer = EventWriter::Create(folder_, kStart);
  ASSERT_TRUE(writer.ok()) << writer.status();
  const std::string path = (*writer)->path();
  EXPECT_EQ(ReadEvents(path).size(), 1u);  // TensorBoard finds the run at once
  int64_t step = 0;
  for (int ms = 0; ms < 2000; ms += 100) {
    ASSERT_TRUE((*writer)->Append(++step, kStart + absl::Milliseconds(ms), {{"a", 1}}).ok());
  }
  EXPECT_EQ(ReadEvents(path).size(), 1u);
  ASSERT_TRUE((*writer)->Append(++step, kStart + absl::Seconds(2), {{"a", 1}}).ok());
  EXPECT_EQ(Values(ReadEvents(path), "a").size(), 21u);
  ASSERT_TRUE((*writer)->Append(++step, kStart + absl::Seconds(2.5), {{"a", 1}}).ok());
  writer->reset();  // as if killed: what was not due is lost, what was there can be read
  EXPECT_EQ(Values(ReadEvents(path), "a").size(), 21u);
}

TEST_F(EventWriterTest, NoFileIsReplaced) {
  const auto first = EventWriter::Create(folder_, kStart);
  const auto second = EventWriter::Create(folder_, kStart);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_LT((*first)->path(), (*second)->path());
}

TEST_F(EventWriterTest, ErrorsNameThePath) {
  const auto writer = EventWriter::Create("/proc/nowhere", kStart);
  EXPECT_EQ(writer.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(writer.status().message()),
              HasSubstr("--tensorboard_dir=/proc/nowhere: cannot write /proc/nowhere/events.out"));
}

}  // namespace
}  // namespace ringside
