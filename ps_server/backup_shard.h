// The shard of the mode `backup` (Chen et al. 2016, "Revisiting Distributed Synchronous SGD"): a
// step takes the gradients of the first N - b workers that have pushed all of it, and drops the
// others'.
//
// Shard 0 elects: the first N - b workers whose push of the open step is complete there. The other
// shards follow its word, so that a step is made of the same workers everywhere. Until it is known,
// whatever arrives is parked. Then each unit is folded in law order over the elected workers alone,
// and scaled to their samples: workers push their gradient times own samples / full batch, and the
// sum is multiplied by full batch / samples that counted, so that it is the mean over those. Then
// the optimizer is applied.
//
// Whoever has pushed the step, counted or not, is answered with the parameters as soon as the unit
// is updated. Who comes later is answered at once, with newer parameters: results say of which step
// they are. A worker that is sent units of different steps pulls until all are of one step, and
// goes on with the next.
#ifndef RINGSIDE_PS_SERVER_BACKUP_SHARD_H_
#define RINGSIDE_PS_SERVER_BACKUP_SHARD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ps_server/parameter_shard.h"
#include "ps_server/parked_pushes.h"
#include "ps_server/served_parameters.h"

namespace ringside {

class BackupShard final : public ParameterShard {
 public:
  // As ParameterShard::Create, which calls it. INVALID_ARGUMENT also: backup workers that leave
  // nobody, or no full batch.
  static absl::StatusOr<std::unique_ptr<ParameterShard>> Create(Config config);

  // FAILED_PRECONDITION also: not the number of workers that count, or no such worker.
  absl::Status Elect(const Election& election, std::vector<Result>* results) override;

  uint64_t open_step() const override { return open_step_; }
  bool somebody_waits() const override { return complete_workers_ > 0 || pulling_ > 0; }
  int64_t parked_frames() const override { return parked_.frames(); }
  std::vector<const Arena*> result_arenas() const override { return served_->copies(); }
  absl::optional<State> MutableState() override;

 private:
  BackupShard(const Config& config, std::unique_ptr<ServedParameters> served);

  absl::Status TakePush(int unit, const FrameHeader& header, FramePayload payload,
                        std::vector<Result>* results) override;
  absl::Status TakePull(const FrameHeader& header, std::vector<Result>* results) override;
  bool HasPushed(int unit, int worker) const override;

  int needed() const { return world_size() - backup_workers_; }
  // Parks what belongs to the open step; the worker may be elected for it.
  void ParkPush(int unit, const FrameHeader& header, FramePayload payload,
                std::vector<Result>* results);
  void CountLate(int worker, uint64_t step);
  // Updates every unit that has all elected contributions.
  void UpdateReady(std::vector<Result>* results);
  bool IsReady(int unit) const;
  void Update(int unit, std::vector<Result>* results);
  void Answer(int unit, int worker, std::vector<Result>* results);
  void AnswerPulls(std::vector<Result>* results);
  void OpenNextStep(std::vector<Result>* results);

  const int backup_workers_;
  const int64_t full_batch_;
  const std::function<void(const Election&)> on_election_;
  const std::unique_ptr<ServedParameters> served_;

  uint64_t open_step_;
  ParkedPushes parked_;
  std::vector<uint64_t> unit_step_;  // of the parameters of each unit; before step 0: kNoStep
  int updated_units_ = 0;            // in the open step
  int complete_workers_ = 0;         // that have pushed all units of it
  std::vector<int> arrived_;         // those, in the order of their coming
  std::vector<int> elected_;         // ascending; empty: not known yet
  std::vector<uint64_t> pushed_;     // the last step, by unit and worker
  std::vector<uint64_t> last_late_;  // step that was counted as late last, by worker
  static constexpr uint64_t kNoStep = ~uint64_t{0};
  std::vector<uint64_t> pulls_;  // step that is waited for, by worker; kNoStep: none
  int pulling_ = 0;
  std::vector<const FramePayload*> in_order_;
};

}  // namespace ringside

#endif  // RINGSIDE_PS_SERVER_BACKUP_SHARD_H_
