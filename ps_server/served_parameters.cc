#include "ps_server/served_parameters.h"

#include <utility>

#include "absl/memory/memory.h"
#include "common/payload_fold.h"
#include "common/status_macros.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<ServedParameters>> ServedParameters::Create(
    const ParameterShard::Config& config) {
  const int64_t elements = UnitTable(config.plan, config.layout, config.shard).elements();
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> parameters,
                            Arena::Create(elements, Arena::Placement::kHeap));
  std::vector<std::shared_ptr<Arena>> copies;
  for (int worker = 0; worker < config.layout.world_size; ++worker) {
    RINGSIDE_ASSIGN_OR_RETURN(std::shared_ptr<Arena> copy,
                              Arena::Create(elements, config.placement));
    copies.push_back(std::move(copy));
  }
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<ServerOptimizer> optimizer,
                            ServerOptimizer::Create(config.optimizer, config.learning_rate,
                                                    elements, config.layout.max_unit_elements()));
  return absl::WrapUnique(
      new ServedParameters(std::move(parameters), std::move(copies), std::move(optimizer)));
}

ServedParameters::ServedParameters(std::unique_ptr<Arena> parameters,
                                   std::vector<std::shared_ptr<Arena>> copies,
                                   std::unique_ptr<ServerOptimizer> optimizer)
    : parameters_(std::move(parameters)),
      copies_(std::move(copies)),
      optimizer_(std::move(optimizer)) {}

ParameterShard::Result ServedParameters::CopyFor(int worker, const UnitTable::Unit& unit,
                                                 const FrameHeader& header, ForkJoin* fork_join) {
  const absl::Span<float> copy = copies_[worker]->span().subspan(unit.position, unit.range.length);
  CopyWith(fork_join, values(unit), copy);
  ParameterShard::Result result;
  result.header = header;
  result.values = copy;
  result.owner = copies_[worker];
  result.worker = worker;
  return result;
}

std::vector<const Arena*> ServedParameters::copies() const {
  std::vector<const Arena*> arenas;
  for (const auto& copy : copies_) arenas.push_back(copy.get());
  return arenas;
}

}  // namespace ringside
