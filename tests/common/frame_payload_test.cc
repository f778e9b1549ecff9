#include "common/frame_payload.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "common/payload_fold.h"

namespace ringside {
namespace {

std::vector<float> Numbers(int count) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i) values[i] = 0.5f * static_cast<float>(i) - 3;
  return values;
}

// The bytes of `values` in pieces of `piece_bytes`, each in memory of its own that begins at an odd
// address.
FramePayload Cut(const std::vector<float>& values, size_t piece_bytes) {
  auto memory = std::make_shared<std::vector<std::vector<uint8_t>>>();
  std::vector<FramePayload::Piece> pieces;
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  const size_t size = values.size() * sizeof(float);
  for (size_t at = 0; at < size; at += piece_bytes) {
    const size_t length = std::min(piece_bytes, size - at);
    memory->emplace_back(length + 1);
    std::memcpy(memory->back().data() + 1, bytes + at, length);
  }
  for (const std::vector<uint8_t>& piece : *memory)
    pieces.emplace_back(piece.data() + 1, piece.size() - 1);
  return FramePayload(std::move(pieces), std::move(memory));
}

// sum[i] = sum[i] + payload[i]
void Add(const FramePayload& payload, std::vector<float>* sum) {
  const std::vector<float> before = *sum;
  const FramePayload own({{reinterpret_cast<const uint8_t*>(before.data()), before.size() * 4}},
                         nullptr);
  ForkJoin one_thread(1);
  FoldPayloads({&own, &payload}, &one_thread, absl::MakeSpan(*sum));
}

TEST(FramePayloadTest, PiecesMaySplitFloatsAnywhere) {
  const std::vector<float> values = Numbers(2500);
  for (size_t piece_bytes : {1, 2, 3, 4, 5, 7, 64, 4097, 9999, 10000}) {
    const FramePayload payload = Cut(values, piece_bytes);
    ASSERT_EQ(payload.bytes(), 10000);
    std::vector<float> copy(values.size(), -1);
    payload.CopyTo(absl::MakeSpan(copy));
    EXPECT_EQ(copy, values) << piece_bytes;
    Add(payload, &copy);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(copy[i], values[i] + values[i]) << piece_bytes << " at " << i;
    }
  }
}

TEST(FramePayloadTest, EmptyPiecesAndNoPiecesAreAllowed) {
  const FramePayload none;
  EXPECT_EQ(none.bytes(), 0);
  none.CopyTo({});
  std::vector<float> nothing;
  Add(none, &nothing);
  EXPECT_TRUE(nothing.empty());
  const std::vector<float> values = {1, 2};
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  const FramePayload payload({{}, {bytes, 3}, {}, {bytes + 3, 5}, {}}, nullptr);
  std::vector<float> sum = {10, 20};
  Add(payload, &sum);
  EXPECT_EQ(sum, (std::vector<float>{11, 22}));
}

TEST(FramePayloadTest, KeepsItsMemoryUntilItIsDestroyedAndNoLonger) {
  auto memory = std::make_shared<std::vector<uint8_t>>(8);
  const std::weak_ptr<std::vector<uint8_t>> watch = memory;
  FramePayload payload({{memory->data(), memory->size()}}, memory);
  memory.reset();
  FramePayload moved = std::move(payload);
  EXPECT_FALSE(watch.expired());
  moved = FramePayload();
  EXPECT_TRUE(watch.expired());
}

TEST(FramePayloadTest, OnePieceOfFloatsIsReadWhereItLies) {
  const std::vector<float> values = Numbers(100);
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  const FramePayload payload({{bytes, 400}}, nullptr);
  EXPECT_EQ(payload.AsFloats().data(), values.data());
  EXPECT_EQ(payload.AsFloats().size(), 100u);
  for (const int64_t whole : {0, 100, 1 << 28}) {
    std::vector<float> copy(values.size(), -1);
    payload.CopyTo(absl::MakeSpan(copy), whole);
    EXPECT_EQ(copy, values);
    Add(payload, &copy);
    for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(copy[i], values[i] + values[i]);
  }
  EXPECT_TRUE(FramePayload({{bytes, 200}, {bytes + 200, 200}}, nullptr).AsFloats().empty());
  EXPECT_TRUE(FramePayload({{bytes + 1, 4}}, nullptr).AsFloats().empty());
  EXPECT_TRUE(FramePayload({{bytes, 3}}, nullptr).AsFloats().empty());
  EXPECT_TRUE(FramePayload().AsFloats().empty());
}

}  // namespace
}  // namespace ringside
