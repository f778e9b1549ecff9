#include "allreduce/ring_all_reducer.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/check.h"
#include "common/half_precision.h"
#include "common/reduction.h"
#include "common/status_macros.h"
#include "common/suspects.h"

namespace ringside {
namespace {

std::string BytesText(int64_t bytes) {
  if (bytes >= 1'000'000) return absl::StrFormat("%.1f MB", bytes / 1e6);
  if (bytes >= 1'000) return absl::StrFormat("%.1f kB", bytes / 1e3);
  return absl::StrFormat("%d bytes", bytes);
}

FrameKind KindOf(RingSchedule::Phase phase) {
  return phase == RingSchedule::Phase::kReduceScatter ? FrameKind::kReduceScatter
                                                      : FrameKind::kAllGather;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RingAllReducer>> RingAllReducer::Create(Config config) {
  const Group& group = config.group;
  if (group.index < 0 || group.index >= group.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("index ", group.index, " in a group of ", group.size()));
  }
  if (group.size() > 1 && config.link == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("no link for a ring of ", group.size()));
  }
  if (config.segment_bytes < static_cast<int64_t>(sizeof(float)) ||
      config.segment_bytes > kMaxFramePayloadBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "segments of ", config.segment_bytes, " bytes; allowed: 4 to ", kMaxFramePayloadBytes));
  }
  if (config.lookahead < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("lookahead of ", config.lookahead, " segments; it must be at least 1"));
  }
  if (config.step_timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "step timeout of ", absl::FormatDuration(config.step_timeout), "; it must be positive"));
  }
  if (config.wire_dtype != WireDtype::kFloat32 && config.wire == nullptr) {
    return absl::InvalidArgumentError("a 16-bit wire dtype needs a wire arena");
  }
  return absl::WrapUnique(new RingAllReducer(std::move(config)));
}

RingAllReducer::RingAllReducer(Config config)
    : group_(std::move(config.group)),
      wire_(std::move(config.wire)),
      link_(std::move(config.link)),
      segment_elements_(config.segment_bytes / static_cast<int64_t>(sizeof(float))),
      lookahead_(config.lookahead),
      in_place_link_(config.in_place_link),
      step_timeout_(config.step_timeout),
      wire_dtype_(config.wire_dtype),
      trace_(config.trace) {}

absl::Status RingAllReducer::Sum(CollectiveId id, absl::Span<const float> in,
                                 absl::Span<float> out) {
  RINGSIDE_CHECK(in.size() == out.size());
  RINGSIDE_RETURN_IF_ERROR(FirstError());
  if (wire_ != nullptr && in.size() > 2 * wire_->span().size()) {
    return Fail(absl::InvalidArgumentError(
        absl::StrCat("a sum of ", in.size(), " elements; the wire arena holds ",
                     2 * wire_->span().size(), " 16-bit values")));
  }
  if (group_.size() == 1) {
    if (in.data() != out.data()) std::memcpy(out.data(), in.data(), in.size() * sizeof(float));
    return absl::OkStatus();
  }
  Exchange exchange{id,
                    RingSchedule(group_.index, group_.size(), static_cast<int64_t>(in.size()),
                                 segment_elements_, lookahead_),
                    in, out, absl::Now() + step_timeout_};
  exchange.trace = TraceBuffer::If(trace_, static_cast<int64_t>(id.step));
  if (exchange.trace != nullptr) exchange.begin_ns = TraceBuffer::Now();
  const absl::Status status = Run(&exchange);
  if (exchange.trace != nullptr) Trace(exchange);
  return status.ok() ? status : Fail(Explain(exchange, status));
}

absl::Status RingAllReducer::Run(Exchange* exchange) {
  const RingSchedule& schedule = exchange->schedule;
  for (int64_t i = 0; i < schedule.lookahead(); ++i) SendOwn(*exchange, i);
  for (int64_t wave = 0; wave < schedule.num_waves(); ++wave) {
    SendOwn(*exchange, wave + schedule.lookahead());
    for (exchange->step = 0; exchange->step < schedule.num_steps(); ++exchange->step) {
      const int64_t segment = schedule.segment_in_wave(wave, exchange->step);
      if (segment >= 0) RINGSIDE_RETURN_IF_ERROR(ReceiveSegment(exchange, segment));
    }
  }
  return link_->Flush(exchange->deadline);
}

// Phases of one sum overlap where it has several segments.
void RingAllReducer::Trace(const Exchange& exchange) const {
  const auto record = [&](TraceKind kind, int64_t begin, int64_t end) {
    if (begin == 0 || end == 0) return;  // no segment of it was taken
    exchange.trace->Record({kind, static_cast<int64_t>(exchange.id.step),
                            static_cast<int>(exchange.id.bucket), group_.rank(), begin, end});
  };
  record(TRACE_REDUCE_SCATTER, exchange.begin_ns, exchange.scattered_ns);
  record(TRACE_ALL_GATHER, exchange.gathering_ns, TraceBuffer::Now());
}

