// What a shard refuses, in every mode: by code, words and suspect, and nothing is changed by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>

#include "common/suspects.h"
#include "ps_server/parameter_shard.h"
#include "tests/ps_server/shard_frames.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

struct NamedPolicy {
  std::string name;
  PsPolicy policy;
};

// For the names of tests, which else show bytes.
void PrintTo(const NamedPolicy& policy, std::ostream* out) { *out << policy.name; }

std::vector<NamedPolicy> Policies() {
  return {{"Sync", {PsMode::kSync}},
          {"SyncServer", {PsMode::kSync, true}},
          {"Async", {PsMode::kAsync}},
          {"Ssp", {PsMode::kSsp, false, 1}},
          {"Backup", {PsMode::kBackup, false, 0, 0}}};
}

// Two workers, shard 0 of two.
class ShardRefusalsTest : public ::testing::TestWithParam<NamedPolicy> {
 protected:
  std::unique_ptr<ParameterShard> Make() const {
    ParameterShard::Config config{plan_, layout_, 0};
    config.policy = GetParam().policy;
    config.full_batch = 2;
    return MakeShard(std::move(config));
  }

  const UnitTable& table() const { return shard_->table(); }
  bool is_sync() const { return GetParam().policy.mode == PsMode::kSync; }
  bool is_backup() const { return GetParam().policy.mode == PsMode::kBackup; }

  // Unit 0 of worker 1 at `step` after `change`, with `payload_elements`; `suspect` is whom the
  // error is about, nobody where the sender is none of the group.
  absl::Status Refused(uint64_t step, const std::function<void(FrameHeader*)>& change,
                       size_t payload_elements = 8, const std::string& suspect = "worker 1") {
    FrameHeader header = PushHeader(table().unit(0), 1, step, 1);
    change(&header);
    const ParameterShard::Statistics before = shard_->statistics();
    const uint64_t open = shard_->open_step();
    const int64_t parked = shard_->parked_frames();
    const bool waits = shard_->somebody_waits();
    std::vector<ParameterShard::Result> results;
    const absl::Status status = shard_->Push(
        header, TwoPieces(std::make_shared<std::vector<float>>(payload_elements, 1e30f), 5),
        &results);
    EXPECT_FALSE(status.ok());
    EXPECT_TRUE(results.empty());
    EXPECT_EQ(shard_->parked_frames(), parked);
    EXPECT_EQ(shard_->open_step(), open);
    EXPECT_EQ(shard_->somebody_waits(), waits);
    EXPECT_EQ(shard_->statistics().pushes, before.pushes);
    EXPECT_EQ(shard_->statistics().updates, before.updates);
    EXPECT_EQ(shard_->statistics().answers, before.answers);
    EXPECT_EQ(shard_->statistics().late_pushes, before.late_pushes);
    EXPECT_EQ(shard_->statistics().staleness, before.staleness);
    EXPECT_EQ(ToString(SuspectsOf(status)), suspect);
    EXPECT_THAT(std::string(status.message()), HasSubstr(" from "));
    return status;
  }
  void ExpectRefused(absl::StatusCode code, const std::string& words, uint64_t step,
                     const std::function<void(FrameHeader*)>& change, size_t elements = 8) {
    const absl::Status status = Refused(step, change, elements);
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
  }
  // All units of a step by both workers; returns the last values of each.
  std::vector<float> Step(ParameterShard* shard, uint64_t step) const {
    std::vector<float> arena(plan_.total_elements());
    for (int unit = 0; unit < table().size(); ++unit) {
      for (int worker : {1, 0}) {
        for (const auto& result : Take(shard, RandomPush(plan_, table().unit(unit), worker, step)))
          CopyResult(plan_, result, &arena);
      }
    }
    return arena;
  }
  // The shard goes on from `step` like one that has seen nothing but good frames.
  void ExpectUndisturbed(uint64_t step) {
    const auto other = Make();
    for (uint64_t at = 0; at < step; ++at) Step(other.get(), at);
    for (uint64_t at = step; at < step + 2; ++at) {
      EXPECT_TRUE(SameBits(Step(shard_.get(), at), Step(other.get(), at)));
    }
  }

