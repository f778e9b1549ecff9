// Writes real PNG and JPEG files, by the libraries that read them.
#ifndef RINGSIDE_TESTS_WORKER_DATA_IMAGE_FILES_H_
#define RINGSIDE_TESTS_WORKER_DATA_IMAGE_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace ringside {

// `channels`: 1 (grey), 3 (RGB) or 4 (RGB and opacity), 8 bits each.
void WritePng(const std::string& path, int rows, int columns, int channels,
              const std::vector<uint8_t>& bytes);
// With a palette of 256 colours, or of `colours`, whose indices take fewer bits.
void WritePalettePng(const std::string& path, int rows, int columns,
                     const std::vector<uint8_t>& indices, int colours = 256);
// `channels`: 1 (grey), 3 (RGB) or 4 (CMYK).
void WriteJpeg(const std::string& path, int rows, int columns, int channels,
               const std::vector<uint8_t>& bytes);

// rows x columns of one colour.
std::vector<uint8_t> OneColour(int rows, int columns, const std::vector<uint8_t>& colour);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_WORKER_DATA_IMAGE_FILES_H_
