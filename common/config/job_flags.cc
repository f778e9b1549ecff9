#include "common/config/job_flags.h"

#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"

namespace {

const ringside::JobConfig& Defaults() {
  static const auto* defaults = new ringside::JobConfig;
  return *defaults;
}

std::string OnOff(bool value) { return value ? "on" : "off"; }

std::vector<std::string> Texts(const std::vector<int64_t>& numbers) {
  std::vector<std::string> texts;
  for (int64_t number : numbers) texts.push_back(absl::StrCat(number));
  return texts;
}

}  // namespace

ABSL_FLAG(std::string, strategy, Defaults().strategy,
          "how gradients meet: ps, ring, local (one process, ranks in turn), data_parallel (one "
          "process, a thread a rank) or nccl (NCCL's own all-reduce, on GPUs)");
ABSL_FLAG(std::vector<std::string>, workers, {absl::StrCat(Defaults().workers)},
          "number of workers (ranks); a list, e.g. 1,2,4, for `ringside compare`");
ABSL_FLAG(int, ps_shards, Defaults().ps_shards, "shards of the parameter server (strategy ps)");
ABSL_FLAG(std::string, ps_mode, Defaults().ps_mode,
          "of the parameter server: sync, async (pushes are applied on arrival), ssp (async within "
          "--staleness) or backup (the first workers to finish a step count)");
ABSL_FLAG(std::string, update, Defaults().update,
          "where the optimizer runs with --ps_mode=sync: worker or server; else on the server");
ABSL_FLAG(int, staleness, Defaults().staleness,
          "of --ps_mode=ssp: steps that a worker may be ahead of the slowest");
ABSL_FLAG(int, backup_workers, Defaults().backup_workers,
          "of --ps_mode=backup: workers a step does not wait for");
ABSL_FLAG(std::string, ps_link, Defaults().ps_link,
          "transport between workers and shards: auto (shm on one host, grpc_tcp across hosts), "
          "grpc_tcp, grpc_uds or shm");
ABSL_FLAG(int, shard_threads, Defaults().shard_threads,
          "threads with which one shard folds, 1 to 64; the bits are the same for any number");
ABSL_FLAG(
    std::string, ring_link, Defaults().ring_link,
    "transport between neighbours of the ring: auto (shm on one host, tcp across hosts), tcp, "
    "uds, shm or grpc");
ABSL_FLAG(std::string, schedule, Defaults().schedule,
          "how an all-reduce moves its chunks: ring, direct (one host, shared memory; reported as "
          "direct) or auto");
ABSL_FLAG(std::string, wire_dtype, Defaults().wire_dtype,
          "how gradients travel: fp32, bf16 or fp16; they are always added as fp32");
ABSL_FLAG(std::string, overlap, OnOff(Defaults().overlap),
          "off: communication starts when backward has ended, to see what overlap gains");
ABSL_FLAG(std::string, device, Defaults().device, "of nccl: cpu, cuda:N or cuda:LOCAL_RANK");
ABSL_FLAG(int64_t, segment_bytes, Defaults().segment_bytes,
          "what the ring receives, adds and sends on at a time; at most --frame_bytes count");
ABSL_FLAG(std::string, congestion_control, Defaults().congestion_control,
          "TCP congestion control of the ring's sockets, e.g. cubic; empty: the system's default");
ABSL_FLAG(
    std::string, network, Defaults().network,
    "of `ringside`: emulate a network between the processes, bandwidth of each host and latency "
    "one way, e.g. 1gbit,100us or 200mbit; needs root; empty: none");
ABSL_FLAG(
    std::string, placement, Defaults().placement,
    "with --network: dedicated (each process on a host of its own) or colocated (shard s on the "
    "host of worker s mod --workers)");
ABSL_FLAG(int64_t, first_bucket_bytes, Defaults().first_bucket_bytes,
          "size at which the first bucket is closed; small, so that communication starts early");
ABSL_FLAG(int64_t, bucket_bytes, Defaults().bucket_bytes,
          "size at which every other bucket is closed");
