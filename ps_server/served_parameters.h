// The parameters of a shard whose workers are not in step: each is answered with a copy of its own,
// so that an update does not change what is on its way to somebody else.
//
// A copy is rewritten only when its worker is answered again, which it is at most once for each
// push, and it pushes a unit again only after it has received all of the answer: so nobody reads a
// copy that is rewritten. Thread-compatible. Memory: the shard's elements for the parameters and
// for each worker, and the optimizer's state.
#ifndef RINGSIDE_PS_SERVER_SERVED_PARAMETERS_H_
#define RINGSIDE_PS_SERVER_SERVED_PARAMETERS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/arena.h"
#include "common/fork_join.h"
#include "common/unit_table.h"
#include "ps_server/parameter_shard.h"
#include "ps_server/server_optimizer.h"

namespace ringside {

class ServedParameters {
 public:
  // INVALID_ARGUMENT, RESOURCE_EXHAUSTED: as ServerOptimizer::Create and Arena::Create.
  static absl::StatusOr<std::unique_ptr<ServedParameters>> Create(
      const ParameterShard::Config& config);

  absl::Span<float> values(const UnitTable::Unit& unit) {
    return parameters_->span().subspan(unit.position, unit.range.length);
  }
  absl::Span<float> all() { return parameters_->span(); }
  ServerOptimizer& optimizer() { return *optimizer_; }

  // A copy for `worker`, of the unit as it is now, as the result `header`.
  ParameterShard::Result CopyFor(int worker, const UnitTable::Unit& unit, const FrameHeader& header,
                                 ForkJoin* fork_join);
  // The copies, by worker.
  std::vector<const Arena*> copies() const;

 private:
  ServedParameters(std::unique_ptr<Arena> parameters, std::vector<std::shared_ptr<Arena>> copies,
                   std::unique_ptr<ServerOptimizer> optimizer);

  const std::unique_ptr<Arena> parameters_;
  const std::vector<std::shared_ptr<Arena>> copies_;
  const std::unique_ptr<ServerOptimizer> optimizer_;
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_SERVED_PARAMETERS_H_
