#include "common/payload_fold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "common/reduction.h"
#include "tests/testing/random_gradients.h"

namespace ringside {
namespace {

// The bytes of `values` cut at `cuts` (ascending, in bytes), each piece in memory of its own that
// begins at `shift` bytes from an aligned address.
FramePayload Cut(const std::vector<float>& values, const std::vector<size_t>& cuts, size_t shift) {
  auto memory = std::make_shared<std::vector<std::vector<uint8_t>>>();
  const size_t size = values.size() * sizeof(float);
  size_t begin = 0;
  const auto add = [&](size_t end) {
    memory->emplace_back(shift + end - begin);
    if (end > begin) {
      std::memcpy(memory->back().data() + shift,
                  reinterpret_cast<const uint8_t*>(values.data()) + begin, end - begin);
    }
    begin = end;
  };
  for (size_t cut : cuts) add(cut);
  add(size);
  std::vector<FramePayload::Piece> pieces;
  for (const std::vector<uint8_t>& piece : *memory)
    pieces.emplace_back(piece.data() + shift, piece.size() - shift);
  return FramePayload(std::move(pieces), std::move(memory));
}

std::vector<std::vector<float>> Terms(size_t count, int64_t elements) {
  std::vector<std::vector<float>> terms;
  for (size_t i = 0; i < count; ++i)
    terms.push_back(RandomGradients(elements, static_cast<int>(i), 3));
  return terms;
}

std::vector<float> Folded(const std::vector<FramePayload>& payloads, size_t elements) {
  std::vector<const FramePayload*> pointers;
  for (const FramePayload& payload : payloads) pointers.push_back(&payload);
  std::vector<float> out(elements, -1);
  ForkJoin one(1);
  FoldPayloads(pointers, &one, absl::MakeSpan(out));
  return out;
}

std::vector<float> Expected(const std::vector<std::vector<float>>& terms) {
  std::vector<const float*> pointers;
  for (const std::vector<float>& term : terms) pointers.push_back(term.data());
  std::vector<float> out(terms[0].size());
  Fold(pointers, absl::MakeSpan(out));
  return out;
}

// As they may come off the wire: in pieces that end anywhere and lie at any alignment.
std::vector<FramePayload> CutAtRandom(const std::vector<std::vector<float>>& terms,
                                      std::mt19937* random) {
  std::vector<FramePayload> payloads;
  for (const std::vector<float>& term : terms) {
    std::vector<size_t> cuts((*random)() % 12);
    for (size_t& cut : cuts) cut = (*random)() % (term.size() * sizeof(float) + 1);
    std::sort(cuts.begin(), cuts.end());
    payloads.push_back(Cut(term, cuts, (*random)() % 4));
  }
  return payloads;
}

TEST(PayloadFoldTest, APieceMayEndAtEveryByte) {
  constexpr int64_t kElements = 37;
  for (size_t count = 1; count <= 10; ++count) {
    const auto terms = Terms(count, kElements);
    const std::vector<float> expected = Expected(terms);
    for (size_t cut = 0; cut <= kElements * sizeof(float); ++cut) {
      std::vector<FramePayload> payloads;
      for (size_t i = 0; i < count; ++i) {  // each at another place, the first at `cut`
        payloads.push_back(Cut(terms[i], {(cut + 5 * i) % (kElements * sizeof(float) + 1)}, i % 4));
      }
      ASSERT_TRUE(SameBits(Folded(payloads, kElements), expected)) << count << " cut at " << cut;
    }
  }
}

TEST(PayloadFoldTest, AnyNumberOfPiecesEmptyOnesToo) {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    const int64_t elements = 1 + random() % 200;
    const auto terms = Terms(1 + random() % 10, elements);
    const std::vector<FramePayload> payloads = CutAtRandom(terms, &random);
    ASSERT_TRUE(SameBits(Folded(payloads, elements), Expected(terms))) << "round " << round;
  }
}

TEST(PayloadFoldTest, EveryByteAPieceOfItsOwn) {
  const auto terms = Terms(3, 9);
  std::vector<size_t> cuts;
  for (size_t cut = 1; cut < 36; ++cut) cuts.push_back(cut);
  std::vector<FramePayload> payloads;
  payloads.push_back(Cut(terms[0], {}, 1));
  payloads.push_back(Cut(terms[1], cuts, 1));
  payloads.push_back(Cut(terms[2], {17, 18}, 0));
  EXPECT_TRUE(SameBits(Folded(payloads, 9), Expected(terms)));
}

TEST(PayloadFoldTest, LongPayloadsAndSpecialValues) {
  constexpr int64_t kElements = 100003;
  auto terms = Terms(9, kElements);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  terms[0][1] = -0.0f, terms[1][1] = -0.0f;
  terms[2][50000] = nan, terms[3][50000] = infinity;
  terms[4][99999] = infinity, terms[5][99999] = -infinity;
  std::vector<FramePayload> payloads;
  for (size_t i = 0; i < terms.size(); ++i)
    payloads.push_back(Cut(terms[i], {16384 * i + i, 200000 + 3 * i}, i % 4));
  EXPECT_TRUE(SameBits(Folded(payloads, kElements), Expected(terms)));
}

TEST(PayloadFoldTest, SeveralThreadsGiveTheSameBits) {
  ForkJoin one(1), two(2), three(3);
  std::mt19937 random(9);
  for (int round = 0; round < 20; ++round) {
    const int64_t elements = ForkJoin::kMinElements / 2 + random() % (2 * ForkJoin::kMinElements);
    const auto terms = Terms(1 + random() % 4, elements);
    const std::vector<FramePayload> payloads = CutAtRandom(terms, &random);
    std::vector<const FramePayload*> pointers;
    for (const FramePayload& payload : payloads) pointers.push_back(&payload);
    const std::vector<float> expected = Expected(terms);
    for (ForkJoin* fork_join : {&one, &two, &three}) {
      std::vector<float> out(elements, -1);
      FoldPayloads(pointers, fork_join, absl::MakeSpan(out));
      ASSERT_TRUE(SameBits(out, expected)) << fork_join->threads() << " round " << round;
      std::vector<float> copy(elements, -1);
      CopyWith(fork_join, out, absl::MakeSpan(copy));
      ASSERT_TRUE(SameBits(copy, expected)) << fork_join->threads() << " round " << round;
    }
  }
}

TEST(PayloadFoldTest, NothingIsFoldedToNothing) {
  std::vector<FramePayload> payloads(2);
  EXPECT_TRUE(Folded(payloads, 0).empty());
}

}  // namespace
}  // namespace ringside
