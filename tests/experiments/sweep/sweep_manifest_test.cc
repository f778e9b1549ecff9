#include "experiments/sweep/sweep_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class SweepManifestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/manifest_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  void WriteRun(const std::string& run, const std::string& json) const {
    fs::create_directories(folder_ + "/runs/" + run);
    std::ofstream(folder_ + "/runs/" + run + "/results.json") << json;
  }

  static SweepManifest Manifest(const std::string& text, const SweepIdentity& identity) {
    SpecSource source;
    source.name = "a.textproto";
    source.text = text;
    return MakeManifest(source, identity);
  }

  std::string folder_;
};

TEST_F(SweepManifestTest, ComesBackAsItWasSaved) {
  EXPECT_EQ(LoadManifest(folder_).status().code(), absl::StatusCode::kNotFound);
  const SweepManifest manifest = Manifest("question: \"é?\"\n", {{"kernel", "6.1"}});
  ASSERT_TRUE(SaveManifest(manifest, folder_).ok());
  const auto loaded = LoadManifest(folder_);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->spec_text(), manifest.spec_text());
  EXPECT_EQ(loaded->identity().at("kernel"), "6.1");
  EXPECT_TRUE(RequireSame(*loaded, manifest, folder_).ok());
  EXPECT_FALSE(fs::exists(folder_ + "/sweep.json.partial"));
}

TEST_F(SweepManifestTest, AnotherSpecBuildOrMachineIsRefused) {
  const SweepManifest before = Manifest("one", {{"kernel", "6.1"}, {"build commit", "12ab"}});
  const SweepManifest now = Manifest("two", {{"kernel", "6.1"}, {"build commit", "34cd"}});
  const absl::Status status = RequireSame(before, now, "results/here");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("--out=results/here: "), HasSubstr("SHA-256 of the spec was "),
                    HasSubstr("build commit was \"12ab\" and is \"34cd\""),
                    HasSubstr("--overwrite replaces it")));
  EXPECT_THAT(std::string(status.message()), ::testing::Not(HasSubstr("kernel")));
}

TEST_F(SweepManifestTest, ADamagedManifestIsAnError) {
  std::ofstream(folder_ + "/sweep.json") << "{\"schema_version\": 1, \"spec";
  EXPECT_EQ(LoadManifest(folder_).status().code(), absl::StatusCode::kDataLoss);
  std::ofstream(folder_ + "/sweep.json") << "{\"schema_version\": 99}";
  EXPECT_EQ(LoadManifest(folder_).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(SweepManifestTest, RunsThatEndedWellAreKept) {
  SweepManifest manifest = Manifest("one", {});
  WriteRun("ring-w2-t1", R"({"strategy": "ring", "total_steps": 7})");
  EXPECT_EQ(ReadFinished(manifest, folder_, "ring-w2-t1").status().code(),
            absl::StatusCode::kNotFound);  // nobody has said that it ended well
  ASSERT_TRUE(AddFinished(folder_, "ring-w2-t1", absl::Milliseconds(2500), &manifest).ok());
  ASSERT_TRUE(SaveManifest(manifest, folder_).ok());
  const auto kept = ReadFinished(*LoadManifest(folder_), folder_, "ring-w2-t1");
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(kept->result.total_steps(), 7);
  EXPECT_EQ(kept->took, absl::Milliseconds(2500));
}

TEST_F(SweepManifestTest, ResultsThatChangedAreNotKept) {
  SweepManifest manifest = Manifest("one", {});
  WriteRun("ring-w2-t1", R"({"strategy": "ring", "total_steps": 7})");
  ASSERT_TRUE(AddFinished(folder_, "ring-w2-t1", absl::Seconds(2), &manifest).ok());
  WriteRun("ring-w2-t1", R"({"strategy": "ring", "total_steps": 8})");
  EXPECT_EQ(ReadFinished(manifest, folder_, "ring-w2-t1").status().code(),
            absl::StatusCode::kDataLoss);
  ASSERT_TRUE(AddFinished(folder_, "ring-w2-t1", absl::Seconds(3), &manifest).ok());
  EXPECT_EQ(manifest.finished_size(), 1);
  EXPECT_TRUE(ReadFinished(manifest, folder_, "ring-w2-t1").ok());
  fs::remove(folder_ + "/runs/ring-w2-t1/results.json");
  EXPECT_EQ(ReadFinished(manifest, folder_, "ring-w2-t1").status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace ringside
