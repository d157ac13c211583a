/*
 * The records of activities, as they lie in a buffer: packed, each as long as a multiple of eight bytes.
 *
 * Times are nanoseconds since 1970. A correlation is the number of the call that caused the activity; 0 is none.
 *
 * Part of Jumar. SPDX-License-Identifier: Apache-2.0
 */
#ifndef MSPTI_RECORDS_H
#define MSPTI_RECORDS_H

#include "mspti_activity.h"

#define MSPTI_INVALID_DEVICE_ID ((uint32_t)0xFFFFFFFFU)
#define MSPTI_INVALID_STREAM_ID ((uint32_t)0xFFFFFFFFU)
#define MSPTI_INVALID_CORRELATION_ID ((uint64_t)0)

#define MSPTI_RECORD __attribute__((__packed__)) __attribute__((aligned(8)))

/* How each record begins. */
struct MSPTI_RECORD msptiActivityRecord {
    msptiActivityKind kind;
};

/* A call: MSPTI_ACTIVITY_KIND_API for single operators, MSPTI_ACTIVITY_KIND_ACL_API for the others. */
typedef struct MSPTI_RECORD {
    msptiActivityKind kind;
    uint64_t start;
    uint64_t end;
    struct {
        uint32_t processId;
        uint32_t threadId;
    } pt;
    uint64_t correlationId;
    const char *name;
} msptiActivityApi;

/* A program that a stream ran. The type is "Jumar CPU". */
typedef struct MSPTI_RECORD {
    msptiActivityKind kind;
    uint64_t start;
    uint64_t end;
    struct {
        uint32_t deviceId;
        uint32_t streamId;
    } ds;
    uint64_t correlationId;
    const char *type;
    const char *name;
} msptiActivityKernel;

/* An allocation of memory, or its end. */
typedef struct MSPTI_RECORD {
    msptiActivityKind kind;
    msptiActivityMemoryOperationType memoryOperationType;
    msptiActivityMemoryKind memoryKind;
    uint64_t correlationId;
    uint64_t start;
    uint64_t end;
    uint64_t address;
    uint64_t bytes;
    uint32_t processId;
    uint32_t deviceId;
    uint32_t streamId;
} msptiActivityMemory;

/* A copy. */
typedef struct MSPTI_RECORD {
    msptiActivityKind kind;
    msptiActivityMemcpyKind copyKind;
    uint64_t bytes;
    uint64_t start;
    uint64_t end;
    uint32_t deviceId;
    uint32_t streamId;
    uint64_t correlationId;
    uint8_t isAsync;
} msptiActivityMemcpy;

/* Relates the call of a correlation to a number that the thread had pushed. */
typedef struct MSPTI_RECORD {
    msptiActivityKind kind;
    msptiExternalCorrelationKind externalKind;
    uint64_t externalId;
    uint64_t correlationId;
} msptiActivityExternalCorrelation;

#endif /* MSPTI_RECORDS_H */