ABSL_FLAG(int64_t, frame_bytes, Defaults().frame_bytes, "payload of one message, at most 1 MiB");
ABSL_FLAG(int64_t, grpc_max_frame_bytes, Defaults().grpc.max_frame_bytes,
          "largest HTTP/2 frame between workers and shards; 0: gRPC's own, as for all grpc_ flags");
ABSL_FLAG(int64_t, grpc_lookahead_bytes, Defaults().grpc.lookahead_bytes,
          "flow-control window of a stream");
ABSL_FLAG(int64_t, grpc_write_buffer_bytes, Defaults().grpc.write_buffer_bytes,
          "what a stream buffers before a write has to wait");
ABSL_FLAG(int64_t, grpc_read_chunk_bytes, Defaults().grpc.read_chunk_bytes,
          "what one read from a socket asks for");
ABSL_FLAG(std::string, grpc_bdp_probe, OnOff(Defaults().grpc.bdp_probe),
          "on or off: the window follows an estimate of bandwidth times delay");
ABSL_FLAG(std::string, grpc_tx_zerocopy, OnOff(Defaults().grpc.tx_zerocopy),
          "on or off: MSG_ZEROCOPY on TCP");
ABSL_FLAG(std::string, malloc, Defaults().malloc,
          "tuned (memory is never given back to the system) or stock");
ABSL_FLAG(
    std::string, model, Defaults().model,
    "mlp, lenet, resnet18, resnet50, resnet101, vgg16, deeplabv3_resnet101, transformer, gpt, or "
    "shapes: gradients of any sizes without a model, and a stated time to compute");
ABSL_FLAG(
    std::string, model_args, Defaults().model_args,
    "of the model, key=value,...: classes, channels, hidden, layers, width, heads, "
    "feedforward, vocabulary, sequence, dropout; a key that the model lacks is refused. "
    "shapes: preset=NAME (resnet18, resnet50, resnet101, vgg16, deeplabv3_resnet101, gpt2) or "
    "file=PATH (a name and extents a line), compute_ms=X, compute=sleep|spin, seed=N");
ABSL_FLAG(std::vector<std::string>, hidden, Texts(Defaults().hidden),
          "widths of the hidden layers of the mlp, e.g. 256,128");
ABSL_FLAG(
    std::string, dataset, Defaults().dataset,
    "mnist, cifar10, image_folder, voc, imdb, text or synthetic (which needs no files); empty: "
    "mnist for mlp and lenet, synthetic for all other models");
ABSL_FLAG(std::string, dataset_args, Defaults().dataset_args,
          "sizes of the samples, key=value,...: rows and columns (image_folder, voc), length "
          "(text, imdb), vocabulary (imdb); of synthetic all that there are, and samples");
ABSL_FLAG(int, data_threads, Defaults().data_threads,
          "threads a rank that load batches ahead; 0: the training thread loads");
ABSL_FLAG(std::string, data_dir, Defaults().data_dir, "folder with the data files");
ABSL_FLAG(int, batch_size, Defaults().batch_size,
          "samples per rank and step, or per micro-batch with --accumulate");
ABSL_FLAG(int, accumulate, Defaults().accumulate,
          "micro-batches a step: their gradients are added up and travel once");
ABSL_FLAG(int64_t, steps, Defaults().steps, "steps to train; give this or --epochs");
ABSL_FLAG(int64_t, epochs, Defaults().epochs, "passes over the training set; give this or --steps");
ABSL_FLAG(int64_t, seed, Defaults().seed, "seed of initialisation and shuffling");
ABSL_FLAG(std::string, optimizer, Defaults().optimizer.name, "sgd, adam, adamw or lars");
ABSL_FLAG(double, learning_rate, Defaults().optimizer.learning_rate,
          "step size; the base of --lr_schedule, after --lr_scaling");
ABSL_FLAG(
    std::string, lr_scaling, Defaults().lr_scaling,
    "what --learning_rate is multiplied by: none, linear (workers times --accumulate) or sqrt (the "
    "square root of that)");
ABSL_FLAG(
    std::string, lr_schedule, Defaults().lr.schedule,
    "of the learning rate: constant, step (times --lr_decay_factor every --lr_decay_steps) or "
    "cosine (down to --lr_final over --lr_total_steps)");
