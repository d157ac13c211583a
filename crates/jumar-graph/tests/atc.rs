//! The conversion from file to file.

use std::fs;
use std::path::Path;

use jumar_graph::{BuildOptions, GraphErrorKind, Model, OutputType, Products, atc};
use jumar_types::dtype::DataType;

/// One field of a Protocol Buffers message: a number or bytes.
fn number(field: u8, value: u8) -> Vec<u8> {
    vec![field << 3, value]
}

fn bytes(field: u8, value: &[u8]) -> Vec<u8> {
    [&[field << 3 | 2, u8::try_from(value.len()).unwrap()], value].concat()
}

/// An ONNX model of one node from `x` to `y`, written field by field; `batch` is the first dimension, or a name.
fn onnx_model(op: &str, batch: Option<u8>) -> Vec<u8> {
    let port = |name: &str| {
        let first = batch.map_or_else(|| bytes(2, b"batch"), |batch| number(1, batch));
        let shape = [bytes(1, &first), bytes(1, &number(1, 4))].concat();
        let tensor = [number(1, 1), bytes(2, &shape)].concat();
        [bytes(1, name.as_bytes()), bytes(2, &bytes(1, &tensor))].concat()
    };
    let node = [
        bytes(1, b"x"),
        bytes(2, b"y"),
        bytes(3, b"the_node"),
        bytes(4, op.as_bytes()),
    ]
    .concat();
    let graph = [
        bytes(1, &node),
        bytes(2, b"graph"),
        bytes(11, &port("x")),
        bytes(12, &port("y")),
    ]
    .concat();
    [
        number(1, 8),
        bytes(7, &graph),
        bytes(8, &[bytes(1, b""), number(2, 17)].concat()),
    ]
    .concat()
}

fn options(folder: &Path, model: &[u8]) -> atc::Options {
    fs::write(folder.join("model.onnx"), model).unwrap();
    atc::Options {
        model: folder.join("model.onnx"),
        framework: 5,
        output: folder.join("out"),
        soc_version: "Ascend910B1".into(),
        ..atc::Options::default()
    }
}

#[test]
fn a_model_is_converted_and_nothing_else_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), &onnx_model("Relu", None));
    options.input_shape = "x:3,4".into();
    options.output_type = "FP16".into();
    let report = atc::convert(&options).unwrap();
    assert_eq!(report.output, folder.path().join("out.om"));
    let file = fs::read(&report.output).unwrap();
    assert_eq!(file.len() as u64, report.bytes);
    let model = Model::read(&file).unwrap();
    let description = model.description();
    assert_eq!(description, &report.description);
    assert_eq!(description.name, "out");
    assert_eq!(
        (
            description.inputs[0].name.as_str(),
            &description.inputs[0].dims[..]
        ),
        ("x", &[3, 4][..])
    );
    assert_eq!(description.outputs[0].name, "the_node:0:y");
    assert_eq!(
        (description.outputs[0].dtype, description.outputs[0].bytes),
        (DataType::Float16, 24)
    );
    assert_eq!(model.options()["soc_version"], "Ascend910B1");
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["model.onnx", "out.om"]);
}

