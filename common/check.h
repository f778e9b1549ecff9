// RINGSIDE_CHECK(condition): for our own bugs only. What the outside world can cause is an
// absl::Status.
#ifndef RINGSIDE_COMMON_CHECK_H_
#define RINGSIDE_COMMON_CHECK_H_

#include <cstdio>
#include <cstdlib>

#define RINGSIDE_CHECK(condition)                                                           \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      std::fprintf(stderr, "%s:%d: internal error: %s does not hold\n", __FILE__, __LINE__, \
                   #condition);                                                             \
      std::abort();                                                                         \
    }                                                                                       \
  } while (false)

#endif  // RINGSIDE_COMMON_CHECK_H_
