#include "worker/worker_job.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/coordinator/monotonic_clock.h"
#include "common/logging.h"
#include "common/process_info.h"
#include "common/provenance.h"
#include "common/sha256.h"
#include "common/status_macros.h"
#include "common/suspects.h"
#include "common/traffic_proto.h"
#include "worker/evaluation.h"
#include "worker/model_buffers.h"
#include "worker/run_result.h"
#include "worker/step_writer.h"
#include "worker/trainer_setup.h"
#include "worker/writable_folder.h"

namespace ringside {
namespace {

constexpr absl::Duration kLogEvery = absl::Seconds(5);
constexpr int kClockRoundTrips = 16;

// A port that the user named and that is taken is a wrong flag, not a broken network.
absl::Status AsBadInput(const absl::Status& status) {
  return absl::IsUnavailable(status) ? absl::FailedPreconditionError(status.message()) : status;
}

TrafficCounters Difference(TrafficCounters later, const TrafficCounters& earlier) {
  later -= earlier;
  return later;
}

}  // namespace

WorkerJob::WorkerJob(const WorkerConfig& config, TrainingSignals* signals)
    : config_(config), signals_(signals), started_at_(absl::Now()) {}

absl::Status WorkerJob::Run() {
  RINGSIDE_RETURN_IF_ERROR(Prepare());
  if (config_.coordinator.has_value()) RINGSIDE_RETURN_IF_ERROR(Join());
  return Leave(TrainAndReport());
}

absl::Status WorkerJob::Prepare() {
  RINGSIDE_ASSIGN_OR_RETURN(workload_, Workload::Load(config_.job, config_.rank));
  if (config_.rank == 0) RINGSIDE_RETURN_IF_ERROR(RequireTraceFolder(config_.job));
  trace_ = std::make_unique<JobTrace>(config_.job, *workload_->plan,
                                      static_cast<int>(config_.hosted_ranks().size()));
  RINGSIDE_ASSIGN_OR_RETURN(trainer_, MakeTrainer(config_, *workload_, trace_->buffer()));
  progress_.set_total_steps(trainer_->total_steps());
  RINGSIDE_ASSIGN_OR_RETURN(buffers_, JobBuffers::Create(config_, *workload_->model()));
  TrainingCheckpoints::Config checkpoints{config_.job, config_.rank, workload_->training->size(),
                                          trainer_->total_steps()};
  checkpoints.parameters = workload_->model()->Parameters();
  checkpoints.provenance = OwnProvenance();
  checkpoints.data_settings = workload_->data_settings;
  checkpoints.depends_on_cut = workload_->model()->DependsOnCut();
  checkpoints.signals = signals_;
  RINGSIDE_ASSIGN_OR_RETURN(checkpoints_,
                            TrainingCheckpoints::Open(std::move(checkpoints), *workload_->plan));
  auto factory = SynchronizerFactory::Create(config_);
  RINGSIDE_RETURN_IF_ERROR(AsBadInput(factory.status()));
  factory_ = std::move(*factory);
  if (config_.rank == 0 && !config_.job.tensorboard_dir.empty()) {
    RINGSIDE_RETURN_IF_ERROR(RequireWritableFolder("tensorboard_dir", config_.job.tensorboard_dir,
                                                   config_.job.tensorboard_dir));
  }
  return config_.job.out.empty() ? absl::OkStatus() : PrepareOutputFolder(config_.job.out);
}

absl::Status WorkerJob::Join() {
  JoinRequest request;
  factory_->Announce(request.mutable_member());
  DescribeWorkload(config_.job, *workload_, &request);
  for (const auto& [name, value] : checkpoints_->SharedFacts()) {
    (*request.mutable_settings())[name] = value;
  }
  RINGSIDE_ASSIGN_OR_RETURN(membership_, JobMembership::Join(config_, std::move(request)));
  return absl::OkStatus();
}

absl::Status WorkerJob::ShareData() {
  if (!workload_->shared_data.has_value() || config_.job.worker_processes() == 1) {
    return absl::OkStatus();
  }
  SharedData& shared = *workload_->shared_data;
  RINGSIDE_ASSIGN_OR_RETURN(
      const std::vector<std::string> made,
      client()->GatherForAll(shared.name, WorkersOf(client()->membership()), std::move(shared.made),
                             config_.job.step_timeout));
  if (config_.rank == 0) return absl::OkStatus();
  const absl::Status taken = shared.take(made[0]);
  return taken.ok() ? taken
                    : WithSuspects(absl::Status(taken.code(),
                                                absl::StrCat("the ", shared.name,
                                                             " of worker 0: ", taken.message())),
                                   {WorkerId(0)});
}

absl::Status WorkerJob::TrainAndReport() {
  ReportProgress("start");
  RINGSIDE_RETURN_IF_ERROR(ShareData());
  const Membership alone;
  auto made = factory_->Make({client() == nullptr ? &alone : &client()->membership(),
                              workload_->plan.get(), &trainer_->gradients(), client(),
                              checkpoints_->resumed_step(), trace_->buffer()});
  RINGSIDE_RETURN_IF_ERROR(made.status());
  synchronizer_ = std::move(made->synchronizer);
  if (membership_ != nullptr) membership_->Attach(synchronizer_.get());
  RINGSIDE_RETURN_IF_ERROR(checkpoints_->Attach(
      trainer_.get(), made->update_state,
      TrainingCheckpoints::StateOfBuffers(*workload_->model(), buffers_->values())));
  if (checkpoints_->resumed_step() > 0) {
    RINGSIDE_RETURN_IF_ERROR(trainer_->SetBuffers(*buffers_->values()));
  }
  RINGSIDE_RETURN_IF_ERROR(Train());
  if (client() != nullptr) {
    RINGSIDE_ASSIGN_OR_RETURN(*clock_.mutable_last(), client()->ReadClock(kClockRoundTrips));
  }
  trace_->Describe(config_.rank, clock_, &result_);
  RINGSIDE_RETURN_IF_ERROR(buffers_->Merge(client(), trainer_.get()));
  result_.set_rank(config_.rank);
  result_.set_parameters_sha256(Sha256Hex(trainer_->parameters()));
  checkpoints_->Describe(&result_);
  *result_.mutable_process() = ReadProcessInfo();
  for (const auto& facts : {workload_->facts, made->facts}) {
    for (const auto& [name, value] : facts) {
      (*result_.mutable_process()->mutable_facts())[name] = value;
    }
  }
  if (client() != nullptr && client()->current_membership().recovery() > 0) {
    (*result_.mutable_process()->mutable_facts())["recoveries"] =
        absl::StrCat(client()->current_membership().recovery());
  }
  if (workload_->test != nullptr) {
    RINGSIDE_ASSIGN_OR_RETURN(*result_.mutable_evaluation(), Evaluate());
  }
  return Report();
}

absl::Status WorkerJob::Train() {
  if (config_.rank == 0) LogInfo(DescribeRate(config_.job));
  RINGSIDE_RETURN_IF_ERROR(trainer_->Start(synchronizer_.get()));
  result_.set_initial_parameters_sha256(Sha256Hex(trainer_->parameters()));
  std::unique_ptr<StepWriter> steps;
  if (!config_.job.out.empty()) {
    RINGSIDE_ASSIGN_OR_RETURN(
        steps, StepWriter::Create(config_.job.out, config_.rank, checkpoints_->resumed_step()));
  }
  if (config_.rank == 0 && !config_.job.tensorboard_dir.empty()) {
    RINGSIDE_ASSIGN_OR_RETURN(events_, TrainingEvents::Create(config_.job, absl::Now()));
  }
  RINGSIDE_RETURN_IF_ERROR(BeginTogether());
  const TrafficCounters before = synchronizer_->traffic();
  const TrafficCounters expected_before = synchronizer_->ExpectedTraffic(0);
  began_ = MonotonicNow();
  for (bool ended = false; !ended;) {
    signals_->heeded = config_.rank == 0 && config_.job.checkpoints();
    const absl::Status trained =
        trainer_->Run([&](const StepRecord& record) { return OnStep(steps.get(), record); });
    signals_->heeded = false;
    RINGSIDE_RETURN_IF_ERROR(trained);
    result_.set_train_s(absl::ToDoubleSeconds(MonotonicNow() - began_));
    *result_.mutable_traffic() = ToProto(Difference(synchronizer_->traffic(), before));
    *result_.mutable_expected_traffic() =
        ToProto(Difference(synchronizer_->ExpectedTraffic(result_.steps_size()), expected_before));
    RINGSIDE_ASSIGN_OR_RETURN(const absl::optional<int64_t> back, synchronizer_->Shutdown());
    ended = !back.has_value();
    if (!ended) trainer_->GoBack(*back);
  }
  return steps == nullptr ? absl::OkStatus() : steps->Close();
}

absl::Status WorkerJob::BeginTogether() {
  if (client() == nullptr) return absl::OkStatus();
  RINGSIDE_ASSIGN_OR_RETURN(*clock_.mutable_first(), client()->ReadClock(kClockRoundTrips));
  const std::vector<MemberId> workers = WorkersOf(client()->membership());
  const absl::Duration restart = absl::Milliseconds(client()->membership().restart_timeout_ms());
  if (restart == absl::ZeroDuration()) {
    return client()->Barrier("train", workers, config_.job.step_timeout);
  }
  // Where shards may be lost, whoever waits here does not notice a loss, and whoever does would
  // wait for the former to make it good. A meeting of those who know of no replacement ends with
  // the first one; then all go on, to where the loss shows. So does a verdict.
  const absl::Status met =
      client()->Barrier("recovery-0-train", workers, config_.job.step_timeout + restart);
  return absl::IsAborted(met) ? absl::OkStatus() : met;
}

absl::Status WorkerJob::OnStep(StepWriter* steps, const StepRecord& record) {
  // A step that is run again takes the place of what followed from what was lost.
  while (result_.steps_size() > 0 &&
         result_.steps(result_.steps_size() - 1).step() >= record.step()) {
    result_.mutable_steps()->RemoveLast();
  }
  *result_.add_steps() = record;
  progress_.set_step(record.step());
  progress_.set_loss(record.loss());
  progress_.set_own_work_s(record.step_s() - record.exposed_comm_s());
  progress_.set_samples(progress_.samples() + record.samples());
  ReportProgress("train");
  const absl::Time now = absl::Now();
  if (config_.rank == 0 && now - last_logged_ >= kLogEvery) {
    last_logged_ = now;
    LogInfo(absl::StrFormat("step %d of %d, epoch %d, own part of the loss %.4f", record.step(),
                            trainer_->total_steps(), record.epoch(), record.loss()));
  }
  if (events_ != nullptr) RINGSIDE_RETURN_IF_ERROR(events_->OnStep(record, now));
  if (steps != nullptr) {
    RINGSIDE_RETURN_IF_ERROR(steps->Append(record));
    // A job that goes on from a checkpoint finds the records of all steps before. Which step is the
    // next to be saved nobody knows: a signal may ask for it, and worker 0 alone hears that.
    if (saves_training()) RINGSIDE_RETURN_IF_ERROR(steps->Flush());
  }
  if (config_.rank == 0 && config_.job.checkpoints())
    RINGSIDE_RETURN_IF_ERROR(buffers_->Note(*trainer_));
  return checkpoints_->OnStep(record.step());
}

absl::StatusOr<Evaluation> WorkerJob::Evaluate() {
  ReportProgress("evaluate");
  EvaluationSums own;
  for (int rank : config_.hosted_ranks()) {
    const ElementRange share = Part({0, workload_->test->size()}, config_.job.workers, rank);
    RINGSIDE_ASSIGN_OR_RETURN(const BufferValues buffers, trainer_->Buffers(rank));
    if (!buffers.empty()) RINGSIDE_RETURN_IF_ERROR(WriteBuffers(buffers, workload_->model()));
    RINGSIDE_ASSIGN_OR_RETURN(const EvaluationSums part,
                              EvaluateRange(workload_->model(), *workload_->test, share));
    own.Add(part);
  }
  ReducibleSums sums = ToReducible(own, workload_->test->sample_shape());
  if (client() != nullptr) {
    RINGSIDE_ASSIGN_OR_RETURN(CoordinatorClient::Sums reduced,
                              client()->Reduce("evaluation", WorkersOf(client()->membership()),
                                               {std::move(sums.integers), std::move(sums.doubles)},
                                               config_.job.step_timeout));
    sums = {std::move(reduced.integers), std::move(reduced.doubles)};
  }
  return EvaluationOf(sums, workload_->test->sample_shape());
}

absl::Status WorkerJob::Report() {
  ReportProgress("finish");
  std::vector<std::string> blobs = {result_.SerializeAsString()};
  if (client() != nullptr) {
    RINGSIDE_ASSIGN_OR_RETURN(
        blobs, client()->Gather("results", EveryoneOf(client()->membership()), std::move(blobs[0]),
                                config_.job.step_timeout));
  }
  if (config_.rank != 0) return absl::OkStatus();
  // From here on nobody waits for this process, however long its disk takes.
  RINGSIDE_RETURN_IF_ERROR(FinishCheckpoints());
  blobs[0] = result_.SerializeAsString();
  return WriteReport(blobs);
}

absl::Status WorkerJob::FinishCheckpoints() {
  if (checkpoints_->busy()) LogInfo("the last checkpoint is being written");
  signals_->heeded = checkpoints_->busy();  // the end that is asked for is near, and this is for it
  const absl::StatusOr<absl::Time> written = checkpoints_->Finish(&result_);
  signals_->heeded = false;
  RINGSIDE_RETURN_IF_ERROR(written.status());
  // What is trained and not saved is not done.
  result_.set_train_s(std::max(result_.train_s(), absl::ToDoubleSeconds(*written - began_)));
  return absl::OkStatus();
}

bool WorkerJob::saves_training() const {
  return config_.job.checkpoints() ||
         (client() != nullptr && client()->membership().settings().count(kSavesTraining) > 0);
}

absl::Status WorkerJob::WriteReport(const std::vector<std::string>& blobs) {
  RunResultParts parts;
  parts.job = config_.job;
  parts.worker_blobs.assign(blobs.begin(), blobs.begin() + config_.job.worker_processes());
  parts.shard_blobs.assign(blobs.begin() + config_.job.worker_processes(), blobs.end());
  parts.total_steps = trainer_->total_steps();
  parts.parameter_elements = workload_->plan->total_elements();
  parts.bucket_elements = workload_->plan->lengths();
  parts.resumed_from_step = checkpoints_->resumed_step();
  parts.provenance = OwnProvenance();
  parts.command = config_.command;
  RINGSIDE_ASSIGN_OR_RETURN(RunResult result, AssembleRunResult(parts));
  const std::vector<ProcessTrace> traces = TakeTraces(&result);
  LogRunResult(result);
  if (!config_.job.out.empty()) {
    RINGSIDE_RETURN_IF_ERROR(WriteRunResult(result, config_.job.out));
    if (!traces.empty()) {
      RINGSIDE_RETURN_IF_ERROR(WriteTrace(traces, config_.job.trace_window(), config_.job.out));
    }
  }
  return events_ == nullptr ? absl::OkStatus() : events_->OnEnd(result, absl::Now());
}

Provenance WorkerJob::OwnProvenance() const {
  Provenance provenance = ReadProvenance(started_at_);
  (*provenance.mutable_versions())["LibTorch"] = workload_->facts.at("libtorch");
  (*provenance.mutable_versions())["BLAS"] = workload_->facts.at("blas");
  (*provenance.mutable_versions())["gRPC"] = grpc::Version();
  return provenance;
}

absl::Status WorkerJob::Leave(absl::Status status) {
  return membership_ == nullptr ? status : membership_->Leave(status, trainer_->step());
}

void WorkerJob::ReportProgress(const std::string& phase) {
  progress_.set_phase(phase);
  if (client() != nullptr) client()->ReportProgress(progress_);
}

}  // namespace ringside
