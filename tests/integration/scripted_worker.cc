// Stands in for `worker`: a real member of a job with --strategy=ps and a real client of its
// shards, with the flags of `worker`, but without LibTorch: gradients come from scripted_model.h,
// and it halts exactly where the environment says.
//   SCRIPT_MODEL=6x240           six parameters of 240 elements
//   SCRIPT=3:0:hold,4:2:stop     in the first step that is not before STEP, when it has submitted
//                                BUCKETS of it, ACTION:
//     say   waits until all that was submitted has left
//     hold  the same, then waits for SIGUSR1
//     stop  stops itself with SIGSTOP at once, in the middle of the push
// Each prints "step 3, 2 buckets: 24 of 96 units submitted, 312 in all", with the units of all
// shards together. Each step that is finished prints "finished step 3", the number of
// which is that of the parameters: a later one for a late backup worker, an earlier one where a
// lost shard went back. The end prints "parameters <SHA-256>".
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/arena.h"
#include "common/bucket_plan.h"
#include "common/config/flag_parser.h"
#include "common/config/job_flags.h"
#include "common/coordinator/coordinator_client.h"
#include "common/logging.h"
#include "common/network/host_identity.h"
#include "common/process_memory.h"
#include "common/sha256.h"
#include "common/status_macros.h"
#include "common/suspects.h"
#include "common/unit_table.h"
#include "results.pb.h"
#include "tests/testing/process.h"
#include "tests/testing/scripted_model.h"
#include "worker/run_result.h"
#include "worker/synchronizer_factory.h"
#include "worker/verdict_watch.h"
#include "worker/worker_config.h"

namespace ringside {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(2);

struct Halt {
  int64_t step = 0;
  int buckets = 0;
  std::string action;
};

absl::StatusOr<std::deque<Halt>> ParseScript(const std::string& text) {
  std::deque<Halt> script;
  for (absl::string_view entry : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(entry, ':');
    Halt halt;
    if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &halt.step) ||
        !absl::SimpleAtoi(parts[1], &halt.buckets)) {
      return absl::InvalidArgumentError(absl::StrCat("SCRIPT=", text, ": must be S:B:ACTION,..."));
    }
    halt.action = parts[2];
    script.push_back(std::move(halt));
  }
  return script;
}

absl::StatusOr<ScriptedModel> ParseModel(const std::string& text) {
  ScriptedModel model;
  const std::vector<std::string> parts = absl::StrSplit(text, 'x');
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &model.parameters) ||
      !absl::SimpleAtoi(parts[1], &model.elements_each)) {
    return absl::InvalidArgumentError(absl::StrCat("SCRIPT_MODEL=", text, ": must be e.g. 6x240"));
  }
  return model;
}

std::string Text(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

void Say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// The signal that ends a hold.
sigset_t ResumeSignal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  return signals;
}

class ScriptedWorker {
 public:
  ScriptedWorker(WorkerConfig config, const ScriptedModel& model, std::deque<Halt> script,
                 BucketPlan plan)
      : config_(std::move(config)),
        model_(model),
        script_(std::move(script)),
        plan_(std::move(plan)),
        parameters_(static_cast<size_t>(plan_.total_elements())) {}

  absl::Status Run() {
    RINGSIDE_ASSIGN_OR_RETURN(factory_, SynchronizerFactory::Create(config_));
    RINGSIDE_RETURN_IF_ERROR(Join());
    const absl::Status status = Train();
    return status.ok() ? client_->Leave() : client_->ResolveFailure(status, step_);
  }

