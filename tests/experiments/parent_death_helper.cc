// For child_process_test: starts one child that would run for long, says its process id, and waits
// to be killed.
//   parent_death_helper LOG_PATH MARKER
#include <stdio.h>
#include <unistd.h>

#include "experiments/child_process.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  ringside::ChildProcess::Config config;
  config.binary = "/bin/sh";
  config.arguments = {"-c", "while :; do sleep 1; done", argv[2]};
  config.log_path = argv[1];
  auto child = ringside::ChildProcess::Spawn(config);
  if (!child.ok()) return 1;
  printf("child %d\n", static_cast<int>(child->pid()));
  fflush(stdout);
  while (true) pause();
}