void RingAllReducer::SendOwn(const Exchange& exchange, int64_t number) {
  const int chunk = exchange.schedule.step(0).send_chunk;
  if (number >= exchange.schedule.num_segments(chunk)) return;
  const ElementRange range = exchange.schedule.segment(chunk, number);
  link_->Send(HeaderOf(exchange, RingSchedule::Phase::kReduceScatter, range, group_.rank()),
              Encoded(range, exchange.in.subspan(range.begin, range.length)));
}

// What arrives in a step is what the next step sends, so it goes on at once. A segment (in `out` or
// in the wire arena) is not overwritten while it is still being sent: what overwrites it is the
// finished sum, which cannot exist before this part of it has arrived.
absl::Status RingAllReducer::ReceiveSegment(Exchange* exchange, int64_t segment) {
  const RingSchedule::Step step = exchange->schedule.step(exchange->step);
  const ElementRange range = exchange->schedule.segment(step.receive_chunk, segment);
  const FrameHeader expected = HeaderOf(*exchange, step.phase, range, group_.left());
  RINGSIDE_ASSIGN_OR_RETURN(const FrameHeader header, link_->ReceiveHeader(exchange->deadline));
  RINGSIDE_RETURN_IF_ERROR(CheckHeader(*exchange, expected, header));
  const bool reducing = step.phase == RingSchedule::Phase::kReduceScatter;
  const bool first_gathered = !reducing && exchange->gathering_ns == 0;
  if (exchange->trace != nullptr && first_gathered) exchange->gathering_ns = TraceBuffer::Now();
  RINGSIDE_RETURN_IF_ERROR(reducing ? AddPayload(*exchange, range) : KeepPayload(*exchange, range));
  exchange->received_elements += range.length;
  if (exchange->trace != nullptr && reducing) exchange->scattered_ns = TraceBuffer::Now();
  if (exchange->step + 1 == exchange->schedule.num_steps()) return absl::OkStatus();
  const absl::Span<float> sum = exchange->out.subspan(range.begin, range.length);
  const RingSchedule::Phase next = exchange->schedule.step(exchange->step + 1).phase;
  // A finished sum that has arrived rounded goes on as it came.
  const absl::Span<const uint8_t> payload = reducing ? Encoded(range, sum) : Bytes(range, sum);
  if (reducing && next == RingSchedule::Phase::kAllGather && wire_dtype_ != WireDtype::kFloat32) {
    DecodeWire(wire_dtype_, payload, sum);
  }
  link_->Send(HeaderOf(*exchange, next, range, group_.rank()), payload);
  return absl::OkStatus();
}

absl::Status RingAllReducer::AddPayload(const Exchange& exchange, ElementRange range) {
  while (range.length > 0) {
    RINGSIDE_ASSIGN_OR_RETURN(const absl::Span<const uint8_t> piece,
                              link_->NextPiece(exchange.deadline));
    const int64_t elements = static_cast<int64_t>(piece.size()) / BytesPerElement(wire_dtype_);
    const absl::Span<const float> own = exchange.in.subspan(range.begin, elements);
    const absl::Span<float> sum = exchange.out.subspan(range.begin, elements);
    if (wire_dtype_ == WireDtype::kFloat32) {
      AddPart({reinterpret_cast<const float*>(piece.data()), static_cast<size_t>(elements)}, own,
              sum, in_place_link_ ? static_cast<int64_t>(exchange.out.size()) : elements);
    } else {
      AddDecoded(wire_dtype_, piece, own, sum);
    }
    range = {range.begin + elements, range.length - elements};
  }
  return absl::OkStatus();
}

absl::Status RingAllReducer::KeepPayload(const Exchange& exchange, ElementRange range) {
  const absl::Span<float> sum = exchange.out.subspan(range.begin, range.length);
  if (wire_dtype_ == WireDtype::kFloat32 && in_place_link_) return CopyPayload(exchange, sum);
  if (wire_dtype_ == WireDtype::kFloat32) {
    return link_->ReceivePayload(
        {reinterpret_cast<uint8_t*>(sum.data()), sum.size() * sizeof(float)}, exchange.deadline);
  }
  RINGSIDE_RETURN_IF_ERROR(link_->ReceivePayload(WireOf(range), exchange.deadline));
  DecodeWire(wire_dtype_, WireOf(range), sum);
  return absl::OkStatus();
}

absl::Status RingAllReducer::CopyPayload(const Exchange& exchange, absl::Span<float> sum) {
  while (!sum.empty()) {
    RINGSIDE_ASSIGN_OR_RETURN(const absl::Span<const uint8_t> piece,
                              link_->NextPiece(exchange.deadline));
    const size_t elements = piece.size() / sizeof(float);
    CopyPart({reinterpret_cast<const float*>(piece.data()), elements}, sum.first(elements),
             static_cast<int64_t>(exchange.out.size()));
    sum.remove_prefix(elements);
  }
  return absl::OkStatus();
}

absl::Span<uint8_t> RingAllReducer::WireOf(ElementRange range) {
  const int64_t bytes = BytesPerElement(wire_dtype_);
  return {reinterpret_cast<uint8_t*>(wire_->span().data()) + range.begin * bytes,
          static_cast<size_t>(range.length * bytes)};
}

