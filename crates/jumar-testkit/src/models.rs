//! The models that cases name, made with the tree's own `atc` from ONNX files that are written here byte by byte.
//!
//! The files are so small that the few message fields they need are quicker written than a library for them is built,
//! and they come from the format's public description alone.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// A fixture: its name, the ONNX file, and the options of `atc`.
struct Fixture {
    name: &'static str,
    onnx: Vec<u8>,
    options: &'static [&'static str],
}

/// Makes the models in a folder. Returns what could not be made, with the reason: cases that need it count as lacking it.
///
/// # Errors
/// When the folder cannot be written or there is no `atc`.
pub fn make(tree: &Path, folder: &Path) -> Result<Vec<(String, String)>> {
    let mut missing = make_kernels(folder)?;
    fs::write(folder.join("camera.cfg"), CAMERA)?;
    fs::write(folder.join("scene.cfg"), SCENE)?;
    for fixture in fixtures() {
        let onnx = folder.join(format!("{}.onnx", fixture.name));
        fs::write(&onnx, &fixture.onnx)?;
        let output = Command::new(tree.join("bin/atc"))
            .env("LD_LIBRARY_PATH", tree.join("lib64"))
            .arg(format!("--model={}", onnx.display()))
            .args(["--framework=5", "--soc_version=Ascend910B1"])
            .arg(format!("--output={}", folder.join(fixture.name).display()))
            .args(
                fixture
                    .options
                    .iter()
                    .map(|option| match option.split_once("=") {
                        Some((name, file)) if file.ends_with(".cfg") => {
                            format!("{name}={}", folder.join(file).display())
                        }
                        _ => (*option).to_owned(),
                    }),
            )
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("{}/bin/atc", tree.display()))?;
        if !output.status.success() || !folder.join(format!("{}.om", fixture.name)).exists() {
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            let reason = said.lines().rfind(|line| !line.trim().is_empty());
            missing.push((
                fixture.name.to_string(),
                reason.unwrap_or("atc said nothing").to_string(),
            ));
        }
    }
    let both = Command::new(tree.join("bin/jumar"))
        .env("LD_LIBRARY_PATH", tree.join("lib64"))
        .args(["bundle", "--output", "pair.om", "add.om", "linear.om"])
        .current_dir(folder)
        .output()
        .with_context(|| format!("{}/bin/jumar", tree.display()))?;
    if !both.status.success() {
        missing.push((
            "pair".to_owned(),
            String::from_utf8_lossy(&both.stderr).into_owned(),
        ));
    }
    Ok(missing)
}

/// What a library for the device's own CPU says of itself, in a file of its name.
const OPERATORS: &str = r#"{
  "AddSeven": {"opInfo": {"functionName": "on_cpu", "kernelSo": "cpu.so", "opKernelLib": "CUSTAICPUKernel", "userDefined": "True"}},
  "Fails": {"opInfo": {"functionName": "fails_on_cpu", "kernelSo": "cpu.so"}},
  "Skipped": {}
}"#;

/// Makes the kernel binaries in a folder, with the system's C compiler. Returns what could not be made, with the reason.
///
/// # Errors
/// When the folder cannot be written.
pub fn make_kernels(folder: &Path) -> Result<Vec<(String, String)>> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("cpu.json"), OPERATORS)?;
    let root = crate::root();
    let mut missing = Vec::new();
    for name in ["kernels.so", "cpu.so", "kernels.o"] {
        let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
        compiler
            .args(["-std=c11", "-O1", "-Wall", "-Werror", "-fPIC"])
            .arg(if name.ends_with(".o") {
                "-c"
            } else {
                "-shared"
            })
            .arg("-I")
            .arg(root.join("include"))
            .arg(root.join("tests/behaviour/kernels.c"))
            .arg("-o")
            .arg(folder.join(name));
        let reason = match compiler.stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => continue,
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => error.to_string(),
        };
        missing.push((name.to_owned(), reason));
    }
    Ok(missing)
}

/// Returns the file of a model or a kernel binary: a name without an ending is a model's.
pub fn file_of(name: &str) -> String {
    if name.contains('.') {
        name.to_owned()
    } else {
        format!("{name}.om")
    }
}

