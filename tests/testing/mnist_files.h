// Writes small data sets in MNIST's format and under its file names, for tests that start real
// workers.
#ifndef RINGSIDE_TESTS_TESTING_MNIST_FILES_H_
#define RINGSIDE_TESTS_TESTING_MNIST_FILES_H_

#include <string>

namespace ringside {

// Fills `folder` (which exists) with `train` and `test` images of 28 x 28 pixels, uncompressed.
// Labels go round 0 to 9, and each image has a bright bar whose place depends on its label, so that
// a model can learn it. The test fails when a file cannot be written.
void WriteMnistFiles(const std::string& folder, int train, int test);

// An IDX header: big-endian magic and dimensions.
std::string IdxHeader(unsigned magic, const std::initializer_list<unsigned>& dimensions);
void WriteFile(const std::string& path, const std::string& contents);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_TESTING_MNIST_FILES_H_
