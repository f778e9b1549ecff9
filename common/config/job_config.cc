#include "common/config/job_config.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/config/device.h"
#include "common/config/stragglers.h"
#include "common/frame_codec.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// A slip of the keyboard must not bring a machine down.
constexpr int kMaxProcessesPerRole = 1024;
constexpr int kMaxDataThreads = 256;
// So that a trace can still be looked at.
constexpr int64_t kMaxTracedSteps = 1000;

absl::Status RequireKnown(absl::string_view flag, const std::string& value,
                          const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", value, ": must be one of ", absl::StrJoin(known, ", ")));
}

absl::Status RequireAtLeast(absl::string_view flag, int64_t value, int64_t least) {
  if (value >= least) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", value, ": must be at least ", least));
}

absl::Status RequireBetween(absl::string_view flag, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", value, ": must be at least ", least, " and at most ", most));
}

absl::Status RequirePositive(absl::string_view flag, absl::Duration value) {
  if (value > absl::ZeroDuration()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", absl::FormatDuration(value), ": must be positive"));
}

// What cannot carry 16-bit gradients. `auto` falls back to the ring schedule with them.
absl::Status RequireFittingWireDtype(const JobConfig& job) {
  if (job.wire_dtype == "fp32") return absl::OkStatus();
  if (job.uses_servers() || job.strategy == "nccl") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--wire_dtype=", job.wire_dtype, ": must be fp32 with --strategy=", job.strategy));
  }
  if (job.schedule == "direct") {
    return absl::InvalidArgumentError(
        absl::StrCat("--wire_dtype=", job.wire_dtype, ": must be fp32 with --schedule=direct"));
  }
  return absl::OkStatus();
}

// What the model computes in; not to be taken for how its gradients travel.
absl::Status CheckPrecision(const JobConfig& job) {
  RINGSIDE_RETURN_IF_ERROR(RequireKnown("precision", job.precision, {"fp32", "bf16"}));
  if (job.precision == "fp32") return absl::OkStatus();
  if (job.model == "shapes") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--precision=", job.precision,
        ": must be fp32 with --model=shapes, which computes nothing that could be rounded"));
  }
  if (job.device != "cpu") {
    return absl::InvalidArgumentError(absl::StrCat("--precision=", job.precision,
                                                   ": must be fp32 with --device=", job.device,
                                                   "; autocast is offered on the cpu alone"));
  }
  return absl::OkStatus();
}

absl::Status CheckPsMode(const JobConfig& job) {
  RINGSIDE_RETURN_IF_ERROR(RequireKnown("update", job.update, {"worker", "server"}));
  RINGSIDE_ASSIGN_OR_RETURN(const PsMode mode, ParsePsMode(job.ps_mode));
  RINGSIDE_RETURN_IF_ERROR(RequireAtLeast("staleness", job.staleness, 0));
  RINGSIDE_RETURN_IF_ERROR(RequireAtLeast("backup_workers", job.backup_workers, 0));
  if (job.staleness != 0 && mode != PsMode::kSsp) {
    return absl::InvalidArgumentError(absl::StrCat("--staleness=", job.staleness,
                                                   ": must be 0 with --ps_mode=", job.ps_mode,
                                                   "; it is of ssp"));
  }
  if (job.backup_workers != 0 && mode != PsMode::kBackup) {
    return absl::InvalidArgumentError(absl::StrCat("--backup_workers=", job.backup_workers,
                                                   ": must be 0 with --ps_mode=", job.ps_mode,
                                                   "; it is of backup"));
  }
  if (job.uses_servers() && job.backup_workers >= job.workers) {
    return absl::InvalidArgumentError(absl::StrCat("--backup_workers=", job.backup_workers,
                                                   ": must be less than --workers=", job.workers,
                                                   ", or nobody counts"));
  }
  return absl::OkStatus();
}

absl::Status CheckUpdate(const JobConfig& job) {
  RINGSIDE_RETURN_IF_ERROR(job.optimizer.Validate());
  RINGSIDE_ASSIGN_OR_RETURN(
      const double rate,
      ScaledRate(job.lr_scaling, job.optimizer.learning_rate, job.batches_per_step()));
  RINGSIDE_RETURN_IF_ERROR(job.lr_schedule().Validate(rate));
  RINGSIDE_RETURN_IF_ERROR(RequireKnown("on_nonfinite", job.on_nonfinite, {"stop", "skip"}));
  if (!(job.clip_norm >= 0) || !std::isfinite(job.clip_norm)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--clip_norm=", job.clip_norm, ": must be at least 0 and finite"));
  }
  if (!job.uses_servers()) return absl::OkStatus();
  const PsPolicy policy = job.ps_policy();
  if (job.clip_norm > 0) {
    RINGSIDE_RETURN_IF_ERROR(
        RequireWholeGradient(absl::StrCat("--clip_norm=", job.clip_norm), policy));
  }
  if (job.on_nonfinite == "skip") {
    RINGSIDE_RETURN_IF_ERROR(RequireWholeGradient("--on_nonfinite=skip", policy));
  }
  return job.optimizer.name == "lars" ? RequireWholeGradient("--optimizer=lars", policy)
                                      : absl::OkStatus();
}

