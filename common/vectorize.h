// RINGSIDE_INDEPENDENT_ITERATIONS before a loop: no iteration reads what another one writes, so GCC
// may vectorize it without a check for overlap. Buffers that are the very same are fine. Clang,
// with which only the thread-safety analysis is run, decides for itself.
#ifndef RINGSIDE_COMMON_VECTORIZE_H_
#define RINGSIDE_COMMON_VECTORIZE_H_

#if defined(__clang__)
#define RINGSIDE_INDEPENDENT_ITERATIONS
#else
#define RINGSIDE_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

#endif  // RINGSIDE_COMMON_VECTORIZE_H_
