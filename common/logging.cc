#include "common/logging.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

std::shared_ptr<spdlog::logger> MakeLogger(const std::string& name) {
  auto logger =
      std::make_shared<spdlog::logger>(name, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%H:%M:%S.%e %n: %v");
  logger->flush_on(spdlog::level::info);
  return logger;
}

}  // namespace

void SetLogName(absl::string_view name) {
  spdlog::set_default_logger(MakeLogger(std::string(name)));
}

void LogInfo(absl::string_view message) {
  spdlog::default_logger_raw()->info("{}", fmt::string_view(message.data(), message.size()));
}

void LogWarning(absl::string_view message) {
  spdlog::default_logger_raw()->warn("warning: {}",
                                     fmt::string_view(message.data(), message.size()));
}

void LogError(absl::string_view message) {
  spdlog::default_logger_raw()->error("error: {}",
                                      fmt::string_view(message.data(), message.size()));
}

int ExitStatus(const absl::Status& status) {
  if (status.ok()) return 0;
  LogError(status.message());
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnimplemented:
      return 2;
    default:
      return 1;
  }
}

}  // namespace ringside
