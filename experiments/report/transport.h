// What carried the gradients of a run: a report compares ways for gradients to meet, and must say
// where it compares transports as well. Pure functions.
#ifndef RINGSIDE_EXPERIMENTS_REPORT_TRANSPORT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_TRANSPORT_H_

#include <string>
#include <vector>

#include "results.pb.h"

namespace ringside {

// Links that carried the payload, ascending, "+" between them: "shm", "shm+tcp" for a mixed ring;
// "grpc", "grpc_uds" or "shm" for a parameter server, by the workers' fact "ps_link". Empty where
// nothing travels (one process), or where the run does not tell.
std::string TransportOf(const RunResult& run);
// Of several runs, which share one unless somebody merged what should not be.
std::string TransportOf(const std::vector<const RunResult*>& runs);

// Whether any of it went through TCP sockets, so that congestion control has a say. gRPC counts.
bool UsesTcp(const RunResult& run);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_TRANSPORT_H_
