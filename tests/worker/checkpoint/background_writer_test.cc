#include "worker/checkpoint/background_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <future>

#include "absl/strings/str_format.h"
#include "tests/worker/checkpoint/temporary_folder.h"

namespace ringside {
namespace {

CheckpointManifest After(int64_t step) {
  CheckpointManifest manifest;
  manifest.set_step(step);
  return manifest;
}

std::vector<float> FloatsOf(const StateSection& section) {
  const auto* floats = reinterpret_cast<const float*>(section.bytes.data());
  return {floats, floats + section.bytes.size() / sizeof(float)};
}

TEST(BackgroundWriterTest, WritesTheStateAsItWasAndNeverTwoAtOnce) {
  std::vector<float> parameters(1000), momentum(17);
  std::vector<int64_t> steps;
  std::atomic<int> at_once{0};
  auto writer = *BackgroundWriter::Create(
      {StateSection::Of("parameters", absl::MakeSpan(parameters)),
       StateSection::Of("optimizer.sgd.0", absl::MakeSpan(momentum)),
       StateSection::Of("buffers", absl::Span<float>())},
      [&](const CheckpointManifest& manifest,
          const std::vector<StateSection>& sections) -> absl::StatusOr<int64_t> {
        EXPECT_EQ(++at_once, 1);
        const auto step = static_cast<float>(manifest.step());
        EXPECT_EQ(FloatsOf(sections[0]), std::vector<float>(1000, step));
        EXPECT_EQ(FloatsOf(sections[1]), std::vector<float>(17, -step));
        steps.push_back(manifest.step());
        --at_once;
        return 7;
      });
  for (int64_t step = 1; step <= 50; ++step) {
    std::fill(parameters.begin(), parameters.end(), static_cast<float>(step));
    std::fill(momentum.begin(), momentum.end(), static_cast<float>(-step));
    ASSERT_TRUE(writer->Save(After(step)).ok());
  }
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(steps.size(), 50u);
  EXPECT_EQ(writer->totals().written, 50);
  EXPECT_EQ(writer->totals().bytes, 7);
}

TEST(BackgroundWriterTest, TrainingGoesOnWhileItWrites) {
  std::vector<float> parameters = {1};
  std::promise<void> go;
  std::vector<float> written;
  auto writer = *BackgroundWriter::Create(
      {StateSection::Of("parameters", absl::MakeSpan(parameters))},
      [&](const CheckpointManifest&,
          const std::vector<StateSection>& sections) -> absl::StatusOr<int64_t> {
        go.get_future().wait();
        written = FloatsOf(sections[0]);
        return 4;
      });
  ASSERT_TRUE(writer->Save(After(1)).ok());
  parameters[0] = 2;  // the next step
  EXPECT_EQ(writer->totals().written, 0);
  go.set_value();
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(written, std::vector<float>{1});
}

TEST(BackgroundWriterTest, AnErrorShowsOnceItIsKnownAndStays) {
  std::vector<float> parameters = {1};
  int writes = 0;
  const absl::Status full = absl::ResourceExhaustedError("step-000001.ckpt: disk full");
  auto writer = *BackgroundWriter::Create(
      {StateSection::Of("parameters", absl::MakeSpan(parameters))},
      [&](const CheckpointManifest&, const std::vector<StateSection>&) -> absl::StatusOr<int64_t> {
        ++writes;
        return full;
      });
  ASSERT_TRUE(writer->Save(After(1)).ok());
  EXPECT_EQ(writer->Finish(), full);
  EXPECT_EQ(writer->Error(), full);
  EXPECT_EQ(writer->Save(After(2)), full);
  EXPECT_EQ(writes, 1);
  EXPECT_EQ(writer->totals().written, 0);
}

TEST(BackgroundWriterTest, TheEndWaitsForTheWrite) {
  std::vector<float> parameters = {1};
  int writes = 0;
  {
    auto writer = *BackgroundWriter::Create(
        {StateSection::Of("parameters", absl::MakeSpan(parameters))},
        [&](const CheckpointManifest&,
            const std::vector<StateSection>&) -> absl::StatusOr<int64_t> { return ++writes; });
    ASSERT_TRUE(writer->Save(After(1)).ok());
  }
  EXPECT_EQ(writes, 1);
}

using StallTest = CheckpointFolderTest;

// ResNet-50 with momentum: what training stands still for, against what one write takes. Times of a
// busy machine say little, so the ratio is told and only its order is expected.
TEST_F(StallTest, OfResNet50) {
  if (std::getenv("RINGSIDE_MEASURE_STALL") == nullptr) {
    GTEST_SKIP() << "takes a second and 600 MB; RINGSIDE_MEASURE_STALL=1 runs it";
  }
  constexpr size_t kParameters = 25'557'032;
  std::vector<float> parameters(kParameters, 0.5f), momentum(kParameters, 0.25f);
  auto writer = *BackgroundWriter::Create(
      {StateSection::Of("parameters", absl::MakeSpan(parameters)),
       StateSection::Of("optimizer.sgd.0", absl::MakeSpan(momentum))},
      [&](const CheckpointManifest& manifest, const std::vector<StateSection>& sections) {
        return WriteCheckpointFile(folder_ + "/stall.ckpt", manifest, sections);
      });
  std::vector<double> ratios;
  BackgroundWriter::Totals before;
  for (int64_t step = 1; step <= 7; ++step) {
    ASSERT_TRUE(writer->Save(After(step)).ok());
    ASSERT_TRUE(writer->Finish().ok());
    const BackgroundWriter::Totals now = writer->totals();
    const double copy = absl::ToDoubleSeconds(now.copying - before.copying);
    const double write = absl::ToDoubleSeconds(now.writing - before.writing);
    before = now;
    ratios.push_back(copy / write);
    absl::PrintF("copy %.1f ms, write %.1f ms, ratio %.1f %%, %d bytes\n", copy * 1e3, write * 1e3,
                 100 * copy / write, now.bytes);
  }
  std::sort(ratios.begin(), ratios.end());
  EXPECT_LE(ratios[ratios.size() / 2], 0.1);
}

}  // namespace
}  // namespace ringside