  const BucketPlan plan_ = PlanWithBuckets({16, 5});
  const ShardLayout layout_{2, 2, 1024};
  const std::unique_ptr<ParameterShard> shard_ = Make();
};

constexpr auto kNoChange = [](FrameHeader*) {};

TEST_P(ShardRefusalsTest, WrongKinds) {
  for (uint64_t step : {0, 1}) {
    for (FrameKind kind : {FrameKind::kResult, FrameKind::kReduceScatter, FrameKind::kAllGather}) {
      ExpectRefused(absl::StatusCode::kInvalidArgument, "not a push", step,
                    [&](FrameHeader* header) { header->kind = kind; });
    }
    ExpectRefused(absl::StatusCode::kInvalidArgument, "has lost nothing", step,
                  [&](FrameHeader* header) { header->kind = FrameKind::kRestore; });
    Step(shard_.get(), step);
  }
  ExpectUndisturbed(2);
}

TEST_P(ShardRefusalsTest, PayloadsWhereThereIsNone) {
  for (FrameKind kind : {FrameKind::kFinish, FrameKind::kPull}) {
    ExpectRefused(absl::StatusCode::kInvalidArgument, "32 payload bytes", 0,
                  [&](FrameHeader* header) { header->kind = kind; });
    ExpectRefused(
        absl::StatusCode::kInvalidArgument, "no elements and no payload", 0,
        [&](FrameHeader* header) { header->kind = kind; }, 0);
    ExpectRefused(
        absl::StatusCode::kInvalidArgument, "4 payload bytes", 0,
        [&](FrameHeader* header) { header->kind = kind, header->elements = 0; }, 1);
  }
  ExpectUndisturbed(0);
}

TEST_P(ShardRefusalsTest, AnotherGroupGenerationOrSender) {
  ExpectRefused(absl::StatusCode::kInvalidArgument, "the group is 0", 0,
                [](FrameHeader* header) { header->group = 7; });
  for (uint32_t generation : {0, 2}) {
    ExpectRefused(absl::StatusCode::kFailedPrecondition, "the generation is 1", 0,
                  [&](FrameHeader* header) { header->generation = generation; });
  }
  for (uint32_t sender : {uint32_t{2}, ~uint32_t{0}}) {
    const absl::Status status = Refused(
        0, [&](FrameHeader* header) { header->sender = sender; }, 8, "");
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("the ranks of the group are 0 to 1"));
  }
  ExpectUndisturbed(0);
}

TEST_P(ShardRefusalsTest, WhatIsNoUnit) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kOutOfRange = absl::StatusCode::kOutOfRange;
  ExpectRefused(kOutOfRange, "no such bucket", 0, [](FrameHeader* h) { h->bucket = 2; });
  ExpectRefused(kOutOfRange, "16 elements", 0, [](FrameHeader* h) { h->offset = 16; });
  ExpectRefused(kOutOfRange, "16 elements", 0, [](FrameHeader* h) { h->offset = ~uint64_t{0}; });
  ExpectRefused(kOutOfRange, "16 elements", 0, [](FrameHeader* h) { h->elements = 17; });
  ExpectRefused(kOutOfRange, "16 elements", 0, [](FrameHeader* h) { h->elements = ~uint32_t{0}; });
  ExpectRefused(kInvalid, "not a unit of shard 0", 0, [](FrameHeader* h) { h->offset = 8; });
  // Overlapping: it begins inside a unit, ends inside one, or behind it.
  ExpectRefused(
      kInvalid, "is no unit", 0, [](FrameHeader* h) { h->offset = 1; }, 8);
  ExpectRefused(
      kInvalid, "is no unit", 0, [](FrameHeader* h) { h->elements = 7; }, 7);
  ExpectRefused(
      kInvalid, "is no unit", 0, [](FrameHeader* h) { h->elements = 9; }, 9);
  ExpectRefused(
      kInvalid, "is no unit", 0, [](FrameHeader* h) { h->elements = 0; }, 0);
  ExpectUndisturbed(0);
}