absl::Span<const uint8_t> RingAllReducer::Bytes(ElementRange range,
                                                absl::Span<const float> values) {
  if (wire_dtype_ != WireDtype::kFloat32) return WireOf(range);
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(float)};
}

absl::Span<const uint8_t> RingAllReducer::Encoded(ElementRange range,
                                                  absl::Span<const float> values) {
  if (wire_dtype_ != WireDtype::kFloat32) EncodeWire(wire_dtype_, values, WireOf(range));
  return Bytes(range, values);
}

FrameHeader RingAllReducer::HeaderOf(const Exchange& exchange, RingSchedule::Phase phase,
                                     ElementRange range, int sender) const {
  FrameHeader header;
  header.kind = KindOf(phase);
  header.dtype = wire_dtype_;
  header.group = group_.id;
  header.generation = group_.generation;
  header.step = exchange.id.step;
  header.bucket = exchange.id.bucket;
  header.sender = static_cast<uint32_t>(sender);
  header.offset = static_cast<uint64_t>(range.begin);
  header.elements = static_cast<uint32_t>(range.length);
  return header;
}

absl::Status RingAllReducer::CheckHeader(const Exchange& exchange, const FrameHeader& expected,
                                         const FrameHeader& got) const {
  std::string what;
  bool foreign = false;  // not a frame that this place of any schedule could hold
  const auto got_id = std::make_tuple(got.step, got.bucket);
  const auto expected_id = std::make_tuple(expected.step, expected.bucket);
  if (got.sender != expected.sender || got.group != expected.group) {
    what = "a frame that does not belong on this link";
    foreign = true;
  } else if (got.generation != expected.generation) {
    what = got.generation < expected.generation ? "a stale generation" : "a later generation";
  } else if (got_id != expected_id) {
    what = got_id < expected_id ? "a duplicate of an earlier sum"
                                : "a gap: frames of this sum are missing";
  } else if (got.kind != expected.kind || got.offset != expected.offset) {
    what = DescribePosition(exchange, expected, got);
  } else if (got.dtype != expected.dtype) {
    what = "another wire dtype";
    foreign = true;
  } else if (got.elements != expected.elements) {
    what = "a wrong length";
    foreign = true;
  } else {
    return absl::OkStatus();
  }
  std::string message =
      absl::StrCat(what, ": received ", Describe(got), "; due is ", Describe(expected));
  return WithSuspects(
      foreign ? absl::InvalidArgumentError(message) : absl::FailedPreconditionError(message),
      {WorkerId(group_.left())});
}

// Where in the schedule a frame belongs that is not the one that is due.
std::string RingAllReducer::DescribePosition(const Exchange& exchange, const FrameHeader& expected,
                                             const FrameHeader& got) const {
  bool passed = false;
  for (int64_t wave = 0; wave < exchange.schedule.num_waves(); ++wave) {
    for (int number = 0; number < exchange.schedule.num_steps(); ++number) {
      const int64_t segment = exchange.schedule.segment_in_wave(wave, number);
      if (segment < 0) continue;
      const RingSchedule::Step step = exchange.schedule.step(number);
      const FrameHeader candidate =
          HeaderOf(exchange, step.phase, exchange.schedule.segment(step.receive_chunk, segment),
                   group_.left());
      if (candidate == expected) passed = true;
      if (candidate.kind == got.kind && candidate.offset == got.offset) {
        return passed ? "a gap: frames before it are missing" : "a duplicate";
      }
    }
  }
  return "a frame that the schedule does not have";
}

absl::Status RingAllReducer::Explain(const Exchange& exchange, const absl::Status& status) const {
  const int last = exchange.schedule.num_steps() - 1;
  const int number = std::min(exchange.step, last);
  const bool reducing = exchange.schedule.step(number).phase == RingSchedule::Phase::kReduceScatter;
  const int64_t element = BytesPerElement(wire_dtype_);
  absl::Status explained(
      status.code(),
      absl::StrCat("ring all-reduce: ", status.message(), " in step ", exchange.id.step, " bucket ",
                   exchange.id.bucket, " (", reducing ? "reduce-scatter" : "all-gather", ", ",
                   BytesText(exchange.received_elements * element), " of ",
                   BytesText(exchange.schedule.elements_to_receive() * element), " received)"));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    explained.SetPayload(url, payload);
  });
  return explained;
}

absl::Status RingAllReducer::FirstError() {
  MutexLock lock(&mutex_);
  return status_;
}

absl::Status RingAllReducer::Fail(absl::Status status) {
  MutexLock lock(&mutex_);
  if (status_.ok()) status_ = std::move(status);
  return status_;
}

void RingAllReducer::Abort(absl::Status cause) {
  if (cause.ok()) cause = absl::AbortedError("aborted without a cause");
  static_cast<void>(Fail(std::move(cause)));
  if (link_ != nullptr) link_->Interrupt();
}

TrafficCounters RingAllReducer::traffic() const {
  return link_ == nullptr ? TrafficCounters() : link_->traffic();
}

}  // namespace ringside
