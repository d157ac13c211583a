// The C functions of kernels, which are not supported.
#error "the C functions of kernels (asc_*, c_api/asc_simd.h) are not supported by Jumar; docs/ascendc.md lists what is"
