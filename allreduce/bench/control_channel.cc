#include "allreduce/bench/control_channel.h"

#include <array>
#include <cstdint>
#include <string>

#include "absl/base/internal/endian.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ringside {
namespace {

constexpr uint32_t kMaxMessageBytes = 64 << 20;

}  // namespace

absl::Status WriteControlMessage(const google::protobuf::MessageLite& message, ByteStream* stream,
                                 absl::Time deadline) {
  std::string bytes(sizeof(uint32_t), '\0');
  message.AppendToString(&bytes);
  absl::little_endian::Store32(bytes.data(),
                               static_cast<uint32_t>(bytes.size() - sizeof(uint32_t)));
  return WriteFully(
      stream, absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()),
      deadline);
}

absl::Status ReadControlMessage(ByteStream* stream, google::protobuf::MessageLite* message,
                                absl::Time deadline) {
  std::array<uint8_t, sizeof(uint32_t)> length = {};
  RINGSIDE_RETURN_IF_ERROR(ReadFully(stream, absl::MakeSpan(length), deadline));
  const uint32_t size = absl::little_endian::Load32(length.data());
  if (size > kMaxMessageBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a control message of ", size, " bytes"));
  }
  std::string bytes(size, '\0');
  RINGSIDE_RETURN_IF_ERROR(ReadFully(
      stream, absl::MakeSpan(reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()), deadline));
  if (message->ParseFromString(bytes)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a control message that is no ", message->GetTypeName()));
}

}  // namespace ringside
