// Words of the Ascend C language. The rewriter handles __global__, __cube__, __vector__, __mix__, [aicore] and launches; the words here need no rewriting.
#ifndef JUMAR_ASCENDC_LANGUAGE_H
#define JUMAR_ASCENDC_LANGUAGE_H

#include <cstddef>
#include <cstdint>

// The rewriter, which runs where the driver defines the macro of passes, looks for the mark of device code and removes it.
#ifndef __aicore__
#ifdef JUMAR_ASCENDC_PASS
#define __aicore__ [aicore]
#else
#define __aicore__
#endif
#endif
#ifndef __host_aicore__
#define __host_aicore__
#endif
#ifndef __host__
#define __host__
#endif
#ifndef __schedmode__
#define __schedmode__(mode)
#endif

// A test on the CPU is compiled without the driver, and may have its kernels in another library than its launches. Words for kinds of cores
// have no effect there: KERNEL_TASK_TYPE_DEFAULT and SetKernelMode select the cores.
#if defined(ASCENDC_CPU_DEBUG) && !defined(JUMAR_ASCENDC_PASS)
#ifndef __global__
#define __global__
#endif
#ifndef __cube__
#define __cube__
#endif
#ifndef __vector__
#define __vector__
#endif
#ifndef __mix__
#define __mix__(cubes, vectors)
#endif
#endif

// Address spaces. All memory is one address space here, so overloads that differ in these words alone are not possible. The driver, which defines
// the macro of passes, removes the words of local memories itself, since arrays with them lie there.
#define __gm__
#ifndef JUMAR_ASCENDC_PASS
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#endif
#define __ssbuf__
#define __local_mem__
#define __kfc_workspace__

#ifndef GM_ADDR
#define GM_ADDR __gm__ uint8_t*
#endif

// What the driver compiles a text for. A source that distinguishes the kinds of cores by macros is compiled once for each of them
// (crates/jumar-cli/src/ascendc/passes.rs).
#define JUMAR_ASCENDC_ALL 0
#define JUMAR_ASCENDC_VECTOR_AND_HOST 1
#define JUMAR_ASCENDC_CUBE 2
#define JUMAR_ASCENDC_VECTOR 3
#define JUMAR_ASCENDC_HOST 4
#ifndef JUMAR_ASCENDC_PASS
#define JUMAR_ASCENDC_PASS JUMAR_ASCENDC_ALL
#endif

// The chip that kernels are compiled for. The driver defines these from --npu-arch. The host's pass has no macros of the device.
#if JUMAR_ASCENDC_PASS != JUMAR_ASCENDC_HOST
#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif
#ifndef __CCE_AICORE__
#if __NPU_ARCH__ == 2002
#define __CCE_AICORE__ 200
#else
#define __CCE_AICORE__ 220
#endif
#endif
#if __NPU_ARCH__ == 2201 && !defined(__DAV_C220_VEC__) && !defined(__DAV_C220_CUBE__)
#define __DAV_C220_VEC__ 1
#endif
#endif
#ifndef JUMAR_ASCENDC_CHIP
#define JUMAR_ASCENDC_CHIP __NPU_ARCH__
#endif

// 0 removes the checks of bounds, alignment and queues.
#ifndef JUMAR_ASCENDC_CHECK
#define JUMAR_ASCENDC_CHECK 1
#endif
#ifndef ASCENDC_DUMP
#define ASCENDC_DUMP 1
#endif

#endif
