#include "allreduce/direct_all_reducer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "allreduce/patience.h"
#include "common/check.h"
#include "common/element_range.h"
#include "common/reduction.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {
namespace {

// How long one sleep lasts at most, since a peer that dies wakes nobody.
constexpr absl::Duration kLongestSleep = absl::Milliseconds(10);
// What is folded at a time before it is copied to all ranks.
constexpr int64_t kBlockElements = 2048;

constexpr int64_t kFloatBytes = sizeof(float);

bool IsShort(int64_t elements, int64_t size) {
  constexpr int64_t kShortBytesPerPeer = 4 << 10;
  return elements * kFloatBytes <=
         std::min(DirectAllReducer::kSlotBytes, kShortBytesPerPeer * (size - 1));
}

absl::Span<const uint8_t> BytesOf(absl::Span<const float> values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(float)};
}

DirectBoard::Buffer Locate(const OwnMemory& memory, absl::Span<const float> values) {
  const auto location = memory.Locate(BytesOf(values));
  if (!location.has_value()) return {DirectBoard::kNoSegment, 0};
  return {location->segment, location->offset};
}

}  // namespace

absl::StatusOr<std::unique_ptr<DirectAllReducer>> DirectAllReducer::Create(Config config) {
  const Group& group = config.group;
  if (group.size() < 2 || group.index < 0 || group.index >= group.size() ||
      static_cast<int>(config.peers.size()) != group.size() || config.memory == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("index ", group.index, " of ", group.size(),
                                                   " ranks with ", config.peers.size(),
                                                   " peers; a direct all-reduce needs at least 2"));
  }
  if (config.step_timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "step timeout of ", absl::FormatDuration(config.step_timeout), "; it must be positive"));
  }
  for (int index = 0; index < group.size(); ++index) {
    if (index == group.index) continue;
    const Peer& peer = config.peers[index];
    if (peer.memory == nullptr || peer.socket == nullptr ||
        peer.memory->segment(0).size() < config.memory->staging().size()) {
      return absl::InvalidArgumentError(absl::StrCat("worker ", group.members[index],
                                                     " shares no memory of a direct all-reduce"));
    }
  }
  return absl::WrapUnique(new DirectAllReducer(std::move(config)));
}

DirectAllReducer::DirectAllReducer(Config config)
    : group_(std::move(config.group)),
      memory_(std::move(config.memory)),
      peers_(std::move(config.peers)),
      step_timeout_(config.step_timeout),
      boards_([this] {
        std::vector<DirectBoard*> boards;
        for (int index = 0; index < group_.size(); ++index) {
          boards.push_back(reinterpret_cast<DirectBoard*>(
              index == group_.index ? memory_->control()
                                    : peers_[index].memory->segment(0).data()));
        }
        return boards;
      }()),
      meeting_(&boards_[0]->meeting),
      ins_(group_.members.size()),
      outs_(group_.members.size()),
      terms_(group_.members.size()) {
  const std::ptrdiff_t control_bytes = memory_->staging().data() - memory_->control();
  for (DirectBoard* board : boards_) {
    staging_.push_back(reinterpret_cast<uint8_t*>(board) + control_bytes);
  }
}

absl::Status DirectAllReducer::Sum(CollectiveId id, absl::Span<const float> in,
                                   absl::Span<float> out) {
  RINGSIDE_CHECK(in.size() == out.size());
  RINGSIDE_RETURN_IF_ERROR(FirstError());
  if (in.empty()) return absl::OkStatus();
  const Exchange exchange{id, in, out, absl::Now() + step_timeout_};
  const absl::Status status = Run(exchange);
  if (status.ok()) return status;
  absl::Status explained(status.code(), absl::StrCat("direct all-reduce: ", status.message(),
                                                     " in step ", id.step, " bucket ", id.bucket));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    explained.SetPayload(url, payload);
  });
  return Fail(std::move(explained));
}

