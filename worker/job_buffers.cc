#include "worker/job_buffers.h"

#include <algorithm>
#include <string>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {

absl::StatusOr<std::unique_ptr<JobBuffers>> JobBuffers::Create(const WorkerConfig& config,
                                                               const Model& model) {
  BufferValues values = BufferValues::For(model);
  if (!values.empty()) {
    RINGSIDE_RETURN_IF_ERROR(ReadBuffers(model, &values));
    if (config.job.buffers != "rank0" && config.job.checkpoints()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--buffers=", config.job.buffers,
                       ": must be rank0 where checkpoints are saved, which have rank 0's alone"));
    }
  }
  return absl::WrapUnique(new JobBuffers(config, std::move(values)));
}

absl::Status JobBuffers::Note(const Trainer& trainer) {
  RINGSIDE_ASSIGN_OR_RETURN(const BufferValues now,
                            trainer.Buffers(config_.hosted_ranks().front()));
  std::copy(now.floats.begin(), now.floats.end(), values_.floats.begin());
  std::copy(now.counters.begin(), now.counters.end(), values_.counters.begin());
  return absl::OkStatus();
}

absl::Status JobBuffers::Merge(CoordinatorClient* client, Trainer* trainer) {
  if (values_.empty()) return absl::OkStatus();
  const std::string& how = config_.job.buffers;
  if (how != "local") {
    RINGSIDE_ASSIGN_OR_RETURN(const std::vector<BufferValues> by_rank,
                              Gather(how == "mean", client, *trainer));
    RINGSIDE_RETURN_IF_ERROR(
        trainer->SetBuffers(how == "mean" ? MeanOfBuffers(by_rank) : by_rank.front()));
  }
  return Note(*trainer);
}

absl::StatusOr<std::vector<BufferValues>> JobBuffers::Gather(bool of_all, CoordinatorClient* client,
                                                             const Trainer& trainer) const {
  std::vector<BufferValues> by_rank;
  for (int rank : config_.hosted_ranks()) {
    RINGSIDE_ASSIGN_OR_RETURN(BufferValues own, trainer.Buffers(rank));
    by_rank.push_back(std::move(own));
  }
  if (config_.job.worker_processes() == 1) return by_rank;
  const std::string own = of_all || config_.rank == 0 ? EncodeBuffers(by_rank.front()) : "";
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<std::string> blobs,
                            client->GatherForAll("buffers", WorkersOf(client->membership()), own,
                                                 config_.job.step_timeout));
  by_rank.assign(of_all ? blobs.size() : 1, values_);
  for (size_t rank = 0; rank < by_rank.size(); ++rank) {
    RINGSIDE_RETURN_IF_ERROR(DecodeBuffers(blobs[rank], &by_rank[rank]));
  }
  return by_rank;
}

}  // namespace ringside