TEST_P(ShardRefusalsTest, PayloadsOfAnotherLengthOrType) {
  for (size_t elements : {0, 7, 9, 4096}) {
    ExpectRefused(absl::StatusCode::kInvalidArgument,
                  "it carries " + std::to_string(4 * elements) + " payload bytes instead of 32", 0,
                  kNoChange, elements);
  }
  for (WireDtype dtype : {WireDtype::kBFloat16, WireDtype::kFloat16}) {
    for (FrameKind kind : {FrameKind::kPush, FrameKind::kRestore}) {
      ExpectRefused(
          absl::StatusCode::kInvalidArgument, "not float32", 0,
          [&](FrameHeader* h) { h->dtype = dtype, h->kind = kind; }, 4);
    }
  }
  ExpectUndisturbed(0);
}

TEST_P(ShardRefusalsTest, Duplicates) {
  for (uint64_t step : {0, 1}) {
    Take(shard_.get(), RandomPush(plan_, table().unit(0), 1, step));
    ExpectRefused(absl::StatusCode::kAlreadyExists, "it is a duplicate", step, kNoChange);
    Take(shard_.get(), RandomPush(plan_, table().unit(0), 0, step));  // the unit is complete
    ExpectRefused(absl::StatusCode::kAlreadyExists, "it is a duplicate", step, kNoChange);
    for (int unit = 1; unit < table().size(); ++unit) {
      for (int worker : {1, 0})
        Take(shard_.get(), RandomPush(plan_, table().unit(unit), worker, step));
    }
    // The step is closed.
    const absl::Status status = Refused(step, kNoChange);
    EXPECT_EQ(status.code(), is_backup() ? absl::StatusCode::kAlreadyExists
                                         : absl::StatusCode::kFailedPrecondition);
  }
  ExpectUndisturbed(2);
}

TEST_P(ShardRefusalsTest, StaleSteps) {
  for (uint64_t step : {0, 1, 2}) Step(shard_.get(), step);
  ExpectRefused(absl::StatusCode::kFailedPrecondition,
                is_sync()     ? "the step is closed, step 3 is open"
                : is_backup() ? "the worker has pushed step 2 of it"
                              : "the worker has pushed it before, its next step is 3",
                1, kNoChange);
  ExpectRefused(absl::StatusCode::kFailedPrecondition, "step", 0, kNoChange);
  ExpectUndisturbed(3);
}

TEST_P(ShardRefusalsTest, FutureSteps) {
  const std::string words = is_sync() || is_backup() ? "the step is not open yet, step 0 is"
                                                     : "the worker's step 0 is not over";
  for (uint64_t step : {uint64_t{1}, uint64_t{7}, ~uint64_t{0}}) {
    ExpectRefused(absl::StatusCode::kOutOfRange, words, step, kNoChange);
  }
  Step(shard_.get(), 0);
  ExpectRefused(absl::StatusCode::kOutOfRange, "step 1 is", 2, kNoChange);
  ExpectUndisturbed(1);
}

TEST_P(ShardRefusalsTest, TheNextStepBeforeThisOneIsOver) {
  Step(shard_.get(), 0);
  Take(shard_.get(), RandomPush(plan_, table().unit(0), 1, 1));
  ExpectRefused(absl::StatusCode::kOutOfRange, "step 1 is", 2, kNoChange);
  Take(shard_.get(), RandomPush(plan_, table().unit(0), 0, 1));
  for (int unit = 1; unit < table().size(); ++unit) {
    for (int worker : {1, 0}) Take(shard_.get(), RandomPush(plan_, table().unit(unit), worker, 1));
  }
  ExpectUndisturbed(2);
}