absl::Status CheckDevice(const std::string& text, const std::string& strategy) {
  RINGSIDE_ASSIGN_OR_RETURN(const Device device, ParseDevice(text));
  const bool on_gpu = device.kind != Device::Kind::kCpu;
  if (on_gpu == (strategy == "nccl")) return absl::OkStatus();
  return absl::InvalidArgumentError(on_gpu
                                        ? absl::StrCat("--device=", text, ": strategy ", strategy,
                                                       " runs on the cpu; only nccl uses a GPU")
                                        : absl::StrCat("--device=", text,
                                                       ": strategy nccl needs a GPU, cuda:N or "
                                                       "cuda:LOCAL_RANK"));
}

absl::Status CheckTraceSteps(const std::string& text) {
  if (text.empty()) return absl::OkStatus();
  const absl::StatusOr<StepWindow> window = ParseStepWindow(text);
  if (!window.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--trace_steps=", text, ": ", window.status().message()));
  }
  if (window->steps() <= kMaxTracedSteps) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--trace_steps=", text, ": ", window->steps(),
                                                 " steps; must be at most ", kMaxTracedSteps));
}

// What the parameter server updates has its optimizer's state there, where no worker sees it.
absl::Status CheckCheckpoints(const JobConfig& job) {
  RINGSIDE_RETURN_IF_ERROR(RequireAtLeast("checkpoint_steps", job.checkpoint_steps, 0));
  RINGSIDE_RETURN_IF_ERROR(RequireAtLeast("keep_checkpoints", job.keep_checkpoints, 1));
  if (!job.uses_servers() || !job.ps_policy().server_has_parameters()) return absl::OkStatus();
  const auto refusal = [&job](const std::string& flag) {
    return absl::InvalidArgumentError(absl::StrCat(
        flag, ": must not be given with --ps_mode=", job.ps_mode, " --update=", job.update,
        ", where the shards have the optimizer's state; --snapshot_steps saves it there"));
  };
  if (job.checkpoint_steps > 0) {
    return refusal(absl::StrCat("--checkpoint_steps=", job.checkpoint_steps));
  }
  if (!job.checkpoint_dir.empty()) {
    return refusal(absl::StrCat("--checkpoint_dir=", job.checkpoint_dir));
  }
  return job.resume.empty() ? absl::OkStatus() : refusal(absl::StrCat("--resume=", job.resume));
}

// Hosts share neither memory nor Unix sockets, also emulated ones.
absl::Status CheckNetwork(const JobConfig& job) {
  RINGSIDE_ASSIGN_OR_RETURN(const NetworkSpec network, ParseNetworkSpec(job.network));
  RINGSIDE_RETURN_IF_ERROR(CheckEmulable(network));
  RINGSIDE_RETURN_IF_ERROR(RequireKnown("placement", job.placement, {"dedicated", "colocated"}));
  const std::string flag = absl::StrCat("--network=", job.network);
  if (!network.empty() && job.strategy == "nccl") {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, ": must be empty with --strategy=nccl, which GPUs carry"));
  }
  if (job.network_hosts() < 2) return absl::OkStatus();
  const auto refusal = [&flag](absl::string_view given, absl::string_view allowed) {
    return absl::InvalidArgumentError(absl::StrCat(given, ": must be ", allowed, " with ", flag,
                                                   ", whose hosts share no memory"));
  };
  if (job.uses_servers()) {
    if (job.ps_link == "auto" || job.ps_link == "grpc_tcp") return absl::OkStatus();
    return refusal(absl::StrCat("--ps_link=", job.ps_link), "auto or grpc_tcp");
  }
  if (job.ring_link == "shm" || job.ring_link == "uds")
    return refusal(absl::StrCat("--ring_link=", job.ring_link), "auto, tcp or grpc");
  if (job.schedule == "direct") return refusal("--schedule=direct", "ring or auto");
  return absl::OkStatus();
}

std::string Bool(bool value) { return value ? "true" : "false"; }

