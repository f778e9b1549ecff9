#include "experiments/doctor/system_facts.h"

#include <dlfcn.h>
#include <google/protobuf/stubs/common.h>
#include <grpcpp/grpcpp.h>
#include <link.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/base/config.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "experiments/doctor/data_check.h"
#include "experiments/network/emulated_network.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return std::string(absl::StripAsciiWhitespace(line));
}

int UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

// Asks the loader itself, so that alternatives, ld.so.conf and LD_LIBRARY_PATH all count.
std::string BlasPath() {
  void* library = dlopen("libblas.so.3", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return "";
  link_map* map = nullptr;
  std::string path;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr) {
    std::error_code error;
    path = fs::canonical(map->l_name, error).string();
  }
  dlclose(library);
  return path;
}

bool PortIsFree(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const int reuse = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool is_free =
      bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 && listen(fd, 1) == 0;
  close(fd);
  return is_free;
}

void ReadPorts(const std::string& text, SystemFacts* facts) {
  facts->port_range = text;
  const absl::StatusOr<PortRange> range = ParsePortRange(text);
  facts->port_range_status = range.status();
  if (!range.ok()) return;
  if (range->first == 0) {
    facts->free_ports = PortIsFree(0) ? 1 : 0;
    return;
  }
  facts->ports = range->last - range->first + 1;
  for (int port = range->first; port <= range->last; ++port)
    facts->free_ports += PortIsFree(port) ? 1 : 0;
}

bool OnPath(const std::string& program, const std::string& search_path) {
  for (absl::string_view folder : absl::StrSplit(search_path, ':', absl::SkipEmpty())) {
    if (access(absl::StrCat(folder, "/", program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string ProtobufVersion() {
  return google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION);
}

}  // namespace

SystemFacts ReadSystemFacts(const SystemQuestions& questions) {
  SystemFacts facts;
  facts.network_emulation = CanEmulate();
  facts.cores = UsableCores();
  facts.memory_bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  facts.blas_path = BlasPath();
  facts.huge_pages = FirstLine("/sys/kernel/mm/transparent_hugepage/enabled");
  facts.shmem_huge_pages = FirstLine("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  struct statvfs shm = {};
  if (statvfs("/dev/shm", &shm) == 0)
    facts.shm_bytes = static_cast<int64_t>(shm.f_blocks * shm.f_frsize);
  facts.congestion_control = FirstLine("/proc/sys/net/ipv4/tcp_congestion_control");
  facts.available_congestion_controls =
      FirstLine("/proc/sys/net/ipv4/tcp_available_congestion_control");
  rlimit files = {};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    facts.open_files = static_cast<int64_t>(files.rlim_cur);
    facts.open_files_max = static_cast<int64_t>(files.rlim_max);
  }
  ReadPorts(questions.port_range, &facts);
  facts.versions = {{"gRPC", grpc::Version()},
                    {"Protobuf", ProtobufVersion()},
                    {"Abseil", absl::StrCat(ABSL_LTS_RELEASE_VERSION)},
                    {"compiler", __VERSION__}};
  facts.binary_dir = questions.binary_dir;
  for (const char* name : {"worker", "ps_server"}) {
    if (access(absl::StrCat(questions.binary_dir, "/", name).c_str(), X_OK) != 0) {
      facts.missing_binaries.push_back(name);
    }
  }
  facts.gnuplot = OnPath("gnuplot", questions.search_path);
  facts.data_given = questions.data_given;
  facts.data = CheckDataOf(questions.job);
  return facts;
}

}  // namespace ringside