ABSL_FLAG(int64_t, lr_warmup_steps, Defaults().lr.warmup_steps,
          "steps in which the learning rate grows linearly to --learning_rate, in any schedule");
ABSL_FLAG(int64_t, lr_decay_steps, Defaults().lr.decay_steps, "of --lr_schedule=step");
ABSL_FLAG(double, lr_decay_factor, Defaults().lr.decay_factor, "of --lr_schedule=step");
ABSL_FLAG(int64_t, lr_total_steps, Defaults().lr.total_steps,
          "of --lr_schedule=cosine, warm-up included; 0: --steps");
ABSL_FLAG(double, lr_final, Defaults().lr.final_rate, "of --lr_schedule=cosine: the last rate");
ABSL_FLAG(double, momentum, Defaults().optimizer.momentum, "of sgd and lars");
ABSL_FLAG(bool, nesterov, Defaults().optimizer.nesterov, "Nesterov's momentum, of sgd");
ABSL_FLAG(double, weight_decay, Defaults().optimizer.weight_decay,
          "L2 (sgd, adam, lars) or decoupled (adamw)");
ABSL_FLAG(double, beta1, Defaults().optimizer.beta1, "of adam and adamw");
ABSL_FLAG(double, beta2, Defaults().optimizer.beta2, "of adam and adamw");
ABSL_FLAG(double, epsilon, Defaults().optimizer.epsilon, "of adam, adamw and lars");
ABSL_FLAG(double, lars_trust, Defaults().optimizer.lars_trust,
          "of lars: the share of a parameter's norm that its gradient may have");
ABSL_FLAG(double, clip_norm, Defaults().clip_norm,
          "the mean gradient is scaled down to this L2 norm where it is above; 0: never");
ABSL_FLAG(std::string, on_nonfinite, Defaults().on_nonfinite,
          "when any worker's gradient has a NaN or infinity: stop (all end, naming it) or skip (no "
          "rank applies this step)");
ABSL_FLAG(int, threads, Defaults().threads, "LibTorch threads per rank");
ABSL_FLAG(std::string, precision, Defaults().precision,
          "in what the model computes: fp32 or bf16 (LibTorch's autocast on the cpu; parameters, "
          "gradients and loss stay fp32)");
ABSL_FLAG(
    std::string, buffers, Defaults().buffers,
    "of a model with running statistics, after training: rank0 (all ranks have rank 0's), mean "
    "(over the ranks) or local (each keeps its own)");
ABSL_FLAG(bool, evaluate, Defaults().evaluate, "measure accuracy on the test set at the end");
ABSL_FLAG(int64_t, warmup_steps, Defaults().warmup_steps, "first steps left out of all statistics");
ABSL_FLAG(std::string, trace_steps, Defaults().trace_steps,
          "FROM:TO: what all ranks and shards do in these steps goes to trace.json in --out, for "
          "Perfetto; empty: nothing is traced");
ABSL_FLAG(std::string, stragglers, Defaults().stragglers,
          "ranks that are made slow on purpose, RANK:DURATION[@FROM:TO],..., e.g. 2:50ms: they "
          "sleep so long in every step (or in these) before their forward pass");
ABSL_FLAG(absl::Duration, lease, Defaults().lease,
          "a lost process is named, and all others end, within this time");
ABSL_FLAG(absl::Duration, step_timeout, Defaults().step_timeout,
          "longest wait for the sums of one step");
ABSL_FLAG(absl::Duration, join_timeout, Defaults().join_timeout,
          "longest wait for all processes to join");
ABSL_FLAG(int, restart_shards, Defaults().restart_shards,
          "how many losses of shards the job survives, of all together: each is started again (by "
          "hand where no launcher does it) and must join within --join_timeout");
ABSL_FLAG(std::string, out, Defaults().out, "folder for results; created if missing");
ABSL_FLAG(std::string, tensorboard_dir, Defaults().tensorboard_dir,
          "folder of rank 0's event files for TensorBoard; created if missing; `ringside compare` "
          "makes a folder in it for each run; empty: none");
