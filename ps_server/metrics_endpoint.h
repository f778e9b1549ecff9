// Serves a shard's measurements to Prometheus: GET /metrics over HTTP, in its text format.
//
// Threads of its own, with a deadline for slow clients. Nothing secret is shown and nobody is
// asked for a token, so it listens where the shard does and nowhere else.
#ifndef RINGSIDE_PS_SERVER_METRICS_ENDPOINT_H_
#define RINGSIDE_PS_SERVER_METRICS_ENDPOINT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "ps_server/shard_metrics.h"

namespace prometheus {
class Collectable;
class Exposer;
}  // namespace prometheus

namespace ringside {

class MetricsEndpoint {
 public:
  // Called for each request, from one of the endpoint's threads; must not block.
  using Snapshot = std::function<ShardMetrics()>;

  // Listens on an address of this host. `port` 0: any free one. UNAVAILABLE: it cannot be bound;
  // names the flag, the address and the port.
  static absl::StatusOr<std::unique_ptr<MetricsEndpoint>> Create(const std::string& listen_host,
                                                                 int port);
  // Ends the requests under way; `snapshot` is not called any more.
  ~MetricsEndpoint();

  // Until then requests are answered with 404. At most once.
  void Serve(Snapshot snapshot);
  // That was bound.
  int port() const { return port_; }

 private:
  MetricsEndpoint(std::unique_ptr<prometheus::Exposer> exposer, std::string listen_host, int port);

  const std::string listen_host_;
  const int port_;
  std::shared_ptr<prometheus::Collectable> collector_;  // the exposer refers to it
  std::unique_ptr<prometheus::Exposer> exposer_;
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_METRICS_ENDPOINT_H_
