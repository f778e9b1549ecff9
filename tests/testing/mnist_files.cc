#include "tests/testing/mnist_files.h"

#include <gtest/gtest.h>

#include <fstream>

namespace ringside {
namespace {

constexpr int kSide = 28;

void WriteSplit(const std::string& folder, const std::string& prefix, int count) {
  std::string images = IdxHeader(0x803, {static_cast<unsigned>(count), kSide, kSide});
  std::string labels = IdxHeader(0x801, {static_cast<unsigned>(count)});
  for (int i = 0; i < count; ++i) {
    const int label = i % 10;
    std::string image(kSide * kSide, '\0');
    for (int row = 2 * label + 3; row < 2 * label + 6; ++row) {
      for (int column = 4 + i % 7; column < 20; ++column) image[row * kSide + column] = '\xe0';
    }
    images += image;
    labels += static_cast<char>(label);
  }
  WriteFile(folder + "/" + prefix + "-images-idx3-ubyte", images);
  WriteFile(folder + "/" + prefix + "-labels-idx1-ubyte", labels);
}

}  // namespace

std::string IdxHeader(unsigned magic, const std::initializer_list<unsigned>& dimensions) {
  std::string header;
  const auto append = [&header](unsigned value) {
    for (int shift = 24; shift >= 0; shift -= 8) header += static_cast<char>(value >> shift);
  };
  append(magic);
  for (unsigned dimension : dimensions) append(dimension);
  return header;
}

void WriteFile(const std::string& path, const std::string& contents) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << contents;
  file.close();
  ASSERT_TRUE(file.good()) << path;
}

void WriteMnistFiles(const std::string& folder, int train, int test) {
  WriteSplit(folder, "train", train);
  WriteSplit(folder, "t10k", test);
}

}  // namespace ringside