TEST_P(ShardRefusalsTest, EverythingAfterFinish) {
  Take(shard_.get(), {HeaderOf(FrameKind::kFinish, 1, 0), {}});
  for (FrameKind kind :
       {FrameKind::kPush, FrameKind::kPull, FrameKind::kRestore, FrameKind::kFinish}) {
    ExpectRefused(absl::StatusCode::kFailedPrecondition, "the worker has finished", 0,
                  [&](FrameHeader* header) { header->kind = kind; });
  }
  EXPECT_FALSE(shard_->all_finished());
}

TEST_P(ShardRefusalsTest, PullsOfAShardThatHasNothing) {
  if (is_backup()) {  // there they wait
    EXPECT_TRUE(Take(shard_.get(), {HeaderOf(FrameKind::kPull, 1, 0), {}}).empty());
    EXPECT_TRUE(shard_->somebody_waits());
    return;
  }
  FrameHeader pull = HeaderOf(FrameKind::kPull, 1, 0);
  const bool keeps = GetParam().policy.server_has_parameters();
  ExpectRefused(
      keeps ? absl::StatusCode::kOutOfRange : absl::StatusCode::kInvalidArgument,
      keeps ? "the step is not open yet" : "keeps no parameters", 0,
      [&](FrameHeader* header) { *header = pull; }, 0);
}

INSTANTIATE_TEST_SUITE_P(Modes, ShardRefusalsTest, ::testing::ValuesIn(Policies()),
                         [](const auto& info) { return info.param.name; });

// ssp: the answer of a step is held, so the step is not over.
TEST(SspRefusalTest, TheNextStepBeforeTheAnswer) {
  const BucketPlan plan = PlanWithBuckets({1});
  ParameterShard::Config config{plan, {2, 1, 4}, 0};
  config.policy.mode = PsMode::kSsp;
  config.full_batch = 2;
  const auto shard = MakeShard(std::move(config));
  for (int worker : {0, 1}) Take(shard.get(), RandomPush(plan, shard->table().unit(0), worker, 0));
  Take(shard.get(), RandomPush(plan, shard->table().unit(0), 0, 1));
  std::vector<ParameterShard::Result> results;
  Frame next = RandomPush(plan, shard->table().unit(0), 0, 2);
  const absl::Status status = shard->Push(next.header, std::move(next.payload), &results);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the worker's step 1 is not over"));
}

// backup: a late push is answered once.
TEST(BackupRefusalTest, ADuplicateOfALatePush) {
  const BucketPlan plan = PlanWithBuckets({1});
  ParameterShard::Config config{plan, {2, 1, 4}, 0};
  config.policy.mode = PsMode::kBackup;
  config.policy.backup_workers = 1;
  config.full_batch = 2;
  const auto shard = MakeShard(std::move(config));
  const UnitTable::Unit& unit = shard->table().unit(0);
  for (int worker : {0, 1}) Take(shard.get(), RandomPush(plan, unit, worker, 0));
  for (uint64_t step : {1, 2, 3}) Take(shard.get(), RandomPush(plan, unit, 0, step));
  EXPECT_EQ(Take(shard.get(), RandomPush(plan, unit, 1, 2)).size(), 1u);
  for (const auto& [step, code] : {std::make_pair(uint64_t{2}, absl::StatusCode::kAlreadyExists),
                                   {uint64_t{1}, absl::StatusCode::kFailedPrecondition}}) {
    Frame again = RandomPush(plan, unit, 1, step);
    std::vector<ParameterShard::Result> results;
    EXPECT_EQ(shard->Push(again.header, std::move(again.payload), &results).code(), code);
    EXPECT_TRUE(results.empty());
  }
  EXPECT_EQ(shard->statistics().late_pushes, 1);
}

}  // namespace
}  // namespace ringside
