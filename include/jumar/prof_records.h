/*
 * Records that generated launchers report to the profiler about their kernels. Reports are dropped (toolchain/prof_api.h).
 *
 * Part of Jumar. SPDX-License-Identifier: Apache-2.0
 */
#ifndef JUMAR_PROF_RECORDS_H
#define JUMAR_PROF_RECORDS_H

#include <stdint.h>

#define MSPROF_REPORT_NODE_LEVEL 10000U
#define MSPROF_REPORT_NODE_BASIC_INFO_TYPE 0U
#define MSPROF_REPORT_NODE_TENSOR_INFO_TYPE 1U
#define MSPROF_REPORT_NODE_CONTEXT_ID_INFO_TYPE 4U
#define MSPROF_REPORT_NODE_LAUNCH_TYPE 5U
#define MSPROF_GE_TENSOR_DATA_SHAPE_LEN 8
#define MSPROF_GE_TENSOR_DATA_NUM 5
#define MSPROF_ADDTIONAL_INFO_DATA_LENGTH 232

#ifdef __cplusplus
extern "C" {
#endif

enum MsprofGeTaskType {
    MSPROF_GE_TASK_TYPE_AI_CORE = 0,
    MSPROF_GE_TASK_TYPE_AIV = 2,
    MSPROF_GE_TASK_TYPE_MIX_AIC = 4,
    MSPROF_GE_TASK_TYPE_MIX_AIV = 5
};

enum MsprofGeTensorType { MSPROF_GE_TENSOR_TYPE_INPUT = 0, MSPROF_GE_TENSOR_TYPE_OUTPUT = 1 };

/* What a callback of the profiler receives. */
typedef struct MsprofCommandHandle {
    uint64_t profSwitch;
    uint64_t profSwitchHi;
    uint32_t devNums;
    uint32_t devIdList[64];
    uint32_t modelId;
    uint32_t type;
    uint32_t cacheFlag;
    struct {
        uint32_t pathLen;
        uint32_t storageLimit;
        uint32_t profDataLen;
        char path[1024];
        char profData[4096];
    } params;
} MsprofCommandHandle;

#pragma pack(push, 1)

/* A kernel that was launched. */
typedef struct MsprofNodeBasicInfo {
    uint64_t opName;
    uint32_t taskType;
    uint64_t opType;
    uint32_t blockDim;
    uint32_t opFlag;
} MsprofNodeBasicInfo;

typedef struct MsprofTensorData {
    uint32_t tensorType;
    uint32_t format;
    uint32_t dataType;
    uint32_t shape[MSPROF_GE_TENSOR_DATA_SHAPE_LEN];
} MsprofTensorData;

/* The tensors of a kernel. */
typedef struct MsprofTensorInfo {
    uint64_t opName;
    uint32_t tensorNum;
    MsprofTensorData tensorData[MSPROF_GE_TENSOR_DATA_NUM];
} MsprofTensorInfo;

typedef struct MsprofContextIdInfo {
    uint64_t opName;
    uint32_t ctxIdNum;
    uint32_t ctxIds[55];
} MsprofContextIdInfo;

#pragma pack(pop)

/* A short record. */
typedef struct MsprofCompactInfo {
    uint16_t magicNumber;
    uint16_t level;
    uint32_t type;
    uint32_t threadId;
    uint32_t dataLen;
    uint64_t timeStamp;
    union {
        uint8_t info[40];
        MsprofNodeBasicInfo nodeBasicInfo;
    } data;
} MsprofCompactInfo;

/* A long record. */
typedef struct MsprofAdditionalInfo {
    uint16_t magicNumber;
    uint16_t level;
    uint32_t type;
    uint32_t threadId;
    uint32_t dataLen;
    uint64_t timeStamp;
    uint8_t data[MSPROF_ADDTIONAL_INFO_DATA_LENGTH];
} MsprofAdditionalInfo;

#ifdef __cplusplus
}
#endif

#endif /* JUMAR_PROF_RECORDS_H */