absl::Status DirectAllReducer::Run(const Exchange& exchange) {
  Announce(exchange);
  if (IsShort(static_cast<int64_t>(exchange.in.size()), size())) return SumShort(exchange);
  RINGSIDE_RETURN_IF_ERROR(Meet(exchange.deadline));
  RINGSIDE_RETURN_IF_ERROR(CheckAnnouncements(exchange));
  RINGSIDE_ASSIGN_OR_RETURN(const bool in_arenas, FindBuffers(exchange));
  RINGSIDE_RETURN_IF_ERROR(in_arenas ? SumLong(exchange) : SumInWindows(exchange));
  CountLong(Part({0, static_cast<int64_t>(exchange.in.size())}, size(), group_.index).length);
  return absl::OkStatus();
}

absl::Status DirectAllReducer::SumShort(const Exchange& exchange) {
  const int64_t slot = static_cast<int64_t>(short_sums_++ % 2) * kSlotBytes;
  std::memcpy(Staging(group_.index, slot), exchange.in.data(), exchange.in.size() * sizeof(float));
  RINGSIDE_RETURN_IF_ERROR(Meet(exchange.deadline));
  RINGSIDE_RETURN_IF_ERROR(CheckAnnouncements(exchange));
  for (int index = 0; index < group_.size(); ++index) ins_[index] = Staging(index, slot);
  const auto elements = static_cast<int64_t>(exchange.in.size());
  FoldRangeInLawOrder(ins_, elements, {0, elements}, exchange.out);
  bytes_read_.fetch_add((size() - 1) * elements * kFloatBytes, std::memory_order_relaxed);
  messages_read_.fetch_add(size() - 1, std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::Status DirectAllReducer::SumLong(const Exchange& exchange) {
  const auto elements = static_cast<int64_t>(exchange.in.size());
  FoldOwn(Part({0, elements}, size(), group_.index), elements);
  return Meet(exchange.deadline);
}

// Window k holds elements [k w, k w + w) of every chunk, the chunks one after the other.
absl::Status DirectAllReducer::SumInWindows(const Exchange& exchange) {
  const ElementRange whole{0, static_cast<int64_t>(exchange.in.size())};
  const int64_t width = kWindowBytes / kFloatBytes / size();
  constexpr int64_t kIn = 2 * kSlotBytes;
  constexpr int64_t kOut = kIn + kWindowBytes;
  for (int index = 0; index < group_.size(); ++index) {
    ins_[index] = Staging(index, kIn);
    outs_[index] = Staging(index, kOut);
  }
  const auto part_of = [&](int64_t chunk, int64_t begin) {
    const ElementRange range = Part(whole, size(), chunk);
    return Intersect(range, {range.begin + begin, width});
  };
  const int64_t longest = Part(whole, size(), 0).length;
  for (int64_t begin = 0; begin < longest; begin += width) {
    if (absl::Now() >= exchange.deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat("not done within ", absl::FormatDuration(step_timeout_)));
    }
    for (int64_t chunk = 0; chunk < size(); ++chunk) {
      const ElementRange part = part_of(chunk, begin);
      Copy(exchange.in.subspan(part.begin, part.length),
           {Staging(group_.index, kIn) + chunk * width, static_cast<size_t>(part.length)});
    }
    RINGSIDE_RETURN_IF_ERROR(Meet(exchange.deadline));
    FoldOwn({group_.index * width, part_of(group_.index, begin).length}, width);
    RINGSIDE_RETURN_IF_ERROR(Meet(exchange.deadline));
    for (int64_t chunk = 0; chunk < size(); ++chunk) {
      const ElementRange part = part_of(chunk, begin);
      Copy({Staging(group_.index, kOut) + chunk * width, static_cast<size_t>(part.length)},
           exchange.out.subspan(part.begin, part.length));
    }
  }
  return absl::OkStatus();
}

void DirectAllReducer::FoldOwn(ElementRange range, int64_t whole_elements) {
  alignas(64) float block[kBlockElements];  // stays in the first-level cache
  for (int64_t begin = range.begin; begin < range.end(); begin += kBlockElements) {
    const auto length = static_cast<size_t>(std::min(kBlockElements, range.end() - begin));
    for (int64_t k = 0; k < size(); ++k) terms_[k] = ins_[(group_.index + k) % size()] + begin;
    const absl::Span<float> sum(block, length);
    Fold(terms_, sum);
    for (int index = 0; index < group_.size(); ++index) {
      CopyPart(sum, {outs_[index] + begin, length}, whole_elements);
    }
  }
}

void DirectAllReducer::Announce(const Exchange& exchange) {
  DirectBoard::Announcement& announcement = boards_[group_.index]->announcements[sums_++ % 2];
  announcement.group = group_.id;
  announcement.generation = group_.generation;
  announcement.step = exchange.id.step;
  announcement.bucket = exchange.id.bucket;
  announcement.elements = exchange.in.size();
  announcement.in = Locate(*memory_, exchange.in);
  announcement.out = Locate(*memory_, exchange.out);
}

absl::Status DirectAllReducer::CheckAnnouncements(const Exchange& exchange) const {
  for (int index = 0; index < group_.size(); ++index) {
    const DirectBoard::Announcement& theirs = BoardOf(index).announcements[(sums_ - 1) % 2];
    const std::string who = absl::StrCat("worker ", group_.members[index]);
    std::string what;
    if (theirs.group != group_.id || theirs.generation != group_.generation) {
      what = absl::StrCat(who, " is in group ", theirs.group, " generation ", theirs.generation,
                          ", this process in group ", group_.id, " generation ", group_.generation);
    } else if (theirs.step != exchange.id.step || theirs.bucket != exchange.id.bucket) {
      what = absl::StrCat(who, " sums step ", theirs.step, " bucket ", theirs.bucket);
    } else if (theirs.elements != exchange.in.size()) {
      what = absl::StrCat("a wrong length: ", who, " sums ", theirs.elements,
                          " elements, this process ", exchange.in.size());
    } else {
      continue;
    }
    return WithSuspects(absl::FailedPreconditionError(what), {WorkerId(group_.members[index])});
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> DirectAllReducer::FindBuffers(const Exchange& exchange) {
  const uint64_t bytes = exchange.in.size() * sizeof(float);
  bool all = true;
  for (int index = 0; index < group_.size(); ++index) {
    const DirectBoard::Announcement& theirs = BoardOf(index).announcements[(sums_ - 1) % 2];
    if (theirs.in.segment == DirectBoard::kNoSegment ||
        theirs.out.segment == DirectBoard::kNoSegment) {
      all = false;
      continue;
    }
    if (index == group_.index) {
      ins_[index] = exchange.in.data();
      outs_[index] = exchange.out.data();
      continue;
    }
    const PeerMemory& memory = *peers_[index].memory;
    const uint8_t* const in = memory.Find(theirs.in.segment, theirs.in.offset, bytes);
    uint8_t* const out = memory.Find(theirs.out.segment, theirs.out.offset, bytes);
    if (in == nullptr || out == nullptr ||
        (theirs.in.offset | theirs.out.offset) % sizeof(float) != 0) {
      return WithSuspects(
          absl::InvalidArgumentError(absl::StrCat("worker ", group_.members[index],
                                                  " announces buffers outside of its memory")),
          {WorkerId(group_.members[index])});
    }
    ins_[index] = reinterpret_cast<const float*>(in);
    outs_[index] = reinterpret_cast<float*>(out);
  }
  return all;
}

absl::Status DirectAllReducer::Meet(absl::Time deadline) {
  const uint32_t ended = meeting_->ended();
  boards_[group_.index]->come.store(++meetings_, std::memory_order_relaxed);
  if (meeting_->Come(group_.size())) return absl::OkStatus();
  const auto over = [&] { return meeting_->ended() != ended; };
  while (!AwaitPatiently(over, &patience_)) {
    const absl::Time now = absl::Now();
    meeting_->Sleep(ended, std::min(kLongestSleep, deadline - now));
    if (over()) break;
    if (interrupted_.load(std::memory_order_relaxed)) return absl::AbortedError("interrupted");
    RINGSIDE_RETURN_IF_ERROR(CheckPeers(ended));
    if (absl::Now() >= deadline && !over()) return MissingError();
  }
  return absl::OkStatus();
}

absl::Status DirectAllReducer::CheckPeers(uint32_t ended) {
  for (int index = 0; index < group_.size(); ++index) {
    if (index == group_.index) continue;
    uint8_t byte = 0;
    const auto transfer = peers_[index].socket->TryRead(absl::MakeSpan(&byte, 1));
    if (transfer.ok() || meeting_->ended() != ended) continue;
    return WithSuspects(
        absl::Status(transfer.status().code(), absl::StrCat("worker ", group_.members[index], ": ",
                                                            transfer.status().message())),
        {WorkerId(group_.members[index])});
  }
  return absl::OkStatus();
}

absl::Status DirectAllReducer::MissingError() const {
  std::vector<MemberId> missing;
  for (int index = 0; index < group_.size(); ++index) {
    if (BoardOf(index).come.load(std::memory_order_relaxed) < meetings_) {
      missing.push_back(WorkerId(group_.members[index]));
    }
  }
  return WithSuspects(
      absl::DeadlineExceededError(absl::StrCat("no sign of ", ToString(missing), " for ",
                                               absl::FormatDuration(step_timeout_))),
      missing);
}

float* DirectAllReducer::Staging(int index, int64_t offset) const {
  return reinterpret_cast<float*>(staging_[index] + offset);
}

void DirectAllReducer::CountLong(int64_t own_elements) {
  if (own_elements == 0) return;
  const int64_t bytes = (size() - 1) * own_elements * kFloatBytes;
  bytes_read_.fetch_add(bytes, std::memory_order_relaxed);
  bytes_written_.fetch_add(bytes, std::memory_order_relaxed);
  messages_read_.fetch_add(size() - 1, std::memory_order_relaxed);
  messages_written_.fetch_add(size() - 1, std::memory_order_relaxed);
}

TrafficCounters DirectAllReducer::traffic() const {
  TrafficCounters counters;
  counters.payload_bytes_received = bytes_read_.load(std::memory_order_relaxed);
  counters.payload_bytes_sent = bytes_written_.load(std::memory_order_relaxed);
  counters.messages_received = messages_read_.load(std::memory_order_relaxed);
  counters.messages_sent = messages_written_.load(std::memory_order_relaxed);
  return counters;
}

absl::Status DirectAllReducer::FirstError() {
  MutexLock lock(&mutex_);
  return status_;
}

absl::Status DirectAllReducer::Fail(absl::Status status) {
  MutexLock lock(&mutex_);
  if (status_.ok()) status_ = std::move(status);
  return status_;
}

void DirectAllReducer::Abort(absl::Status cause) {
  if (cause.ok()) cause = absl::AbortedError("aborted without a cause");
  static_cast<void>(Fail(std::move(cause)));
  interrupted_.store(true);
}

TrafficCounters DirectTraffic(absl::Span<const int64_t> elements, int size, int index) {
  TrafficCounters counters;
  for (const int64_t length : elements) {
    const bool is_short = IsShort(length, size);
    const int64_t read = is_short ? length : Part({0, length}, size, index).length;
    if (read == 0 || size < 2) continue;
    counters.payload_bytes_received += (size - 1) * read * kFloatBytes;
    counters.messages_received += size - 1;
    if (is_short) continue;
    counters.payload_bytes_sent += (size - 1) * read * kFloatBytes;
    counters.messages_sent += size - 1;
  }
  return counters;
}

}  // namespace ringside
