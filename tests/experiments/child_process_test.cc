#include "experiments/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "experiments/signal_wait.h"
#include "tests/testing/process.h"

namespace ringside {
namespace {

using ::testing::IsEmpty;

constexpr absl::Duration kTimeout = absl::Seconds(20);

class ChildProcessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/child_process_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  ChildProcess::Config Shell(const std::string& script) const {
    ChildProcess::Config config;
    config.binary = "/bin/sh";
    config.arguments = {"-c", script, folder_};  // the folder marks the process in the list of all
    config.log_path = folder_ + "/child.log";
    return config;
  }

  std::string Log() const {
    std::ifstream file(folder_ + "/child.log");
    return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }

  static ChildExit Await(ChildProcess* child) {
    EXPECT_TRUE(AwaitCondition([child] { return child->Poll().has_value(); }, kTimeout));
    return child->Poll().value_or(ChildExit{-1, 0});
  }

  std::string folder_;
};

TEST_F(ChildProcessTest, ReportsTheExitStatus) {
  auto child = ChildProcess::Spawn(Shell("exit 3"));
  ASSERT_TRUE(child.ok()) << child.status();
  const ChildExit exit = Await(&*child);
  EXPECT_EQ(ToString(exit), "exit status 3");
  EXPECT_FALSE(exit.ok());
  EXPECT_FALSE(child->running());
}

TEST_F(ChildProcessTest, ReportsTheSignal) {
  auto child = ChildProcess::Spawn(Shell("kill -9 $$"));
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(ToString(Await(&*child)), "killed by signal 9 (Killed)");
}

TEST_F(ChildProcessTest, BothOutputsGoToTheLog) {
  auto child =
      ChildProcess::Spawn(Shell("echo out; echo err >&2; cat"));  // cat ends: there is no input
  ASSERT_TRUE(child.ok());
  EXPECT_TRUE(Await(&*child).ok());
  EXPECT_EQ(Log(), "out\nerr\n");
}

TEST_F(ChildProcessTest, ReadsTheInputThatItIsGiven) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  ASSERT_EQ(write(fds[1], "hello\n", 6), 6);
  close(fds[1]);
  ChildProcess::Config config = Shell("cat");
  config.input_fd = fds[0];
  auto child = ChildProcess::Spawn(config);
  close(fds[0]);
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_TRUE(Await(&*child).ok());
  EXPECT_EQ(Log(), "hello\n");
}

TEST_F(ChildProcessTest, ANamespaceThatIsNoneIsAnError) {
  ChildProcess::Config config = Shell("");
  config.network_namespace_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const auto child = ChildProcess::Spawn(config);
  close(config.network_namespace_fd);
  EXPECT_FALSE(child.ok());
}

TEST_F(ChildProcessTest, GetsTheEnvironmentThatItIsGivenAndNoMore) {
  setenv("RINGSIDE_TEST_LEAK", "yes", 1);
  ChildProcess::Config config = Shell("echo \"$A:$RINGSIDE_TEST_LEAK\"");
  config.environment = {"A=b c"};
  auto child = ChildProcess::Spawn(config);
  ASSERT_TRUE(child.ok());
  Await(&*child);
  EXPECT_EQ(Log(), "b c:\n");
}

TEST_F(ChildProcessTest, InheritsNoDescriptorAndNoBlockedSignal) {
  const int leaked = dup(0);  // without O_CLOEXEC
  BlockJobSignals();
  auto child = ChildProcess::Spawn(
      Shell(absl::StrCat("if [ -e /proc/self/fd/", leaked,
                         " ]; then echo leaked; fi; grep SigBlk: /proc/self/status")));
  ASSERT_TRUE(child.ok());
  Await(&*child);
  close(leaked);
  EXPECT_EQ(Log(), "SigBlk:\t0000000000000000\n");
}

TEST_F(ChildProcessTest, ChildrenShareAGroupOfTheirOwn) {
  auto first = ChildProcess::Spawn(Shell("sleep 100 & wait"));
  ASSERT_TRUE(first.ok());
  ChildProcess::Config config = Shell("sleep 100 & wait");
  config.group = first->pid();
  config.log_path += "2";
  auto second = ChildProcess::Spawn(config);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(getpgid(first->pid()), first->pid());
  EXPECT_EQ(getpgid(second->pid()), first->pid());
  EXPECT_NE(getpgrp(), first->pid());
  ASSERT_EQ(kill(-first->pid(), SIGTERM), 0);
  EXPECT_EQ(ToString(Await(&*first)), "killed by signal 15 (Terminated)");
  EXPECT_EQ(ToString(Await(&*second)), "killed by signal 15 (Terminated)");
}

TEST_F(ChildProcessTest, ExitsAreSeenAsSignals) {
  BlockJobSignals();
  auto child = ChildProcess::Spawn(Shell("exit 0"));
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(WaitForJobSignal(kTimeout), SIGCHLD);
  EXPECT_TRUE(Await(&*child).ok());
  EXPECT_EQ(WaitForJobSignal(absl::ZeroDuration()), 0);
}

TEST_F(ChildProcessTest, AMissingBinaryIsAnErrorAndNoChild) {
  ChildProcess::Config config = Shell("");
  config.binary = folder_ + "/nothing";
  const auto child = ChildProcess::Spawn(config);
  EXPECT_EQ(child.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(child.status().message(),
            "cannot start " + config.binary + ": No such file or directory");
}

TEST_F(ChildProcessTest, ALogThatCannotBeWrittenIsAnError) {
  ChildProcess::Config config = Shell("");
  config.log_path = folder_ + "/no/such.log";
  EXPECT_EQ(ChildProcess::Spawn(config).status().code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(ChildProcessTest, TheDestructorLeavesNoProcess) {
  pid_t pid = 0;
  {
    auto child = ChildProcess::Spawn(Shell("trap '' TERM INT; while :; do sleep 1; done"));
    ASSERT_TRUE(child.ok());
    pid = child->pid();
  }
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(ChildProcessTest, DiesWithAKilledParent) {
  TestProcess::Config config;
  config.argv = {RINGSIDE_PARENT_DEATH_HELPER, folder_ + "/child.log", folder_ + "/marker"};
  const auto helper = TestProcess::Start(config);
  ASSERT_TRUE(helper->WaitForOutput("child [0-9]+\n", kTimeout)) << helper->output();
  EXPECT_EQ(ProcessesMatching(folder_ + "/marker").size(), 2u);
  helper->Signal(SIGKILL);
  EXPECT_EQ(helper->Wait(kTimeout).status, 128 + SIGKILL);
  EXPECT_THAT(AwaitNoProcessMatching(folder_ + "/marker", kTimeout), IsEmpty());
}

}  // namespace
}  // namespace ringside
