// One rank of mpi_all_reducer_test, started by mpirun: sums of several lengths, out of place and in
// place, then an abort. Says "rank R of N: all sums are right", or what is wrong and exits with 1.
#include <stdio.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "allreduce/baselines/mpi/mpi_all_reducer.h"

namespace ringside {
namespace {

int Fail(const MpiWorld& world, const absl::Status& status, size_t length) {
  fprintf(stderr, "rank %d: length %zu: %s\n", world.rank(), length, status.ToString().c_str());
  return 1;
}

int CheckLength(const MpiWorld& world, AllReducer* reducer, size_t length) {
  std::vector<float> in(length);
  std::vector<float> expected(length);
  for (size_t i = 0; i < length; ++i) {
    in[i] = static_cast<float>(world.rank() + 1 + i % 7);
    expected[i] = static_cast<float>(world.size() * (world.size() + 1) / 2 +
                                     world.size() * static_cast<int>(i % 7));
  }
  const std::vector<float> original = in;
  std::vector<float> out(length, -1);
  const absl::Status apart = reducer->Sum({1, 0}, in, absl::MakeSpan(out));
  if (!apart.ok()) return Fail(world, apart, length);
  if (out != expected || in != original) {
    return Fail(world, absl::DataLossError("wrong out of place"), length);
  }
  const absl::Status in_place = reducer->Sum({2, 0}, in, absl::MakeSpan(in));
  if (!in_place.ok()) return Fail(world, in_place, length);
  return in == expected ? 0 : Fail(world, absl::DataLossError("wrong in place"), length);
}

int Main() {
  const absl::StatusOr<std::unique_ptr<MpiWorld>> world = MpiWorld::Start();
  if (!world.ok()) {
    fprintf(stderr, "%s\n", world.status().ToString().c_str());
    return 1;
  }
  MpiAllReducer reducer(world->get());
  for (const size_t length : {0, 1, 2, 31, 100000}) {
    if (CheckLength(**world, &reducer, length) != 0) return 1;
  }
  std::vector<float> buffer(3);
  const absl::Status unequal = reducer.Sum({3, 0}, buffer, absl::MakeSpan(buffer).first(2));
  if (unequal.code() != absl::StatusCode::kInvalidArgument) return Fail(**world, unequal, 3);
  reducer.Abort(absl::CancelledError("enough"));
  const absl::Status aborted = reducer.Sum({4, 0}, buffer, absl::MakeSpan(buffer));
  if (aborted != absl::CancelledError("enough")) return Fail(**world, aborted, 3);
  if (MpiWorld::Start().ok()) return Fail(**world, absl::InternalError("started twice"), 0);
  printf("rank %d of %d: all sums are right, by %s\n", (*world)->rank(), (*world)->size(),
         MpiWorld::LibraryVersion().c_str());
  return 0;
}

}  // namespace
}  // namespace ringside

int main() { return ringside::Main(); }
