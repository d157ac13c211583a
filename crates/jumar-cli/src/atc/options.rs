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

const CARD: &str = "it controls the card's compiler, and nothing is compiled for a card";
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
        "The offline model to write; .om is appended to the name.",
    ),
    used(
        "soc_version",
        "NAME",
        "The device that the model is for, for example Ascend910B1; every known name is accepted.",
    ),
    used(
        "input_shape",
        "\"a:1,3,8,8;b:1\"",
        "Shapes of inputs, in place of dynamic dimensions of the model.",
    ),
    used(
        "input_shape_range",
        "\"a:[1~8,3,8~16,-1]\"",
        "The same with ranges of sizes; -1 is any size.",
    ),
    used(
        "open_dims",
        "refuse|keep",
        "What to do with dimensions that neither the model nor input_shape fixes: refuse the model, or keep them dynamic (an option of Jumar only).",
    ),
    used(
        "dynamic_batch_size",
        "\"1,2,4\"",
        "Batch sizes that the model supports; input_shape has -1 as the first dimension.",
    ),
    used(
        "dynamic_image_size",
        "\"224,224;448,448\"",
        "Heights and widths that the model supports; input_shape has -1 for both.",
    ),
    used(
        "dynamic_dims",
        "\"1,224;8,448\"",
        "Sets of sizes that the model supports, with a number for each -1 of input_shape.",
    ),
    used(
        "insert_op_conf",
        "FILE",
        "The configuration of image preprocessing (AIPP, static or dynamic).",
    ),
    used(
        "out_nodes",
        "\"node:0;other:1\" or \"tensor\"",
        "The outputs of the offline model, in place of those that the ONNX model declares.",
    ),
    used(
        "input_fp16_nodes",
        "\"a;b\"",
        "Inputs declared as float32 that the program passes as float16.",
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
    used("json", "FILE", "The file that --mode=1 writes."),
    used(
        "display_model_info",
        "0|1",
        "Prints the requirements of the model after it was built, as --mode=6 does.",
    ),
    used(
        "external_weight",
        "0|1|2",
        "Where weights are stored: 0 in the model, 1 in a file for each in the folder weight beside the model, 2 all in one file there.",
    ),
    used(
        "log",
        "debug|info|warning|error|null",
        "The log level; it is stored in the model file and has no other effect.",
    ),
    used(
        "precision_mode",
        "must_keep_origin_dtype|allow_fp32_to_bf16|...",
        "allow_fp32_to_bf16 and allow_mix_precision_bf16 compute matrix products in bfloat16; the others in float32.",
    ),
    used(
        "precision_mode_v2",
        "origin|mixed_bfloat16|...",
        "mixed_bfloat16 computes matrix products in bfloat16; the others in float32.",
    ),
    // Without effect on a CPU.
    idle("keep_dtype", PRECISE),
    idle("allow_hf32", PRECISE),
    idle(
        "is_weight_clip",
        "weights are not converted to smaller types",
    ),
    idle("core_type", CARD),
    idle("aicore_num", CARD),
    idle("virtual_type", CARD),
    idle("buffer_optimize", CARD),
    idle(
        "fusion_switch_file",
        "fusion here never changes a result, so nothing has to be switched off",
    ),
    idle("enable_single_stream", "a model always runs on one stream"),
    idle("ac_parallel_enable", CARD),
    idle("tiling_schedule_optimize", CARD),
    idle(
        "quant_dumpable",
        "intermediate results of quantisation are not dumped",
    ),
    idle("enable_small_channel", CARD),
    idle(
        "disable_reuse_memory",
        "memory of intermediate results is always reused, which no program can observe",
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
        "the offline model contains no code, so it runs on every host",
    ),
    idle(
        "host_env_cpu",
        "the offline model contains no code, so it runs on every host",
    ),
    idle("check_report", "atc prints the problems of a model"),
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
        "inferred shapes cannot be added to the JSON of an ONNX model; convert the model and write its .om as JSON",
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
