#include "worker/data/image_resize.h"

#include <algorithm>
#include <vector>

#include "common/check.h"

namespace ringside {
namespace {

// Where a target pixel lies between two source pixels.
struct Place {
  int64_t before = 0;
  int64_t after = 0;
  float part = 0;  // of `after`
};

std::vector<Place> PlacesOf(int64_t source, int64_t target) {
  std::vector<Place> places(target);
  const double ratio = static_cast<double>(source) / static_cast<double>(target);
  for (int64_t i = 0; i < target; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * ratio - 0.5;
    const double at = std::min(std::max(centre, 0.0), static_cast<double>(source - 1));
    Place& place = places[i];
    place.before = static_cast<int64_t>(at);
    place.after = std::min(place.before + 1, source - 1);
    place.part = static_cast<float>(at - static_cast<double>(place.before));
  }
  return places;
}

}  // namespace

void ResizeBilinear(const ByteImage& image, int64_t rows, int64_t columns,
                    const ChannelScale& scale, absl::Span<float> out) {
  RINGSIDE_CHECK(static_cast<int64_t>(out.size()) == image.channels * rows * columns);
  const std::vector<Place> vertical = PlacesOf(image.rows, rows);
  const std::vector<Place> horizontal = PlacesOf(image.columns, columns);
  float* target = out.data();
  for (int64_t channel = 0; channel < image.channels; ++channel) {
    const float mean = scale.means[channel];
    const float deviation = scale.deviations[channel];
    for (const Place& row : vertical) {
      const uint8_t* upper = &image.bytes[row.before * image.columns * image.channels + channel];
      const uint8_t* lower = &image.bytes[row.after * image.columns * image.channels + channel];
      for (const Place& column : horizontal) {
        const auto mix = [&column, &image](const uint8_t* line) {
          const float before = line[column.before * image.channels];
          const float after = line[column.after * image.channels];
          return before + column.part * (after - before);
        };
        const float above = mix(upper);
        const float value = above + row.part * (mix(lower) - above);
        *target++ = (value / 255.0f - mean) / deviation;
      }
    }
  }
}

void ResizeNearest(const ByteImage& image, int64_t rows, int64_t columns, absl::Span<int64_t> out) {
  RINGSIDE_CHECK(image.channels == 1 && static_cast<int64_t>(out.size()) == rows * columns);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t source_row = (2 * row + 1) * image.rows / (2 * rows);
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t source_column = (2 * column + 1) * image.columns / (2 * columns);
      out[row * columns + column] = image.bytes[source_row * image.columns + source_column];
    }
  }
}

const ChannelScale& PhotographScale() {
  static const auto* scale = new ChannelScale{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};
  return *scale;
}

}  // namespace ringside
