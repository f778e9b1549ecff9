#include "worker/data/image_codec.h"

#include <jerror.h>
#include <jpeglib.h>
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

constexpr absl::string_view kPngSignature("\x89PNG\r\n\x1a\n", 8);
constexpr absl::string_view kJpegSignature("\xff\xd8\xff", 3);
// What a header claims must not bring the machine down.
constexpr int64_t kMostPixels = int64_t{1} << 26;

absl::Status Damaged(const std::string& name, absl::string_view format, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": damaged or unfit ", format, " file: ", problem));
}

absl::Status CheckSize(const std::string& name, int64_t rows, int64_t columns) {
  if (rows > 0 && columns > 0 && rows <= kMostPixels / columns) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, ": an image of ", rows, "x", columns,
                                                 " pixels; must have at least 1 and ", "at most ",
                                                 kMostPixels));
}

absl::StatusOr<ByteImage> DecodePng(const std::string& name, absl::string_view bytes) {
  struct Free {
    void operator()(png_image* image) const { png_image_free(image); }
  };
  png_image header = {};
  header.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, Free> freed(&header);
  if (png_image_begin_read_from_memory(&header, bytes.data(), bytes.size()) == 0) {
    return Damaged(name, "PNG", header.message);
  }
  const absl::Status size = CheckSize(name, header.height, header.width);
  if (!size.ok()) return size;
  header.format = PNG_FORMAT_RGB;
  ByteImage image;
  image.rows = header.height;
  image.columns = header.width;
  image.channels = 3;
  image.bytes.resize(PNG_IMAGE_SIZE(header));
  const png_color black = {0, 0, 0};
  if (png_image_finish_read(&header, &black, image.bytes.data(), 0, nullptr) == 0) {
    return Damaged(name, "PNG", header.message);
  }
  return image;
}

// --- Indices: libpng's simplified interface would rearrange a palette, so this is the other one,
// which reports errors by longjmp. No function that longjmp leaves or enters has an object with a
// destructor.

struct PngReader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  const char* next = nullptr;
  size_t left = 0;
  char problem[200] = {};

  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
};

void OnPngError(png_structp png, png_const_charp message) {
  auto* reader = static_cast<PngReader*>(png_get_error_ptr(png));
  std::snprintf(reader->problem, sizeof(reader->problem), "%s", message);
  png_longjmp(png, 1);
}

void OnPngWarning(png_structp, png_const_charp) {}

void ReadPngBytes(png_structp png, png_bytep target, size_t length) {
  auto* reader = static_cast<PngReader*>(png_get_io_ptr(png));
  if (length > reader->left) png_error(png, "ends too early");
  std::memcpy(target, reader->next, length);
  reader->next += length;
  reader->left -= length;
}

// False: `problem` tells why.
bool ReadPngHeader(PngReader* reader) {
  if (setjmp(png_jmpbuf(reader->png)) != 0) return false;
  png_read_info(reader->png, reader->info);
  const int colours = png_get_color_type(reader->png, reader->info);
  const bool is_palette = colours == PNG_COLOR_TYPE_PALETTE;
  const bool is_grey =
      colours == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(reader->png, reader->info) == 8;
  if (!is_palette && !is_grey) {
    png_error(reader->png, "has neither a palette nor 8 bits of grey");
  }
  png_set_packing(reader->png);  // a byte for each pixel, however few bits it has
  png_set_interlace_handling(reader->png);
  png_read_update_info(reader->png, reader->info);
  return true;
}

bool ReadPngRows(PngReader* reader, png_bytep* rows) {
  if (setjmp(png_jmpbuf(reader->png)) != 0) return false;
  png_read_image(reader->png, rows);
  png_read_end(reader->png, nullptr);
  return true;
}

// --- JPEG, whose library reports errors the same way.

struct JpegReader {
  jpeg_decompress_struct decoder = {};
  jpeg_error_mgr errors = {};
  std::jmp_buf on_error = {};
  char problem[JMSG_LENGTH_MAX] = {};

  ~JpegReader() { jpeg_destroy_decompress(&decoder); }
};

void OnJpegError(j_common_ptr decoder) {
  auto* reader = static_cast<JpegReader*>(decoder->client_data);
  decoder->err->format_message(decoder, reader->problem);
  std::longjmp(reader->on_error, 1);
}

