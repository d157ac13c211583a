//! What is rewritten in a module before the passes, beside atomic operations.

use anyhow::{Context, Result};
use std::collections::BTreeMap;

use super::module::{self, OutsideFunction, split, up_to_close};

/// A module that is ready for the passes.
pub struct PreparedModule {
    pub text: String,
    /// The functions that the kernel's binary has to define.
    pub outside: Vec<OutsideFunction>,
}

/// Prepares a module.
///
/// # Errors
/// A product of matrices is not understood.
pub fn prepare(text: &str) -> Result<PreparedModule> {
    let (mut products, mut number) = (BTreeMap::new(), 0);
    let mut made = String::with_capacity(text.len() + 1024);
    for line in text.lines() {
        let trimmed = line.trim_start();
        if is_synchronization(trimmed) {
            continue;
        }
        if trimmed.starts_with("func.func private @") && !trimmed.ends_with('{') {
            made.push_str(&declared(line));
        } else if let Some(call) = product(trimmed, &mut products, &mut number)? {
            made.push_str(&call);
        } else if is_sum(trimmed) {
            // The order of a sum is not defined, and a sum in any order can use vector instructions.
            made.push_str(&line.replacen(" : ", " fastmath<reassoc> : ", 1));
        } else {
            made.push_str(line);
        }
        made.push('\n');
    }
    let declarations: String = products.into_values().map(|(_, text)| text).collect();
    let begin = made
        .find("func.func ")
        .context("the module has no function")?;
    made.insert_str(begin, &declarations);
    Ok(PreparedModule {
        outside: module::outside(&made),
        text: made,
    })
}

/// Returns whether a line lets cores of a card wait for each other. Here a block runs from its first line to its last.
fn is_synchronization(line: &str) -> bool {
    [
        "hivm.hir.sync_block",
        "hivm.hir.pipe_barrier",
        "hivm.hir.set_flag",
        "hivm.hir.wait_flag",
    ]
    .iter()
    .any(|name| line.starts_with(name))
}

/// Returns whether a line adds an element to a sum (`linalg.reduce` names its parameters so).
fn is_sum(line: &str) -> bool {
    let Some((_, operands)) = line.split_once(" = arith.addf %in") else {
        return false;
    };
    operands.contains(", %init") && !operands.contains("fastmath")
}

/// Lets the wrapper define a function: by C's interface, with arguments that it only reads.
fn declared(line: &str) -> String {
    let Some(open) = line.find('(') else {
        return line.to_owned();
    };
    let Some((list, after)) = up_to_close(&line[open + 1..]) else {
        return line.to_owned();
    };
    // Functions of scalars have C's interface already.
    if !list.contains('<') && !after.contains('<') && !line.contains("@triton_") {
        return line.to_owned();
    }
    let parameters: Vec<String> = split(list)
        .into_iter()
        .map(
            |one| match one.starts_with("tensor<") && !one.contains('{') {
                true => format!("{one} {{bufferization.access = \"read\"}}"),
                false => one.to_owned(),
            },
        )
        .collect();
    const INTERFACE: &str = "llvm.emit_c_interface";
    let after = if after.contains("attributes {") {
        after.replacen("attributes {", &format!("attributes {{{INTERFACE}, "), 1)
    } else {
        let (results, location) = match after.find(" loc(") {
            Some(at) => after.split_at(at),
            None => (after, ""),
        };
        format!(
            "{} attributes {{{INTERFACE}}}{location}",
            results.trim_end()
        )
    };
    format!("{}({}){after}", &line[..open], parameters.join(", "))
}

/// Writes a type of a tensor as the type of its memory.
fn memory(kind: &str) -> String {
    kind.replacen("tensor<", "memref<", 1)
}

/// Turns a product of matrices into a call of the runtime, which adds to a copy of what is added.
fn product(
    line: &str,
    products: &mut BTreeMap<String, (usize, String)>,
    number: &mut usize,
) -> Result<Option<String>> {
    let Some((result, rest)) = line.split_once(" = linalg.") else {
        return Ok(None);
    };
    if !rest.starts_with("matmul ") && !rest.starts_with("batch_matmul ") {
        return Ok(None);
    }
    let parts = || {
        let inputs = up_to_close(rest.split_once("ins(")?.1)?.0;
        let output = up_to_close(rest.split_once("outs(")?.1)?.0;
        let (inputs, input_types) = inputs.split_once(" : ")?;
        let (output, output_type) = output.split_once(" : ")?;
        let (a, b) = inputs.split_once(", ")?;
        let types = split(input_types);
        let (a_type, b_type) = (types.first()?, types.get(1)?);
        Some((a, *a_type, b, *b_type, output, output_type))
    };
    let (a, a_type, b, b_type, output, output_type) =
        parts().with_context(|| format!("a product of matrices is not understood: {line}"))?;
    let types = [a_type, b_type, output_type].map(memory).join(", ");
    let known = products.len();
    let (function, _) = products.entry(types.clone()).or_insert_with(|| {
        let declaration = format!("func.func private @jumar_matmul_{known}({types}) attributes {{llvm.emit_c_interface}}\n  ");
        (known, declaration)
    });
    let name = format!("%jumar_m{number}");
    *number += 1;
    let (a_memory, b_memory, memory) = (memory(a_type), memory(b_type), memory(output_type));
    Ok(Some(format!(
        "{name}_t = bufferization.alloc_tensor() copy({output}) : {output_type}
{name}_a = bufferization.to_memref {a} read_only : {a_memory}
{name}_b = bufferization.to_memref {b} read_only : {b_memory}
{name}_c = bufferization.to_memref {name}_t : {memory}
func.call @jumar_matmul_{function}({name}_a, {name}_b, {name}_c) : ({types}) -> ()
{result} = bufferization.to_tensor {name}_c restrict writable : {memory}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_sums_are_rewritten() {
        let text = "module {
  func.func private @triton_print_0(tensor<16xf32>) attributes {hex = false, prefix = \" values: \"}
  func.func @k(%arg0: memref<?xi8>) {
    %1 = linalg.matmul {input_precison = \"ieee\"} ins(%a, %b : tensor<32x16xf16>, tensor<16x32xf16>) outs(%c : tensor<32x32xf32>) -> tensor<32x32xf32>
    %2 = arith.addf %in, %init : f32
    hivm.hir.sync_block_set[<CUBE>] flag = 1
  }
}
";
        let prepared = prepare(text).unwrap();
        assert!(prepared.text.contains("func.call @jumar_matmul_0(%jumar_m0_a, %jumar_m0_b, %jumar_m0_c) : (memref<32x16xf16>, memref<16x32xf16>, memref<32x32xf32>) -> ()"));
        assert!(prepared.text.contains(
            "%1 = bufferization.to_tensor %jumar_m0_c restrict writable : memref<32x32xf32>"
        ));
        assert!(
            prepared
                .text
                .contains("%2 = arith.addf %in, %init fastmath<reassoc> : f32")
        );
        assert!(
            prepared
                .text
                .contains("attributes {llvm.emit_c_interface, hex = false")
        );
        assert!(!prepared.text.contains("sync_block"));
        assert_eq!(prepared.outside.len(), 2);
        assert_eq!(prepared.outside[0].parameters[2], "memref<32x32xf32>");
        assert_eq!(prepared.outside[1].parameters, ["tensor<16xf32>"]);
    }
}
