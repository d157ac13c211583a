//! The options that the tool documents, and what becomes of each.

/// An option.
pub struct Opt {
    /// Its name without the dashes.
    pub name: &'static str,
    /// What it may hold, for the help text.
    pub values: &'static str,
    /// What becomes of it.
    pub support: Support,
    /// One line of help.
    pub help: &'static str,
}

/// How Jumar treats an option.
pub enum Support {
    /// The option has its documented effect.
    Used,
    /// The option controls something that a CPU does not have, and never changes a result.
    NoEffect(&'static str),
    /// The option would change the result in a way that is not supported.
    Refused {
        /// Values that ask for what happens anyway.
        harmless: &'static [&'static str],
        /// Why the others are refused.
        why: &'static str,
    },
}

const fn used(name: &'static str, values: &'static str, help: &'static str) -> Opt {
    Opt {
        name,
        values,
        support: Support::Used,
        help,
    }
}

const fn idle(name: &'static str, why: &'static str) -> Opt {
    Opt {
        name,
        values: "",
        support: Support::NoEffect(why),
        help: "",
    }
}

const fn refused(name: &'static str, harmless: &'static [&'static str], why: &'static str) -> Opt {
    Opt {
        name,
        values: "",
        support: Support::Refused { harmless, why },
        help: "",
    }
}

const CARD: &str = "it steers the card's compiler, and nothing is compiled for a card";
const CACHE: &str = "no operator is compiled, so nothing is cached";
const DEBUG: &str = "no operator is compiled, so there is nothing to debug in one";
const CAFFE: &str = "it belongs to Caffe models";
const PRECISE: &str = "operators compute in the types that the model declares";

/// Every option.
pub const ALL: &[Opt] = &[
    used("model", "FILE", "The ONNX model."),
    used(
        "framework",
        "5",
        "The model's format: 5 is ONNX; 0 Caffe, 1 MindSpore and 3 TensorFlow are refused.",
    ),
    used(
        "singleop",
        "FILE",
        "A list of single operators in JSON, in place of a model; --output is then the folder of their files.",
    ),
    used(
        "output",
        "NAME",
        "Where the offline model goes; .om is appended.",
    ),
    used(
        "soc_version",
        "NAME",
        "The device that the model is for, for example Ascend910B1; any known name will do.",
    ),
    used(
        "input_shape",
        "\"a:1,3,8,8;b:1\"",
        "Shapes of inputs that the model leaves open.",
    ),
    used(
        "input_shape_range",
        "\"a:[1~8,3,8~16,-1]\"",
        "The same with ranges of dimensions; -1 is any.",
    ),
    used(
        "open_dims",
        "refuse|keep",
        "Dimensions that neither the model nor input_shape fixes: refuse the model, or keep them open (Jumar's own option).",
    ),
    used(
        "dynamic_batch_size",
        "\"1,2,4\"",
        "Batch sizes to choose from; input_shape has -1 as the first dimension.",
    ),
    used(
        "dynamic_image_size",
        "\"224,224;448,448\"",
        "Heights and widths to choose from; input_shape has -1 for both.",
    ),
    used(
        "dynamic_dims",
        "\"1,224;8,448\"",
        "Sets of dimensions to choose from, a number for each -1 of input_shape.",
    ),
    used(
        "insert_op_conf",
        "FILE",
        "What is done to images before they enter the model (AIPP, static or dynamic).",
    ),
    used(
        "out_nodes",
        "\"node:0;other:1\" or \"tensor\"",
        "The outputs of the model, where they are not those that it declares.",
    ),
    used(
        "input_fp16_nodes",
        "\"a;b\"",
        "Inputs of float32 that are given as float16.",
    ),
    used(
        "input_format",
        "NCHW|NCDHW|ND",
        "The layout of the inputs; ONNX models are NCHW.",
    ),
    used(
        "output_type",
        "FP32|FP16|UINT8|INT8",
        "The type of the outputs.",
    ),
    used(
        "mode",
        "0|1|6",
        "What to do: 0 builds an offline model, 1 writes a model as JSON, 6 prints the requirements of one.",
    ),
    used("om", "FILE", "The model (.om or .onnx) of --mode=1 and 6."),
    used("json", "FILE", "Where --mode=1 writes."),
    used(
        "display_model_info",
        "0|1",
        "Prints the requirements of the model once it is built, as --mode=6 does.",
    ),
    used(
        "external_weight",
        "0|1|2",
        "Where weights go: 0 into the model, 1 into a file each in the folder weight beside it, 2 all into one there.",
    ),
    used(
        "log",
        "debug|info|warning|error|null",
        "Kept in the model file.",
    ),
    used(
        "precision_mode",
        "must_keep_origin_dtype|allow_fp32_to_bf16|...",
        "allow_fp32_to_bf16 and allow_mix_precision_bf16 compute products in bfloat16; the others in float32.",
    ),
    used(
        "precision_mode_v2",
        "origin|mixed_bfloat16|...",
        "mixed_bfloat16 computes products in bfloat16; the others, in float32.",
    ),
    // Without effect on a CPU.
    idle("keep_dtype", PRECISE),
    idle("allow_hf32", PRECISE),
    idle("is_weight_clip", "no weight is made narrower"),
    idle("core_type", CARD),
    idle("aicore_num", CARD),
    idle("virtual_type", CARD),
    idle("buffer_optimize", CARD),
    idle(
        "fusion_switch_file",
        "fusion here never changes a result, so nothing has to be switched off",
    ),
    idle(
        "enable_single_stream",
        "a model runs on one stream as it is",
    ),
    idle("ac_parallel_enable", CARD),
    idle("tiling_schedule_optimize", CARD),
    idle(
        "quant_dumpable",
        "intermediate results of quantisation are not dumped",
    ),
    idle("enable_small_channel", CARD),
    idle(
        "disable_reuse_memory",
        "memory of intermediate results is planned, which no program can see",
    ),
    idle("mdl_bank_path", CARD),
    idle("op_bank_path", CARD),
    idle("auto_tune_mode", CARD),
    idle("optimization_switch", CARD),
    idle("oo_level", CARD),
    idle(
        "oo_constant_folding",
        "constants are always folded, which never changes a result",
    ),
    idle(
        "oo_dead_code_elimination",
        "unused nodes are always removed, which never changes a result",
    ),
    idle(
        "topo_sorting_mode",
        "the order of operators that do not depend on each other changes no result",
    ),
    idle(
        "enable_attr_compression",
        "it belongs to the container of the vendor's toolchain",
    ),
    idle(
        "op_select_implmode",
        "there is one implementation of each operator, the precise one",
    ),
    idle(
        "optypelist_for_implmode",
        "there is one implementation of each operator, the precise one",
    ),
    idle(
        "op_precision_mode",
        "there is one implementation of each operator, the precise one",
    ),
    idle(
        "modify_mixlist",
        "operators compute in the types that the model declares",
    ),
    idle("deterministic", "results are always deterministic"),
    idle("deterministic_level", "results are always deterministic"),
    idle("op_debug_level", DEBUG),
    idle("op_debug_config", DEBUG),
    idle("debug_dir", DEBUG),
    idle("op_compiler_cache_mode", CACHE),
    idle("op_compiler_cache_dir", CACHE),
    idle("shape_generalized_build_mode", CARD),
    idle("status_check", "every operator is checked while it runs"),
    idle("atomic_clean_policy", CARD),
    idle(
        "host_env_os",
        "the offline model holds no code, so it fits every host",
    ),
    idle(
        "host_env_cpu",
        "the offline model holds no code, so it fits every host",
    ),
    idle("check_report", "what is wrong with a model is printed"),
    idle("export_compile_stat", "no operator is compiled"),
    idle(
        "enable_scope_fusion_passes",
        "it belongs to TensorFlow models",
    ),
    idle(
        "is_input_adjust_hw_layout",
        "inputs lie in memory as the model declares them",
    ),
    idle(
        "is_output_adjust_hw_layout",
        "outputs lie in memory as the model declares them",
    ),
    // Would change the result.
    refused("weight", &[], CAFFE),
    refused(
        "dump_mode",
        &["0"],
        "shapes that the toolchain would work out are not added; convert the model and write its .om as JSON",
    ),
    refused("op_name_map", &[], CAFFE),
    refused(
        "enable_compress_weight",
        &["false"],
        "weights are never compressed",
    ),
    refused("compress_weight_conf", &[], "weights are never compressed"),
    refused(
        "compression_optimize_conf",
        &[],
        "quantising a model while it is converted is not supported",
    ),
    refused("sparsity", &["0"], "sparse weights are not supported"),
    refused(
        "customize_dtypes",
        &[],
        "operators always compute in the types that the model declares",
    ),
    refused(
        "cluster_config",
        &[],
        "models over several devices are not supported",
    ),
    refused(
        "enable_graph_parallel",
        &["0"],
        "models over several devices are not supported",
    ),
    refused(
        "graph_parallel_option_path",
        &[],
        "models over several devices are not supported",
    ),
    refused(
        "shard_model_dir",
        &[],
        "models over several devices are not supported",
    ),
    refused(
        "model_relation_config",
        &[],
        "models over several devices are not supported",
    ),
    refused(
        "distributed_cluster_build",
        &["0"],
        "models over several devices are not supported",
    ),
];