// Shortest text that reads back as the same double.
std::string Number(double value) {
  std::string text;
  for (int precision = 6; precision <= 17; ++precision) {
    text.resize(32);
    text.resize(std::snprintf(text.data(), text.size(), "%.*g", precision, value));
    if (std::stod(text) == value) break;  // at 17 digits at the latest
  }
  return text;
}

}  // namespace

const std::vector<std::string>& KnownStrategies() {
  static const auto* known =
      new std::vector<std::string>{"ps", "ring", "local", "data_parallel", "nccl"};
  return *known;
}

const std::vector<std::string>& KnownPsLinks() {
  static const auto* known = new std::vector<std::string>{"auto", "grpc_tcp", "grpc_uds", "shm"};
  return *known;
}

const std::vector<std::string>& KnownRingLinks() {
  static const auto* known = new std::vector<std::string>{"auto", "tcp", "uds", "shm", "grpc"};
  return *known;
}

const std::vector<std::string>& KnownModels() {
  static const auto* known = new std::vector<std::string>{
      "mlp",         "lenet", "resnet18", "resnet50", "resnet101", "vgg16", "deeplabv3_resnet101",
      "transformer", "gpt",   "shapes"};
  return *known;
}

const std::vector<std::string>& KnownDatasets() {
  static const auto* known = new std::vector<std::string>{"mnist", "cifar10", "image_folder", "voc",
                                                          "imdb",  "text",    "synthetic"};
  return *known;
}

absl::Status JobConfig::Validate() const {
  RINGSIDE_RETURN_IF_ERROR(RequireKnown("strategy", strategy, KnownStrategies()));
  RINGSIDE_RETURN_IF_ERROR(RequireBetween("workers", workers, 1, kMaxProcessesPerRole));
  RINGSIDE_RETURN_IF_ERROR(RequireBetween("ps_shards", ps_shards, 1, kMaxProcessesPerRole));
  RINGSIDE_RETURN_IF_ERROR(RequireKnown("ps_link", ps_link, KnownPsLinks()));
  RINGSIDE_RETURN_IF_ERROR(RequireBetween("shard_threads", shard_threads, 1, kMaxShardThreads));
  RINGSIDE_RETURN_IF_ERROR(RequireKnown("ring_link", ring_link, KnownRingLinks()));
  RINGSIDE_RETURN_IF_ERROR(RequireKnown("schedule", schedule, {"ring", "direct", "auto"}));
  RINGSIDE_RETURN_IF_ERROR(RequireKnown("wire_dtype", wire_dtype, {"fp32", "bf16", "fp16"}));
  RINGSIDE_RETURN_IF_ERROR(CheckPsMode(*this));
  RINGSIDE_RETURN_IF_ERROR(CheckDevice(device, strategy));
  RINGSIDE_RETURN_IF_ERROR(RequireFittingWireDtype(*this));
  if (strategy == "ring" && schedule == "direct" && ring_link != "auto" && ring_link != "shm") {
    return absl::InvalidArgumentError(
        absl::StrCat("--ring_link=", ring_link, ": must be auto or shm with --schedule=direct"));
  }
  RINGSIDE_RETURN_IF_ERROR(CheckNetwork(*this));
  RINGSIDE_RETURN_IF_ERROR(RequireAtLeast("first_bucket_bytes", first_bucket_bytes, 4));
  RINGSIDE_RETURN_IF_ERROR(RequireAtLeast("bucket_bytes", bucket_bytes, 4));
  if (frame_bytes < 4 || frame_bytes > kMaxFramePayloadBytes || frame_bytes % 4 != 0) {
    return absl::InvalidArgumentError(absl::StrCat("--frame_bytes=", frame_bytes,
                                                   ": must be a multiple of 4 from 4 to ",
                                                   kMaxFramePayloadBytes));
  }
  if (segment_bytes < 4 || segment_bytes % 4 != 0) {
    return absl::InvalidArgumentError(absl::StrCat("--segment_bytes=", segment_bytes,
                                                   ": must be a multiple of 4 and at least 4"));
  }
  RINGSIDE_RETURN_IF_ERROR(grpc.Validate());
  RINGSIDE_RETURN_IF_ERROR(RequireKnown("malloc", malloc, {"tuned", "stock"}));
  RINGSIDE_RETURN_IF_ERROR(RequireKnown("model", model, KnownModels()));
  RINGSIDE_RETURN_IF_ERROR(CheckPrecision(*this));
  for (int64_t width : hidden) RINGSIDE_RETURN_IF_ERROR(RequireAtLeast("hidden", width, 1));
  RINGSIDE_RETURN_IF_ERROR(RequireKnown("dataset", dataset_name(), KnownDatasets()));
  RINGSIDE_RETURN_IF_ERROR(RequireBetween("data_threads", data_threads, 0, kMaxDataThreads));
  RINGSIDE_RETURN_IF_ERROR(RequireAtLeast("batch_size", batch_size, 1));
  RINGSIDE_RETURN_IF_ERROR(RequireAtLeast("accumulate", accumulate, 1));
  RINGSIDE_RETURN_IF_ERROR(RequireAtLeast("steps", steps, 0));
  RINGSIDE_RETURN_IF_ERROR(RequireAtLeast("epochs", epochs, 0));
  if ((steps > 0) == (epochs > 0)) {
    return absl::InvalidArgumentError(absl::StrCat("--steps=", steps, " and --epochs=", epochs,
                                                   ": exactly one of them must be positive"));
  }
  RINGSIDE_RETURN_IF_ERROR(RequireAtLeast("seed", seed, 0));
  RINGSIDE_RETURN_IF_ERROR(CheckUpdate(*this));
  RINGSIDE_RETURN_IF_ERROR(RequireAtLeast("threads", threads, 1));
  RINGSIDE_RETURN_IF_ERROR(RequireKnown("buffers", buffers, {"rank0", "mean", "local"}));
  RINGSIDE_RETURN_IF_ERROR(RequireAtLeast("warmup_steps", warmup_steps, 0));
  RINGSIDE_RETURN_IF_ERROR(CheckTraceSteps(trace_steps));
  RINGSIDE_RETURN_IF_ERROR(CheckStragglers(stragglers, workers));
  RINGSIDE_RETURN_IF_ERROR(RequireAtLeast("snapshot_steps", snapshot_steps, 0));
  RINGSIDE_RETURN_IF_ERROR(CheckCheckpoints(*this));
  RINGSIDE_RETURN_IF_ERROR(RequirePositive("lease", lease));
  RINGSIDE_RETURN_IF_ERROR(RequirePositive("step_timeout", step_timeout));
  RINGSIDE_RETURN_IF_ERROR(RequirePositive("join_timeout", join_timeout));
  RINGSIDE_RETURN_IF_ERROR(RequireAtLeast("restart_shards", restart_shards, 0));
  return absl::OkStatus();
}

