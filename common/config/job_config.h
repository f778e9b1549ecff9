// Everything that a job can be told, as one plain struct. Flags fill it (job_flags.h); nothing
// below main reads flags.
#ifndef RINGSIDE_COMMON_CONFIG_JOB_CONFIG_H_
#define RINGSIDE_COMMON_CONFIG_JOB_CONFIG_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/config/network_spec.h"
#include "common/learning_rate.h"
#include "common/network/bind_address.h"
#include "common/network/grpc_tuning.h"
#include "common/optimizer.h"
#include "common/ps_policy.h"
#include "common/step_window.h"

namespace ringside {

// More than any machine at hand has use for.
constexpr int kMaxShardThreads = 64;

struct JobConfig {
  // How gradients meet.
  std::string strategy = "ring";  // ps, ring, local, data_parallel, nccl
  int workers = 1;
  int ps_shards = 1;             // used by ps alone, as all that follows with ps in its name
  std::string ps_mode = "sync";  // sync, async, ssp, backup
  std::string update =
      "worker";                  // worker, server: where the optimizer runs; modes but sync: server
  int staleness = 0;             // of ssp
  int backup_workers = 0;        // of backup
  std::string ps_link = "auto";  // auto, grpc_tcp, grpc_uds, shm
  int shard_threads = 1;         // with which one shard folds
  std::string ring_link = "auto";   // auto, tcp, uds, shm, grpc
  std::string schedule = "ring";    // ring, direct, auto: how an all-reduce moves its chunks
  std::string wire_dtype = "fp32";  // fp32, bf16, fp16: how gradients travel
  bool overlap = true;              // communication may start before backward has ended
  std::string device = "cpu";       // cpu, cuda:N, cuda:LOCAL_RANK; of nccl alone
  std::string congestion_control;   // of the ring's sockets; empty: the system's default
  // Of an emulated network between the processes of a launched job; as told: network_spec() is what
  // to use. Not used where one process plays all ranks. Empty: none.
  std::string network;
  std::string placement =
      "dedicated";  // dedicated, colocated: hosts of the shards, see network_hosts()
  int64_t first_bucket_bytes = 256 << 10;
  int64_t bucket_bytes = 4 << 20;
  int64_t frame_bytes = 1 << 20;      // largest payload of one message, in all strategies
  int64_t segment_bytes = 256 << 10;  // of the ring: what is received, added and sent on at a time

  GrpcTuning grpc;               // of the ports of the parameter server that carry gradients
  std::string malloc = "tuned";  // tuned, stock: whether freed memory is kept

  // What is trained.
  std::string model = "mlp";                 // one of KnownModels()
  std::string model_args;                    // key=value,...; worker/models/model_factory.h
  std::vector<int64_t> hidden = {256, 128};  // hidden layers of the mlp
  // mnist, cifar10, image_folder, voc, imdb, text, synthetic; as told: dataset_name() is what to
  // use
  std::string dataset;
  std::string data_dir = "data/mnist10k";
  std::string dataset_args;  // key=value,...; worker/data/dataset_factory.h tells the keys
  int data_threads = 0;      // a rank, that load batches ahead; 0: the training thread loads
  int batch_size = 32;       // per rank and micro-batch
  int accumulate = 1;        // micro-batches a step; their gradients travel once
  int64_t steps = 0;         // exactly one of steps and epochs is positive
  int64_t epochs = 0;
  int64_t seed = 1;
  OptimizerConfig optimizer;          // as told; scaled_optimizer() is what to use
  LearningRateConfig lr;              // as told; lr_schedule() is what to use
  std::string lr_scaling = "none";    // none, linear, sqrt: of the learning rate, by the workers
  double clip_norm = 0;               // largest L2 norm of the mean gradient; 0: any
  std::string on_nonfinite = "stop";  // stop, skip: what a NaN or infinity in a gradient does
  int threads = 1;                    // of LibTorch, per rank
  std::string precision = "fp32";     // fp32, bf16: in what the model computes, by autocast
  // rank0, mean, local: whose buffers (running statistics) the ranks have when training has ended.
  std::string buffers = "rank0";
  bool evaluate = true;       // on the test set, at the end
  int64_t warmup_steps = 10;  // left out of statistics
  std::string trace_steps;    // FROM:TO; empty: none; trace_window() is what to use
  std::string stragglers;     // ranks that are made slow on purpose; common/config/stragglers.h

