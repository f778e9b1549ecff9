#include "common/process_info.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace ringside {
namespace {

// First line of a file of /proc or /sys; empty where there is none.
std::string FirstLine(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

ProcessInfo ReadProcessInfo() {
  ProcessInfo info;
  char hostname[256] = "";
  if (gethostname(hostname, sizeof(hostname) - 1) == 0) info.set_hostname(hostname);
  info.set_pid(getpid());
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &cpus)) info.add_cpus(cpu);
    }
  }
  rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    info.set_cpu_seconds(Seconds(usage.ru_utime) + Seconds(usage.ru_stime));
    info.set_peak_rss_bytes(int64_t{usage.ru_maxrss} * 1024);
  }
  const std::string congestion_control = FirstLine("/proc/sys/net/ipv4/tcp_congestion_control");
  if (!congestion_control.empty())
    (*info.mutable_facts())["congestion_control"] = congestion_control;
  const std::string huge_pages = FirstLine("/sys/kernel/mm/transparent_hugepage/enabled");
  if (!huge_pages.empty()) (*info.mutable_facts())["huge_pages"] = huge_pages;
  return info;
}

}  // namespace ringside
