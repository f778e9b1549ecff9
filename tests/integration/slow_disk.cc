// Preloaded into processes under test (LD_PRELOAD): bringing a checkpoint to the disk takes for as
// long as there is a file of the name that SLOW_DISK_GATE says.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

extern "C" int fsync(int descriptor) {
  const char* const gate = std::getenv("SLOW_DISK_GATE");
  char path[4096] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const bool known = readlink(link.c_str(), path, sizeof(path) - 1) > 0;
  if (gate != nullptr && known && std::strstr(path, ".ckpt") != nullptr) {
    while (access(gate, F_OK) == 0) usleep(10000);
  }
  using Fsync = int (*)(int);
  static const auto next = reinterpret_cast<Fsync>(dlsym(RTLD_NEXT, "fsync"));
  return next(descriptor);
}