std::string JobConfig::dataset_name() const {
  if (!dataset.empty()) return dataset;
  return model == "mlp" || model == "lenet" ? "mnist" : "synthetic";
}

OptimizerConfig JobConfig::scaled_optimizer() const {
  OptimizerConfig scaled = optimizer;
  scaled.learning_rate = ScaledRate(lr_scaling, optimizer.learning_rate, batches_per_step())
                             .value_or(optimizer.learning_rate);
  return scaled;
}

LearningRateConfig JobConfig::lr_schedule() const {
  LearningRateConfig resolved = lr;
  if (lr.schedule == "cosine" && lr.total_steps == 0) resolved.total_steps = steps;
  return resolved;
}

PsPolicy JobConfig::ps_policy() const {
  PsPolicy policy;
  policy.mode = ParsePsMode(ps_mode).value_or(PsMode::kSync);
  policy.update_on_server = policy.mode != PsMode::kSync || update == "server";
  policy.staleness = staleness;
  policy.backup_workers = backup_workers;
  return policy;
}

NetworkSpec JobConfig::network_spec() const {
  return ParseNetworkSpec(network).value_or(NetworkSpec{});
}

int JobConfig::network_hosts() const {
  if (network_spec().empty() || is_one_process() || strategy == "nccl") return 0;
  return placement == "colocated" ? workers : workers + shards();
}

std::string JobConfig::snapshot_folder() const {
  if (!snapshot_dir.empty() || out.empty()) return snapshot_dir;
  return absl::StrCat(out, "/snapshots");
}

std::string JobConfig::checkpoint_folder() const {
  if (!checkpoint_dir.empty() || out.empty()) return checkpoint_dir;
  return absl::StrCat(out, "/checkpoints");
}

std::map<std::string, std::string> JobConfig::ResumeSettings() const {
  std::map<std::string, std::string> settings = {
      {"global_batch_size", absl::StrCat(global_batch_size())}};
  const std::map<std::string, std::string> shared = SharedSettings();
  for (const char* name : {"model",           "model_args",  "hidden",          "dataset",
                           "dataset_args",    "seed",        "buffers",         "optimizer",
                           "momentum",        "nesterov",    "weight_decay",    "beta1",
                           "beta2",           "epsilon",     "lars_trust",      "clip_norm",
                           "on_nonfinite",    "lr_schedule", "lr_warmup_steps", "lr_decay_steps",
                           "lr_decay_factor", "lr_final",    "precision"}) {
    settings[name] = shared.at(name);
  }
  // As they are in force, which may follow from --lr_scaling and --steps.
  settings["learning_rate"] = Number(scaled_optimizer().learning_rate);
  settings["lr_total_steps"] = absl::StrCat(lr_schedule().total_steps);
  return settings;
}