#[test]
fn what_cannot_be_converted_is_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |change: &dyn Fn(&mut atc::Options), model: &[u8]| {
        let mut options = options(folder.path(), model);
        change(&mut options);
        let error = atc::convert(&options).unwrap_err();
        assert!(!folder.path().join("out.om").exists());
        (error.kind(), error.text().to_owned())
    };
    let relu = onnx_model("Relu", Some(2));
    let open = onnx_model("Relu", None);
    type Change<'a> = &'a dyn Fn(&mut atc::Options);
    let cases: [(Change<'_>, &[u8], GraphErrorKind, &str); 14] = [
        (
            &|o| o.framework = 3,
            &relu,
            GraphErrorKind::NotSupported,
            "TensorFlow",
        ),
        (
            &|o| o.model = folder.path().join("none.onnx"),
            &relu,
            GraphErrorKind::NotFound,
            "none.onnx",
        ),
        (
            &|o| o.output = folder.path().join("no/such/out"),
            &relu,
            GraphErrorKind::Io,
            "cannot be written",
        ),
        (
            &|_| {},
            &open,
            GraphErrorKind::NeedsShape,
            "input_shape=\"x:",
        ),
        (
            &|o| o.input_shape = "z:1,4".into(),
            &relu,
            GraphErrorKind::InvalidOption,
            "inputs are x",
        ),
        (
            &|o| o.input_shape = "x:1,2,3".into(),
            &relu,
            GraphErrorKind::InvalidOption,
            "3 dimensions",
        ),
        (
            &|o| o.input_shape = "x:4~2,4".into(),
            &open,
            GraphErrorKind::InvalidOption,
            "range",
        ),
        (
            &|o| o.input_shape = "x".into(),
            &relu,
            GraphErrorKind::InvalidOption,
            "0 dimensions",
        ),
        (
            &|o| o.input_format = "NHWC".into(),
            &relu,
            GraphErrorKind::InvalidOption,
            "NHWC",
        ),
        (
            &|o| o.output_type = "FP64".into(),
            &relu,
            GraphErrorKind::InvalidOption,
            "FP64",
        ),
        (
            &|o| o.output_type = "other:0:FP16".into(),
            &relu,
            GraphErrorKind::InvalidOption,
            "the_node:0",
        ),
        (
            &|_| {},
            &onnx_model("Sparkle", Some(2)),
            GraphErrorKind::NotSupported,
            "Sparkle (node the_node)",
        ),
        (
            &|_| {},
            b"not a model at all",
            GraphErrorKind::NotAModel,
            "not an ONNX model",
        ),
        (&|_| {}, &[], GraphErrorKind::NotAModel, "empty"),
    ];
    for (change, model, kind, part) in cases {
        let (found, text) = refused(change, model);
        assert_eq!(found, kind, "{text}");
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn options_are_read_as_atc_writes_them() {
    let shapes = BuildOptions::parse_input_shapes("a:1,3,8,8; b:c:2 ;s:").unwrap();
    assert_eq!(shapes["a"], [(1, 1), (3, 3), (8, 8), (8, 8)]);
    assert_eq!(shapes["b:c"], [(2, 2)]);
    let open = BuildOptions::parse_input_shapes("a:-1,2~8,3~-1").unwrap();
    assert_eq!(open["a"], [(0, -1), (2, 8), (3, -1)]);
    for bad in ["a:8~2", "a:~2", "a:-2", "a:x", "a:1,,2"] {
        assert!(BuildOptions::parse_input_shapes(bad).is_err(), "{bad}");
    }
    assert!(shapes["s"].is_empty());
    // ONNX Runtime's provider writes a scalar without the colon.
    let scalar = BuildOptions::parse_input_shapes("a:1,3;limit").unwrap();
    assert!(scalar["limit"].is_empty() && scalar["a"].len() == 2);
    assert!(BuildOptions::parse_input_shapes("a 1,3").is_err());
    assert!(BuildOptions::parse_input_shapes("a:1;a:2").is_err());
    let each = BuildOptions::parse_output_type("n/a:1:FP16;b:0:FP32").unwrap();
    let wanted = vec![
        ("n/a".to_owned(), 1, DataType::Float16),
        ("b".to_owned(), 0, DataType::Float32),
    ];
    assert_eq!(each, OutputType::Each(wanted));
}

#[test]
fn an_onnx_model_cut_off_or_flipped_anywhere_never_panics() {
    let model = onnx_model("Relu", Some(2));
    for len in 0..model.len() {
        let _ = jumar_graph::onnx::import(&model[..len], None);
    }
    for at in 0..model.len() {
        for bit in 0..8 {
            let mut damaged = model.clone();
            damaged[at] ^= 1 << bit;
            if let Ok(graph) = jumar_graph::onnx::import(&damaged, None) {
                let _ = jumar_graph::compile(graph, &BuildOptions::default());
            }
        }
    }
}

#[test]
fn precision_modes_allow_bfloat16_or_nothing() {
    let read = |mode: &str, mode_v2: &str| BuildOptions::parse_precision(mode, mode_v2);
    for mode in ["allow_fp32_to_bf16", "allow_mix_precision_bf16"] {
        assert_eq!(read(mode, "").unwrap(), Products::BFloat16, "{mode}");
    }
    assert_eq!(read("", "mixed_bfloat16").unwrap(), Products::BFloat16);
    for (mode, mode_v2) in [
        ("", ""),
        ("force_fp16", ""),
        ("force_fp32", ""),
        ("cube_fp16in_fp32out", ""),
        ("allow_fp32_to_fp16", ""),
        ("must_keep_origin_dtype", ""),
        ("allow_mix_precision", ""),
        ("allow_mix_precision_fp16", ""),
        ("", "fp16"),
        ("", "origin"),
        ("", "cube_fp16in_fp32out"),
        ("", "mixed_float16"),
    ] {
        assert_eq!(
            read(mode, mode_v2).unwrap(),
            Products::Float32,
            "{mode}{mode_v2}"
        );
    }
    for (mode, mode_v2, kind, said) in [
        (
            "bf16",
            "",
            GraphErrorKind::InvalidOption,
            "allow_fp32_to_bf16",
        ),
        (
            "mixed_bfloat16",
            "",
            GraphErrorKind::InvalidOption,
            "not known",
        ),
        (
            "",
            "allow_fp32_to_bf16",
            GraphErrorKind::InvalidOption,
            "mixed_bfloat16",
        ),
        (
            "force_fp32",
            "origin",
            GraphErrorKind::InvalidOption,
            "leave one out",
        ),
        ("", "mixed_hif8", GraphErrorKind::NotSupported, "mixed_hif8"),
    ] {
        let error = read(mode, mode_v2).unwrap_err();
        assert_eq!(error.kind(), kind, "{mode}{mode_v2}");
        assert!(error.text().contains(said), "{}", error.text());
    }
}
