//! Tensors of single operators that are stored in `ACL_FORMAT_FRACTAL_NZ`: the last two dimensions as blocks of 16 x 16 elements.
//!
//! Element `[.., row, column]` is stored at `[.., column / 16, row / 16, row % 16, column % 16]`. Rows and columns are filled up with zeros. Operators
//! calculate on plain tensors, so that a tensor is rearranged in front of its operator or behind it.

use std::sync::Arc;

use jumar_types::dtype::DataType;

use super::{Data, Desc, FORMAT_ND, Input, Node, Output, Value};

/// The format's number, in the Graph Engine and in `aclFormat`.
pub const FORMAT_FRACTAL_NZ: i32 = 29;

/// The rows and columns of a block.
const BLOCK: i64 = 16;

/// Returns the dimensions in which a tensor is stored as blocks. `None` for less than two dimensions, or open ones.
pub fn fractal_dims(dims: &[i64]) -> Option<Vec<i64>> {
    let [outer @ .., rows, columns] = dims else {
        return None;
    };
    if dims.iter().any(|dim| *dim < 0) {
        return None;
    }
    let (rows, columns) = (blocks(*rows), blocks(*columns));
    Some([outer, &[columns, rows, BLOCK, BLOCK]].concat())
}

fn blocks(extent: i64) -> i64 {
    extent / BLOCK + i64::from(extent % BLOCK != 0)
}

/// The order of dimensions that exchanges the blocks' columns and rows: it leads from stored blocks to rows, and `back`.
fn order(outer: usize, back: bool) -> Vec<i64> {
    let inner = if back { [2, 0, 1, 3] } else { [1, 2, 0, 3] };
    let outer = outer as i64;
    (0..outer).chain(inner.map(|axis| outer + axis)).collect()
}

/// Adds the nodes that make a plain tensor of the stored one that `from` outputs. Returns the output with the plain tensor.
pub(super) fn unpack(nodes: &mut Vec<Node>, from: (usize, usize), desc: &Desc) -> (usize, usize) {
    let dims = &desc.dims;
    let outer = dims.len() - 2;
    let name = format!("plain{}", nodes.len());
    let full = filled(dims);
    let rows = step(nodes, &name, "TransposeD", from, &[]);
    nodes[rows.0]
        .attrs
        .insert("perm".to_owned(), Value::Ints(order(outer, false)));
    let joined = step(nodes, &name, "Reshape", rows, &[("shape", &full)]);
    if full == *dims {
        return joined;
    }
    let begin = vec![0; dims.len()];
    step(
        nodes,
        &name,
        "Slice",
        joined,
        &[("offsets", &begin), ("size", dims)],
    )
}

/// Adds the nodes that store the plain tensor which `from` outputs as blocks. Returns the output with the stored tensor.
pub(super) fn pack(nodes: &mut Vec<Node>, from: (usize, usize), desc: &Desc) -> (usize, usize) {
    let dims = &desc.dims;
    let outer = dims.len() - 2;
    let name = format!("stored{}", nodes.len());
    let full = filled(dims);
    let mut plain = step(nodes, &name, "Reshape", from, &[("shape", dims)]);
    if full != *dims {
        let missing: Vec<i64> = full
            .iter()
            .zip(dims)
            .flat_map(|(full, dim)| [0, full - dim])
            .collect();
        plain = step(nodes, &name, "Pad", plain, &[("paddings", &missing)]);
    }
    let (rows, columns) = (full[outer] / BLOCK, full[outer + 1] / BLOCK);
    let split = [&dims[..outer], &[rows, BLOCK, columns, BLOCK]].concat();
    let split = step(nodes, &name, "Reshape", plain, &[("shape", &split)]);
    let stored = step(nodes, &name, "TransposeD", split, &[]);
    nodes[stored.0]
        .attrs
        .insert("perm".to_owned(), Value::Ints(order(outer, true)));
    stored
}

/// The dimensions with rows and columns filled up to whole blocks.
fn filled(dims: &[i64]) -> Vec<i64> {
    let mut full = dims.to_vec();
    for extent in full.iter_mut().rev().take(2) {
        *extent = blocks(*extent) * BLOCK;
    }
    full
}

/// Adds a node whose input `x` is an output of another one, and whose other inputs are constants.
fn step(
    nodes: &mut Vec<Node>,
    name: &str,
    kind: &str,
    from: (usize, usize),
    constants: &[(&str, &[i64])],
) -> (usize, usize) {
    let input = |name: &str, from| Input {
        name: name.to_owned(),
        from: Some(from),
        desc: Desc::default(),
    };
    let output = |desc: Desc| Output {
        name: "y".to_owned(),
        desc,
    };
    let mut inputs = vec![input("x", from)];
    for (of, values) in constants {
        // Paddings are pairs.
        let dims = match *of {
            "paddings" => vec![values.len() as i64 / 2, 2],
            _ => vec![values.len() as i64],
        };
        let desc = Desc {
            dims,
            dtype: DataType::Int64.acl(),
            format: FORMAT_ND,
        };
        let bytes = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        let value = Value::Tensor(Data {
            desc: desc.clone(),
            bytes: Arc::new(bytes),
        });
        inputs.push(input(of, (nodes.len(), 0)));
        nodes.push(Node {
            name: format!("{name}.{kind}.{of}"),
            kind: "Const".to_owned(),
            attrs: [("value".to_owned(), value)].into(),
            outputs: vec![output(desc)],
            ..Node::default()
        });
    }
    nodes.push(Node {
        name: format!("{name}.{kind}{}", nodes.len()),
        kind: kind.to_owned(),
        inputs,
        outputs: vec![output(Desc::default())],
        ..Node::default()
    });
    (nodes.len() - 1, 0)
}
