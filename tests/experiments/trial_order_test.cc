#include "experiments/trial_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TrialOrderTest, GoesForwardAndBackwardInTurn) {
  EXPECT_THAT(
      MakeTrialOrder({"ps", "ring"}, {2}, 3),
      ElementsAre(PlannedJob{"ps", 2, 1}, PlannedJob{"ring", 2, 1}, PlannedJob{"ring", 2, 2},
                  PlannedJob{"ps", 2, 2}, PlannedJob{"ps", 2, 3}, PlannedJob{"ring", 2, 3}));
}

TEST(TrialOrderTest, FinishesOneWorkerCountBeforeTheNext) {
  EXPECT_THAT(MakeTrialOrder({"ring"}, {1, 4}, 2),
              ElementsAre(PlannedJob{"ring", 1, 1}, PlannedJob{"ring", 1, 2},
                          PlannedJob{"ring", 4, 1}, PlannedJob{"ring", 4, 2}));
}

TEST(TrialOrderTest, NothingToDoIsAnEmptyOrder) {
  EXPECT_THAT(MakeTrialOrder({}, {1}, 1), IsEmpty());
  EXPECT_THAT(MakeTrialOrder({"ps"}, {1}, 0), IsEmpty());
}

TEST(TrialOrderTest, NamesFoldersAndTitles) {
  EXPECT_EQ(FolderName({"ring", 2, 1}), "ring-w2-t1");
  EXPECT_EQ(Title({"ring", 2, 1}), "ring, 2 workers, trial 1");
  EXPECT_EQ(Title({"local", 1, 3}), "local, 1 worker, trial 3");
}

}  // namespace
}  // namespace ringside
