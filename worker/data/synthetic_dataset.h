// Made-up samples of each kind that a model can be trained on, for speed measurements and for
// machines without data. Every sample is a function of (seed, split, index), made when it is
// fetched, and its labels can be learned:
//
//   images        texture of the label's class (an 8x8 pattern a channel, repeated) plus noise
//   segmentation  a rectangle of some class's texture on a background of class 0, plus noise; the
//                 rectangle's edge is kIgnoredPixel
//   text          each class prefers some tokens; sequences of half to the full length
//   language      three tokens of four follow from the one before, the others are drawn
#ifndef RINGSIDE_WORKER_DATA_SYNTHETIC_DATASET_H_
#define RINGSIDE_WORKER_DATA_SYNTHETIC_DATASET_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "worker/data/dataset.h"

namespace ringside {

// The kind follows from the shape. Training and test samples of one seed have the same textures and
// preferences. INVALID_ARGUMENT: fewer than one sample; a text's vocabulary without a token for
// each class beside padding; a label a pixel with as many classes as kIgnoredPixel or more.
absl::StatusOr<std::unique_ptr<Dataset>> MakeSynthetic(const SampleShape& shape, int64_t samples,
                                                       int64_t seed, Split split);

}  // namespace ringside

#endif  // RINGSIDE_WORKER_DATA_SYNTHETIC_DATASET_H_
