#include "allreduce/baselines/mpi/mpi_all_reducer.h"

#include <mpi.h>

#include <limits>
#include <string>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ringside {
namespace {

absl::Status MpiError(const char* call, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return absl::UnavailableError(absl::StrCat(call, ": ", absl::string_view(text, length)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<MpiWorld>> MpiWorld::Start() {
  int started = 0;
  MPI_Initialized(&started);
  if (started != 0) return absl::FailedPreconditionError("MPI has been started before");
  int provided = 0;
  int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  if (code != MPI_SUCCESS) return MpiError("MPI_Init_thread", code);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0;
  int size = 0;
  code = MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (code == MPI_SUCCESS) code = MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (code != MPI_SUCCESS) return MpiError("MPI_Comm_rank", code);
  return absl::WrapUnique(new MpiWorld(rank, size));
}

MpiWorld::~MpiWorld() { MPI_Finalize(); }

std::string MpiWorld::LibraryVersion() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const absl::string_view all(text, length);
  return std::string(all.substr(0, all.find(',')));
}

absl::Status MpiAllReducer::Sum(CollectiveId, absl::Span<const float> in, absl::Span<float> out) {
  if (in.size() != out.size() || in.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return absl::InvalidArgumentError(absl::StrCat("MPI cannot sum ", in.size(), " elements into ",
                                                   out.size(), "; equal lengths up to ",
                                                   std::numeric_limits<int>::max(), " are needed"));
  }
  {
    MutexLock lock(&mutex_);
    if (!error_.ok()) return error_;
  }
  const void* source = in.data() == out.data() ? MPI_IN_PLACE : in.data();
  const int code = MPI_Allreduce(source, out.data(), static_cast<int>(in.size()), MPI_FLOAT,
                                 MPI_SUM, MPI_COMM_WORLD);
  MutexLock lock(&mutex_);
  if (error_.ok() && code != MPI_SUCCESS) {
    error_ = MpiError(absl::StrCat("MPI_Allreduce on rank ", world_->rank()).c_str(), code);
  }
  return error_;
}

void MpiAllReducer::Abort(absl::Status cause) {
  MutexLock lock(&mutex_);
  if (error_.ok()) error_ = std::move(cause);
}

}  // namespace ringside
