#include "tests/experiments/report/sample_runs.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "common/sha256.h"
#include "experiments/report/series.h"

namespace ringside {
namespace {

constexpr int64_t kParameters = 1000;
constexpr int64_t kHeaderBytes = 64;

bool IsDirect(const SampleRun& sample) { return sample.strategy == "direct"; }
bool IsLocal(const SampleRun& sample) { return IsOneProcess(sample.strategy); }
bool IsPs(const SampleRun& sample) { return IsParameterServer(sample.strategy); }
bool IsAsynchronous(const SampleRun& sample) {
  return sample.strategy == "ps async" || absl::StartsWith(sample.strategy, "ps ssp");
}

Traffic MakeTraffic(int64_t payload, int64_t messages) {
  Traffic traffic;
  traffic.set_payload_bytes_sent(payload);
  traffic.set_payload_bytes_received(payload);
  traffic.set_messages_sent(messages);
  traffic.set_messages_received(messages);
  traffic.set_header_bytes_sent(messages * kHeaderBytes);
  traffic.set_header_bytes_received(messages * kHeaderBytes);
  return traffic;
}

// The chunk of rank r of one bucket of kParameters: the first (length mod N) have one element more.
int64_t ChunkElements(int chunk, int workers) {
  return kParameters / workers + (chunk < kParameters % workers ? 1 : 0);
}

Traffic WorkerTraffic(const SampleRun& sample, int rank) {
  const int n = sample.workers;
  const int64_t bytes = sample.wire_dtype == "fp32" ? 4 : 2;
  if (IsLocal(sample) || (!IsPs(sample) && n == 1)) return {};
  if (IsPs(sample))
    return MakeTraffic(bytes * kParameters * sample.steps, sample.shards * n * sample.steps);
  if (IsDirect(sample))
    return MakeTraffic(bytes * (n - 1) * ChunkElements(rank, n) * sample.steps, sample.steps);
  // In each of the two phases a rank does not send one of the chunks, nor receive another.
  Traffic traffic = MakeTraffic(0, 2 * (n - 1) * sample.steps);
  const int64_t all = 2 * kParameters;
  const auto left_out = [&](int a, int b) {
    return ChunkElements((rank + a) % n, n) + ChunkElements((rank + b) % n, n);
  };
  traffic.set_payload_bytes_sent(bytes * sample.steps * (all - left_out(1, 2)));
  traffic.set_payload_bytes_received(bytes * sample.steps * (all - left_out(0, 1)));
  return traffic;
}

ProcessInfo MakeProcess(int64_t pid, double cpu_seconds, int64_t megabytes) {
  ProcessInfo process;
  process.set_hostname("bench-01");
  process.set_pid(pid);
  process.add_cpus(0);
  process.add_cpus(1);
  process.set_cpu_seconds(cpu_seconds);
  process.set_peak_rss_bytes(megabytes << 20);
  (*process.mutable_facts())["congestion_control"] = "cubic";
  (*process.mutable_facts())["blas"] = "OpenBLAS 0.3.21";
  return process;
}

void AddLinks(const SampleRun& sample, ProcessInfo* process) {
  if (IsPs(sample) && !sample.link.empty()) (*process->mutable_facts())["ps_link"] = sample.link;
  if (sample.workers == 1 || (sample.strategy != "ring" && !IsDirect(sample))) return;
  const std::string link = !sample.link.empty() ? sample.link : IsDirect(sample) ? "shm" : "tcp";
  for (const char* side : {"left_link", "right_link"}) (*process->mutable_facts())[side] = link;
  (*process->mutable_facts())["schedule"] = IsDirect(sample) ? "direct" : "ring";
}

StepRecord MakeStep(const SampleRun& sample, int64_t step, int rank, double step_s) {
  const int hosted = IsLocal(sample) ? sample.workers : 1;
  const double comm_share = IsLocal(sample)       ? 0
                            : sample.workers == 1 ? 0.04
                            : IsPs(sample)        ? 0.34
                                                  : 0.22;
  StepRecord record;
  record.set_step(step);
  record.set_epoch((step - 1) / 62);
  record.set_samples(sample.batch_size * hosted);
  record.set_global_samples(int64_t{sample.batch_size} * sample.workers);
  record.set_step_s(step_s);
  record.set_data_s(step_s * 0.05);
  record.set_forward_s(step_s * (0.84 - comm_share) * 0.35);
  record.set_backward_s(step_s * (0.84 - comm_share) * 0.65);
  record.set_hidden_comm_s(IsLocal(sample) ? 0 : record.backward_s() * 0.6);
  record.set_exposed_comm_s(step_s * comm_share);
  record.set_optimizer_s(step_s * 0.08);
  if (sample.slow_rank >= 0) {
    record.set_step_s(step_s + sample.slow_s);
    if (rank == sample.slow_rank) {
      record.set_forward_s(record.forward_s() + sample.slow_s);
    } else {
      record.set_exposed_comm_s(record.exposed_comm_s() + sample.slow_s);
    }
  }
  record.set_other_s(record.step_s() - record.data_s() - record.forward_s() - record.backward_s() -
                     record.exposed_comm_s() - record.optimizer_s());
  // The same for all strategies: a function of step and rank alone.
  const auto t = static_cast<double>(step);
  const double loss = 2.3 * std::exp(-t / 90) + 0.09 +
                      0.16 * std::exp(-t / 200) * std::sin(t * 0.4) * std::cos(t * 0.17);
  record.set_loss(loss * hosted / sample.workers);
  return record;
}

// Its ranks begin a step together, `begin_s` after the machine has started.
void AddArrivals(const SampleRun& sample, int rank, double begin_s, StepRecord* record) {
  if (!sample.arrivals || IsLocal(sample)) return;
  const double ready_s =
      record->data_s() + record->forward_s() + record->backward_s() + 20e-6 * rank;
  record->set_ready_s(ready_s);
  record->set_first_ready_at_ns(
      std::llround((begin_s + ready_s - record->backward_s() * 0.6) * 1e9));
  record->set_ready_at_ns(std::llround((begin_s + ready_s) * 1e9));
}

void AddServerSettings(const SampleRun& sample, RunResult& run) {
  auto& settings = *run.mutable_settings();
  const std::vector<std::string> words = absl::StrSplit(sample.strategy, ' ');
  const std::string mode = IsPs(sample) && words.size() > 1 ? words[1] : "sync";
  settings["ps_mode"] = mode == "server-update" ? "sync" : mode;
  settings["update"] = mode == "server-update" ? "server" : "worker";
  settings["staleness"] = mode == "ssp" ? words[2] : "0";
  settings["backup_workers"] = mode == "backup" ? words[2] : "0";
}

void AddSettings(const SampleRun& sample, RunResult& run) {
  auto& settings = *run.mutable_settings();
  settings["strategy"] = IsDirect(sample) ? "ring" : IsPs(sample) ? "ps" : sample.strategy;
  AddServerSettings(sample, run);
  settings["schedule"] = IsDirect(sample) ? "direct" : "ring";
  settings["wire_dtype"] = sample.wire_dtype;
  settings["overlap"] = "on";
  settings["workers"] = std::to_string(sample.workers);
  settings["ps_shards"] = std::to_string(sample.shards);
  settings["batch_size"] = std::to_string(sample.batch_size);
  settings["model"] = "mlp";
  settings["hidden"] = "256,128";
  settings["dataset"] = "mnist";
  settings["seed"] = "1";
  settings["steps"] = std::to_string(sample.steps);
  settings["optimizer"] = "sgd";
  settings["learning_rate"] = "0.05";
  settings["momentum"] = "0.9";
  settings["threads"] = "1";
  settings["precision"] = "fp32";
  settings["bucket_bytes"] = "4194304";
  settings["first_bucket_bytes"] = "262144";
  settings["frame_bytes"] = "1048576";
  settings["congestion_control"] = "";
}

// Bandwidths that a probe would find: a little less than was asked for, on every link alike.
void AddNetwork(const SampleRun& sample, RunResult& run) {
  if (sample.bandwidth_mbit <= 0) return;
  (*run.mutable_settings())["network"] =
      std::to_string(static_cast<int>(sample.bandwidth_mbit)) + "mbit,100us";
  (*run.mutable_settings())["placement"] = "dedicated";
  NetworkReport& network = *run.mutable_network();
  network.set_burst_bytes(16384);
  network.set_bandwidth_mbit(sample.bandwidth_mbit);
  network.set_latency_us(100);
  network.set_congestion_control("cubic");
  for (const WorkerResult& worker : run.worker_results())
    network.add_hosts("worker " + std::to_string(worker.rank()));
  for (const ShardResult& shard : run.shard_results())
    network.add_hosts("shard " + std::to_string(shard.shard()));
  for (int from = 0; from < network.hosts_size(); ++from) {
    const int to = (from + 1) % network.hosts_size();
    LinkProbe& probe = *network.add_probes();
    probe.set_from_host(from);
    probe.set_to_host(to);
    probe.set_bandwidth_mbit(sample.bandwidth_mbit * (0.95 - 0.002 * from));
    probe.set_round_trip_us(260 + from);
  }
}

void AddCeilings(RunResult& run) {
  Ceilings& ceilings = *run.mutable_ceilings();
  ceilings.mutable_tcp()->set_bytes_per_s(2e9);
  ceilings.mutable_tcp()->set_round_trip_us(20);
  ceilings.mutable_uds()->set_bytes_per_s(3e9);
  ceilings.mutable_uds()->set_round_trip_us(15);
  ceilings.mutable_one_core()->set_copy_bytes_per_s(10e9);
  ceilings.mutable_one_core()->set_add_bytes_per_s(8e9);
  ceilings.mutable_all_cores()->set_copy_bytes_per_s(16e9);
  ceilings.mutable_all_cores()->set_add_bytes_per_s(13e9);
  ceilings.set_cached_copy_bytes_per_s(40e9);
  ceilings.set_cores(2);
}

// As if a unit took 50 us to wait for, 20 us to fold, 5 us to send and 200 us to have been sent.
void AddShardMeasurements(const SampleRun& sample, ShardResult& shard) {
  const int64_t units = sample.workers;
  const int64_t exchanges = sample.steps + 1;
  shard.set_elements(ChunkElements(shard.shard(), sample.shards));
  shard.set_units(static_cast<int>(units));
  shard.set_frames(units * sample.workers * exchanges);
  shard.set_queue_s(static_cast<double>(shard.frames()) * 50e-6);
  shard.set_fold_s(static_cast<double>(shard.frames()) * 20e-6);
  shard.set_replies(units * exchanges);
  shard.set_serialise_s(static_cast<double>(shard.replies()) * 5e-6);
  shard.set_reply_s(static_cast<double>(shard.replies()) * 200e-6);
  if (sample.strategy != "ps") shard.set_updates(units * sample.steps);
  if (!IsAsynchronous(sample)) return;
  for (int64_t count : {60, 30, 8, 2}) shard.add_staleness(count);
}

}  // namespace

Provenance SampleProvenance() {
  Provenance provenance;
  provenance.set_build_commit("1f0c2d9");
  provenance.set_build_type("Release");
  provenance.set_compiler("GCC 12.2.0");
  provenance.set_kernel("Linux 6.1.0-18-amd64");
  provenance.set_cpu_model("Example CPU @ 2.60GHz");
  provenance.set_cores(2);
  provenance.set_memory_bytes(int64_t{8} << 30);
  (*provenance.mutable_versions())["gRPC"] = "1.51.1";
  (*provenance.mutable_versions())["LibTorch"] = "1.13.1";
  provenance.set_started_at("2026-03-05T12:00:00Z");
  provenance.set_huge_pages("madvise");
  return provenance;
}

std::vector<std::string> SampleCommand() {
  return {"ringside",        "compare",         "--strategies=ps,ring,local",
          "--workers=1,2,4", "--ps_shards=2",   "--trials=5",
          "--steps=300",     "--batch_size=32", "--out=out/compare run"};
}

RunResult MakeRun(const SampleRun& wanted) {
  SampleRun sample = wanted;
  if (IsPs(sample) && sample.shards == 0) sample.shards = 2;
  RunResult run;
  run.set_schema_version(1);
  AddSettings(sample, run);
  run.set_strategy(sample.strategy);
  run.set_workers(sample.workers);
  run.set_shards(sample.shards);
  run.set_batch_size(sample.batch_size);
  run.set_global_batch_size(int64_t{sample.batch_size} * sample.workers);
  run.set_trial(sample.trial);
  run.set_total_steps(sample.steps);
  run.set_parameter_elements(kParameters);
  run.set_warmup_steps(sample.warmup_steps);
  *run.mutable_provenance() = SampleProvenance();
  const std::string hash = Sha256Hex(absl::string_view("after " + std::to_string(sample.workers)));
  run.set_parameters_sha256(hash);
  std::mt19937_64 generator(
      static_cast<uint64_t>(sample.trial * 1000 + sample.workers * 10 + (sample.strategy == "ps")));
  const auto uniform = [&generator] {
    return static_cast<double>(generator() >> 11) / 9007199254740992.0;
  };
  const double trial_factor = 1 + sample.noise * 0.35 * (uniform() - 0.5);
  std::vector<double> step_times;
  for (int64_t i = 0; i < sample.steps; ++i) {
    const double tail = uniform() > 0.97 ? 1 + 6 * sample.noise * uniform() : 1;
    step_times.push_back(sample.step_s * trial_factor * (1 + sample.noise * (uniform() - 0.4)) *
                         tail);
  }
  for (int rank = 0; rank < (IsLocal(sample) ? 1 : sample.workers); ++rank) {
    WorkerResult& worker = *run.add_worker_results();
    worker.set_rank(rank);
    *worker.mutable_process() = MakeProcess(
        4000 + rank, static_cast<double>(sample.steps) * sample.step_s * 0.6, 310 + rank);
    AddLinks(sample, worker.mutable_process());
    worker.set_parameters_sha256(hash);
    worker.set_initial_parameters_sha256(Sha256Hex(absl::string_view("before")));
    double begin_s = 1000;
    for (int64_t step = 1; step <= sample.steps; ++step) {
      StepRecord& record = *worker.add_steps();
      record = MakeStep(sample, step, rank, step_times[static_cast<size_t>(step - 1)]);
      AddArrivals(sample, rank, begin_s, &record);
      begin_s += record.step_s();
    }
    double train_s = 0;
    for (const StepRecord& step : worker.steps()) train_s += step.step_s();
    if (rank == 0 && sample.checkpoints > 0) {
      CheckpointStatistics& checkpoints = *worker.mutable_checkpoints();
      checkpoints.set_written(sample.checkpoints);
      checkpoints.set_bytes(4 * kParameters);
      checkpoints.set_copy_s(0.0015 * static_cast<double>(sample.checkpoints));
      checkpoints.set_wait_s(0.0005 * static_cast<double>(sample.checkpoints));
      checkpoints.set_write_s(0.040 * static_cast<double>(sample.checkpoints));
    }
    worker.set_train_s(train_s + 0.002 * static_cast<double>(sample.checkpoints));
    *worker.mutable_traffic() = WorkerTraffic(sample, rank);
    *worker.mutable_expected_traffic() = worker.traffic();
  }
  for (int shard = 0; shard < sample.shards; ++shard) {
    ShardResult& result = *run.add_shard_results();
    result.set_shard(shard);
    *result.mutable_process() =
        MakeProcess(5000 + shard, static_cast<double>(sample.steps) * 0.002, 36);
    *result.mutable_traffic() =
        MakeTraffic(4 * sample.workers * sample.steps * ChunkElements(shard, sample.shards),
                    sample.workers * sample.workers * sample.steps);
    *result.mutable_expected_traffic() = result.traffic();
    result.set_steps(sample.steps);
    AddShardMeasurements(sample, result);
  }
  AddNetwork(sample, run);
  if (sample.is_probed) AddCeilings(run);
  Evaluation& evaluation = *run.mutable_evaluation();
  evaluation.set_correct(1931);
  evaluation.set_samples(2000);
  evaluation.set_accuracy(0.9655);
  evaluation.set_mean_loss(0.11428);
  return run;
}

std::vector<RunResult> SampleGrid(int trials, int64_t steps) {
  struct Speed {
    const char* strategy;
    int workers;
    double step_s;
  };
  const Speed speeds[] = {{"ps", 1, 0.0231}, {"ring", 1, 0.0212}, {"local", 1, 0.0208},
                          {"ps", 2, 0.0168}, {"ring", 2, 0.0133}, {"local", 2, 0.0215},
                          {"ps", 4, 0.0164}, {"ring", 4, 0.0161}, {"local", 4, 0.0229}};
  std::vector<RunResult> runs;
  for (int trial = 0; trial < trials; ++trial) {
    for (const Speed& speed : speeds) {
      SampleRun sample;
      sample.strategy = speed.strategy;
      sample.workers = speed.workers;
      sample.trial = trial;
      sample.steps = steps;
      sample.batch_size = 128 / speed.workers;
      sample.step_s = speed.step_s;
      sample.noise = 0.22;
      runs.push_back(MakeRun(sample));
    }
  }
  return runs;
}

}  // namespace ringside
