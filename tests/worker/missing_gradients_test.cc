#include "worker/missing_gradients.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(MissingGradientsTest, NamesEachParameterOnce) {
  MissingGradients missing({{"fc1.weight", {2, 2}}, {"fc1.bias", {2}}, {"unused", {3}}});
  missing.Reset();
  missing.Ready(1);
  EXPECT_EQ(missing.Line(1),
            "parameters fc1.weight, unused got no gradient in step 1; they count as zero");
  missing.Reset();
  missing.Ready(0);
  EXPECT_EQ(missing.Line(2), "parameter fc1.bias got no gradient in step 2; it counts as zero");
  missing.Reset();
  EXPECT_EQ(missing.Line(3), "");
}

TEST(MissingGradientsTest, SaysNothingWhereAllAreThere) {
  MissingGradients missing({{"a", {1}}, {"b", {1}}});
  for (int64_t step : {1, 2}) {
    missing.Reset();
    missing.Ready(1);
    missing.Ready(0);
    EXPECT_EQ(missing.Line(step), "");
  }
}

}  // namespace
}  // namespace ringside
