#include "common/network/host_identity.h"

#include <limits.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace ringside {

HostIdentity ReadHostIdentity() {
  HostIdentity identity;
  char name[HOST_NAME_MAX + 1] = {};
  if (gethostname(name, sizeof(name) - 1) == 0) identity.set_hostname(name);
  std::ifstream boot_id("/proc/sys/kernel/random/boot_id");
  std::string line;
  if (std::getline(boot_id, line)) identity.set_boot_id(line);
  char target[64] = {};
  const ssize_t length = readlink("/proc/self/ns/net", target, sizeof(target));
  if (length > 0) identity.set_network_namespace(std::string(target, length));
  return identity;
}

bool SameHost(const HostIdentity& a, const HostIdentity& b) {
  return !a.boot_id().empty() && !a.network_namespace().empty() && a.boot_id() == b.boot_id() &&
         a.network_namespace() == b.network_namespace();
}

}  // namespace ringside
