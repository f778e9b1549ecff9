#include "common/shared_memory/peer_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/network/descriptor_passing.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

constexpr uint8_t kMapped = 1;
constexpr uint8_t kNotMapped = 2;

}  // namespace

absl::StatusOr<std::unique_ptr<PeerMemory>> PeerMemory::Map(
    const std::vector<FileDescriptor>& files, Access access) {
  const int protection = access == Access::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
  auto memory = absl::WrapUnique(new PeerMemory);
  for (const FileDescriptor& file : files) {
    struct stat status = {};
    const int seals = fcntl(file.get(), F_GET_SEALS);
    if (fstat(file.get(), &status) != 0 || status.st_size <= 0 || seals < 0 ||
        (seals & F_SEAL_SHRINK) == 0) {
      return absl::UnavailableError("its memory is not of a size that lasts");
    }
    const auto bytes = static_cast<size_t>(status.st_size);
    // Populated, so that no sum pays for the page faults.
    void* const address =
        mmap(nullptr, bytes, protection, MAP_SHARED | MAP_POPULATE, file.get(), 0);
    if (address == MAP_FAILED) {
      return absl::UnavailableError(
          absl::StrCat("its memory of ", bytes, " bytes cannot be mapped: ", strerror(errno)));
    }
    memory->segments_.emplace_back(static_cast<uint8_t*>(address), bytes);
  }
  return memory;
}

PeerMemory::~PeerMemory() {
  for (const absl::Span<uint8_t> segment : segments_) munmap(segment.data(), segment.size());
}

uint8_t* PeerMemory::Find(uint32_t segment, uint64_t offset, uint64_t bytes) const {
  if (segment >= segments_.size()) return nullptr;
  const uint64_t size = segments_[segment].size();
  if (offset > size || bytes > size - offset) return nullptr;
  return segments_[segment].data() + offset;
}

absl::Status MemoryExchange::Offer(absl::Span<const int> own, absl::Time deadline) {
  return SendDescriptors(socket_, own, deadline);
}

absl::Status MemoryExchange::Take(absl::Time deadline) {
  RINGSIDE_ASSIGN_OR_RETURN(const std::vector<FileDescriptor> files,
                            ReceiveDescriptors(socket_, deadline));
  absl::StatusOr<std::unique_ptr<PeerMemory>> memory = PeerMemory::Map(files, access_);
  if (memory.ok()) {
    memory_ = *std::move(memory);
  } else {
    why_ = std::string(memory.status().message());
  }
  const uint8_t verdict = memory_ != nullptr ? kMapped : kNotMapped;
  return WriteFully(socket_, absl::MakeConstSpan(&verdict, 1), deadline);
}

absl::Status MemoryExchange::Settle(absl::Time deadline) {
  uint8_t verdict = 0;
  RINGSIDE_RETURN_IF_ERROR(ReadFully(socket_, absl::MakeSpan(&verdict, 1), deadline));
  if (verdict == kMapped) return absl::OkStatus();
  if (verdict != kNotMapped) return absl::InvalidArgumentError("an unknown answer to an offer");
  memory_.reset();
  if (why_.empty()) why_ = "it cannot map the memory of this process";
  return absl::OkStatus();
}

}  // namespace ringside
