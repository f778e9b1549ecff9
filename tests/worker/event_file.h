// Reads event files as their format says, with a CRC of its own.
#ifndef RINGSIDE_TESTS_WORKER_EVENT_FILE_H_
#define RINGSIDE_TESTS_WORKER_EVENT_FILE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "event.pb.h"

namespace ringside {

// Bit by bit, over the reflected polynomial of Castagnoli.
inline uint32_t SlowMaskedCrc32c(const std::string& bytes) {
  uint32_t crc = ~uint32_t{0};
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
  }
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

// The events of a file; a record that is cut off ends it. Wrong checksums fail the test.
inline std::vector<tensorboard::Event> ReadEvents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<tensorboard::Event> events;
  size_t at = 0;
  while (bytes.size() - at >= 12) {
    uint64_t length = 0;
    uint32_t crc = 0;
    std::memcpy(&length, bytes.data() + at, 8);
    std::memcpy(&crc, bytes.data() + at + 8, 4);
    EXPECT_EQ(crc, SlowMaskedCrc32c(bytes.substr(at, 8)));
    if (bytes.size() - at < 16 + length) break;
    const std::string data = bytes.substr(at + 12, length);
    std::memcpy(&crc, bytes.data() + at + 12 + length, 4);
    EXPECT_EQ(crc, SlowMaskedCrc32c(data));
    EXPECT_TRUE(events.emplace_back().ParseFromString(data));
    at += 16 + length;
  }
  return events;
}

// The only file of a folder.
inline std::string OnlyFile(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path());
  }
  EXPECT_EQ(paths.size(), 1u) << folder;
  return paths.empty() ? "" : paths[0];
}

// (step, value) of a tag, in the order of the file.
inline std::vector<std::pair<int64_t, float>> Values(const std::vector<tensorboard::Event>& events,
                                                     const std::string& tag) {
  std::vector<std::pair<int64_t, float>> values;
  for (const tensorboard::Event& event : events) {
    for (const auto& value : event.summary().value()) {
      EXPECT_TRUE(value.has_simple_value());
      if (value.tag() == tag) values.emplace_back(event.step(), value.simple_value());
    }
  }
  return values;
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_WORKER_EVENT_FILE_H_
