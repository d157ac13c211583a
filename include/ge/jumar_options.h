/* Names of options, as constants. */
#ifndef JUMAR_GE_OPTIONS_H_
#define JUMAR_GE_OPTIONS_H_

/* A program uses few of them. */
#if defined(__GNUC__)
#define JUMAR_GE_UNUSED __attribute__((unused))
#else
#define JUMAR_GE_UNUSED
#endif

#include <set>
#include <string>

#include "../graph/ascend_string.h"

namespace ge {

namespace jumar {
#ifdef JUMAR_GE_LIBRARY
/* The library itself needs no strings that are constructed when it is loaded. */
typedef const char *OptionName;
#else
/* The name of an option whose documented type is std::string. It converts to AscendString as well, because maps of
 * options exist with both types of keys. */
class OptionName : public std::string {
 public:
  explicit OptionName(const char *name) : std::string(name) {}
  operator AscendString() const { return AscendString(c_str(), size()); }
};
#endif
}  // namespace jumar

JUMAR_GE_UNUSED static const char *const OPTION_GRAPH_RUN_MODE = "ge.graphRunMode";
JUMAR_GE_UNUSED static const char *const OPTION_DEVICE_TYPE = "ge.deviceType";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_SESSION_ID = "ge.exec.sessionId";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_DEVICE_ID = "ge.exec.deviceId";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_JOB_ID = "ge.exec.jobId";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_IS_USEHCOM = "ge.exec.isUseHcom";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_IS_USEHVD = "ge.exec.isUseHvd";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_RANK_ID = "ge.exec.rankId";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_POD_NAME = "ge.exec.podName";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_DEPLOY_MODE = "ge.exec.deployMode";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_RANK_TABLE_FILE = "ge.exec.rankTableFile";
JUMAR_GE_UNUSED static const char *const GE_AICPU_FLAG = "ge.aicpuFlag";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_EXTERN_PLUGIN_PATH = "ge.soLoadPath";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_ENABLE_DUMP = "ge.exec.enableDump";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_DUMP_PATH = "ge.exec.dumpPath";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_DUMP_STEP = "ge.exec.dumpStep";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_DUMP_MODE = "ge.exec.dumpMode";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_DUMP_DATA = "ge.exec.dumpData";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_DUMP_LAYER = "ge.exec.dumpLayer";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_ENABLE_DUMP_DEBUG = "ge.exec.enableDumpDebug";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_DUMP_DEBUG_MODE = "ge.exec.dumpDebugMode";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_ENABLE_INCRE_BUILD = "ge.exec.enableIncreBuild";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_INCRE_BUILD_CACHE_PATH = "ge.exec.increBuildCachePath";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_ENABLE_EXCEPTION_DUMP = "ge.exec.enable_exception_dump";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_ENABLE_SCOPE_FUSION_PASSES = "ge.exec.enableScopeFusionPasses";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_PROFILING_FPPONIT_OPTIONS = "ge.exec.profilingFpPointOptions";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_PROFILING_BPPONIT_OPTIONS = "ge.exec.profilingBpPointOptions";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_PROFILING_MODE = "ge.exec.profilingMode";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_PROFILING_OPTIONS = "ge.exec.profilingOptions";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_HCCL_FLAG = "ge.exec.hcclFlag";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_ATOMIC_FLAG = "ge.exec.enable_atomic";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_DISABLE_REUSED_MEMORY = "ge.exec.disableReuseMemory";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_ENABLE_TAILING_OPTIMIZATION = "ge.exec.isTailingOptimization";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_DYNAMIC_INPUT = "ge.exec.dynamicInput";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_DYNAMIC_EXECUTE_MODE = "ge.exec.dynamicGraphExecuteMode";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_DATA_INPUTS_SHAPE_RANGE = "ge.exec.dataInputsShapeRange";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_ENABLE_COPY_OUTPUT_ADDR = "ge.exec.enableCopyOutputAddr";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_GRAPH_EXEC_TIMEOUT = "ge.exec.graphExecTimeout";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_OPTIMIZE_SHAPE = "ge.exec.dataInputsOptimizeShape";
JUMAR_GE_UNUSED static const char *const OPTION_ALL_TENSOR_NOT_EMPTY = "ge.exec.allTensorNotEmpty";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_DYNAMIC_GRAPH_PARALLEL_MODE = "ge.experiment.dynamicGraphParallelMode";
JUMAR_GE_UNUSED static const char *const GRAPH_MEMORY_MAX_SIZE = "ge.graphMemoryMaxSize";
JUMAR_GE_UNUSED static const char *const VARIABLE_MEMORY_MAX_SIZE = "ge.variableMemoryMaxSize";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_REUSE_ZERO_COPY_MEMORY = "ge.exec.reuseZeroCopyMemory";
JUMAR_GE_UNUSED static const char *const OPTION_INPUT_REUSE_MEM_INDEXES = "ge.exec.inputReuseMemIndexes";
JUMAR_GE_UNUSED static const char *const OPTION_OUTPUT_REUSE_MEM_INDEXES = "ge.exec.outputReuseMemIndexes";
JUMAR_GE_UNUSED static const char *const OPTION_GRAPH_IO_MEM_ALLOC_MODE = "ge.exec.graphIOMemAllocMode";
JUMAR_GE_UNUSED static const char *const OPTION_FLOW_GRAPH_MEMORY_MAX_SIZE = "ge.flowGraphMemMaxSize";
JUMAR_GE_UNUSED static const char *const OPTION_VARIABLE_USE_1G_HUGE_PAGE = "ge.variableUse1gHugePage";
JUMAR_GE_UNUSED static const jumar::OptionName ATOMIC_CLEAN_POLICY("ge.exec.atomicCleanPolicy");
JUMAR_GE_UNUSED static const jumar::OptionName MEMORY_OPTIMIZATION_POLICY("ge.exec.memoryOptimizationPolicy");
JUMAR_GE_UNUSED static const jumar::OptionName STATIC_MEMORY_POLICY("ge.exec.staticMemoryPolicy");
JUMAR_GE_UNUSED static const char *const OPTION_FEATURE_BASE_REFRESHABLE = "ge.featureBaseRefreshable";
JUMAR_GE_UNUSED static const char *const OPTION_CONST_LIFECYCLE = "ge.constLifecycle";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_LOGICAL_DEVICE_CLUSTER_DEPLOY_MODE = "ge.exec.logicalDeviceClusterDeployMode";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_LOGICAL_DEVICE_ID = "ge.exec.logicalDeviceId";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_MODEL_DEPLOY_MODE = "ge.exec.modelDeployMode";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_MODEL_DEPLOY_DEVICELIST = "ge.exec.modelDeployDevicelist";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_ENABLE_FUSION = "ge.exec.enableFusion";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_INPUT_FUSION_SIZE = "ge.exec.input_fusion_size";
JUMAR_GE_UNUSED static const jumar::OptionName OPTION_EXEC_CM_CHIEF_IP("ge.cmChiefIp");
JUMAR_GE_UNUSED static const jumar::OptionName OPTION_EXEC_CM_CHIEF_PORT("ge.cmChiefPort");
JUMAR_GE_UNUSED static const jumar::OptionName OPTION_EXEC_CM_CHIEF_DEVICE("ge.cmChiefWorkerDevice");
JUMAR_GE_UNUSED static const jumar::OptionName OPTION_EXEC_CM_WORKER_IP("ge.cmWorkerIp");
JUMAR_GE_UNUSED static const jumar::OptionName OPTION_EXEC_CM_WORKER_SIZE("ge.cmWorkerSize");
JUMAR_GE_UNUSED static const jumar::OptionName OPTION_NAME_MAP("ge.optionNameMap");
JUMAR_GE_UNUSED static const jumar::OptionName OPTION_EXEC_STREAM_SYNC_TIMEOUT("stream_sync_timeout");
JUMAR_GE_UNUSED static const jumar::OptionName OPTION_EXEC_EVENT_SYNC_TIMEOUT("event_sync_timeout");
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_PS_ID = "ge.exec.psId";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_CLUSTER_SPEC = "ge.exec.clusterSpec";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_RANK_TABLE_ADDR = "ge.exec.rankTableAddr";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_ROLE_TABLE_ADDR = "ge.exec.roleTableAddr";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_RANK_TABLE_LEN = "ge.exec.rankTableLen";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_ROLE_TABLE_LEN = "ge.exec.roleTableLen";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_WORKER_NUM = "ge.exec.workerNum";
JUMAR_GE_UNUSED static const char *const OPTION_MAX_KEY_NUM = "ge.max_num";
JUMAR_GE_UNUSED static const char *const OPTION_EMBEDDING_DIM = "ge.embedding_dim";
JUMAR_GE_UNUSED static const char *const OPTION_USE_COUNTER_FILTER = "ge.use_counter_filter";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_RANK_MAP = "ge.exec.rankMap";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_ENABLE_ENGINE_PARALLEL = "ge.exec.enableEngineParallel";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_ENGINE_PARALLEL_CONFIG_PATH = "ge.exec.engineParallelConfigPath";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_IS_IN_SHARD_GRAPH = "ge.exec.isInShardGraph";
JUMAR_GE_UNUSED static const char *const OPTION_HOST_ENV_OS = "ge.host_env_os";
JUMAR_GE_UNUSED static const char *const OPTION_HOST_ENV_CPU = "ge.host_env_cpu";
JUMAR_GE_UNUSED static const char *const OPTION_OP_DEPENDENCY_IN_OM = "ge.op_dependency_in_om";
JUMAR_GE_UNUSED static const char *const OPTION_GRAPH_COMPILER_CACHE_DIR = "ge.graph_compiler_cache_dir";
JUMAR_GE_UNUSED static const char *const OPTION_GRAPH_KEY = "ge.graph_key";
JUMAR_GE_UNUSED static const char *const OPTION_DISABLE_OPTIMIZATIONS = "ge.disableOptimizations";
JUMAR_GE_UNUSED static const char *const ENABLE_GRAPH_PARALLEL = "ge.enableGraphParallel";
JUMAR_GE_UNUSED static const char *const GRAPH_PARALLEL_OPTION_PATH = "ge.graphParallelOptionPath";
JUMAR_GE_UNUSED static const jumar::OptionName DISTRIBUTED_CLUSTER_BUILD("ge.distributed_cluster_build");
JUMAR_GE_UNUSED static const jumar::OptionName MODEL_RELATION_CONFIG("ge.offline_model_relation");
JUMAR_GE_UNUSED static const jumar::OptionName CLUSTER_CONFIG("ge.cluster_config");
JUMAR_GE_UNUSED static const jumar::OptionName OPTION_HCCL_COMPILER_OFFLINE("ge.offline_hccl_compile");
JUMAR_GE_UNUSED static const char *const OPTION_SCREEN_PRINT_MODE = "ge.screen_print_mode";
JUMAR_GE_UNUSED static const char *const INPUT_FORMAT = "input_format";
JUMAR_GE_UNUSED static const char *const COMPRESS_WEIGHT_CONF = "compress_weight_conf";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_VARIABLE_ACC = "ge.exec.variable_acc";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_OP_DEBUG_CONFIG = "ge.exec.opDebugConfig";
JUMAR_GE_UNUSED static const char *const OPTION_JOB_TYPE = "ge.jobType";
JUMAR_GE_UNUSED static const char *const OPTION_TUNINGPATH = "ge.tuningPath";
JUMAR_GE_UNUSED static const char *const OPTION_AOE_CONFIG_FILE = "ge.aoe_config_file";
JUMAR_GE_UNUSED static const char *const OPTION_SESSION_DEVICE_ID = "ge.session_device_id";
JUMAR_GE_UNUSED static const char *const OPTION_DISTRIBUTE_CONFIG = "distribute_config";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_HCCL_EXECUTE_TIMEOUT = "ge.exec.hcclExecuteTimeOut";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_PLACEMENT = "ge.exec.placement";
JUMAR_GE_UNUSED static const char *const OPTION_IS_VAR_INIT_GRAPH = "ge.exec.isVarInitGraph";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_OVERFLOW = "ge.exec.overflow";
JUMAR_GE_UNUSED static const char *const OPTION_DATAFLOW_DEPLOY_INFO_PATH = "ge.experiment.data_flow_deploy_info_path";
JUMAR_GE_UNUSED static const char *const OPTION_MOMORY_POOL_THRESHOLD = "ge.experiment.memory_pool_threshold";
JUMAR_GE_UNUSED static const char *const OPTION_HCCL_ALGORITHM = "HCCL_algorithm";
JUMAR_GE_UNUSED static const char *const OPTION_ES_CLUSTER_CONFIG = "ge.esClusterConfig";
JUMAR_GE_UNUSED static const char *const OPTION_EXECUTE_TIMES = "execute_times";
JUMAR_GE_UNUSED static const char *const OPTION_ES_MAX_REMOTEOP_NUM_PER_STREAM = "es_max_remoteop_num_per_stream";
JUMAR_GE_UNUSED static const char *const OPTION_HOST_SCHEDULING_MAX_THRESHOLD = "ge.exec.hostSchedulingMaxThreshold";
JUMAR_GE_UNUSED static const char *const OPTION_STATIC_MODEL_OPS_LOWER_LIMIT = "ge.exec.static_model_ops_lower_limit";
JUMAR_GE_UNUSED static const jumar::OptionName STREAM_NUM("ge.streamNum");
JUMAR_GE_UNUSED static const jumar::OptionName HEAD_STREAM("ge.headStream");
JUMAR_GE_UNUSED static const jumar::OptionName AC_PARALLEL_ENABLE("ac_parallel_enable");
JUMAR_GE_UNUSED static const jumar::OptionName PERF_LEVEL("ge.perfLevel");
JUMAR_GE_UNUSED static const jumar::OptionName ENCRYPT_MODE("ge.encryptMode");
JUMAR_GE_UNUSED static const jumar::OptionName EK_FILE("ge.ekFile");
JUMAR_GE_UNUSED static const jumar::OptionName CERT_FILE("ge.certFile");
JUMAR_GE_UNUSED static const jumar::OptionName HW_KEY_FILE("ge.hwKeyFile");
JUMAR_GE_UNUSED static const jumar::OptionName PRIVATE_KEY_FILE("ge.privateKeyFile");
JUMAR_GE_UNUSED static const jumar::OptionName FRAMEWORK_TYPE("ge.frameworkType");
JUMAR_GE_UNUSED static const jumar::OptionName CALIBRATION_CONF_FILE("ge.calibrationConfFile");
JUMAR_GE_UNUSED static const jumar::OptionName INSERT_OP_FILE("ge.insertOpFile");
JUMAR_GE_UNUSED static const jumar::OptionName OUTPUT_NODE_NAME("ge.outputNodeName");
JUMAR_GE_UNUSED static const jumar::OptionName COMPRESS_FLAG("ge.compressFlag");
JUMAR_GE_UNUSED static const jumar::OptionName PRECISION_MODE("ge.exec.precision_mode");
JUMAR_GE_UNUSED static const jumar::OptionName PRECISION_MODE_V2("ge.exec.precision_mode_v2");
JUMAR_GE_UNUSED static const jumar::OptionName TUNE_DEVICE_IDS("ge.exec.tuneDeviceIds");
JUMAR_GE_UNUSED static const jumar::OptionName SINGLE_OP_FLAG("ge.exec.single_op");
JUMAR_GE_UNUSED static const jumar::OptionName TRAIN_FLAG("ge.trainFlag");
JUMAR_GE_UNUSED static const jumar::OptionName RUN_FLAG("ge.runFlag");
JUMAR_GE_UNUSED static const jumar::OptionName LOCAL_FMKOP_FLAG("ge.enabledLocalFmkop");
JUMAR_GE_UNUSED static const jumar::OptionName TBE_PLUGIN_PATH_FLAG("ge.TBE_plugin_path");
JUMAR_GE_UNUSED static const jumar::OptionName DDK_VERSION_FLAG("ge.DDK_version");
JUMAR_GE_UNUSED static const jumar::OptionName GE_FE_FLAG("ge.feFlag");
JUMAR_GE_UNUSED static const jumar::OptionName STREAM_MAX_PARALLEL_NUM("ge.streamMaxParallelNum");
JUMAR_GE_UNUSED static const jumar::OptionName OUTPUT_DATATYPE("ge.outputDatatype");
JUMAR_GE_UNUSED static const jumar::OptionName OP_SELECT_IMPL_MODE("ge.opSelectImplmode");
JUMAR_GE_UNUSED static const jumar::OptionName OPTYPELIST_FOR_IMPLMODE("ge.optypelistForImplmode");
JUMAR_GE_UNUSED static const jumar::OptionName HCOM_PARALLEL("ge.hcomParallel");
JUMAR_GE_UNUSED static const char *const kDynamicBatchSize = "ge.dynamicBatchSize";
JUMAR_GE_UNUSED static const jumar::OptionName FUSION_TENSOR_SIZE("ge.fusionTensorSize");
JUMAR_GE_UNUSED static const jumar::OptionName INPUT_SHAPE("ge.inputShape");
JUMAR_GE_UNUSED static const jumar::OptionName OUTPUT_MAX_SIZE("ge.outputMaxSize");
JUMAR_GE_UNUSED static const jumar::OptionName DYNAMIC_NODE_TYPE("ge.dynamicNodeType");
JUMAR_GE_UNUSED static const char *const kDynamicImageSize = "ge.dynamicImageSize";
JUMAR_GE_UNUSED static const char *const kDynamicDims = "ge.dynamicDims";
JUMAR_GE_UNUSED static const jumar::OptionName AUTO_TUNE_MODE("ge.autoTuneMode");
JUMAR_GE_UNUSED static const jumar::OptionName SOC_VERSION("ge.socVersion");
JUMAR_GE_UNUSED static const jumar::OptionName VIRTUAL_TYPE("ge.virtual_type");
JUMAR_GE_UNUSED static const jumar::OptionName CORE_TYPE("ge.engineType");
JUMAR_GE_UNUSED static const jumar::OptionName EXCLUDE_ENGINES("ge.exec.exclude_engines");
JUMAR_GE_UNUSED static const jumar::OptionName AICORE_NUM("ge.aicoreNum");
JUMAR_GE_UNUSED static const jumar::OptionName L1_FUSION("ge.l1Fusion");
JUMAR_GE_UNUSED static const jumar::OptionName BUFFER_OPTIMIZE("ge.bufferOptimize");
JUMAR_GE_UNUSED static const jumar::OptionName ENABLE_SMALL_CHANNEL("ge.enableSmallChannel");
JUMAR_GE_UNUSED static const jumar::OptionName ENABLE_COMPRESS_WEIGHT("ge.enableCompressWeight");
JUMAR_GE_UNUSED static const jumar::OptionName ENABLE_SPARSE_MATRIX_WEIGHT("ge.enableSparseMatrixWeight");
JUMAR_GE_UNUSED static const jumar::OptionName FUSION_SWITCH_FILE("ge.fusionSwitchFile");
JUMAR_GE_UNUSED static const jumar::OptionName COMPRESSION_OPTIMIZE_CONF("ge.compressionOptimizeConf");
JUMAR_GE_UNUSED static const jumar::OptionName CUSTOMIZE_DTYPES("ge.customizeDtypes");
JUMAR_GE_UNUSED static const jumar::OptionName OP_DEBUG_CONFIG("op_debug_config");
JUMAR_GE_UNUSED static const jumar::OptionName SAVE_ORIGINAL_MODEL("ge.saveOriginalModel");
JUMAR_GE_UNUSED static const jumar::OptionName ORIGINAL_MODEL_FILE("ge.originalModelFile");
JUMAR_GE_UNUSED static const char *const OPTION_GE_MAX_DUMP_FILE_NUM = "ge.maxDumpFileNum";
JUMAR_GE_UNUSED static const char *const OPTION_GE_MAX_DUMP_FILE_SIZE = "ge.maxDumpFileSize";
JUMAR_GE_UNUSED static const char *const OPTION_GE_MAX_DUMP_OP_NUM = "ge.maxDumpOpNum";
JUMAR_GE_UNUSED static const char *const ENABLE_PRINT_OP_PASS = "ge.enablePrintOpPass";
JUMAR_GE_UNUSED static const char *const DEBUG_DIR = "ge.debugDir";
JUMAR_GE_UNUSED static const char *const STATUS_CHECK = "ge.status_check";
JUMAR_GE_UNUSED static const char *const OP_COMPILER_CACHE_DIR = "ge.op_compiler_cache_dir";
JUMAR_GE_UNUSED static const char *const OP_COMPILER_CACHE_MODE = "ge.op_compiler_cache_mode";
JUMAR_GE_UNUSED static const char *const BUILD_INNER_MODEL = "ge.build_inner_model";
JUMAR_GE_UNUSED static const char *const ENABLE_SINGLE_STREAM = "ge.enableSingleStream";
JUMAR_GE_UNUSED static const jumar::OptionName INPUT_FP16_NODES("ge.INPUT_NODES_SET_FP16");
JUMAR_GE_UNUSED static const jumar::OptionName OP_DEBUG_LEVEL("ge.opDebugLevel");
JUMAR_GE_UNUSED static const jumar::OptionName OP_DEBUG_OPTION("op_debug_option");
JUMAR_GE_UNUSED static const jumar::OptionName MDL_BANK_PATH_FLAG("ge.mdl_bank_path");
JUMAR_GE_UNUSED static const jumar::OptionName DISPLAY_MODEL_INFO("ge.display_model_info");
JUMAR_GE_UNUSED static const jumar::OptionName OP_BANK_PATH_FLAG("ge.op_bank_path");
JUMAR_GE_UNUSED static const jumar::OptionName OP_BANK_UPDATE_FLAG("ge.op_bank_update");
JUMAR_GE_UNUSED static const jumar::OptionName HCOM_MULTI_MODE("ge.hcomMultiMode");
JUMAR_GE_UNUSED static const char *const INPUT_SHAPE_RANGE = "input_shape_range";
JUMAR_GE_UNUSED static const jumar::OptionName PERFORMANCE_MODE("ge.performance_mode");
JUMAR_GE_UNUSED static const jumar::OptionName SHAPE_GENERALIZED_BUILD_MODE("ge.shape_generalized_build_mode");
JUMAR_GE_UNUSED static const jumar::OptionName JIT_COMPILE("ge.jit_compile");
JUMAR_GE_UNUSED static const jumar::OptionName MODIFY_MIXLIST("ge.exec.modify_mixlist");
JUMAR_GE_UNUSED static const jumar::OptionName OP_PRECISION_MODE("ge.exec.op_precision_mode");
JUMAR_GE_UNUSED static const jumar::OptionName ALLOW_HF32("ge.exec.allow_hf32");
JUMAR_GE_UNUSED static const jumar::OptionName OP_WAIT_TIMEOUT("ge.exec.opWaitTimeout");
JUMAR_GE_UNUSED static const jumar::OptionName OP_EXECUTE_TIMEOUT("ge.exec.opExecuteTimeout");
JUMAR_GE_UNUSED static const char *const FILE_CONSTANT_PATH = "ge.exec.value_bins";
JUMAR_GE_UNUSED static const jumar::OptionName EXTERNAL_WEIGHT("ge.externalWeight");
JUMAR_GE_UNUSED static const jumar::OptionName DETERMINISTIC("ge.deterministic");
JUMAR_GE_UNUSED static const jumar::OptionName QUANT_DUMPABLE("ge.quant_dumpable");
JUMAR_GE_UNUSED static const jumar::OptionName QUANT_BIAS_OPTIMIZE("ge.experiment.quant_bias_optimize");
JUMAR_GE_UNUSED static const jumar::OptionName TILING_SCHEDULE_OPTIMIZE("ge.tiling_schedule_optimize");
JUMAR_GE_UNUSED static const jumar::OptionName GRAPH_MAX_PARALLEL_MODEL_NUM("ge.graphMaxParallelModelNum");
JUMAR_GE_UNUSED static const char *const EVENT = "ge.event";
JUMAR_GE_UNUSED static const char *const OO_LEVEL = "ge.oo.level";
JUMAR_GE_UNUSED static const char *const OO_CONSTANT_FOLDING = "ge.oo.constantFolding";
JUMAR_GE_UNUSED static const char *const OO_DEAD_CODE_ELIMINATION = "ge.oo.deadCodeElimination";
JUMAR_GE_UNUSED static const char *const OPTION_EXPORT_COMPILE_STAT = "ge.exportCompileStat";
JUMAR_GE_UNUSED static const char *const OPTION_EXEC_HOST_INPUT_INDEXES = "ge.exec.hostInputIndexes";
JUMAR_GE_UNUSED static const jumar::OptionName HCCL_SUB_COMM_CONFIG("ge.hccl_sub_comm_config");
JUMAR_GE_UNUSED static const char *const OPTION_EXTERNAL_WEIGHT_DIR = "ge.externalWeightDir";
JUMAR_GE_UNUSED static const char *const OPTION_H2D_OVERLAPPED_WITH_COMPUTE = "ge.compile.h2dOverlappedWithCompute";
JUMAR_GE_UNUSED static const char *const INPUT_HINT_SHAPE = "ge.inputHintShape";
JUMAR_GE_UNUSED static const char *const INPUT_HINT_VALUE = "ge.inputHintValue";
JUMAR_GE_UNUSED static const char *const OPTION_ALLOW_MULTI_GRAPH_PARALLEL_COMPILE = "ge.AllowMultiGraphParallelCompile";
JUMAR_GE_UNUSED static const char *const OPTION_AUTO_MULTISTREAM_PARALLEL_MODE = "ge.autoMultistreamParallelMode";
JUMAR_GE_UNUSED static const jumar::OptionName ATTR_MODEL_FILE_NAME_PREFIX("ge.modelFileNamePrefix");
JUMAR_GE_UNUSED static const jumar::OptionName DETERMINISTIC_LEVEL("ge.deterministicLevel");
JUMAR_GE_UNUSED static const jumar::OptionName OPTION_BUILD_CONFIG("ge.buildConfig");
JUMAR_GE_UNUSED static const char *const OPTIMIZATION_SWITCH = "ge.optimizationSwitch";
JUMAR_GE_UNUSED static const char *const OPTION_OUTPUT_REUSE_INPUT_MEM_INDEXES = "ge.exec.outputReuseInputMemIndexes";
namespace configure_option {
JUMAR_GE_UNUSED static const char *const STREAM_NUM = "ge.streamNum";
JUMAR_GE_UNUSED static const char *const HEAD_STREAM = "ge.headStream";
JUMAR_GE_UNUSED static const char *const AC_PARALLEL_ENABLE = "ac_parallel_enable";
JUMAR_GE_UNUSED static const char *const PERF_LEVEL = "ge.perfLevel";
JUMAR_GE_UNUSED static const char *const ENCRYPT_MODE = "ge.encryptMode";
JUMAR_GE_UNUSED static const char *const EK_FILE = "ge.ekFile";
JUMAR_GE_UNUSED static const char *const CERT_FILE = "ge.certFile";
JUMAR_GE_UNUSED static const char *const HW_KEY_FILE = "ge.hwKeyFile";
JUMAR_GE_UNUSED static const char *const PRIVATE_KEY_FILE = "ge.privateKeyFile";
JUMAR_GE_UNUSED static const char *const FRAMEWORK_TYPE = "ge.frameworkType";
JUMAR_GE_UNUSED static const char *const CALIBRATION_CONF_FILE = "ge.calibrationConfFile";
JUMAR_GE_UNUSED static const char *const INSERT_OP_FILE = "ge.insertOpFile";
JUMAR_GE_UNUSED static const char *const OUTPUT_NODE_NAME = "ge.outputNodeName";
JUMAR_GE_UNUSED static const char *const COMPRESS_FLAG = "ge.compressFlag";
JUMAR_GE_UNUSED static const char *const PRECISION_MODE = "ge.exec.precision_mode";
JUMAR_GE_UNUSED static const char *const PRECISION_MODE_V2 = "ge.exec.precision_mode_v2";
JUMAR_GE_UNUSED static const char *const SINGLE_OP_FLAG = "ge.exec.single_op";
JUMAR_GE_UNUSED static const char *const TRAIN_FLAG = "ge.trainFlag";
JUMAR_GE_UNUSED static const char *const RUN_FLAG = "ge.runFlag";
JUMAR_GE_UNUSED static const char *const LOCAL_FMKOP_FLAG = "ge.enabledLocalFmkop";
JUMAR_GE_UNUSED static const char *const TBE_PLUGIN_PATH_FLAG = "ge.TBE_plugin_path";
JUMAR_GE_UNUSED static const char *const DDK_VERSION_FLAG = "ge.DDK_version";
JUMAR_GE_UNUSED static const char *const GE_FE_FLAG = "ge.feFlag";
JUMAR_GE_UNUSED static const char *const STREAM_MAX_PARALLEL_NUM = "ge.streamMaxParallelNum";
JUMAR_GE_UNUSED static const char *const OUTPUT_DATATYPE = "ge.outputDatatype";
JUMAR_GE_UNUSED static const char *const OP_SELECT_IMPL_MODE = "ge.opSelectImplmode";
JUMAR_GE_UNUSED static const char *const OPTYPELIST_FOR_IMPLMODE = "ge.optypelistForImplmode";
JUMAR_GE_UNUSED static const char *const HCOM_PARALLEL = "ge.hcomParallel";
JUMAR_GE_UNUSED static const char *const AUTO_TUNE_MODE = "ge.autoTuneMode";
JUMAR_GE_UNUSED static const char *const SOC_VERSION = "ge.socVersion";
JUMAR_GE_UNUSED static const char *const VIRTUAL_TYPE = "ge.virtual_type";
JUMAR_GE_UNUSED static const char *const CORE_TYPE = "ge.engineType";
JUMAR_GE_UNUSED static const char *const AICORE_NUM = "ge.aicoreNum";
JUMAR_GE_UNUSED static const char *const L1_FUSION = "ge.l1Fusion";
JUMAR_GE_UNUSED static const char *const BUFFER_OPTIMIZE = "ge.bufferOptimize";
JUMAR_GE_UNUSED static const char *const ENABLE_SMALL_CHANNEL = "ge.enableSmallChannel";
JUMAR_GE_UNUSED static const char *const ENABLE_COMPRESS_WEIGHT = "ge.enableCompressWeight";
JUMAR_GE_UNUSED static const char *const FUSION_SWITCH_FILE = "ge.fusionSwitchFile";
JUMAR_GE_UNUSED static const char *const SAVE_ORIGINAL_MODEL = "ge.saveOriginalModel";
JUMAR_GE_UNUSED static const char *const ORIGINAL_MODEL_FILE = "ge.originalModelFile";
JUMAR_GE_UNUSED static const char *const INPUT_FP16_NODES = "ge.INPUT_NODES_SET_FP16";
JUMAR_GE_UNUSED static const char *const OP_DEBUG_LEVEL = "ge.opDebugLevel";
JUMAR_GE_UNUSED static const char *const PERFORMANCE_MODE = "ge.performance_mode";
JUMAR_GE_UNUSED static const char *const SHAPE_GENERALIZED_BUILD_MODE = "ge.shape_generalized_build_mode";
JUMAR_GE_UNUSED static const char *const MODIFY_MIXLIST = "ge.exec.modify_mixlist";
JUMAR_GE_UNUSED static const char *const OP_PRECISION_MODE = "ge.exec.op_precision_mode";
JUMAR_GE_UNUSED static const char *const ALLOW_HF32 = "ge.exec.allow_hf32";
JUMAR_GE_UNUSED static const char *const CUSTOMIZE_DTYPES = "ge.customizeDtypes";
JUMAR_GE_UNUSED static const char *const COMPRESSION_OPTIMIZE_CONF = "ge.compressionOptimizeConf";
JUMAR_GE_UNUSED static const char *const OP_DEBUG_CONFIG = "op_debug_config";
JUMAR_GE_UNUSED static const char *const ATOMIC_CLEAN_POLICY = "ge.exec.atomicCleanPolicy";
JUMAR_GE_UNUSED static const char *const STATIC_MEMORY_POLICY = "ge.exec.staticMemoryPolicy";
JUMAR_GE_UNUSED static const char *const EXTERNAL_WEIGHT = "ge.externalWeight";
JUMAR_GE_UNUSED static const char *const QUANT_DUMPABLE = "ge.quant_dumpable";
JUMAR_GE_UNUSED static const char *const QUANT_BIAS_OPTIMIZE = "ge.experiment.quant_bias_optimize";
JUMAR_GE_UNUSED static const char *const DETERMINISTIC = "ge.deterministic";
JUMAR_GE_UNUSED static const char *const OP_DEBUG_OPTION = "op_debug_option";
JUMAR_GE_UNUSED static const char *const TILING_SCHEDULE_OPTIMIZE = "ge.tiling_schedule_optimize";
JUMAR_GE_UNUSED static const char *const GRAPH_MAX_PARALLEL_MODEL_NUM = "ge.graphMaxParallelModelNum";
JUMAR_GE_UNUSED static const char *const INPUT_BATCH_CPY = "ge.inputBatchCpy";
JUMAR_GE_UNUSED static const char *const DETERMINISTIC_LEVEL = "ge.deterministicLevel";
}
namespace ir_option {
JUMAR_GE_UNUSED static const char *const INPUT_FORMAT = "input_format";
JUMAR_GE_UNUSED static const char *const INPUT_SHAPE = "input_shape";
JUMAR_GE_UNUSED static const char *const OP_NAME_MAP = "op_name_map";
JUMAR_GE_UNUSED static const char *const IS_DYNAMIC_INPUT = "is_dynamic_input";
JUMAR_GE_UNUSED static const char *const IS_INPUT_ADJUST_HW_LAYOUT = "is_input_adjust_hw_layout";
JUMAR_GE_UNUSED static const char *const IS_OUTPUT_ADJUST_HW_LAYOUT = "is_output_adjust_hw_layout";
JUMAR_GE_UNUSED static const char *const ENABLE_SCOPE_FUSION_PASSES = "enable_scope_fusion_passes";
JUMAR_GE_UNUSED static const char *const OUTPUT = "output";
JUMAR_GE_UNUSED static const char *const COMPRESS_WEIGHT_CONF = "compress_weight_conf";
JUMAR_GE_UNUSED static const char *const LOG_LEVEL = "log";
JUMAR_GE_UNUSED static const char *const CUSTOMIZE_DTYPES = "ge.customizeDtypes";
JUMAR_GE_UNUSED static const char *const COMPRESSION_OPTIMIZE_CONF = "ge.compressionOptimizeConf";
JUMAR_GE_UNUSED static const char *const INPUT_DATA_NAMES = "input_data_names";
JUMAR_GE_UNUSED static const char *const OP_DEBUG_CONFIG = "op_debug_config";
JUMAR_GE_UNUSED static const char *const ATOMIC_CLEAN_POLICY = "ge.exec.atomicCleanPolicy";
JUMAR_GE_UNUSED static const char *const ENABLE_GRAPH_PARALLEL = "ge.enableGraphParallel";
JUMAR_GE_UNUSED static const char *const GRAPH_PARALLEL_OPTION_PATH = "ge.graphParallelOptionPath";
JUMAR_GE_UNUSED static const char *const OFFLINE_MODE = "ge.offlineMode";
JUMAR_GE_UNUSED static const char *const EXEC_DEVICE_CONFIG_PATH = "ge.exec.exec_device_config_path";
JUMAR_GE_UNUSED static const char *const AC_PARALLEL_ENABLE = "ac_parallel_enable";
JUMAR_GE_UNUSED static const char *const AICORE_NUM = "ge.aicoreNum";
JUMAR_GE_UNUSED static const char *const ALLOW_HF32 = "ge.exec.allow_hf32";
JUMAR_GE_UNUSED static const char *const AUTO_TUNE_MODE = "ge.autoTuneMode";
JUMAR_GE_UNUSED static const char *const BUFFER_OPTIMIZE = "ge.bufferOptimize";
JUMAR_GE_UNUSED static const char *const BUILD_INNER_MODEL = "ge.build_inner_model";
JUMAR_GE_UNUSED static const char *const CLUSTER_CONFIG = "ge.cluster_config";
JUMAR_GE_UNUSED static const char *const CORE_TYPE = "ge.engineType";
JUMAR_GE_UNUSED static const char *const DEBUG_DIR = "ge.debugDir";
JUMAR_GE_UNUSED static const char *const DETERMINISTIC = "ge.deterministic";
JUMAR_GE_UNUSED static const char *const DETERMINISTIC_LEVEL = "ge.deterministicLevel";
JUMAR_GE_UNUSED static const char *const DISTRIBUTED_CLUSTER_BUILD = "ge.distributed_cluster_build";
JUMAR_GE_UNUSED static const char *const DYNAMIC_BATCH_SIZE = "ge.dynamicBatchSize";
JUMAR_GE_UNUSED static const char *const DYNAMIC_DIMS = "ge.dynamicDims";
JUMAR_GE_UNUSED static const char *const DYNAMIC_IMAGE_SIZE = "ge.dynamicImageSize";
JUMAR_GE_UNUSED static const char *const ENABLE_COMPRESS_WEIGHT = "ge.enableCompressWeight";
JUMAR_GE_UNUSED static const char *const ENABLE_SINGLE_STREAM = "ge.enableSingleStream";
JUMAR_GE_UNUSED static const char *const ENABLE_SMALL_CHANNEL = "ge.enableSmallChannel";
JUMAR_GE_UNUSED static const char *const EXCLUDE_ENGINES = "ge.exec.exclude_engines";
JUMAR_GE_UNUSED static const char *const EXEC_DISABLE_REUSED_MEMORY = "ge.exec.disableReuseMemory";
JUMAR_GE_UNUSED static const char *const EXTERNAL_WEIGHT = "ge.externalWeight";
JUMAR_GE_UNUSED static const char *const FUSION_SWITCH_FILE = "ge.fusionSwitchFile";
JUMAR_GE_UNUSED static const char *const GRAPH_MAX_PARALLEL_MODEL_NUM = "ge.graphMaxParallelModelNum";
JUMAR_GE_UNUSED static const char *const HCCL_SUB_COMM_CONFIG = "ge.hccl_sub_comm_config";
JUMAR_GE_UNUSED static const char *const INPUT_FP16_NODES = "ge.INPUT_NODES_SET_FP16";
JUMAR_GE_UNUSED static const char *const INPUT_HINT_SHAPE = "ge.inputHintShape";
JUMAR_GE_UNUSED static const char *const INPUT_HINT_VALUE = "ge.inputHintValue";
JUMAR_GE_UNUSED static const char *const INPUT_SHAPE_RANGE = "input_shape_range";
JUMAR_GE_UNUSED static const char *const INSERT_OP_FILE = "ge.insertOpFile";
JUMAR_GE_UNUSED static const char *const MDL_BANK_PATH = "ge.mdl_bank_path";
JUMAR_GE_UNUSED static const char *const MODEL_RELATION_CONFIG = "ge.offline_model_relation";
JUMAR_GE_UNUSED static const char *const MODIFY_MIXLIST = "ge.exec.modify_mixlist";
JUMAR_GE_UNUSED static const char *const OO_CONSTANT_FOLDING = "ge.oo.constantFolding";
JUMAR_GE_UNUSED static const char *const OO_DEAD_CODE_ELIMINATION = "ge.oo.deadCodeElimination";
JUMAR_GE_UNUSED static const char *const OO_LEVEL = "ge.oo.level";
JUMAR_GE_UNUSED static const char *const OPTIMIZATION_SWITCH = "ge.optimizationSwitch";
JUMAR_GE_UNUSED static const char *const OPTION_BUILD_CONFIG = "ge.buildConfig";
JUMAR_GE_UNUSED static const char *const OPTION_EXPORT_COMPILE_STAT = "ge.exportCompileStat";
JUMAR_GE_UNUSED static const char *const OPTION_H2D_OVERLAPPED_WITH_COMPUTE = "ge.compile.h2dOverlappedWithCompute";
JUMAR_GE_UNUSED static const char *const OPTION_OUTPUT_REUSE_INPUT_MEM_INDEXES = "ge.exec.outputReuseInputMemIndexes";
JUMAR_GE_UNUSED static const char *const OPTYPELIST_FOR_IMPLMODE = "ge.optypelistForImplmode";
JUMAR_GE_UNUSED static const char *const OP_BANK_PATH = "ge.op_bank_path";
JUMAR_GE_UNUSED static const char *const OP_BANK_UPDATE = "ge.op_bank_update";
JUMAR_GE_UNUSED static const char *const OP_COMPILER_CACHE_DIR = "ge.op_compiler_cache_dir";
JUMAR_GE_UNUSED static const char *const OP_COMPILER_CACHE_MODE = "ge.op_compiler_cache_mode";
JUMAR_GE_UNUSED static const char *const OP_DEBUG_LEVEL = "ge.opDebugLevel";
JUMAR_GE_UNUSED static const char *const OP_DEBUG_OPTION = "op_debug_option";
JUMAR_GE_UNUSED static const char *const OP_DEPENDENCY_IN_OM = "ge.op_dependency_in_om";
JUMAR_GE_UNUSED static const char *const OP_PRECISION_MODE = "ge.exec.op_precision_mode";
JUMAR_GE_UNUSED static const char *const OP_SELECT_IMPL_MODE = "ge.opSelectImplmode";
JUMAR_GE_UNUSED static const char *const OUTPUT_TYPE = "ge.outputDatatype";
JUMAR_GE_UNUSED static const char *const OUT_NODES = "ge.outputNodeName";
JUMAR_GE_UNUSED static const char *const PERFORMANCE_MODE = "ge.performance_mode";
JUMAR_GE_UNUSED static const char *const PRECISION_MODE = "ge.exec.precision_mode";
JUMAR_GE_UNUSED static const char *const PRECISION_MODE_V2 = "ge.exec.precision_mode_v2";
JUMAR_GE_UNUSED static const char *const QUANT_BIAS_OPTIMIZE = "ge.experiment.quant_bias_optimize";
JUMAR_GE_UNUSED static const char *const QUANT_DUMPABLE = "ge.quant_dumpable";
JUMAR_GE_UNUSED static const char *const SHAPE_GENERALIZED_BUILD_MODE = "ge.shape_generalized_build_mode";
JUMAR_GE_UNUSED static const char *const SOC_VERSION = "ge.socVersion";
JUMAR_GE_UNUSED static const char *const SPARSITY = "ge.enableSparseMatrixWeight";
JUMAR_GE_UNUSED static const char *const TILING_SCHEDULE_OPTIMIZE = "ge.tiling_schedule_optimize";
JUMAR_GE_UNUSED static const char *const TUNE_DEVICE_IDS = "ge.exec.tuneDeviceIds";
JUMAR_GE_UNUSED static const char *const VIRTUAL_TYPE = "ge.virtual_type";
#ifndef JUMAR_GE_LIBRARY
/* The options of aclgrphBuildInitialize, of aclgrphBuildModel and of the parsers. The names are spelt as documented. */
JUMAR_GE_UNUSED static const std::set<std::string> global_options = {
    CORE_TYPE, SOC_VERSION, VIRTUAL_TYPE, BUFFER_OPTIMIZE, ENABLE_COMPRESS_WEIGHT, COMPRESS_WEIGHT_CONF, PRECISION_MODE,
    PRECISION_MODE_V2, ALLOW_HF32, EXEC_DISABLE_REUSED_MEMORY, AUTO_TUNE_MODE, ENABLE_SINGLE_STREAM, AICORE_NUM,
    FUSION_SWITCH_FILE, ENABLE_SMALL_CHANNEL, OP_SELECT_IMPL_MODE, OPTYPELIST_FOR_IMPLMODE, OP_DEBUG_LEVEL, DEBUG_DIR,
    OP_COMPILER_CACHE_DIR, OP_COMPILER_CACHE_MODE, MODIFY_MIXLIST, SPARSITY, OP_PRECISION_MODE, DETERMINISTIC,
    CUSTOMIZE_DTYPES, OP_DEBUG_CONFIG};
JUMAR_GE_UNUSED static const std::set<std::string> ir_builder_suppported_options = {
    INPUT_FORMAT, INPUT_SHAPE, INPUT_SHAPE_RANGE, OP_NAME_MAP, DYNAMIC_BATCH_SIZE, DYNAMIC_IMAGE_SIZE, DYNAMIC_DIMS,
    INSERT_OP_FILE, PRECISION_MODE, PRECISION_MODE_V2, EXEC_DISABLE_REUSED_MEMORY, AUTO_TUNE_MODE, OUTPUT_TYPE,
    OUT_NODES, INPUT_FP16_NODES, LOG_LEVEL, OP_DEBUG_LEVEL, DEBUG_DIR, OP_COMPILER_CACHE_DIR, OP_COMPILER_CACHE_MODE,
    MDL_BANK_PATH, OP_BANK_PATH, OP_BANK_UPDATE, PERFORMANCE_MODE, SHAPE_GENERALIZED_BUILD_MODE, MODIFY_MIXLIST,
    OP_PRECISION_MODE, CUSTOMIZE_DTYPES, BUILD_INNER_MODEL, EXTERNAL_WEIGHT, EXCLUDE_ENGINES, OP_DEBUG_OPTION,
    SPARSITY, COMPRESSION_OPTIMIZE_CONF, INPUT_DATA_NAMES};
JUMAR_GE_UNUSED static const std::set<std::string> ir_parser_suppported_options = {
    INPUT_FORMAT, INPUT_SHAPE, OP_NAME_MAP, IS_DYNAMIC_INPUT, IS_INPUT_ADJUST_HW_LAYOUT, IS_OUTPUT_ADJUST_HW_LAYOUT,
    OUTPUT, OUT_NODES, INPUT_FP16_NODES, INPUT_DATA_NAMES, ENABLE_SCOPE_FUSION_PASSES, COMPRESS_WEIGHT_CONF, LOG_LEVEL};
#endif
}
namespace public_attr {
JUMAR_GE_UNUSED static const char *const USER_STREAM_LABEL = "_user_stream_label";
JUMAR_GE_UNUSED static const char *const USER_STREAM_PRIORITY = "_user_stream_priority";
JUMAR_GE_UNUSED static const char *const ENABLE_INNER_PARALLEL = "_enable_inner_parallel";
JUMAR_GE_UNUSED static const char *const OP_AI_CORE_NUM = "_op_aicore_num";
JUMAR_GE_UNUSED static const char *const OP_VECTOR_CORE_NUM = "_op_vectorcore_num";
JUMAR_GE_UNUSED static const char *const GE_AI_CORE_NUM = "ge.aicoreNum";
JUMAR_GE_UNUSED static const char *const GE_VECTOR_CORE_NUM = "ge.vectorcoreNum";
JUMAR_GE_UNUSED static const char *const SOC_INFO = "SoCInfo";
JUMAR_GE_UNUSED static const char *const AI_CORE_CNT = "ai_core_cnt";
JUMAR_GE_UNUSED static const char *const CUBE_CORE_CNT = "cube_core_cnt";
JUMAR_GE_UNUSED static const char *const VECTOR_CORE_CNT = "vector_core_cnt";
JUMAR_GE_UNUSED static const char *const OP_EXEC_NEVER_TIMEOUT = "_op_exec_never_timeout";
}
}  // namespace ge

#endif