 private:
  absl::Status Join() {
    JoinRequest request;
    *request.mutable_member()->mutable_id() = WorkerId(config_.rank);
    factory_->Announce(request.mutable_member());
    *request.mutable_member()->mutable_host() = ReadHostIdentity();
    request.mutable_member()->set_pid(getpid());
    request.set_token(config_.token);
    request.set_world_size(config_.job.workers);
    request.set_num_shards(config_.job.shards());
    for (const auto& [name, value] : config_.job.SharedSettings()) {
      (*request.mutable_settings())[name] = value;
    }
    for (const ParameterSpec& spec : model_.Parameters()) {
      ParameterDescription* parameter = request.add_parameters();
      parameter->set_name(spec.name);
      parameter->mutable_shape()->Assign(spec.shape.begin(), spec.shape.end());
      parameter->set_dtype(spec.dtype);
    }
    RINGSIDE_ASSIGN_OR_RETURN(
        client_,
        CoordinatorClient::Join({*config_.coordinator, config_.job.join_timeout}, request));
    watch_ = std::make_unique<VerdictWatch>(
        absl::Seconds(1), [](const absl::Status& verdict) { std::_Exit(ExitStatus(verdict)); });
    client_->SetVerdictHandler([this](const absl::Status& verdict) { watch_->Deliver(verdict); });
    return absl::OkStatus();
  }

  absl::Status Train() {
    RINGSIDE_ASSIGN_OR_RETURN(
        gradients_,
        Arena::Create(plan_.total_elements(), SynchronizerFactory::GradientPlacement(config_)));
    RINGSIDE_ASSIGN_OR_RETURN(
        SynchronizerFactory::Product made,
        factory_->Make({&client_->membership(), &plan_, gradients_.get(), client_.get()}));
    synchronizer_ = std::move(made.synchronizer);
    watch_->Attach(synchronizer_.get());
    for (size_t i = 0; i < parameters_.size(); ++i) {
      parameters_[i] = ScriptedInitial(static_cast<int64_t>(i));
    }
    submitted_ = UnitsOf(plan_.size());
    RINGSIDE_RETURN_IF_ERROR(synchronizer_->Start(absl::MakeSpan(parameters_)));
    for (int64_t next = 1; next <= config_.job.steps;) {
      RINGSIDE_ASSIGN_OR_RETURN(const int64_t done, RunStep(next));
      next = done + 1;
    }
    RINGSIDE_RETURN_IF_ERROR(synchronizer_->Shutdown().status());
    Say(absl::StrCat("parameters ", Sha256Hex(absl::Span<const float>(parameters_))));
    return Report();
  }

  absl::Status Report() {
    result_.set_rank(config_.rank);
    result_.set_parameters_sha256(Sha256Hex(absl::Span<const float>(parameters_)));
    if (client_->current_membership().recovery() > 0) {
      (*result_.mutable_process()->mutable_facts())["recoveries"] =
          absl::StrCat(client_->current_membership().recovery());
    }
    RunResultParts parts;
    RINGSIDE_ASSIGN_OR_RETURN(
        parts.worker_blobs, client_->Gather("results", EveryoneOf(client_->membership()),
                                            result_.SerializeAsString(), config_.job.step_timeout));
    if (config_.rank != 0 || config_.job.out.empty()) return absl::OkStatus();
    parts.job = config_.job;
    parts.shard_blobs.assign(parts.worker_blobs.begin() + config_.job.workers,
                             parts.worker_blobs.end());
    parts.worker_blobs.resize(config_.job.workers);
    parts.total_steps = config_.job.steps;
    parts.parameter_elements = plan_.total_elements();
    RINGSIDE_ASSIGN_OR_RETURN(const RunResult result, AssembleRunResult(parts));
    return WriteRunResult(result, config_.job.out);
  }