/// What `camera` does to its images.
const CAMERA: &str = "aipp_op {
  aipp_mode: static
  input_format: RGB888_U8
  src_image_size_w: 4
  src_image_size_h: 3
  crop: true
  load_start_pos_w: 1
  load_start_pos_h: 1
  crop_size_w: 2
  crop_size_h: 2
  mean_chn_0: 10
  var_reci_chn_0: 0.5
}
";

/// The settings of `scene` come before each execution.
const SCENE: &str = "aipp_op {
  aipp_mode: dynamic
  related_input_rank: 0
  max_src_image_size: 96
}
";

fn fixtures() -> Vec<Fixture> {
    let matrix: Vec<f32> = (0..12).map(|i| i as f32 / 8.0).collect();
    vec![
        Fixture {
            name: "add",
            onnx: model(
                &[("Add", &["x", "y"], "z")],
                &[("x", &[2, 3]), ("y", &[2, 3])],
                &[("z", &[2, 3])],
                &[],
            ),
            options: &[],
        },
        Fixture {
            name: "wide",
            onnx: model(
                &[("Relu", &["x"], "z")],
                &[("x", &[256])],
                &[("z", &[256])],
                &[],
            ),
            options: &[],
        },
        Fixture {
            name: "linear",
            onnx: model(
                &[
                    ("MatMul", &["x", "w"], "h"),
                    ("Relu", &["h"], "g"),
                    ("Add", &["g", "h"], "z"),
                ],
                &[("x", &[1, 4])],
                &[("z", &[1, 3])],
                &[("w", &[4, 3], &matrix)],
            ),
            options: &[],
        },
        Fixture {
            name: "chain",
            onnx: model(
                &[
                    ("Add", &["x", "x"], "a"),
                    ("Relu", &["x"], "b"),
                    ("Add", &["a", "b"], "z"),
                ],
                &[("x", &[256])],
                &[("z", &[256])],
                &[],
            ),
            options: &[],
        },
        Fixture {
            name: "gears",
            onnx: model(
                &[("Add", &["x", "y"], "z")],
                &[("x", &[-1, 3]), ("y", &[-1, 3])],
                &[("z", &[-1, 3])],
                &[],
            ),
            options: &["--input_shape=x:-1,3;y:-1,3", "--dynamic_batch_size=1,2,4"],
        },
        Fixture {
            name: "images",
            onnx: model(
                &[("Relu", &["x"], "z")],
                &[("x", &[1, 1, -1, -1])],
                &[("z", &[1, 1, -1, -1])],
                &[],
            ),
            options: &[
                "--input_shape=x:1,1,-1,-1",
                "--dynamic_image_size=8,8;16,16",
            ],
        },
        Fixture {
            name: "dims",
            onnx: model(
                &[("Relu", &["x"], "z")],
                &[("x", &[-1, 3])],
                &[("z", &[-1, 3])],
                &[],
            ),
            options: &[
                "--input_shape=x:-1,3",
                "--input_format=ND",
                "--dynamic_dims=1;2;4",
            ],
        },
        Fixture {
            name: "open",
            onnx: model(
                &[("Relu", &["x"], "z")],
                &[("x", &[-1, 3])],
                &[("z", &[-1, 3])],
                &[],
            ),
            options: &["--input_shape_range=x:[1~4,3]"],
        },
        Fixture {
            name: "openwork",
            onnx: model(
                &[
                    ("MatMul", &["x", "w"], "h"),
                    ("Relu", &["h"], "g"),
                    ("Add", &["g", "h"], "z"),
                ],
                &[("x", &[-1, 4])],
                &[("z", &[-1, 3])],
                &[("w", &[4, 3], &matrix)],
            ),
            options: &["--input_shape_range=x:[1~64,4]"],
        },
        Fixture {
            name: "plane",
            onnx: model(
                &[("Relu", &["x"], "z")],
                &[("x", &[-1, -1])],
                &[("z", &[-1, -1])],
                &[],
            ),
            options: &["--input_shape_range=x:[1~4,1~4]"],
        },
        Fixture {
            name: "pick",
            onnx: model(
                &[("Relu", &["x"], "h"), ("Gather", &["h", "at_i64"], "z")],
                &[("x", &[4, 3]), ("at_i64", &[2])],
                &[("z", &[2, 3])],
                &[],
            ),
            options: &[],
        },
        Fixture {
            name: "outside",
            onnx: model(
                &[("MatMul", &["x", "w"], "z")],
                &[("x", &[1, 4])],
                &[("z", &[1, 3])],
                &[("w", &[4, 3], &matrix)],
            ),
            options: &["--external_weight=2"],
        },
        Fixture {
            name: "camera",
            onnx: model(
                &[("Relu", &["x"], "z")],
                &[("x", &[1, 3, 2, 2])],
                &[("z", &[1, 3, 2, 2])],
                &[],
            ),
            options: &["--insert_op_conf=camera.cfg"],
        },
        Fixture {
            name: "scene",
            onnx: model(
                &[("Relu", &["x"], "z")],
                &[("x", &[2, 3, 2, 2])],
                &[("z", &[2, 3, 2, 2])],
                &[],
            ),
            options: &["--insert_op_conf=scene.cfg"],
        },
    ]
}

