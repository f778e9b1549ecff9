#include "worker/models/autocast.h"

#include <ATen/autocast_mode.h>

namespace ringside {

// All three settings are of the thread. LibTorch can keep the bfloat16 copy of a parameter until
// autocast ends, and would not notice that the optimizer, which knows nothing of tensors, has
// written new values since. No architecture here multiplies by one parameter twice in a pass, so
// copies would save nothing: they are not kept, and there is no cache that could be stale.
Autocast::Autocast(Precision precision)
    : enabled_before_(at::autocast::is_cpu_enabled()),
      cache_before_(at::autocast::is_autocast_cache_enabled()),
      type_before_(at::autocast::get_autocast_cpu_dtype()) {
  at::autocast::set_autocast_cache_enabled(false);
  at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
  at::autocast::set_cpu_enabled(precision == Precision::kBFloat16);
}

Autocast::~Autocast() {
  at::autocast::set_cpu_enabled(enabled_before_);
  at::autocast::set_autocast_cpu_dtype(type_before_);
  at::autocast::set_autocast_cache_enabled(cache_before_);
}

}  // namespace ringside