  // Returns the step that the parameters are of.
  absl::StatusOr<int64_t> RunStep(int64_t step) {
    const absl::Span<float> gradient = gradients_->span();
    for (size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] = ScriptedGradient(config_.rank, step, static_cast<int64_t>(i));
    }
    RINGSIDE_RETURN_IF_ERROR(HaltIfDue(step, 0));
    for (int bucket = 0; bucket < plan_.size(); ++bucket) {
      const ElementRange& range = plan_.bucket(bucket);
      synchronizer_->Submit(
          {step, config_.rank, bucket, gradient.subspan(range.begin, range.length), /*samples=*/1});
      submitted_ += UnitsOf(bucket + 1) - UnitsOf(bucket);
      RINGSIDE_RETURN_IF_ERROR(HaltIfDue(step, bucket + 1));
    }
    RINGSIDE_ASSIGN_OR_RETURN(const StepStats stats, synchronizer_->Finish(step));
    step_ = stats.parameters_step;
    Say(absl::StrCat("finished step ", step_));
    while (result_.steps_size() > 0 && result_.steps().rbegin()->step() >= step) {
      result_.mutable_steps()->RemoveLast();
    }
    if (step_ >= step) result_.add_steps()->set_step(step);
    Progress progress;
    progress.set_step(step_);
    progress.set_phase("train");
    client_->ReportProgress(progress);
    return step_;
  }

  // Of the first `buckets` buckets.
  int64_t UnitsOf(int buckets) const {
    const ShardLayout layout{config_.job.workers, config_.job.shards(), config_.job.frame_bytes};
    int64_t units = 0;
    for (int shard = 0; shard < layout.num_shards; ++shard) {
      units += UnitTable(plan_, layout, shard).first_of_bucket(buckets);
    }
    return units;
  }

  absl::Status HaltIfDue(int64_t step, int buckets) {
    if (script_.empty() || step < script_.front().step || buckets != script_.front().buckets) {
      return absl::OkStatus();
    }
    const std::string action = script_.front().action;
    script_.pop_front();
    const auto say = [&] {
      Say(absl::StrCat("step ", step, ", ", buckets, " buckets: ", UnitsOf(buckets), " of ",
                       UnitsOf(plan_.size()), " units submitted, ", submitted_, " in all"));
    };
    if (action == "stop") {
      say();
      raise(SIGSTOP);
      return absl::OkStatus();
    }
    const bool left = AwaitCondition(
        [this] { return synchronizer_->traffic().messages_sent >= submitted_; }, kPatience);
    if (!left) return absl::DeadlineExceededError("what was submitted does not leave");
    say();
    if (action == "hold") {
      const sigset_t resume = ResumeSignal();
      int signal = 0;
      sigwait(&resume, &signal);
    }
    return absl::OkStatus();
  }

  const WorkerConfig config_;
  const ScriptedModel model_;
  std::deque<Halt> script_;
  const BucketPlan plan_;
  std::vector<float> parameters_;
  std::unique_ptr<Arena> gradients_;
  int64_t submitted_ = 0;  // units, the broadcast of the parameters included
  int64_t step_ = 0;
  WorkerResult result_;  // as far as a launcher insists on it

  // In the order of making, so that what is used goes after its users.
  std::unique_ptr<SynchronizerFactory> factory_;
  std::unique_ptr<GradientSynchronizer> synchronizer_;
  std::unique_ptr<VerdictWatch> watch_;
  std::unique_ptr<CoordinatorClient> client_;
};

absl::Status Run(const CommandLine& line, int argc, char** argv) {
  const Environment environment = ReadEnvironment();
  RINGSIDE_ASSIGN_OR_RETURN(const JobConfig job, JobConfigFromFlags());
  RINGSIDE_ASSIGN_OR_RETURN(
      WorkerConfig config,
      MakeWorkerConfig(job, ProcessConfigFromFlags(line, environment), environment,
                       std::vector<std::string>(argv, argv + argc)));
  SetUpAllocator(config.job.malloc);
  SetLogName(absl::StrCat("worker ", config.rank));
  RINGSIDE_ASSIGN_OR_RETURN(const ScriptedModel model,
                            ParseModel(Text(environment, "SCRIPT_MODEL")));
  RINGSIDE_ASSIGN_OR_RETURN(std::deque<Halt> script, ParseScript(Text(environment, "SCRIPT")));
  RINGSIDE_ASSIGN_OR_RETURN(
      BucketPlan plan,
      BucketPlan::Create(model.Parameters(), job.first_bucket_bytes, job.bucket_bytes));
  return ScriptedWorker(std::move(config), model, std::move(script), std::move(plan)).Run();
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  ringside::SetLogName("worker");
  // Before any other thread exists, so that no other gets it.
  const sigset_t resume = ringside::ResumeSignal();
  pthread_sigmask(SIG_BLOCK, &resume, nullptr);
  const auto line = ringside::ParseFlags(argc, argv);
  if (!line.ok()) return ringside::ExitStatus(line.status());
  return ringside::ExitStatus(ringside::Run(*line, argc, argv));
}