  // Deadlines.
  absl::Duration lease = absl::Seconds(10);
  absl::Duration step_timeout = absl::Seconds(60);
  absl::Duration join_timeout = absl::Seconds(120);
  // Losses of shards, of all together, that do not end the job: another process takes the lost
  // one's place, within join_timeout.
  int restart_shards = 0;

  // Where results go; empty: nowhere.
  std::string out;
  std::string tensorboard_dir;  // of rank 0's event files for TensorBoard; empty: none
  // Used by ps alone: shards save their state after every so many steps, so that a replaced one
  // goes on from there; 0: never.
  int64_t snapshot_steps = 0;
  std::string snapshot_dir;  // as told; snapshot_folder() is what to use
  // Rank 0 saves the training after every so many steps; 0: only when a signal asks for it, and
  // only where checkpoint_dir is given.
  int64_t checkpoint_steps = 0;
  std::string checkpoint_dir;  // as told; checkpoint_folder() is what to use
  int keep_checkpoints = 2;
  std::string resume;  // the path of a checkpoint, or "latest"; empty: from the start
  int64_t trial = 0;

  // INVALID_ARGUMENT: names the flag, the value and what is allowed.
  absl::Status Validate() const;

  bool uses_servers() const { return strategy == "ps"; }
  // REQUIRES: validated. Of ps.
  PsPolicy ps_policy() const;
  int shards() const { return uses_servers() ? ps_shards : 0; }
  // One process plays all ranks itself: in turn or, with data_parallel, at once.
  bool is_one_process() const { return strategy == "local" || plays_at_once(); }
  // Each rank on a thread and a model of its own.
  bool plays_at_once() const { return strategy == "data_parallel"; }
  // Processes that run workers.
  int worker_processes() const { return is_one_process() ? 1 : workers; }
  // REQUIRES: validated.
  NetworkSpec network_spec() const;
  // Emulated hosts: one for each worker, then, with --placement=dedicated, one for each shard; with
  // colocated, shard s shares the host of worker s mod workers. 0: the network is not emulated.
  int network_hosts() const;
  // --dataset or, where none is told, mnist for the models that suit it (a part of it comes with
  // this program) and synthetic for all others, so that every model can be tried at once.
  std::string dataset_name() const;
  // REQUIRES: validated. The optimizer with the rate that --lr_scaling makes of --learning_rate, on
  // workers and shards alike.
  OptimizerConfig scaled_optimizer() const;
  // The schedule of the learning rate. Cosine over the steps of the run, where lr.total_steps is 0:
  // a run by epochs must give it, because shards, which never see the data, must know it too.
  LearningRateConfig lr_schedule() const;
  // Where the shards of this host save their state: --snapshot_dir, else "snapshots" in --out;
  // empty where neither is given. Validate lets that pass, because workers, who need not know the
  // folder, must agree on snapshot_steps; it is for the shard to refuse.
  std::string snapshot_folder() const;
  // Where rank 0 saves the training: --checkpoint_dir, else "checkpoints" in --out; empty where
  // neither is given, which is for rank 0 to refuse.
  std::string checkpoint_folder() const;
  // REQUIRES: validated. The steps that are traced; they may be more than there are.
  StepWindow trace_window() const { return ParseStepWindow(trace_steps).value_or(StepWindow()); }
  bool checkpoints() const { return checkpoint_steps > 0 || !checkpoint_dir.empty(); }
  // Of batch_size samples, of all ranks together.
  int64_t batches_per_step() const { return int64_t{workers} * accumulate; }
  int64_t global_batch_size() const { return batch_size * batches_per_step(); }

  // Flag name -> value, everything that must agree between the workers of a job. What may differ
  // between processes (out, data_dir, snapshot_dir, tensorboard_dir, deadlines of joining, what the
  // coordinator alone acts on) is not in it.
  std::map<std::string, std::string> SharedSettings() const;
  // Name -> value, everything that decides what the state after a step is, rounding aside: what
  // must be the same in a job that goes on from a checkpoint. How gradients meet is not in it.
  std::map<std::string, std::string> ResumeSettings() const;
  // Every flag of the job as arguments for a child process.
  std::vector<std::string> ToFlags() const;
};

const std::vector<std::string>& KnownStrategies();
const std::vector<std::string>& KnownPsLinks();
const std::vector<std::string>& KnownRingLinks();
const std::vector<std::string>& KnownModels();
const std::vector<std::string>& KnownDatasets();

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CONFIG_JOB_CONFIG_H_
