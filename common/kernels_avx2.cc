// Compiled with -mavx2 -mf16c: include nothing more here, least of all what defines functions.
#define RINGSIDE_KERNEL_TABLE kAvx2Kernels
#define RINGSIDE_KERNEL_NAME "avx2"
#include "common/kernel_bodies.inc"