type Node<'a> = (&'a str, &'a [&'a str], &'a str);
type Value<'a> = (&'a str, &'a [i64]);
type Weights<'a> = (&'a str, &'a [i64], &'a [f32]);

/// Writes a ModelProto of opset 13.
fn model(
    nodes: &[Node<'_>],
    inputs: &[Value<'_>],
    outputs: &[Value<'_>],
    weights: &[Weights<'_>],
) -> Vec<u8> {
    let mut graph = Vec::new();
    for (number, (operator, from, to)) in nodes.iter().enumerate() {
        let mut node = Vec::new();
        for name in *from {
            bytes(&mut node, 1, name.as_bytes());
        }
        bytes(&mut node, 2, to.as_bytes());
        bytes(&mut node, 3, format!("{operator}_{number}").as_bytes());
        bytes(&mut node, 4, operator.as_bytes());
        bytes(&mut graph, 1, &node);
    }
    bytes(&mut graph, 2, b"graph");
    for (name, dims, values) in weights {
        let mut tensor = Vec::new();
        for dim in *dims {
            varint(&mut tensor, 1, dim.cast_unsigned());
        }
        varint(&mut tensor, 2, 1); // float
        bytes(&mut tensor, 8, name.as_bytes());
        let raw: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        bytes(&mut tensor, 9, &raw);
        bytes(&mut graph, 5, &tensor);
    }
    for (field, values) in [(11, inputs), (12, outputs)] {
        for (name, dims) in values {
            bytes(&mut graph, field, &value_info(name, dims));
        }
    }
    let mut opset = Vec::new();
    varint(&mut opset, 2, 13);
    let mut model = Vec::new();
    varint(&mut model, 1, 7);
    bytes(&mut model, 2, b"testkit");
    bytes(&mut model, 7, &graph);
    bytes(&mut model, 8, &opset);
    model
}

/// Writes a ValueInfoProto of floats, or of int64, depending on the name; a dimension of -1 has a name in place of a size.
fn value_info(name: &str, dims: &[i64]) -> Vec<u8> {
    let mut shape = Vec::new();
    for (at, dim) in dims.iter().enumerate() {
        let mut dimension = Vec::new();
        if *dim < 0 {
            bytes(&mut dimension, 2, format!("n{at}").as_bytes());
        } else {
            varint(&mut dimension, 1, dim.cast_unsigned());
        }
        bytes(&mut shape, 1, &dimension);
    }
    let mut tensor = Vec::new();
    varint(&mut tensor, 1, if name.ends_with("_i64") { 7 } else { 1 }); // int64, float
    bytes(&mut tensor, 2, &shape);
    let mut ty = Vec::new();
    bytes(&mut ty, 1, &tensor);
    let mut info = Vec::new();
    bytes(&mut info, 1, name.as_bytes());
    bytes(&mut info, 2, &ty);
    info
}

fn varint(out: &mut Vec<u8>, field: u64, value: u64) {
    number(out, field << 3);
    number(out, value);
}

fn bytes(out: &mut Vec<u8>, field: u64, content: &[u8]) {
    number(out, field << 3 | 2);
    number(out, content.len() as u64);
    out.extend_from_slice(content);
}

fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_seven_bits_a_byte() {
        let mut out = Vec::new();
        number(&mut out, 300);
        assert_eq!(out, [0xac, 0x02]);
    }

    #[test]
    fn a_model_begins_with_its_version_and_names_its_producer() {
        let bytes = model(
            &[("Relu", &["x"], "z")],
            &[("x", &[1])],
            &[("z", &[1])],
            &[],
        );
        assert_eq!(&bytes[..4], &[0x08, 7, 0x12, 7]);
        assert_eq!(&bytes[4..11], b"testkit");
    }
}
