#include "worker/verdict_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <utility>
#include <vector>

namespace ringside {
namespace {

class AbortRecorder final : public GradientSynchronizer {
 public:
  absl::Status Start(absl::Span<float>) override { return absl::OkStatus(); }
  void Submit(const GradientBucket&) override {}
  absl::StatusOr<StepStats> Finish(int64_t) override { return StepStats(); }
  void Abort(absl::Status cause) override { causes.push_back(std::move(cause)); }
  absl::StatusOr<absl::optional<int64_t>> Shutdown() override { return absl::optional<int64_t>(); }
  TrafficCounters traffic() const override { return {}; }
  TrafficCounters ExpectedTraffic(int64_t) const override { return {}; }

  std::vector<absl::Status> causes;
};

const absl::Status kVerdict = absl::AbortedError("worker 1 was lost");

TEST(VerdictWatchTest, AbortsWhatIsAttachedAndOnlyOnce) {
  AbortRecorder synchronizer;
  VerdictWatch watch(absl::Hours(1), [](const absl::Status&) { ADD_FAILURE(); });
  watch.Attach(&synchronizer);
  EXPECT_TRUE(synchronizer.causes.empty());
  watch.Deliver(kVerdict);
  watch.Deliver(absl::AbortedError("another"));
  EXPECT_EQ(synchronizer.causes, std::vector<absl::Status>{kVerdict});
}

TEST(VerdictWatchTest, AVerdictThatCameEarlierAbortsAtOnce) {
  AbortRecorder synchronizer;
  VerdictWatch watch(absl::Hours(1), [](const absl::Status&) { ADD_FAILURE(); });
  watch.Deliver(kVerdict);
  watch.Attach(&synchronizer);
  EXPECT_EQ(synchronizer.causes, std::vector<absl::Status>{kVerdict});
}

TEST(VerdictWatchTest, EndsTheProcessWhenNobodyReturns) {
  std::promise<absl::Status> ended;
  VerdictWatch watch(absl::Milliseconds(1),
                     [&](const absl::Status& verdict) { ended.set_value(verdict); });
  watch.Deliver(kVerdict);
  auto end = ended.get_future();
  ASSERT_EQ(end.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  EXPECT_EQ(end.get(), kVerdict);
}

TEST(VerdictWatchTest, NothingHappensWithoutAVerdict) {
  VerdictWatch watch(absl::ZeroDuration(), [](const absl::Status&) { ADD_FAILURE(); });
}

}  // namespace
}  // namespace ringside
