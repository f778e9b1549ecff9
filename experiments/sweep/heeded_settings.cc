#include "experiments/sweep/heeded_settings.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "experiments/report/series.h"
#include "experiments/report/server_mode.h"

namespace ringside {
namespace {

using Names = std::set<std::string, std::less<>>;

bool IsOfServers(absl::string_view setting) {
  static const auto* const names = new Names{"ps_shards", "placement", "snapshot_steps"};
  const std::vector<std::string>& modes = ServerSettings();
  return names->count(setting) > 0 || std::find(modes.begin(), modes.end(), setting) != modes.end();
}

bool IsOfRings(absl::string_view setting) {
  static const auto* const names = new Names{"ring_link", "schedule", "segment_bytes"};
  return names->count(setting) > 0;
}

bool IsOfTransport(absl::string_view setting) {
  static const auto* const names =
      new Names{"network", "frame_bytes", "congestion_control", "overlap", "malloc"};
  return names->count(setting) > 0 || absl::StartsWith(setting, "grpc_");
}

}  // namespace

bool IsHeeded(absl::string_view strategy, absl::string_view setting) {
  if (IsOneProcess(strategy))
    return !IsOfServers(setting) && !IsOfRings(setting) && !IsOfTransport(setting);
  return IsParameterServer(strategy) ? !IsOfRings(setting) : !IsOfServers(setting);
}

}  // namespace ringside
