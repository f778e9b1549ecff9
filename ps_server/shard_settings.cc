#include "ps_server/shard_settings.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

// Reads settings one after the other; the first error stays.
class SettingsReader {
 public:
  explicit SettingsReader(const Membership& membership) : membership_(membership) {}

  std::string Text(const std::string& name) {
    const auto found = membership_.settings().find(name);
    if (found != membership_.settings().end()) return found->second;
    Note(absl::StrCat("the workers of the job do not say their ", name));
    return "";
  }
  template <typename Int = int64_t>
  Int Integer(const std::string& name) {
    Int value = 0;
    const std::string text = Text(name);
    if (status_.ok() && !absl::SimpleAtoi(text, &value)) NoteUnreadable(name, text);
    return value;
  }
  // 0 where the workers do not say it.
  int64_t OptionalInteger(const std::string& name) {
    return membership_.settings().count(name) > 0 ? Integer(name) : 0;
  }
  // Empty where the workers do not say it.
  std::string OptionalText(const std::string& name) {
    return membership_.settings().count(name) > 0 ? Text(name) : "";
  }
  double Number(const std::string& name) {
    double value = 0;
    const std::string text = Text(name);
    if (status_.ok() && !absl::SimpleAtod(text, &value)) NoteUnreadable(name, text);
    return value;
  }
  bool Boolean(const std::string& name) { return Choice(name, "false", "true"); }
  // Whether it is `second`; else it must be `first`.
  bool Choice(const std::string& name, absl::string_view first, absl::string_view second) {
    const std::string text = Text(name);
    if (status_.ok() && text != first && text != second) NoteUnreadable(name, text);
    return text == second;
  }
  const absl::Status& status() const { return status_; }

 private:
  void NoteUnreadable(const std::string& name, const std::string& text) {
    Note(absl::StrCat("the workers of the job say that their ", name, " is '", text,
                      "', which cannot be read"));
  }
  void Note(const std::string& why) {
    if (status_.ok()) status_ = absl::FailedPreconditionError(why);
  }

  const Membership& membership_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<ShardSettings> ReadShardSettings(const Membership& membership) {
  SettingsReader reader(membership);
  ShardSettings settings;
  settings.first_bucket_bytes = reader.Integer("first_bucket_bytes");
  settings.bucket_bytes = reader.Integer("bucket_bytes");
  settings.frame_bytes = reader.Integer("frame_bytes");
  settings.policy.update_on_server = reader.Choice("update", "worker", "server");
  settings.policy.staleness = reader.Integer<int>("staleness");
  settings.policy.backup_workers = reader.Integer<int>("backup_workers");
  const int64_t batches = int64_t{reader.Integer<int>("accumulate")} * membership.workers_size();
  settings.full_batch = reader.Integer<int>("batch_size") * batches;
  settings.snapshot_steps = reader.Integer("snapshot_steps");
  // By its number of steps, or as worker 0 says, which may save on a signal alone.
  settings.saves_training = reader.OptionalInteger("checkpoint_steps") > 0 ||
                            membership.settings().count("saves_training") > 0;
  settings.resumed_step = reader.OptionalInteger("resumed_step");
  OptimizerConfig& optimizer = settings.optimizer;
  optimizer.name = reader.Text("optimizer");
  const double rate_as_told = reader.Number("learning_rate");
  const std::string scaling = reader.Text("lr_scaling");
  optimizer.momentum = reader.Number("momentum");
  optimizer.nesterov = reader.Boolean("nesterov");
  optimizer.weight_decay = reader.Number("weight_decay");
  optimizer.beta1 = reader.Number("beta1");
  optimizer.beta2 = reader.Number("beta2");
  optimizer.epsilon = reader.Number("epsilon");
  LearningRateConfig& rate = settings.learning_rate;
  rate.schedule = reader.Text("lr_schedule");
  rate.warmup_steps = reader.Integer("lr_warmup_steps");
  rate.decay_steps = reader.Integer("lr_decay_steps");
  rate.decay_factor = reader.Number("lr_decay_factor");
  rate.total_steps = reader.Integer("lr_total_steps");
  rate.final_rate = reader.Number("lr_final");
  const std::string mode = reader.Text("ps_mode");
  const std::string traced = reader.OptionalText("trace_steps");
  RINGSIDE_RETURN_IF_ERROR(reader.status());
  if (!traced.empty()) {
    RINGSIDE_ASSIGN_OR_RETURN(settings.traced, ParseStepWindow(traced));
  }
  RINGSIDE_ASSIGN_OR_RETURN(settings.policy.mode, ParsePsMode(mode));
  RINGSIDE_ASSIGN_OR_RETURN(optimizer.learning_rate, ScaledRate(scaling, rate_as_told, batches));
  RINGSIDE_RETURN_IF_ERROR(optimizer.Validate());
  if (optimizer.name == "lars") {
    RINGSIDE_RETURN_IF_ERROR(RequireWholeGradient("--optimizer=lars", settings.policy));
  }
  RINGSIDE_RETURN_IF_ERROR(rate.Validate(optimizer.learning_rate));
  return settings;
}

}  // namespace ringside
