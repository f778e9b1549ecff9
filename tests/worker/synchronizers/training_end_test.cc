#include "worker/synchronizers/training_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TrainingEndTest, AllShardsSayThatAllWorkersAreDone) {
  TrainingEnd end(3, /*final_results=*/false);
  EXPECT_FALSE(end.begun());
  end.Begin();
  EXPECT_TRUE(end.begun());
  EXPECT_THAT(end.Lacking(), ElementsAre(0, 1, 2));
  end.Finished(1);
  EXPECT_THAT(end.Lacking(), ElementsAre(0, 2));
  end.Finished(0);
  end.Finished(2);
  EXPECT_THAT(end.Lacking(), IsEmpty());
}

TEST(TrainingEndTest, AfterTheWordOfOneShardTheLossOfAnotherIsNone) {
  TrainingEnd end(3, /*final_results=*/false);
  end.Begin();
  EXPECT_FALSE(end.Lost(2));
  end.Finished(0);
  EXPECT_TRUE(end.Lost(2));
  EXPECT_THAT(end.Lacking(), ElementsAre(1));
  EXPECT_TRUE(end.Lost(0));
  EXPECT_TRUE(end.Lost(1));
  EXPECT_THAT(end.Lacking(), IsEmpty());
}

TEST(TrainingEndTest, FinalResultsAreNeededOfEveryShard) {
  TrainingEnd end(2, /*final_results=*/true);
  end.Begin();
  end.Finished(0);
  EXPECT_FALSE(end.Lost(1));
  EXPECT_FALSE(end.Lost(0));
  EXPECT_THAT(end.Lacking(), ElementsAre(1));
}

TEST(TrainingEndTest, BeforeTheEndEveryLossIsOne) {
  TrainingEnd end(2, /*final_results=*/false);
  EXPECT_FALSE(end.Lost(1));
  end.Begin();
  end.Finished(0);
  EXPECT_TRUE(end.Lost(1));
  end.Reset();
  EXPECT_FALSE(end.begun());
  EXPECT_THAT(end.Lacking(), ElementsAre(0, 1));
  EXPECT_FALSE(end.Lost(1));
}

}  // namespace
}  // namespace ringside
