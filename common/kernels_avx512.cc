// Compiled with -mavx512f: include nothing more here, least of all what defines functions.
#define RINGSIDE_KERNEL_TABLE kAvx512Kernels
#define RINGSIDE_KERNEL_NAME "avx512"
#include "common/kernel_bodies.inc"
