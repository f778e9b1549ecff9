#include "ps_server/metrics_endpoint.h"

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>

#include <chrono>
#include <exception>
#include <future>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/check.h"
#include "common/network/endpoint.h"
#include "common/network/socket.h"
#include "ps_server/metrics_families.h"

namespace ringside {
namespace {

// One for a slow client, one for everybody else.
constexpr char kThreads[] = "2";
constexpr char kRequestTimeoutMs[] = "5000";
constexpr std::chrono::milliseconds kWakeInterval(10);

class Collector final : public prometheus::Collectable {
 public:
  explicit Collector(MetricsEndpoint::Snapshot snapshot) : snapshot_(std::move(snapshot)) {}
  std::vector<prometheus::MetricFamily> Collect() const override {
    return MetricsFamilies(snapshot_());
  }

 private:
  const MetricsEndpoint::Snapshot snapshot_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::Create(
    const std::string& listen_host, int port) {
  const std::string address = ToString(Endpoint{listen_host, port});
  // The library throws where it cannot listen; no exception passes from here.
  try {
    auto exposer = std::make_unique<prometheus::Exposer>(
        std::vector<std::string>{"listening_ports", address, "num_threads", kThreads,
                                 "request_timeout_ms", kRequestTimeoutMs});
    const std::vector<int> ports = exposer->GetListeningPorts();
    if (ports.size() == 1 && ports[0] > 0)
      return std::unique_ptr<MetricsEndpoint>(
          new MetricsEndpoint(std::move(exposer), listen_host, ports[0]));
  } catch (const std::exception&) {
    // Its message does not say what is wrong.
  }
  return absl::UnavailableError(absl::StrCat("--metrics_port=", port, ": cannot listen on ",
                                             address, "; give a free port, or 0 for any"));
}

MetricsEndpoint::MetricsEndpoint(std::unique_ptr<prometheus::Exposer> exposer,
                                 std::string listen_host, int port)
    : listen_host_(std::move(listen_host)), port_(port), exposer_(std::move(exposer)) {}

MetricsEndpoint::~MetricsEndpoint() {
  // The library's listener looks every two seconds whether it should end, or when somebody
  // connects.
  const std::future<void> ended = std::async(std::launch::async, [this] { exposer_.reset(); });
  while (ended.wait_for(kWakeInterval) == std::future_status::timeout)
    Socket::Connect({listen_host_, port_}, absl::Now() + absl::Milliseconds(10))
        .status()
        .IgnoreError();
}

void MetricsEndpoint::Serve(Snapshot snapshot) {
  RINGSIDE_CHECK(collector_ == nullptr);
  collector_ = std::make_shared<Collector>(std::move(snapshot));
  exposer_->RegisterCollectable(collector_);
}

}  // namespace ringside
