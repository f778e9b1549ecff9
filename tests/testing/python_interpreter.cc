#include "tests/testing/python_interpreter.h"

#include <unistd.h>

#include "tests/testing/process.h"

namespace ringside {

std::string PythonWith(const std::string& module) {
  const std::string own = std::string(RINGSIDE_SOURCE_DIR) + "/build/python/bin/python3";
  for (const std::string& python : {own, std::string("/usr/bin/python3")}) {
    if (access(python.c_str(), X_OK) != 0) continue;
    TestProcess::Config config;
    config.argv = {python, "-c", "import " + module};
    if (RunProcess(config, absl::Minutes(1)).status == 0) return python;
  }
  TestProcess::Config config;
  config.argv = {"/usr/bin/env", "python3", "-c",
                 "import sys, " + module + "; sys.stdout.write(sys.executable)"};
  const TestProcess::Ended ended = RunProcess(config, absl::Minutes(1));
  return ended.status == 0 ? ended.output : "";
}

}  // namespace ringside
