#include "worker/data/image_codec.h"

#include <cmath>
#include <cstdlib>

#include "tests/worker/data/data_folder.h"
#include "tests/worker/data/image_files.h"
#include "worker/data/image_resize.h"

namespace ringside {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes Ramp(int count) {
  Bytes bytes(count);
  for (int i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(37 * i + i * i);
  return bytes;
}

class ImageCodecTest : public DataFolderTest {
 protected:
  absl::StatusOr<ByteImage> Image(const std::string& name) const {
    return DecodeImage(name, Read(name));
  }
  absl::StatusOr<ByteImage> Indices(const std::string& name) const {
    return DecodeIndices(name, Read(name));
  }
};

TEST_F(ImageCodecTest, PngHasItsBytes) {
  const Bytes pixels = Ramp(3 * 5 * 3);
  WritePng(Path("rgb.png"), 3, 5, 3, pixels);
  const auto image = Image("rgb.png");
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->rows, 3);
  EXPECT_EQ(image->columns, 5);
  EXPECT_EQ(image->channels, 3);
  EXPECT_EQ(image->bytes, pixels);
}

TEST_F(ImageCodecTest, EveryPngBecomesRgb) {
  WritePng(Path("grey.png"), 1, 2, 1, {9, 200});
  EXPECT_EQ(Image("grey.png")->bytes, (Bytes{9, 9, 9, 200, 200, 200}));
  WritePng(Path("opacity.png"), 1, 2, 4, {10, 20, 30, 255, 10, 20, 30, 0});
  EXPECT_EQ(Image("opacity.png")->bytes, (Bytes{10, 20, 30, 0, 0, 0}));
  WritePalettePng(Path("palette.png"), 1, 2, {0, 3});
  EXPECT_EQ(Image("palette.png")->bytes, (Bytes{0, 255, 0, 3, 252, 21}));
}

TEST_F(ImageCodecTest, JpegIsCloseToWhatWasWritten) {
  WriteJpeg(Path("one.jpg"), 16, 24, 3, OneColour(16, 24, {200, 40, 90}));
  const auto image = Image("one.jpg");
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->rows, 16);
  EXPECT_EQ(image->columns, 24);
  ASSERT_EQ(image->bytes.size(), 16u * 24 * 3);
  for (size_t i = 0; i < image->bytes.size(); i += 3) {
    EXPECT_NEAR(image->bytes[i], 200, 3);
    EXPECT_NEAR(image->bytes[i + 1], 40, 3);
    EXPECT_NEAR(image->bytes[i + 2], 90, 3);
  }
  WriteJpeg(Path("grey.jpg"), 8, 8, 1, OneColour(8, 8, {77}));
  const auto grey = Image("grey.jpg");
  ASSERT_TRUE(grey.ok()) << grey.status();
  EXPECT_EQ(grey->channels, 3);
  EXPECT_NEAR(grey->bytes[191], 77, 2);
}

TEST_F(ImageCodecTest, PaletteIndicesStayAsTheyAre) {
  Bytes indices(2 * 9);
  for (int i = 0; i < 18; ++i) indices[i] = static_cast<uint8_t>(i == 5 ? 255 : i);
  WritePalettePng(Path("full.png"), 2, 9, indices);
  const auto full = Indices("full.png");
  ASSERT_TRUE(full.ok()) << full.status();
  EXPECT_EQ(full->channels, 1);
  EXPECT_EQ(full->rows, 2);
  EXPECT_EQ(full->bytes, indices);
  // Two bits a pixel in the file.
  const Bytes few = {0, 1, 2, 3, 2, 1, 0, 3, 3, 0, 1, 2};
  WritePalettePng(Path("few.png"), 4, 3, few, 4);
  EXPECT_EQ(Indices("few.png")->bytes, few);
  WritePng(Path("grey.png"), 1, 2, 1, {9, 200});
  EXPECT_EQ(Indices("grey.png")->bytes, (Bytes{9, 200}));
}

TEST_F(ImageCodecTest, WhatIsNoImageIsRefused) {
  Write("text.png", "hello");
  Write("empty.jpg", "");
  for (const char* name : {"text.png", "empty.jpg"}) {
    ExpectRefused(Image(name).status(), absl::StatusCode::kInvalidArgument,
                  {name, "begins neither as a PNG nor as a JPEG"});
  }
  WriteJpeg(Path("some.jpg"), 8, 8, 1, OneColour(8, 8, {77}));
  ExpectRefused(Indices("some.jpg").status(), absl::StatusCode::kInvalidArgument,
                {"some.jpg", "does not begin as a PNG"});
  WritePng(Path("rgb.png"), 1, 1, 3, {1, 2, 3});
  ExpectRefused(Indices("rgb.png").status(), absl::StatusCode::kInvalidArgument,
                {"rgb.png", "neither a palette nor 8 bits of grey"});
  WriteJpeg(Path("cmyk.jpg"), 8, 8, 4, OneColour(8, 8, {1, 2, 3, 4}));
  ExpectRefused(Image("cmyk.jpg").status(), absl::StatusCode::kInvalidArgument, {"cmyk.jpg"});
}

