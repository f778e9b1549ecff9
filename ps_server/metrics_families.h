// A shard's measurements as Prometheus has them: names, types, labels. Pure.
#ifndef RINGSIDE_PS_SERVER_METRICS_FAMILIES_H_
#define RINGSIDE_PS_SERVER_METRICS_FAMILIES_H_

#include <prometheus/metric_family.h>

#include <vector>

#include "ps_server/shard_metrics.h"

namespace ringside {

// Names begin with ringside_ps_, and every metric has the label `shard`. Seconds and bytes are
// plain, counters end in _total. What a mode does not have is 0 or, for the staleness, left out.
std::vector<prometheus::MetricFamily> MetricsFamilies(const ShardMetrics& metrics);

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_METRICS_FAMILIES_H_
