#include "allreduce/bench/memory_task.h"

#include <algorithm>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/time/clock.h"
#include "allreduce/bench/neighbours.h"
#include "allreduce/bench/stopwatch.h"
#include "common/element_range.h"
#include "common/network/descriptor_passing.h"
#include "common/reduction.h"
#include "common/status_macros.h"

namespace ringside {
absl::StatusOr<std::unique_ptr<RankTask>> MemoryTask::Create(RankContext* context) {
  const absl::Time deadline = absl::Now() + context->timeout();
  RINGSIDE_ASSIGN_OR_RETURN(Arena * input, context->Input());
  RINGSIDE_ASSIGN_OR_RETURN(Arena * output, context->Output());
  RINGSIDE_ASSIGN_OR_RETURN(const Neighbours neighbours,
                            ConnectNeighbours("uds", context->rank(), context->world_size(), "",
                                              context->exchange(), deadline));
  const int own = output->memory_fd();
  RINGSIDE_RETURN_IF_ERROR(
      SendDescriptors(neighbours.right.get(), absl::MakeConstSpan(&own, 1), deadline));
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<FileDescriptor> passed,
                            ReceiveDescriptors(neighbours.left.get(), deadline));
  RINGSIDE_ASSIGN_OR_RETURN(std::unique_ptr<PeerMemory> memory, PeerMemory::Map(passed));
  const auto elements = static_cast<size_t>(context->setup().max_elements());
  const uint8_t* left =
      memory->num_segments() != 1 ? nullptr : memory->Find(0, 0, elements * sizeof(float));
  if (left == nullptr) return absl::InvalidArgumentError("the left neighbour passed no such arena");
  const absl::Span<const float> left_floats(reinterpret_cast<const float*>(left), elements);
  return absl::WrapUnique<RankTask>(new MemoryTask(context, std::move(memory), left_floats,
                                                   input->span(), output->span(), UsableCores()));
}

// Chunk r - 1 - step in step `step`, as the reduce-scatter of rank r meets them.
void MemoryTask::AddChunks(int64_t elements) {
  const int size = context_->world_size();
  for (int step = 0; step < size - 1; ++step) {
    const ElementRange chunk =
        Part({0, elements}, size, (context_->rank() + 2 * size - 1 - step) % size);
    AddPart(left_.subspan(chunk.begin, chunk.length), input_.subspan(chunk.begin, chunk.length),
            output_.subspan(chunk.begin, chunk.length), elements);
  }
}

// Chunk r - step in step `step`, as the all-gather meets them.
void MemoryTask::CopyChunks(int64_t elements) {
  const int size = context_->world_size();
  for (int step = 0; step < size - 1; ++step) {
    const ElementRange chunk = Part({0, elements}, size, (context_->rank() + size - step) % size);
    CopyPart(left_.subspan(chunk.begin, chunk.length), output_.subspan(chunk.begin, chunk.length),
             elements);
  }
}

absl::Status MemoryTask::Meet() const { return context_->exchange()("").status(); }

absl::Status MemoryTask::Run(const RankRun& run, RankDone* done) {
  const int active = std::min(context_->world_size(), cores_);
  const double turns = static_cast<double>(context_->world_size()) / active;
  const bool is_active = context_->rank() < active;
  const int iterations = run.warmup() + run.iterations();
  std::vector<double> seconds(is_active ? iterations : 0);
  RINGSIDE_RETURN_IF_ERROR(Meet());
  for (double& each : seconds) {
    each = SecondsOf([&] {
      AddChunks(run.elements());
      CopyChunks(run.elements());
    });
  }
  for (size_t i = run.warmup(); i < seconds.size(); ++i) done->add_durations_s(turns * seconds[i]);
  return absl::OkStatus();
}

}  // namespace ringside
