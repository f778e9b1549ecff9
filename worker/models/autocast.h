// LibTorch's autocast of the CPU, for as long as an object lives: its table of operators says which
// of them round to bfloat16 (products of matrices, linear layers, convolutions) and which make
// float32 of what they are given. All others compute in the type of their operands.
//
// It belongs to the thread that makes the object, which must also destroy it; other threads do not
// notice. Objects may nest. Backward belongs outside: it computes each operator in the type that
// its forward had, and what is outside is not cast once more.
#ifndef RINGSIDE_WORKER_MODELS_AUTOCAST_H_
#define RINGSIDE_WORKER_MODELS_AUTOCAST_H_

#include <c10/core/ScalarType.h>

#include "worker/models/precision.h"

namespace ringside {

class Autocast {
 public:
  // kFloat32 turns autocast off, whatever the thread had before.
  explicit Autocast(Precision precision);
  // The thread has again what it had.
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  const bool enabled_before_;
  const bool cache_before_;
  const c10::ScalarType type_before_;
};

}  // namespace ringside

#endif  // RINGSIDE_WORKER_MODELS_AUTOCAST_H_
