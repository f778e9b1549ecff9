// Early return on a failed absl::Status or absl::StatusOr.
#ifndef RINGSIDE_COMMON_STATUS_MACROS_H_
#define RINGSIDE_COMMON_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define RINGSIDE_RETURN_IF_ERROR(expression)       \
  do {                                             \
    ::absl::Status ringside_status = (expression); \
    if (!ringside_status.ok()) {                   \
      return ringside_status;                      \
    }                                              \
  } while (false)

#define RINGSIDE_MACRO_CONCAT_INNER(a, b) a##b
#define RINGSIDE_MACRO_CONCAT(a, b) RINGSIDE_MACRO_CONCAT_INNER(a, b)

// RINGSIDE_ASSIGN_OR_RETURN(auto x, MakeX());
#define RINGSIDE_ASSIGN_OR_RETURN(declaration, expression)                                    \
  RINGSIDE_ASSIGN_OR_RETURN_INNER(RINGSIDE_MACRO_CONCAT(ringside_or_, __LINE__), declaration, \
                                  expression)
#define RINGSIDE_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                            \
  if (!result.ok()) {                                                    \
    return result.status();                                              \
  }                                                                      \
  declaration = std::move(result).value()

#endif  // RINGSIDE_COMMON_STATUS_MACROS_H_
