#include "experiments/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace ringside {
namespace {

using ::testing::HasSubstr;

void Add(const std::string& name, const std::vector<int64_t>& shape, const std::string& dtype,
         const std::string& section, int64_t offset, CheckpointManifest* manifest) {
  CheckpointTensor* tensor = manifest->add_tensors();
  tensor->set_name(name);
  tensor->mutable_shape()->Assign(shape.begin(), shape.end());
  tensor->set_dtype(dtype);
  tensor->set_section(section);
  tensor->set_offset(offset);
}

template <typename T>
std::vector<uint8_t> BytesOf(const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return {bytes, bytes + values.size() * sizeof(T)};
}

TEST(SafetensorsTest, TheHeaderDescribesEveryTensorAndIsPadded) {
  CheckpointManifest manifest;
  manifest.set_step(7);
  Add("fc.\"odd\"\\\n", {2, 3}, "float32", "parameters", 0, &manifest);
  Add("bn.num_batches", {}, "int64", "counters", 0, &manifest);
  const std::string header = SafetensorsHeader(manifest);
  EXPECT_EQ(header.size() % 8, 0u);
  uint64_t length = 0;
  std::memcpy(&length, header.data(), sizeof(length));
  EXPECT_EQ(length, header.size() - 8);
  EXPECT_THAT(header.substr(8),
              HasSubstr("{\"__metadata__\":{\"format\":\"pt\",\"step\":\"7\"},"
                        "\"fc.\\\"odd\\\"\\\\\\u000a\":{\"dtype\":\"F32\",\"shape\":[2,3],"
                        "\"data_offsets\":[0,24]},"
                        "\"bn.num_batches\":{\"dtype\":\"I64\",\"shape\":[],"
                        "\"data_offsets\":[24,32]}}"));
}

TEST(SafetensorsTest, TensorsFollowInTheirOrderWhereverTheyLie) {
  std::string folder = testing::TempDir() + "/safetensors_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  Checkpoint checkpoint;
  checkpoint.manifest.add_sections()->set_name("parameters");
  checkpoint.manifest.add_sections()->set_name("counters");
  checkpoint.sections = {BytesOf<float>({1, 2, 3, 4}), BytesOf<int64_t>({5, 6})};
  Add("b", {2}, "float32", "parameters", 2, &checkpoint.manifest);
  Add("none", {0, 3}, "float32", "parameters", 4, &checkpoint.manifest);
  Add("c", {1}, "int64", "counters", 1, &checkpoint.manifest);
  const std::string path = folder + "/m.safetensors";
  const auto bytes = WriteSafetensors(checkpoint, path);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(static_cast<int64_t>(text.size()), *bytes);
  const std::string header = SafetensorsHeader(checkpoint.manifest);
  std::vector<uint8_t> data = BytesOf<float>({3, 4});
  const std::vector<uint8_t> counter = BytesOf<int64_t>({6});
  data.insert(data.end(), counter.begin(), counter.end());
  EXPECT_EQ(text, header + std::string(data.begin(), data.end()));
  EXPECT_THAT(
      std::string(WriteSafetensors(checkpoint, folder + "/no/m.safetensors").status().message()),
      HasSubstr("creating " + folder + "/no/m.safetensors.partial"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ringside
