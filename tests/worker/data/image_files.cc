#include "tests/worker/data/image_files.h"

#include <gtest/gtest.h>
#include <jpeglib.h>
#include <png.h>

#include <cstdio>

namespace ringside {

void WritePng(const std::string& path, int rows, int columns, int channels,
              const std::vector<uint8_t>& bytes) {
  ASSERT_EQ(bytes.size(), static_cast<size_t>(rows) * columns * channels);
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.height = rows;
  image.width = columns;
  image.format = channels == 1 ? PNG_FORMAT_GRAY : channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
  ASSERT_NE(png_image_write_to_file(&image, path.c_str(), 0, bytes.data(), 0, nullptr), 0)
      << image.message;
}

void WritePalettePng(const std::string& path, int rows, int columns,
                     const std::vector<uint8_t>& indices, int colours) {
  ASSERT_EQ(indices.size(), static_cast<size_t>(rows) * columns);
  std::vector<uint8_t> palette;
  for (int i = 0; i < colours; ++i) {
    palette.push_back(static_cast<uint8_t>(i));
    palette.push_back(static_cast<uint8_t>(255 - i));
    palette.push_back(static_cast<uint8_t>(7 * i));
  }
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.height = rows;
  image.width = columns;
  image.format = PNG_FORMAT_RGB_COLORMAP;
  image.colormap_entries = colours;
  ASSERT_NE(png_image_write_to_file(&image, path.c_str(), 0, indices.data(), 0, palette.data()), 0)
      << image.message;
}

void WriteJpeg(const std::string& path, int rows, int columns, int channels,
               const std::vector<uint8_t>& bytes) {
  ASSERT_EQ(bytes.size(), static_cast<size_t>(rows) * columns * channels);
  jpeg_compress_struct encoder = {};
  jpeg_error_mgr errors = {};
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr) << path;
  jpeg_stdio_dest(&encoder, file);
  encoder.image_height = rows;
  encoder.image_width = columns;
  encoder.input_components = channels;
  encoder.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, 100, TRUE);
  jpeg_start_compress(&encoder, TRUE);
  std::vector<uint8_t> copy = bytes;
  for (int row = 0; row < rows; ++row) {
    JSAMPROW line = copy.data() + static_cast<size_t>(row) * columns * channels;
    jpeg_write_scanlines(&encoder, &line, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  std::fclose(file);
}

std::vector<uint8_t> OneColour(int rows, int columns, const std::vector<uint8_t>& colour) {
  std::vector<uint8_t> bytes;
  for (int i = 0; i < rows * columns; ++i) bytes.insert(bytes.end(), colour.begin(), colour.end());
  return bytes;
}

}  // namespace ringside
