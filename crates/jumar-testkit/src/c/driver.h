/* What the generated cases and the driver know of each other. */
#ifndef JM_DRIVER_H
#define JM_DRIVER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"
#include "acl/acl_dump.h"
#include "acl/acl_platform.h"
#include "acl/acl_prof.h"
#include "acl/acl_rt_compile.h"
#include "acl/acl_rt_memory_soma.h"
#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"
#include "acl/dvpp/hi_dvpp.h"
#include "acl/ops/acl_cblas.h"
#include "acl/ops/acl_dvpp.h"
#include "acl/acl_op_compiler.h"
#include "aclnn/aclnn_base.h"
#include "hccl/hccl.h"
#include "hccl/hccl_res.h"
#include "driver/ascend_hal.h"
#include "mspti/mspti.h"
#include "toolchain/prof_api.h"

typedef struct {
    const char *text; /* as it stands in the table */
    int thread;       /* 1 is the case's own */
    bool background;
} jm_step;

typedef struct {
    const char *id;
    const char *kind;      /* "works" or "refused" */
    const char *waits_for; /* functions that are not implemented, or NULL */
    const char *models;    /* names of models, each followed by a blank, or NULL */
    const char *env;       /* "NAME=value\n" each, or NULL */
    void (*files)(void);   /* makes the files, or NULL */
    void (*run)(int step);
    const jm_step *steps;
    int step_count;
} jm_case;

extern const jm_case jm_cases[];
extern const int jm_case_count;

/* Ends the case: what was expected and what was got. */
void jm_fail(const char *expected, const char *got) __attribute__((noreturn));
void jm_expect_int(int64_t got, int64_t expected);
void jm_expect_real(double got, double expected);
void jm_expect_text(const char *got, const char *expected);
void jm_compare_int(int64_t left, const char *sign, int64_t right, bool holds);
void jm_compare_real(double left, const char *sign, double right, bool holds);
void jm_compare_text(const char *left, const char *sign, const char *right, bool holds);

/* Files of the case's folder. */
void jm_make_file(const char *name, const char *text, size_t length);
void jm_make_repeat(const char *name, const char *text, size_t length, uint64_t count);
void jm_make_folder(const char *name);
void jm_make_model(const char *name, const char *model, uint64_t cut, int64_t flip);
const char *jm_file(const char *name);
const char *jm_model(const char *name);

/* Host memory. */
void *jm_host(int64_t size);
void *jm_pages(int64_t size);
void *jm_cstring(const char *text);
void *jm_read(const char *path);
int64_t jm_length(const void *memory);
void jm_fill(void *memory, int value, int64_t size);
void jm_put_f32(void *memory, const double *values, size_t count);
void jm_put_i64(void *memory, const int64_t *values, size_t count);
double jm_f32(const void *memory, int64_t index);
int64_t jm_i64(const void *memory, int64_t index);
bool jm_same(const void *memory, int value, int64_t size);
bool jm_contains(const char *text, const char *part);
bool jm_equal(const char *left, const char *right);

/* Threads. */
int64_t jm_tid(int thread);
void jm_join(int thread);
void jm_pause(void);
bool jm_still_time(void); /* false once the time of `eventually` is over */
void jm_start_time(void);

/* Functions that a case hands to the library, and what they leave behind. */
void cb_count(void *data);
void cb_note(void *data);
void cb_frame(void *input, void *output, void *data);
void cb_hold(void *data);
void cb_device_state(int32_t device, aclrtDeviceState state, void *data);
void cb_stream_state(aclrtStream stream, aclrtStreamState state, void *data);
int32_t cb_abort(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void *data);
int32_t cb_abort_fails(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void *data);
aclError cb_init(const char *text, size_t length, void *data);
aclError cb_init_fails(const char *text, size_t length, void *data);
aclError cb_finalize(void *data);
aclError cb_finalize_fails(void *data);
uint32_t cb_snapshot(int32_t device, void *data);
uint32_t cb_snapshot_fails(int32_t device, void *data);
int32_t cb_dump(const acldumpChunk *chunk, int32_t length);
void cb_exception(aclrtExceptionInfo *info);
/* An allocator of one block, which is its object: it notes the bytes, the block + 1, and the block + 2. */
void *cb_allocate(void *allocator, size_t bytes);
void *cb_allocate_none(void *allocator, size_t bytes);
void *cb_address(void *block);
void *cb_address_none(void *block);
void cb_free(void *allocator, void *block);
int64_t jm_counter(void);
int64_t jm_recorded(int64_t index);
int64_t jm_callback_thread(void);
void jm_release_held(void);
void jm_await_held(void);
void jm_await_count(int64_t count);

#endif
