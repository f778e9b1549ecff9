#include "allreduce/payload_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

namespace ringside {
namespace {

// `lengths` cut the payload into pieces, which start `shift` bytes after an aligned address.
FramePayload Cut(const std::vector<float>& values, const std::vector<size_t>& lengths,
                 size_t shift) {
  auto memory = std::make_shared<std::vector<std::vector<float>>>();
  std::vector<FramePayload::Piece> pieces;
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  for (const size_t length : lengths) {
    memory->emplace_back(length / sizeof(float) + 3);
    auto* place = reinterpret_cast<uint8_t*>(memory->back().data()) + shift;
    std::memcpy(place, bytes, length);
    bytes += length;
    pieces.emplace_back(place, length);
  }
  return FramePayload(std::move(pieces), std::move(memory));
}

std::vector<float> Iota(size_t length) {
  std::vector<float> values(length);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

std::vector<float> ReadByPieces(PayloadReader* reader) {
  std::vector<float> all;
  while (reader->remaining_bytes() > 0) {
    const absl::Span<const uint8_t> piece = reader->Next();
    EXPECT_FALSE(piece.empty());
    EXPECT_EQ(piece.size() % sizeof(float), 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece.data()) % alignof(float), 0u);
    const size_t old = all.size();
    all.resize(old + piece.size() / sizeof(float));
    std::memcpy(all.data() + old, piece.data(), piece.size());
  }
  EXPECT_TRUE(reader->Next().empty());
  return all;
}

TEST(PayloadReaderTest, PutsSplitElementsTogether) {
  const std::vector<float> values = Iota(10000);
  for (const size_t shift : {0, 1, 2, 3}) {
    for (const std::vector<size_t>& lengths :
         std::vector<std::vector<size_t>>{{40000},
                                          {1, 1, 1, 1, 39996},
                                          {3, 4, 20001, 0, 19992},
                                          {39999, 1},
                                          {0, 20000, 0, 20000, 0}}) {
      PayloadReader reader;
      reader.Start(Cut(values, lengths, shift), sizeof(float));
      EXPECT_EQ(ReadByPieces(&reader), values);
    }
  }
}

TEST(PayloadReaderTest, LendsAlignedPiecesWhereTheyAre) {
  const std::vector<float> values = Iota(8);
  const FramePayload::Piece piece(reinterpret_cast<const uint8_t*>(values.data()), 32);
  PayloadReader reader;
  reader.Start(FramePayload({piece}, nullptr), sizeof(float));
  EXPECT_EQ(reader.Next(), piece);
}

TEST(PayloadReaderTest, CopiesWhatIsAskedFor) {
  const std::vector<float> values = Iota(100);
  PayloadReader reader;
  reader.Start(Cut(values, {7, 100, 293}, 1), sizeof(float));
  std::vector<float> copy(60);
  reader.CopyTo({reinterpret_cast<uint8_t*>(copy.data()), 240});
  EXPECT_EQ(copy, std::vector<float>(values.begin(), values.begin() + 60));
  EXPECT_EQ(ReadByPieces(&reader), std::vector<float>(values.begin() + 60, values.end()));
}

TEST(PayloadReaderTest, HalfWordsNeedTheAlignmentOfHalfWordsOnly) {
  const std::vector<float> values = Iota(2);
  const FramePayload::Piece piece(reinterpret_cast<const uint8_t*>(values.data()) + 2, 6);
  PayloadReader reader;
  reader.Start(FramePayload({piece}, nullptr), 2);
  EXPECT_EQ(reader.Next(), piece);
}

}  // namespace
}  // namespace ringside