ABSL_FLAG(int64_t, snapshot_steps, Defaults().snapshot_steps,
          "shards save their state after every so many steps (strategy ps); 0: never");
ABSL_FLAG(std::string, snapshot_dir, Defaults().snapshot_dir,
          "folder of a shard's saved states; empty: snapshots in --out");
ABSL_FLAG(int64_t, checkpoint_steps, Defaults().checkpoint_steps,
          "worker 0 saves the training after every so many steps and after the last; 0: never, or, "
          "where --checkpoint_dir is given, on SIGUSR1 and SIGTERM only");
ABSL_FLAG(std::string, checkpoint_dir, Defaults().checkpoint_dir,
          "folder of checkpoints; empty: checkpoints in --out");
ABSL_FLAG(int, keep_checkpoints, Defaults().keep_checkpoints, "how many checkpoints are kept");
ABSL_FLAG(std::string, resume, Defaults().resume,
          "go on from this checkpoint, or from the latest one in --checkpoint_dir");
ABSL_FLAG(int64_t, trial, Defaults().trial, "number of this repetition, recorded with the results");

ABSL_FLAG(std::string, interface, "", "network interface to listen on: a name or a CIDR");
ABSL_FLAG(std::string, listen, "", "address to listen on, overrides --interface");
ABSL_FLAG(std::string, advertise, "",
          "name or address that others connect to, if not the one listened on");
ABSL_FLAG(std::string, port_range, "", "ports to listen on, e.g. 4000-4099; empty: any free port");
ABSL_FLAG(std::string, coordinator, "", "host:port of the coordinator");
ABSL_FLAG(std::string, token, "", "secret that all processes of a job share (or RINGSIDE_TOKEN)");
ABSL_FLAG(bool, host_coordinator, false, "worker 0 hosts the coordinator at --coordinator");
ABSL_FLAG(int, rank, 0, "rank of this worker; unset: from the launcher's environment");
ABSL_FLAG(int, shard, 0,
          "number of this ps_server's shard; unset: from the launcher's environment");
ABSL_FLAG(int, metrics_port, 0,
          "port on which a ps_server serves metrics to Prometheus, 0: any free one (it is logged); "
          "unset: none. `ringside` gives shard s the port + s");

namespace ringside {
namespace {

// Parses a flag that is a list of whole numbers. Ranges are for Validate to check.
template <typename Integer>
absl::StatusOr<std::vector<Integer>> Numbers(absl::string_view flag,
                                             const std::vector<std::string>& texts) {
  std::vector<Integer> numbers;
  for (const std::string& text : texts) {
    Integer number = 0;
    if (!absl::SimpleAtoi(text, &number)) {
      return absl::InvalidArgumentError(absl::StrCat("--", flag, "=", absl::StrJoin(texts, ","),
                                                     ": \"", text, "\" is not a whole number"));
    }
    numbers.push_back(number);
  }
  return numbers;
}

absl::StatusOr<bool> OnOrOff(absl::string_view flag, const std::string& value) {
  if (value == "on" || value == "off") return value == "on";
  return absl::InvalidArgumentError(absl::StrCat("--", flag, "=", value, ": must be on or off"));
}

absl::StatusOr<GrpcTuning> GrpcTuningFromFlags() {
  GrpcTuning tuning;
  tuning.max_frame_bytes = absl::GetFlag(FLAGS_grpc_max_frame_bytes);
  tuning.lookahead_bytes = absl::GetFlag(FLAGS_grpc_lookahead_bytes);
  tuning.write_buffer_bytes = absl::GetFlag(FLAGS_grpc_write_buffer_bytes);
  tuning.read_chunk_bytes = absl::GetFlag(FLAGS_grpc_read_chunk_bytes);
  RINGSIDE_ASSIGN_OR_RETURN(tuning.bdp_probe,
                            OnOrOff("grpc_bdp_probe", absl::GetFlag(FLAGS_grpc_bdp_probe)));
  RINGSIDE_ASSIGN_OR_RETURN(tuning.tx_zerocopy,
                            OnOrOff("grpc_tx_zerocopy", absl::GetFlag(FLAGS_grpc_tx_zerocopy)));
  return tuning;
}

absl::StatusOr<int> WorkersFromFlags() {
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<int> counts, WorkerCountsFromFlags());
  if (counts.size() == 1) return counts[0];
  return absl::InvalidArgumentError(
      absl::StrCat("--workers=", absl::StrJoin(counts, ","),
                   ": must be one number; only `ringside compare` takes a list"));
}

}  // namespace

