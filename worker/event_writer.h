// Writes scalars as TensorBoard's event files hold them (proto/event.proto, framed as tf_record.h
// says).
//
// Thread-compatible. Records reach the file a few seconds after they were appended, and at the end;
// always whole ones in one write, so that what a killed process leaves can be read to its last
// flush.
#ifndef RINGSIDE_WORKER_EVENT_WRITER_H_
#define RINGSIDE_WORKER_EVENT_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "event.pb.h"

namespace ringside {

class EventWriter {
 public:
  struct Scalar {
    std::string tag;
    double value = 0;  // stored in single precision; NaN and infinities as they are
  };

  // Makes a new file in `folder`, which exists: its name begins with events.out.tfevents, by which
  // TensorBoard knows it, and no file is ever replaced. INVALID_ARGUMENT: it cannot be made; names
  // the path and what the system says. The time, here and below, is the current one.
  static absl::StatusOr<std::unique_ptr<EventWriter>> Create(const std::string& folder,
                                                             absl::Time now);
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  // Readers drop what this folder's files have told so far of `step` and of all later ones: for a
  // run that begins there anew.
  absl::Status Restart(int64_t step, absl::Time now);
  // Values of one step; `at` is when they came about. DATA_LOSS, here and in all that follows: what
  // was written did not reach the file, e.g. because the disk is full.
  absl::Status Append(int64_t step, absl::Time at, const std::vector<Scalar>& scalars);
  // Writes what is older than a few seconds.
  absl::Status FlushIfDue(absl::Time now);
  absl::Status Close();

  const std::string& path() const { return path_; }

 private:
  EventWriter(std::string path, int descriptor, absl::Time now);

  void AppendEvent(const tensorboard::Event& event);
  absl::Status Flush(absl::Time now);

  const std::string path_;
  int descriptor_;  // -1: closed
  std::string unwritten_;
  absl::Time flushed_at_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_EVENT_WRITER_H_