// A warning is a damage that libjpeg would fill with grey. Bytes that nobody needs are none.
void OnJpegMessage(j_common_ptr decoder, int level) {
  if (level < 0 && decoder->err->msg_code != JWRN_EXTRANEOUS_DATA) OnJpegError(decoder);
}

bool ReadJpegHeader(JpegReader* reader, absl::string_view bytes) {
  if (setjmp(reader->on_error) != 0) return false;
  jpeg_create_decompress(&reader->decoder);
  reader->decoder.client_data = reader;
  jpeg_mem_src(&reader->decoder, reinterpret_cast<const unsigned char*>(bytes.data()),
               bytes.size());
  jpeg_read_header(&reader->decoder, TRUE);
  reader->decoder.out_color_space = JCS_RGB;
  reader->decoder.dct_method = JDCT_ISLOW;  // the same bits with and without vector instructions
  jpeg_calc_output_dimensions(&reader->decoder);
  return true;
}

bool ReadJpegRows(JpegReader* reader, uint8_t* pixels) {
  if (setjmp(reader->on_error) != 0) return false;
  jpeg_start_decompress(&reader->decoder);
  while (reader->decoder.output_scanline < reader->decoder.output_height) {
    JSAMPROW row =
        pixels + size_t{reader->decoder.output_scanline} * reader->decoder.output_width * 3;
    jpeg_read_scanlines(&reader->decoder, &row, 1);
  }
  jpeg_finish_decompress(&reader->decoder);
  return true;
}

absl::StatusOr<ByteImage> DecodeJpeg(const std::string& name, absl::string_view bytes) {
  JpegReader reader;
  reader.decoder.err = jpeg_std_error(&reader.errors);
  reader.errors.error_exit = OnJpegError;
  reader.errors.emit_message = OnJpegMessage;
  reader.decoder.client_data = &reader;
  if (!ReadJpegHeader(&reader, bytes)) return Damaged(name, "JPEG", reader.problem);
  ByteImage image;
  image.rows = reader.decoder.output_height;
  image.columns = reader.decoder.output_width;
  image.channels = 3;
  const absl::Status size = CheckSize(name, image.rows, image.columns);
  if (!size.ok()) return size;
  image.bytes.resize(image.rows * image.columns * image.channels);
  if (!ReadJpegRows(&reader, image.bytes.data())) return Damaged(name, "JPEG", reader.problem);
  return image;
}

}  // namespace

absl::StatusOr<ByteImage> DecodeImage(const std::string& name, absl::string_view bytes) {
  if (absl::StartsWith(bytes, kPngSignature)) return DecodePng(name, bytes);
  if (absl::StartsWith(bytes, kJpegSignature)) return DecodeJpeg(name, bytes);
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": begins neither as a PNG nor as a JPEG file"));
}

absl::StatusOr<ByteImage> DecodeIndices(const std::string& name, absl::string_view bytes) {
  if (!absl::StartsWith(bytes, kPngSignature)) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": does not begin as a PNG file"));
  }
  PngReader reader;
  reader.next = bytes.data();
  reader.left = bytes.size();
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, OnPngError, OnPngWarning);
  if (reader.png != nullptr) reader.info = png_create_info_struct(reader.png);
  if (reader.info == nullptr) return absl::ResourceExhaustedError(name + ": no memory for libpng");
  png_set_read_fn(reader.png, &reader, ReadPngBytes);
  if (!ReadPngHeader(&reader)) return Damaged(name, "PNG", reader.problem);
  ByteImage image;
  image.rows = png_get_image_height(reader.png, reader.info);
  image.columns = png_get_image_width(reader.png, reader.info);
  image.channels = 1;
  const absl::Status size = CheckSize(name, image.rows, image.columns);
  if (!size.ok()) return size;
  image.bytes.resize(image.rows * image.columns);
  std::vector<png_bytep> rows(image.rows);
  for (int64_t row = 0; row < image.rows; ++row) rows[row] = &image.bytes[row * image.columns];
  if (!ReadPngRows(&reader, rows.data())) return Damaged(name, "PNG", reader.problem);
  return image;
}

}  // namespace ringside
