// What a span costs, and what it costs not to trace.
#include <benchmark/benchmark.h>

#include <memory>

#include "common/trace/trace_buffer.h"

namespace ringside {
namespace {

void Span(benchmark::State& state, TraceBuffer* buffer, int64_t step) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(buffer);
    const TraceScope traced(buffer, TRACE_SUM, step, 3, 1);
  }
}

void BM_SpanTraced(benchmark::State& state) {
  auto buffer = std::make_unique<TraceBuffer>(StepWindow{1, 10}, TraceBuffer::kMaxSpans);
  int64_t recorded = 0;
  for (auto _ : state) {
    if (++recorded == TraceBuffer::kMaxSpans) {  // what is dropped would be cheaper
      state.PauseTiming();
      buffer = std::make_unique<TraceBuffer>(StepWindow{1, 10}, TraceBuffer::kMaxSpans);
      recorded = 0;
      state.ResumeTiming();
    }
    const TraceScope traced(buffer.get(), TRACE_SUM, 5, 3, 1);
  }
  ProcessTrace trace;
  buffer->AppendTo(&trace);
  if (trace.spans_size() == 0) state.SkipWithError("nothing was recorded");
}
BENCHMARK(BM_SpanTraced);

void BM_SpanOutsideOfTheWindow(benchmark::State& state) {
  TraceBuffer buffer({1, 10}, 10);
  Span(state, &buffer, 11);
}
BENCHMARK(BM_SpanOutsideOfTheWindow);

void BM_SpanOff(benchmark::State& state) { Span(state, nullptr, 5); }
BENCHMARK(BM_SpanOff);

}  // namespace
}  // namespace ringside

BENCHMARK_MAIN();
