#include "worker/data/batch_loader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/element_range.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// So far before every position that nothing may be loaded.
constexpr int64_t kNowhere = std::numeric_limits<int64_t>::min() / 2;

int64_t LargestMicroBatch(const BatchLoader::Config& config, int64_t samples) {
  const int64_t batch = std::min(config.global_batch_size, samples);
  const int64_t parts = int64_t{config.world_size} * config.accumulate;
  return (batch + parts - 1) / parts;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BatchLoader>> BatchLoader::Create(Config config,
                                                                 const Dataset* data) {
  if (config.accumulate < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--accumulate=", config.accumulate, ": must be at least 1"));
  }
  if (config.threads < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--data_threads=", config.threads, ": must be at least 0"));
  }
  RINGSIDE_CHECK(!config.ranks.empty());
  RINGSIDE_ASSIGN_OR_RETURN(Sampler sampler,
                            Sampler::Create(data->size(), config.global_batch_size, config.seed));
  return absl::WrapUnique(new BatchLoader(std::move(config), data, std::move(sampler)));
}

BatchLoader::BatchLoader(Config config, const Dataset* data, Sampler sampler)
    : config_(std::move(config)),
      data_(data),
      steps_per_epoch_(sampler.steps_per_epoch()),
      sampler_(std::move(sampler)),
      lent_(kNowhere) {
  const int slots = config_.threads == 0 ? 1 : config_.threads + 2;
  const int64_t samples = LargestMicroBatch(config_, data_->size());
  slots_.reserve(slots);
  for (int i = 0; i < slots; ++i) slots_.emplace_back(BatchBuffer(data_->sample_shape(), samples));
  threads_.reserve(config_.threads);
  for (int i = 0; i < config_.threads; ++i) threads_.emplace_back([this] { Serve(); });
}

BatchLoader::~BatchLoader() {
  {
    MutexLock lock(&mutex_);
    ending_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

absl::StatusOr<BatchLoader::MicroBatch> BatchLoader::Get(int64_t step, int rank, int part) {
  const int64_t position = PositionOf(step, rank, part);
  Slot& slot = SlotOf(position);
  if (threads_.empty()) {
    {
      MutexLock lock(&mutex_);
      Describe(position, &slot);
    }
    Load(&slot);
  } else {
    MutexLock lock(&mutex_);
    if (position != lent_ + 1) StartAt(position);
    lent_ = position;  // the buffer that was lent before is free
    changed_.NotifyAll();
    while (slot.holds != position) changed_.Wait(&mutex_);
  }
  if (slot.status.ok()) return slot.micro_batch;
  MutexLock lock(&mutex_);
  lent_ = kNowhere;  // asking again loads again
  return slot.status;
}

int64_t BatchLoader::PositionOf(int64_t step, int rank, int part) const {
  const auto place = std::find(config_.ranks.begin(), config_.ranks.end(), rank);
  RINGSIDE_CHECK(step >= 1 && place != config_.ranks.end());
  RINGSIDE_CHECK(part >= 0 && part < config_.accumulate);
  const auto ranks = static_cast<int64_t>(config_.ranks.size());
  return ((step - 1) * ranks + (place - config_.ranks.begin())) * config_.accumulate + part;
}

void BatchLoader::Describe(int64_t position, Slot* slot) {
  const auto ranks = static_cast<int64_t>(config_.ranks.size());
  const int64_t part = position % config_.accumulate;
  const int rank = config_.ranks[position / config_.accumulate % ranks];
  const int64_t step = position / config_.accumulate / ranks + 1;
  // Shuffles where an epoch begins.
  const Sampler::Share share = sampler_.ShareOf(step, config_.world_size, rank);
  MicroBatch& micro_batch = slot->micro_batch;
  micro_batch.epoch = share.epoch;
  micro_batch.global_samples = share.global_samples;
  micro_batch.rank_samples = static_cast<int64_t>(share.indices.size());
  const ElementRange range = Part({0, micro_batch.rank_samples}, config_.accumulate, part);
  micro_batch.samples = range.length;
  const auto indices = share.indices.subspan(range.begin, range.length);
  slot->indices.assign(indices.begin(), indices.end());
}

void BatchLoader::Load(Slot* slot) const {
  const int64_t samples = slot->micro_batch.samples;
  slot->status = data_->Fetch(slot->indices, slot->buffer.spans(samples));
  slot->micro_batch.batch = slot->buffer.batch(samples);
}

void BatchLoader::Serve() {
  for (int64_t position = Claim(); position >= 0; position = Claim()) {
    Load(&SlotOf(position));
    Deliver(position);
  }
}

int64_t BatchLoader::Claim() {
  MutexLock lock(&mutex_);
  const auto slots = static_cast<int64_t>(slots_.size());
  while (!ending_ && next_ >= lent_ + slots) changed_.Wait(&mutex_);
  if (ending_) return -1;
  const int64_t position = next_++;
  Describe(position, &SlotOf(position));
  ++busy_;
  return position;
}

void BatchLoader::Deliver(int64_t position) {
  MutexLock lock(&mutex_);
  SlotOf(position).holds = position;
  --busy_;
  changed_.NotifyAll();
}

void BatchLoader::StartAt(int64_t position) {
  lent_ = kNowhere;  // nobody begins to load
  while (busy_ > 0) changed_.Wait(&mutex_);
  for (Slot& slot : slots_) slot.holds = -1;
  next_ = position;
}

}  // namespace ringside
