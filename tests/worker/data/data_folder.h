// A fixture with an empty folder for the files of a data set, and what the tests of all of them do.
#ifndef RINGSIDE_TESTS_WORKER_DATA_DATA_FOLDER_H_
#define RINGSIDE_TESTS_WORKER_DATA_DATA_FOLDER_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/data/batch_buffer.h"
#include "worker/data/dataset.h"

namespace ringside {

class DataFolderTest : public testing::Test {
 protected:
  DataFolderTest() {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    folder_ = testing::TempDir() + "/" + test.test_suite_name() + "_" + test.name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~DataFolderTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  // Makes the folders on the way.
  std::string NewPath(const std::string& name) const {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    return Path(name);
  }
  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(NewPath(name), std::ios::binary) << bytes;
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  std::string folder_;
};

// What Fetch wrote.
struct Fetched {
  std::vector<float> images;
  std::vector<int64_t> tokens;
  std::vector<int64_t> labels;
};

inline absl::StatusOr<Fetched> Fetch(const Dataset& dataset, std::vector<uint32_t> indices) {
  const auto samples = static_cast<int64_t>(indices.size());
  BatchBuffer buffer(dataset.sample_shape(), samples);
  const absl::Status status = dataset.Fetch(indices, buffer.spans(samples));
  if (!status.ok()) return status;
  const Batch batch = buffer.batch(samples);
  return Fetched{{batch.images.begin(), batch.images.end()},
                 {batch.tokens.begin(), batch.tokens.end()},
                 {batch.labels.begin(), batch.labels.end()}};
}

inline absl::StatusOr<Fetched> FetchAll(const Dataset& dataset) {
  std::vector<uint32_t> indices(dataset.size());
  std::iota(indices.begin(), indices.end(), 0u);
  return Fetch(dataset, std::move(indices));
}

inline void ExpectRefused(const absl::Status& status, absl::StatusCode code,
                          const std::vector<std::string>& messages) {
  EXPECT_EQ(status.code(), code) << status;
  for (const std::string& message : messages) {
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(message));
  }
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_WORKER_DATA_DATA_FOLDER_H_