std::map<std::string, std::string> JobConfig::SharedSettings() const {
  std::map<std::string, std::string> settings = {
      {"strategy", strategy},
      {"workers", absl::StrCat(workers)},
      {"ps_shards", absl::StrCat(shards())},
      {"ps_mode", ps_mode},
      {"update", update},
      {"staleness", absl::StrCat(staleness)},
      {"backup_workers", absl::StrCat(backup_workers)},
      {"ps_link", ps_link},
      {"shard_threads", absl::StrCat(shard_threads)},
      {"ring_link", ring_link},
      {"schedule", schedule},
      {"wire_dtype", wire_dtype},
      {"overlap", overlap ? "on" : "off"},
      {"device", device},
      {"congestion_control", congestion_control},
      {"network", ToString(network_spec())},
      {"placement", placement},
      {"first_bucket_bytes", absl::StrCat(first_bucket_bytes)},
      {"bucket_bytes", absl::StrCat(bucket_bytes)},
      {"frame_bytes", absl::StrCat(frame_bytes)},
      {"segment_bytes", absl::StrCat(segment_bytes)},
      {"malloc", malloc},
      {"model", model},
      {"model_args", model_args},
      {"hidden", absl::StrJoin(hidden, ",")},
      {"dataset", dataset_name()},
      {"dataset_args", dataset_args},
      {"data_threads", absl::StrCat(data_threads)},
      {"batch_size", absl::StrCat(batch_size)},
      {"accumulate", absl::StrCat(accumulate)},
      {"steps", absl::StrCat(steps)},
      {"epochs", absl::StrCat(epochs)},
      {"seed", absl::StrCat(seed)},
      {"optimizer", optimizer.name},
      {"learning_rate", Number(optimizer.learning_rate)},
      {"momentum", Number(optimizer.momentum)},
      {"nesterov", Bool(optimizer.nesterov)},
      {"weight_decay", Number(optimizer.weight_decay)},
      {"beta1", Number(optimizer.beta1)},
      {"beta2", Number(optimizer.beta2)},
      {"epsilon", Number(optimizer.epsilon)},
      {"lars_trust", Number(optimizer.lars_trust)},
      {"lr_scaling", lr_scaling},
      {"clip_norm", Number(clip_norm)},
      {"on_nonfinite", on_nonfinite},
      {"lr_schedule", lr.schedule},
      {"lr_warmup_steps", absl::StrCat(lr.warmup_steps)},
      {"lr_decay_steps", absl::StrCat(lr.decay_steps)},
      {"lr_decay_factor", Number(lr.decay_factor)},
      {"lr_total_steps", absl::StrCat(lr.total_steps)},
      {"lr_final", Number(lr.final_rate)},
      {"threads", absl::StrCat(threads)},
      {"precision", precision},
      {"buffers", buffers},
      {"evaluate", Bool(evaluate)},
      {"warmup_steps", absl::StrCat(warmup_steps)},
      {"trace_steps", trace_steps},
      {"stragglers", stragglers},
      {"snapshot_steps", absl::StrCat(snapshot_steps)},
      {"checkpoint_steps", absl::StrCat(checkpoint_steps)},
  };
  settings.merge(grpc.Settings());
  return settings;
}

std::vector<std::string> JobConfig::ToFlags() const {
  std::map<std::string, std::string> values = SharedSettings();
  values["ps_shards"] = absl::StrCat(ps_shards);
  values["data_dir"] = data_dir;
  values["out"] = out;
  values["snapshot_dir"] = snapshot_dir;
  values["tensorboard_dir"] = tensorboard_dir;
  values["checkpoint_dir"] = checkpoint_dir;
  values["keep_checkpoints"] = absl::StrCat(keep_checkpoints);
  values["resume"] = resume;
  values["trial"] = absl::StrCat(trial);
  values["lease"] = absl::FormatDuration(lease);
  values["step_timeout"] = absl::FormatDuration(step_timeout);
  values["join_timeout"] = absl::FormatDuration(join_timeout);
  values["restart_shards"] = absl::StrCat(restart_shards);
  std::vector<std::string> flags;
  for (const auto& [name, value] : values) flags.push_back(absl::StrCat("--", name, "=", value));
  return flags;
}

}  // namespace ringside