absl::StatusOr<std::vector<int>> WorkerCountsFromFlags() {
  return Numbers<int>("workers", absl::GetFlag(FLAGS_workers));
}

absl::StatusOr<JobConfig> JobConfigFromFlags() {
  RINGSIDE_ASSIGN_OR_RETURN(const int workers, WorkersFromFlags());
  return JobConfigFromFlags(workers);
}

absl::StatusOr<JobConfig> JobConfigFromFlags(int workers) {
  JobConfig config;
  config.strategy = absl::GetFlag(FLAGS_strategy);
  config.workers = workers;
  config.ps_shards = absl::GetFlag(FLAGS_ps_shards);
  config.ps_mode = absl::GetFlag(FLAGS_ps_mode);
  config.update = absl::GetFlag(FLAGS_update);
  config.staleness = absl::GetFlag(FLAGS_staleness);
  config.backup_workers = absl::GetFlag(FLAGS_backup_workers);
  config.shard_threads = absl::GetFlag(FLAGS_shard_threads);
  config.ps_link = absl::GetFlag(FLAGS_ps_link);
  config.ring_link = absl::GetFlag(FLAGS_ring_link);
  config.schedule = absl::GetFlag(FLAGS_schedule);
  config.wire_dtype = absl::GetFlag(FLAGS_wire_dtype);
  RINGSIDE_ASSIGN_OR_RETURN(config.overlap, OnOrOff("overlap", absl::GetFlag(FLAGS_overlap)));
  config.device = absl::GetFlag(FLAGS_device);
  config.segment_bytes = absl::GetFlag(FLAGS_segment_bytes);
  config.congestion_control = absl::GetFlag(FLAGS_congestion_control);
  config.network = absl::GetFlag(FLAGS_network);
  config.placement = absl::GetFlag(FLAGS_placement);
  config.first_bucket_bytes = absl::GetFlag(FLAGS_first_bucket_bytes);
  config.bucket_bytes = absl::GetFlag(FLAGS_bucket_bytes);
  config.frame_bytes = absl::GetFlag(FLAGS_frame_bytes);
  RINGSIDE_ASSIGN_OR_RETURN(config.grpc, GrpcTuningFromFlags());
  config.malloc = absl::GetFlag(FLAGS_malloc);
  config.model = absl::GetFlag(FLAGS_model);
  config.model_args = absl::GetFlag(FLAGS_model_args);
  RINGSIDE_ASSIGN_OR_RETURN(config.hidden, Numbers<int64_t>("hidden", absl::GetFlag(FLAGS_hidden)));
  config.dataset = absl::GetFlag(FLAGS_dataset);
  config.data_dir = absl::GetFlag(FLAGS_data_dir);
  config.dataset_args = absl::GetFlag(FLAGS_dataset_args);
  config.data_threads = absl::GetFlag(FLAGS_data_threads);
  config.batch_size = absl::GetFlag(FLAGS_batch_size);
  config.accumulate = absl::GetFlag(FLAGS_accumulate);
  config.steps = absl::GetFlag(FLAGS_steps);
  config.epochs = absl::GetFlag(FLAGS_epochs);
  config.seed = absl::GetFlag(FLAGS_seed);
  config.optimizer.name = absl::GetFlag(FLAGS_optimizer);
  config.optimizer.learning_rate = absl::GetFlag(FLAGS_learning_rate);
  config.lr.schedule = absl::GetFlag(FLAGS_lr_schedule);
  config.lr.warmup_steps = absl::GetFlag(FLAGS_lr_warmup_steps);
  config.lr.decay_steps = absl::GetFlag(FLAGS_lr_decay_steps);
  config.lr.decay_factor = absl::GetFlag(FLAGS_lr_decay_factor);
  config.lr.total_steps = absl::GetFlag(FLAGS_lr_total_steps);
  config.lr.final_rate = absl::GetFlag(FLAGS_lr_final);
  config.optimizer.momentum = absl::GetFlag(FLAGS_momentum);
  config.optimizer.nesterov = absl::GetFlag(FLAGS_nesterov);
  config.optimizer.weight_decay = absl::GetFlag(FLAGS_weight_decay);
  config.optimizer.beta1 = absl::GetFlag(FLAGS_beta1);
  config.optimizer.beta2 = absl::GetFlag(FLAGS_beta2);
  config.optimizer.epsilon = absl::GetFlag(FLAGS_epsilon);
  config.optimizer.lars_trust = absl::GetFlag(FLAGS_lars_trust);
  config.lr_scaling = absl::GetFlag(FLAGS_lr_scaling);
  config.clip_norm = absl::GetFlag(FLAGS_clip_norm);
  config.on_nonfinite = absl::GetFlag(FLAGS_on_nonfinite);
  config.threads = absl::GetFlag(FLAGS_threads);
  config.precision = absl::GetFlag(FLAGS_precision);
  config.buffers = absl::GetFlag(FLAGS_buffers);
  config.evaluate = absl::GetFlag(FLAGS_evaluate);
  config.warmup_steps = absl::GetFlag(FLAGS_warmup_steps);
  config.trace_steps = absl::GetFlag(FLAGS_trace_steps);
  config.stragglers = absl::GetFlag(FLAGS_stragglers);
  config.lease = absl::GetFlag(FLAGS_lease);
  config.step_timeout = absl::GetFlag(FLAGS_step_timeout);
  config.join_timeout = absl::GetFlag(FLAGS_join_timeout);
  config.restart_shards = absl::GetFlag(FLAGS_restart_shards);
  config.out = absl::GetFlag(FLAGS_out);
  config.tensorboard_dir = absl::GetFlag(FLAGS_tensorboard_dir);
  config.snapshot_steps = absl::GetFlag(FLAGS_snapshot_steps);
  config.snapshot_dir = absl::GetFlag(FLAGS_snapshot_dir);
  config.checkpoint_steps = absl::GetFlag(FLAGS_checkpoint_steps);
  config.checkpoint_dir = absl::GetFlag(FLAGS_checkpoint_dir);
  config.keep_checkpoints = absl::GetFlag(FLAGS_keep_checkpoints);
  config.resume = absl::GetFlag(FLAGS_resume);
  config.trial = absl::GetFlag(FLAGS_trial);
  return config;
}

