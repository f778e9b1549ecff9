// Throughput of the kernels that every strategy shares: folds and 16-bit coding for every
// instruction set of this processor, optimizers, the frame codec. Each result is verified before it
// is timed.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/arena.h"
#include "common/check.h"
#include "common/frame_codec.h"
#include "common/kernel_table.h"
#include "common/optimizer.h"

namespace ringside {
namespace {

std::vector<float> Ramp(int64_t elements, float step) {
  std::vector<float> values(elements);
  for (int64_t i = 0; i < elements; ++i) values[i] = step * static_cast<float>(i % 1000);
  return values;
}

// Bytes are counted as they cross the kernel's border, read and written alike, so that every rate
// here compares with BM_Memcpy's.
constexpr int64_t kKernelBytes[] = {64 << 10, 1 << 20, 4 << 20, 25 << 20, 100 << 20};

// Operands that are not measured by page faults, shared by all benchmarks: kMaxFoldTerms terms and
// one result, of the largest size.
absl::Span<float> Operand(size_t index) {
  static auto* const arenas = new std::vector<std::unique_ptr<Arena>>;
  while (arenas->size() <= index) {
    arenas->push_back(*Arena::Create((100 << 20) / 4, Arena::Placement::kHeap));
    absl::Span<float> values = arenas->back()->span();
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1000);
  }
  return (*arenas)[index]->span();
}

void BM_Memcpy(benchmark::State& state) {
  const int64_t bytes = state.range(0);
  const void* from = Operand(0).data();
  void* to = Operand(kMaxFoldTerms).data();
  for (auto _ : state) {
    std::memcpy(to, from, bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes * 2);
}

void BM_Fold(benchmark::State& state, decltype(KernelTable::fold) fold, size_t terms) {
  const int64_t elements = state.range(0) / 4;
  std::vector<const float*> operands;
  for (size_t k = 0; k < terms; ++k) operands.push_back(Operand(k).data());
  const absl::Span<float> out = Operand(kMaxFoldTerms).first(elements);
  fold(operands.data(), terms, out.data(), elements);
  for (int64_t i = 0; i < elements; ++i)
    RINGSIDE_CHECK(out[i] == static_cast<float>(terms * (i % 1000)));
  for (auto _ : state) {
    fold(operands.data(), terms, out.data(), elements);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * elements * 4 * (terms + 1));
}

// The numbers below 1000 of the operands are exact in fp16; those below 256 are in bf16.
bool Agrees(float actual, float expected, bool bf16) {
  return std::abs(actual - expected) <= (bf16 ? expected / 256 : 0);
}

void BM_SumOfSquares(benchmark::State& state, const KernelTable* kernels) {
  const int64_t elements = state.range(0) / 4;
  const float* values = Operand(0).data();
  RINGSIDE_CHECK(kernels->sum_of_squares(values, 1000) == 332833500);
  for (auto _ : state) benchmark::DoNotOptimize(kernels->sum_of_squares(values, elements));
  state.SetBytesProcessed(state.iterations() * elements * 4);
}

enum class Coding { kEncode, kDecode, kAddDecoded };

void BM_Wire(benchmark::State& state, const KernelTable* kernels, bool bf16, Coding coding) {
  const int64_t elements = state.range(0) / 4;
  const float* values = Operand(0).data();
  float* out = Operand(1).data();
  auto* wire = reinterpret_cast<uint8_t*>(Operand(kMaxFoldTerms).data());
  const auto encode = bf16 ? kernels->encode_bf16 : kernels->encode_fp16;
  const auto decode = bf16 ? kernels->decode_bf16 : kernels->decode_fp16;
  const auto add = bf16 ? kernels->add_bf16 : kernels->add_fp16;
  const auto run = [&] {
    if (coding == Coding::kEncode) encode(values, wire, elements);
    if (coding == Coding::kDecode) decode(wire, out, elements);
    if (coding == Coding::kAddDecoded) add(wire, values, out, elements);
  };
  encode(values, wire, elements);
  run();
  if (coding == Coding::kEncode) decode(wire, out, elements);
  const float times = coding == Coding::kAddDecoded ? 2 : 1;
  for (int64_t i = 0; i < elements; ++i) RINGSIDE_CHECK(Agrees(out[i], times * values[i], bf16));
  for (auto _ : state) {
    run();
    benchmark::ClobberMemory();
  }
  const int64_t bytes_per_element = coding == Coding::kAddDecoded ? 10 : 6;
  state.SetBytesProcessed(state.iterations() * elements * bytes_per_element);
  for (int64_t i = 0; i < elements; ++i) out[i] = static_cast<float>(i % 1000);  // an operand again
}

template <typename... Arguments>
void Register(const std::string& name, Arguments... arguments) {
  auto* benchmark = benchmark::RegisterBenchmark(name.c_str(), arguments...);
  for (int64_t bytes : kKernelBytes) benchmark->Arg(bytes);
}

void RegisterKernels() {
  Register("BM_Memcpy", BM_Memcpy);
  for (InstructionSet set :
       {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    const KernelTable* kernels = FindKernels(set);
    if (kernels == nullptr) continue;
    const std::string name = absl::StrCat("/", kernels->name);
    for (size_t terms : {2, 4, 8}) {
      Register(absl::StrCat("BM_Fold", terms, name), BM_Fold, kernels->fold, terms);
      Register(absl::StrCat("BM_FoldPastCaches", terms, name), BM_Fold, kernels->fold_past_caches,
               terms);
    }
    Register(absl::StrCat("BM_SumOfSquares", name), BM_SumOfSquares, kernels);
    for (bool bf16 : {true, false}) {
      const char* dtype = bf16 ? "Bf16" : "Fp16";
      Register(absl::StrCat("BM_Encode", dtype, name), BM_Wire, kernels, bf16, Coding::kEncode);
      Register(absl::StrCat("BM_Decode", dtype, name), BM_Wire, kernels, bf16, Coding::kDecode);
      Register(absl::StrCat("BM_AddDecoded", dtype, name), BM_Wire, kernels, bf16,
               Coding::kAddDecoded);
    }
  }
}

void BM_Optimizer(benchmark::State& state, const char* name) {
  const int64_t elements = 1 << 20;
  OptimizerConfig config;
  config.name = name;
  config.learning_rate = 1e-3;
  const std::vector<float> gradients = Ramp(elements, 1e-3f);
  std::vector<float> parameters = Ramp(elements, 1);
  const std::unique_ptr<Optimizer> optimizer = *Optimizer::Create(config, elements);
  int64_t step = 0;
  optimizer->Apply(++step, config.learning_rate, gradients, absl::MakeSpan(parameters));
  RINGSIDE_CHECK(parameters[0] == 0 && parameters[1] < 1 && parameters[1] > 0.99f);
  for (auto _ : state) {
    optimizer->Apply(++step, config.learning_rate, gradients, absl::MakeSpan(parameters));
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

int main(int argc, char** argv) {
  ringside::RegisterKernels();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
