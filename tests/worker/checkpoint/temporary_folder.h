// What the tests of checkpoints share: a folder of their own and a small state.
#ifndef RINGSIDE_TESTS_WORKER_CHECKPOINT_TEMPORARY_FOLDER_H_
#define RINGSIDE_TESTS_WORKER_CHECKPOINT_TEMPORARY_FOLDER_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/checkpoint_file.h"

namespace ringside {

class CheckpointFolderTest : public ::testing::Test {
 protected:
  CheckpointFolderTest() {
    std::string name = testing::TempDir() + "/checkpoints_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~CheckpointFolderTest() override { std::filesystem::remove_all(folder_); }

  std::vector<StateSection> State() {
    return {StateSection::Of("parameters", absl::MakeSpan(parameters_))};
  }
  static CheckpointManifest After(int64_t step, const std::string& model = "mlp") {
    CheckpointManifest manifest;
    manifest.set_step(step);
    (*manifest.mutable_settings())["model"] = model;
    return manifest;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  static void Damage(const std::string& path) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-6, std::ios::end);
    file.put('x');
  }

  std::string folder_;
  std::vector<float> parameters_ = {1, 2, 3};
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_WORKER_CHECKPOINT_TEMPORARY_FOLDER_H_
