// The kernels that every processor of the build's architecture runs.
#define RINGSIDE_KERNEL_TABLE kBaselineKernels
#define RINGSIDE_KERNEL_NAME "baseline"
#include "common/kernel_bodies.inc"