TEST_F(ImageCodecTest, EveryTruncationIsFound) {
  WritePng(Path("whole.png"), 9, 7, 3, Ramp(189));
  WritePalettePng(Path("indices.png"), 9, 7, Ramp(63));
  WriteJpeg(Path("whole.jpg"), 9, 7, 3, Ramp(189));
  const std::string png = Read("whole.png");
  // The last chunk of a PNG, 12 bytes without content, may be missed.
  for (size_t length = 0; length + 12 < png.size(); ++length) {
    EXPECT_FALSE(DecodeImage("cut", png.substr(0, length)).ok()) << length;
  }
  const std::string indices = Read("indices.png");
  for (size_t length = 0; length < indices.size(); ++length) {
    EXPECT_FALSE(DecodeIndices("cut", indices.substr(0, length)).ok()) << length;
  }
  const std::string jpeg = Read("whole.jpg");
  for (size_t length = 0; length + 2 < jpeg.size(); ++length) {
    const auto image = DecodeImage("cut.jpg", jpeg.substr(0, length));
    EXPECT_EQ(image.status().code(), absl::StatusCode::kInvalidArgument) << length;
    EXPECT_THAT(std::string(image.status().message()), testing::HasSubstr("cut.jpg"));
  }
}

TEST_F(ImageCodecTest, FlippedBytesNeverCrash) {
  WritePng(Path("whole.png"), 5, 7, 3, Ramp(105));
  WritePalettePng(Path("indices.png"), 5, 7, Ramp(35));
  WriteJpeg(Path("whole.jpg"), 5, 7, 3, Ramp(105));
  for (const char* name : {"whole.png", "indices.png", "whole.jpg"}) {
    const std::string whole = Read(name);
    for (size_t place = 0; place < whole.size(); ++place) {
      std::string flipped = whole;
      flipped[place] = static_cast<char>(flipped[place] ^ 0x55);
      for (const auto& image : {DecodeImage(name, flipped), DecodeIndices(name, flipped)}) {
        if (image.ok()) {
          EXPECT_EQ(static_cast<int64_t>(image->bytes.size()),
                    image->rows * image->columns * image->channels);
        } else {
          EXPECT_THAT(std::string(image.status().message()), testing::HasSubstr(name));
        }
      }
    }
  }
}

TEST_F(ImageCodecTest, AHugeHeaderCostsNoMemory) {
  WritePng(Path("small.png"), 1, 1, 1, {1});
  std::string huge = Read("small.png");
  huge.replace(16, 8, std::string("\0\x0f\0\0\0\x0f\0\0", 8));
  // With its check sum, so that the header is believed.
  uint32_t sum = 0xffffffffu;
  for (size_t i = 12; i < 29; ++i) {
    sum ^= static_cast<uint8_t>(huge[i]);
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ (sum % 2 == 1 ? 0xedb88320u : 0);
  }
  sum = ~sum;
  for (int i = 0; i < 4; ++i) huge[29 + i] = static_cast<char>(sum >> (24 - 8 * i));
  ExpectRefused(DecodeImage("huge", huge).status(), absl::StatusCode::kInvalidArgument, {"huge"});
  ExpectRefused(DecodeIndices("huge", huge).status(), absl::StatusCode::kInvalidArgument, {"huge"});
}

TEST(ImageResizeTest, TheSameSizeOnlyNormalises) {
  const ByteImage image = {2, 2, 1, {0, 51, 102, 255}};
  std::vector<float> out(4);
  ResizeBilinear(image, 2, 2, {{0.5f}, {0.25f}}, absl::MakeSpan(out));
  EXPECT_FLOAT_EQ(out[0], -2.0f);
  EXPECT_FLOAT_EQ(out[1], (0.2f - 0.5f) / 0.25f);
  EXPECT_FLOAT_EQ(out[2], (0.4f - 0.5f) / 0.25f);
  EXPECT_FLOAT_EQ(out[3], 2.0f);
}

// As torch.nn.functional.interpolate(mode="bilinear", align_corners=False) has it.
TEST(ImageResizeTest, InterpolatesBetweenNeighboursOfEachChannel) {
  const ByteImage image = {1, 2, 2, {0, 100, 80, 20}};
  std::vector<float> out(8);
  ResizeBilinear(image, 1, 4, {{0, 0}, {1 / 255.0f, 1 / 255.0f}}, absl::MakeSpan(out));
  const std::vector<float> expected = {0, 20, 60, 80, 100, 80, 40, 20};
  for (int i = 0; i < 8; ++i) EXPECT_NEAR(out[i], expected[i], 1e-4) << i;
  const ByteImage column = {4, 1, 1, {10, 20, 30, 40}};
  std::vector<float> half(2);
  ResizeBilinear(column, 2, 1, {{0}, {1 / 255.0f}}, absl::MakeSpan(half));
  EXPECT_NEAR(half[0], 15, 1e-4);
  EXPECT_NEAR(half[1], 35, 1e-4);
}

TEST(ImageResizeTest, LabelsAreNeverMixed) {
  const ByteImage labels = {2, 2, 1, {1, 20, 255, 0}};
  std::vector<int64_t> larger(16);
  ResizeNearest(labels, 4, 4, absl::MakeSpan(larger));
  EXPECT_EQ(larger, (std::vector<int64_t>{1, 1, 20, 20, 1, 1, 20, 20,  //
                                          255, 255, 0, 0, 255, 255, 0, 0}));
  std::vector<int64_t> one(1);
  ResizeNearest(labels, 1, 1, absl::MakeSpan(one));
  EXPECT_EQ(one[0], 0);
}

}  // namespace
}  // namespace ringside
