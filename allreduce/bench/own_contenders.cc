#include "allreduce/bench/own_contenders.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "allreduce/bench/sum_task.h"
#include "allreduce/reducer_factory.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

std::string Encode(const PeerAddress& address) {
  BenchPeerAddress message;
  message.set_host(address.tcp.host);
  message.set_port(address.tcp.port);
  message.set_local(address.local);
  *message.mutable_identity() = address.host;
  return message.SerializeAsString();
}

absl::StatusOr<PeerAddress> Decode(const std::string& text) {
  BenchPeerAddress message;
  if (!message.ParseFromString(text)) return absl::InvalidArgumentError("no address of a peer");
  PeerAddress address;
  address.tcp = {message.host(), message.port()};
  address.local = message.local();
  address.host = message.identity();
  return address;
}

absl::Status CheckLink(const Contender& contender,
                       const std::map<std::string, std::string>& facts) {
  if (contender.variant == "auto") return absl::OkStatus();
  for (const char* side : {"left_link", "right_link"}) {
    const auto fact = facts.find(side);
    if (fact == facts.end() || fact->second == contender.variant) continue;
    return absl::FailedPreconditionError(absl::StrCat(contender.name, " came out with ", side, " ",
                                                      fact->second, " instead of ",
                                                      contender.variant));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<RankTask>> MakeOwnContender(const Contender& contender,
                                                           RankContext* context) {
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<DataPorts> ports,
                            DataPorts::Open({"127.0.0.1", "127.0.0.1", PortRange()}));
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<std::string> peers,
                            context->exchange()(Encode(ports->address())));
  ReducerConfig config;
  config.group = Group::World(context->world_size(), context->rank(), 1);
  for (const std::string& peer : peers) {
    RINGSIDE_ASSIGN_OR_RETURN(PeerAddress address, Decode(peer));
    config.peers.push_back(std::move(address));
  }
  config.link = contender.variant;
  config.schedule = contender.schedule;
  RINGSIDE_ASSIGN_OR_RETURN(config.wire_dtype, ParseWireDtype(context->setup().wire_dtype()));
  config.segment_bytes = context->setup().segment_bytes();
  config.max_elements = context->setup().max_elements();
  config.congestion_control = context->setup().congestion_control();
  config.step_timeout = context->timeout();
  config.connect_timeout = context->timeout();
  SumTask::Config task;
  task.context = context;
  if (contender.arenas) {
    RINGSIDE_ASSIGN_OR_RETURN(Arena * input, context->Input());
    RINGSIDE_ASSIGN_OR_RETURN(Arena * output, context->Output());
    config.arenas = {input, output};
    task.input = input->span();
    task.output = output->span();
  } else {
    task.input = context->HeapInput();
    task.output = context->HeapOutput();
  }
  RINGSIDE_ASSIGN_OR_RETURN(MadeReducer made, MakeReducer(std::move(ports), std::move(config)));
  RINGSIDE_RETURN_IF_ERROR(CheckLink(contender, made.facts));
  task.facts = made.facts;
  task.facts["schedule"] = made.schedule;
  task.reducer = std::move(made.reducer);
  task.expected_traffic = std::move(made.expected_traffic);
  return std::make_unique<SumTask>(std::move(task));
}

}  // namespace ringside
