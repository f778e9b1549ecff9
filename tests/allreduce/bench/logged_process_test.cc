#include "allreduce/bench/logged_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>

#include "absl/time/clock.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kPatience = absl::Seconds(30);

std::unique_ptr<LoggedProcess> Shell(const std::string& script) {
  auto process =
      LoggedProcess::Start({"/bin/sh", "-c", script}, {"PATH=/usr/bin:/bin", "GREETING=hello"});
  EXPECT_TRUE(process.ok()) << process.status();
  return *std::move(process);
}

TEST(LoggedProcessTest, KeepsWhatIsWrittenAndHowItEnds) {
  const auto process = Shell("echo $GREETING; echo trouble >&2; exit 3");
  ASSERT_TRUE(process->WaitForEnd(absl::Now() + kPatience));
  EXPECT_EQ(process->EndText(), "exit status 3");
  EXPECT_EQ(process->Output(), "hello\ntrouble\n");
}

TEST(LoggedProcessTest, SaysWhichSignalKilledIt) {
  const auto process = Shell("kill -KILL $$");
  ASSERT_TRUE(process->WaitForEnd(absl::Now() + kPatience));
  EXPECT_EQ(process->EndText(), "killed by signal 9 (Killed)");
}

TEST(LoggedProcessTest, DoesNotWaitLongerThanItIsTold) {
  const auto process = Shell("exec sleep 1000");
  EXPECT_FALSE(process->WaitForEnd(absl::InfinitePast()));
  EXPECT_EQ(process->EndText(), "still running");
}

TEST(LoggedProcessTest, IsGoneWithItsOwner) {
  auto process = Shell("exec sleep 1000");
  const pid_t pid = process->pid();
  process.reset();
  EXPECT_NE(kill(pid, 0), 0);
}

TEST(LoggedProcessTest, AMissingProgramIsNamed) {
  const auto process = LoggedProcess::Start({"/nowhere/mpirun"}, {});
  EXPECT_EQ(process.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(process.status().message()), HasSubstr("cannot start /nowhere/mpirun"));
}

TEST(LastWordsTest, AreTheLastLineThatIsNotEmpty) {
  EXPECT_EQ(LastWords("one\ntwo \n\n", ""), "two");
  EXPECT_EQ(LastWords("", ""), "");
}

TEST(LastWordsTest, TaggedLinesGoFirst) {
  EXPECT_EQ(LastWords("[1,1]<stderr>:mine\n[1,0]<stderr>:other\nmpirun: bye\n", "[1,1]<stderr>:"),
            "mine");
  EXPECT_EQ(LastWords("mpirun: bye\n", "[1,1]<stderr>:"), "mpirun: bye");
}

}  // namespace
}  // namespace ringside
