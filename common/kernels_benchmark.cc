// Throughput of the kernels that every strategy shares: addition, the fold in law order,
// optimizers, the frame codec. Each result is verified before it is timed.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "common/check.h"
#include "common/frame_codec.h"
#include "common/optimizer.h"
#include "common/reduction.h"

namespace ringside {
namespace {

std::vector<float> Ramp(int64_t elements, float step) {
  std::vector<float> values(elements);
  for (int64_t i = 0; i < elements; ++i) values[i] = step * static_cast<float>(i % 1000);
  return values;
}

void BM_Add(benchmark::State& state) {
  const int64_t elements = state.range(0) / 4;
  const std::vector<float> a = Ramp(elements, 1);
  const std::vector<float> b = Ramp(elements, 2);
  std::vector<float> out(elements);
  Add(a, b, absl::MakeSpan(out));
  for (int64_t i = 0; i < elements; ++i) RINGSIDE_CHECK(out[i] == 3 * static_cast<float>(i % 1000));
  for (auto _ : state) {
    Add(a, b, absl::MakeSpan(out));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * elements * 4);
}
BENCHMARK(BM_Add)->Arg(64 << 10)->Arg(1 << 20)->Arg(16 << 20);

void BM_FoldInLawOrder(benchmark::State& state) {
  const int ranks = static_cast<int>(state.range(0));
  const int64_t elements = (1 << 20) / 4;
  const std::vector<float> gradient = Ramp(elements, 1);
  const std::vector<absl::Span<const float>> gradients(ranks, gradient);
  std::vector<float> out(elements);
  FoldInLawOrder(gradients, absl::MakeSpan(out));
  for (int64_t i = 0; i < elements; ++i)
    RINGSIDE_CHECK(out[i] == static_cast<float>(ranks * (i % 1000)));
  for (auto _ : state) {
    FoldInLawOrder(gradients, absl::MakeSpan(out));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * elements * 4 * ranks);
}
BENCHMARK(BM_FoldInLawOrder)->Arg(2)->Arg(4)->Arg(8);

void BM_Optimizer(benchmark::State& state, const char* name) {
  const int64_t elements = 1 << 20;
  OptimizerConfig config;
  config.name = name;
  config.learning_rate = 1e-3;
  const std::vector<float> gradients = Ramp(elements, 1e-3f);
  std::vector<float> parameters = Ramp(elements, 1);
  const std::unique_ptr<Optimizer> optimizer = *Optimizer::Create(config, elements);
  int64_t step = 0;
  optimizer->Apply(++step, gradients, absl::MakeSpan(parameters));
  RINGSIDE_CHECK(parameters[0] == 0 && parameters[1] < 1 && parameters[1] > 0.99f);
  for (auto _ : state) {
    optimizer->Apply(++step, gradients, absl::MakeSpan(parameters));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * elements * 4);
}
BENCHMARK_CAPTURE(BM_Optimizer, sgd, "sgd");
BENCHMARK_CAPTURE(BM_Optimizer, adam, "adam");
BENCHMARK_CAPTURE(BM_Optimizer, adamw, "adamw");

void BM_FrameCodec(benchmark::State& state) {
  FrameHeader header;
  header.step = 7;
  header.elements = 1000;
  RINGSIDE_CHECK(*DecodeFrameHeader(EncodeFrameHeader(header)) == header);
  for (auto _ : state) {
    header.offset += 1;
    benchmark::DoNotOptimize(DecodeFrameHeader(EncodeFrameHeader(header)));
  }
}
BENCHMARK(BM_FrameCodec);

}  // namespace
}  // namespace ringside

BENCHMARK_MAIN();