ProcessConfig ProcessConfigFromFlags(const CommandLine& command_line,
                                     const Environment& environment) {
  ProcessConfig config;
  config.network.interface = absl::GetFlag(FLAGS_interface);
  config.network.listen = absl::GetFlag(FLAGS_listen);
  config.network.advertise = absl::GetFlag(FLAGS_advertise);
  config.network.port_range = absl::GetFlag(FLAGS_port_range);
  config.coordinator = absl::GetFlag(FLAGS_coordinator);
  config.token = absl::GetFlag(FLAGS_token);
  const auto token = environment.find("RINGSIDE_TOKEN");
  if (config.token.empty() && token != environment.end()) config.token = token->second;
  config.host_coordinator = absl::GetFlag(FLAGS_host_coordinator);
  if (command_line.Has("rank")) config.rank = absl::GetFlag(FLAGS_rank);
  if (command_line.Has("shard")) config.rank = absl::GetFlag(FLAGS_shard);
  if (command_line.Has("metrics_port")) config.metrics_port = absl::GetFlag(FLAGS_metrics_port);
  // A list is refused by JobConfigFromFlags; here it is as good as no word on the matter.
  const absl::StatusOr<int> workers = WorkersFromFlags();
  if (command_line.Has("workers") && workers.ok()) config.world_size = *workers;
  return config;
}

}  // namespace ringside
