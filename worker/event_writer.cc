#include "worker/event_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "worker/tf_record.h"

namespace ringside {
namespace {

constexpr absl::Duration kFlushEvery = absl::Seconds(2);
constexpr char kFileVersion[] = "brain.Event:2";

double WallTime(absl::Time time) { return absl::ToDoubleSeconds(time - absl::UnixEpoch()); }

std::string HostName() {
  char name[256] = "";
  if (gethostname(name, sizeof(name) - 1) != 0) return "localhost";
  return name;
}

}  // namespace

absl::StatusOr<std::unique_ptr<EventWriter>> EventWriter::Create(const std::string& folder,
                                                                 absl::Time now) {
  // TensorBoard reads the files of a folder in the order of their names.
  const std::string name = absl::StrFormat("%s/events.out.tfevents.%010d.%s.%d", folder,
                                           absl::ToUnixSeconds(now), HostName(), getpid());
  for (int number = 0;; ++number) {
    const std::string path = absl::StrCat(name, ".", number);
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--tensorboard_dir=", folder, ": cannot write ", path, ": ", strerror(errno)));
    }
    auto writer = absl::WrapUnique(new EventWriter(path, descriptor, now));
    RINGSIDE_RETURN_IF_ERROR(writer->Flush(now));
    return writer;
  }
}

EventWriter::EventWriter(std::string path, int descriptor, absl::Time now)
    : path_(std::move(path)), descriptor_(descriptor), flushed_at_(now) {
  tensorboard::Event version;
  version.set_wall_time(WallTime(now));
  version.set_file_version(kFileVersion);
  AppendEvent(version);
}

EventWriter::~EventWriter() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status EventWriter::Restart(int64_t step, absl::Time now) {
  tensorboard::Event event;
  event.set_wall_time(WallTime(now));
  event.set_step(step);
  event.mutable_session_log()->set_status(tensorboard::SessionLog::START);
  AppendEvent(event);
  return FlushIfDue(now);
}

absl::Status EventWriter::Append(int64_t step, absl::Time at, const std::vector<Scalar>& scalars) {
  tensorboard::Event event;
  event.set_wall_time(WallTime(at));
  event.set_step(step);
  for (const Scalar& scalar : scalars) {
    tensorboard::Summary::Value* value = event.mutable_summary()->add_value();
    value->set_tag(scalar.tag);
    value->set_simple_value(static_cast<float>(scalar.value));
  }
  AppendEvent(event);
  return FlushIfDue(at);
}

absl::Status EventWriter::FlushIfDue(absl::Time now) {
  return now - flushed_at_ < kFlushEvery ? absl::OkStatus() : Flush(now);
}

absl::Status EventWriter::Close() {
  RINGSIDE_RETURN_IF_ERROR(Flush(flushed_at_));
  if (close(std::exchange(descriptor_, -1)) != 0) {
    return absl::DataLossError(absl::StrCat("cannot write ", path_, ": ", strerror(errno)));
  }
  return absl::OkStatus();
}

void EventWriter::AppendEvent(const tensorboard::Event& event) {
  AppendTfRecord(event.SerializeAsString(), &unwritten_);
}

absl::Status EventWriter::Flush(absl::Time now) {
  flushed_at_ = now;
  size_t written = 0;
  while (written < unwritten_.size()) {
    const ssize_t count =
        write(descriptor_, unwritten_.data() + written, unwritten_.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return absl::DataLossError(absl::StrCat("cannot write ", path_, ": ", strerror(errno)));
    }
    written += static_cast<size_t>(count);
  }
  unwritten_.clear();
  return absl::OkStatus();
}

}  // namespace ringside
