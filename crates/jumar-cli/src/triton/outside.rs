//! The functions that a kernel calls and does not define: C functions that pass them on to the runtime of kernels (`triton/runtime.c`).

use std::fmt::Write as _;

use anyhow::{Result, bail};

use super::module::{OutsideFunction, shape};

/// Element types, by the numbers of `triton/runtime.c`, with C's types for values.
const ELEMENTS: &[(&str, &str, &str)] = &[
    ("i1", "JT_I1", "_Bool"),
    ("i8", "JT_I8", "int8_t"),
    ("i16", "JT_I16", "int16_t"),
    ("i32", "JT_I32", "int32_t"),
    ("i64", "JT_I64", "int64_t"),
    ("f16", "JT_F16", "_Float16"),
    ("bf16", "JT_BF16", "uint16_t"),
    ("f32", "JT_F32", "float"),
    ("f64", "JT_F64", "double"),
    ("index", "JT_I64", "int64_t"),
];

/// Functions of one or two numbers: the name behind `__hmf_`, and C's function of `float`.
const SCALARS: &[(&str, &str)] = &[
    ("tanf", "tanf"),
    ("tanDh", "tanf"),
    ("reluf", "jt_relu"),
    ("reluDh", "jt_relu"),
    ("recipf", "jt_reciprocal"),
    ("recipDh", "jt_reciprocal"),
    ("log1pf", "log1pf"),
    ("log1pDh", "log1pf"),
    ("powf", "powf"),
    ("powDh", "powf"),
    ("ldexpf", "jt_ldexp"),
    ("ldexpDh", "jt_ldexp"),
    ("ilogbf", "jt_ilogb"),
    ("ilogbDh", "jt_ilogb"),
    ("roundf", "roundf"),
    ("atanf", "atanf"),
    ("atanDh", "atanf"),
    ("isnan", "jt_isnan"),
    ("isinf", "jt_isinf"),
    ("rint", "rintf"),
    ("nearbyint", "nearbyintf"),
    ("tanh_fp32", "tanhf"),
    ("tanh", "tanhf"),
    ("sinh", "sinhf"),
    ("cosh", "coshf"),
    ("asin", "asinf"),
    ("acos", "acosf"),
    ("asinh", "asinhf"),
    ("acosh", "acoshf"),
    ("atanh", "atanhf"),
    ("atan2", "atan2f"),
    ("hypot", "hypotf"),
    ("copysign", "copysignf"),
    ("nextafter", "nextafterf"),
    ("expm1", "expm1f"),
    ("log10", "log10f"),
    ("lgamma", "lgammaf"),
    ("erfinv", "jt_erfinv"),
    ("signbit", "jt_signbit"),
    ("trunc", "truncf"),
    ("fmod", "fmodf"),
    ("pow", "powf"),
    ("div_rz", "jt_div_rz"),
    ("cyl_bessel_i0", "jt_bessel_i0"),
    ("float_as_int", "jt_float_as_int"),
];

fn element(kind: &str) -> Result<(&'static str, &'static str)> {
    match ELEMENTS.iter().find(|(name, ..)| *name == kind) {
        Some((_, number, value)) => Ok((number, value)),
        None => bail!("the element type {kind} is not supported"),
    }
}

/// Returns the number of an element type and how many axes there are.
fn described(kind: &str) -> Result<(&'static str, usize)> {
    let Some((extents, kind)) = shape(kind) else {
        return Ok((element(kind)?.0, 0));
    };
    Ok((element(kind)?.0, extents.len()))
}

/// Writes the C functions.
///
/// # Errors
/// The runtime has no such function, which the text names.
pub fn define(functions: &[OutsideFunction]) -> Result<String> {
    let mut text = String::new();
    for function in functions {
        if let Some(name) = function.name.strip_prefix("__hmf_") {
            scalar(function, name, &mut text)?;
        } else {
            of_tensors(function, &mut text)?;
        }
    }
    Ok(text)
}

fn scalar(function: &OutsideFunction, name: &str, text: &mut String) -> Result<()> {
    let Some((_, target)) = SCALARS.iter().find(|(known, _)| *known == name) else {
        bail!("the function \"{name}\" of libdevice is not supported");
    };
    let result = function.results.first().map_or("", String::as_str);
    if result.contains('<') || function.parameters.iter().any(|one| one.contains('<')) {
        bail!("the function \"{name}\" of libdevice is not supported for tensors");
    }
    if result == "bf16" || function.parameters.iter().any(|one| one == "bf16") {
        bail!(
            "the function \"{name}\" of libdevice is not supported for bf16; convert to fp32 first"
        );
    }
    let (mut declared, mut passed) = (Vec::new(), Vec::new());
    for (at, parameter) in function.parameters.iter().enumerate() {
        declared.push(format!("{} a{at}", element(parameter)?.1));
        passed.push(format!("(float)a{at}"));
    }
    let result = element(result)?.1;
    writeln!(
        text,
        "{result} {}({}) {{ return ({result}){target}({}); }}",
        function.name,
        declared.join(", "),
        passed.join(", ")
    )?;
    Ok(())
}

/// Returns a name without the number that makes it unique.
fn base(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((base, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => name,
    }
}

/// Returns the value of an attribute of text, as C text.
fn text_attribute(attributes: &str, name: &str) -> String {
    let begin = format!("{name} = \"");
    let rest = attributes.split_once(&begin).map_or("", |(_, rest)| rest);
    let mut value = String::new();
    let mut letters = rest.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            // MLIR writes two hexadecimal digits behind a backslash; C would read further letters as digits.
            '\\' => {
                let code: String = letters.by_ref().take(2).collect();
                match (code.as_str(), u8::from_str_radix(&code, 16)) {
                    (_, Ok(byte)) => {
                        let _ = write!(value, "\\{byte:03o}");
                    }
                    (other, Err(_)) => {
                        let _ = write!(value, "\\{other}");
                    }
                }
            }
            // A question mark could begin a trigraph.
            '?' => value.push_str("\\?"),
            other => value.push(other),
        }
    }
    value
}

fn of_tensors(function: &OutsideFunction, text: &mut String) -> Result<()> {
    let name = base(&function.name);
    let c_name = format!("_mlir_ciface_{}", function.name);
    let first = function.parameters.first().map_or("", String::as_str);
    let (number, rank) = if first.is_empty() {
        ("JT_I1", 0)
    } else {
        described(first)?
    };
    match name {
        "triton_cumsum" | "triton_cumprod" => {
            let product = u8::from(name == "triton_cumprod");
            writeln!(
                text,
                "void {c_name}(void *r, void *s, int32_t axis, _Bool reverse) {{ jumar_triton_scan(r, s, {rank}, {number}, axis, reverse, {product}); }}"
            )?;
        }
        "triton_sort" => writeln!(
            text,
            "void {c_name}(void *r, void *s, int64_t axis, _Bool descending) {{ jumar_triton_sort(r, s, {rank}, {number}, axis, descending); }}"
        )?,
        "triton_flip" => writeln!(
            text,
            "void {c_name}(void *r, void *s, int64_t axis) {{ jumar_triton_flip(r, s, {rank}, {number}, axis); }}"
        )?,
        "triton_gather" => {
            let (index, _) = described(function.parameters.get(1).map_or("", String::as_str))?;
            writeln!(
                text,
                "void {c_name}(void *r, void *s, void *i, int32_t axis) {{ jumar_triton_gather(r, s, i, {rank}, {number}, {index}, axis); }}"
            )?;
        }
        "jumar_matmul" => {
            let (result, _) = described(function.parameters.get(2).map_or("", String::as_str))?;
            writeln!(
                text,
                "void {c_name}(void *a, void *b, void *c) {{ jumar_triton_matmul(a, b, c, {rank}, {number}, {result}); }}"
            )?;
        }
        "triton_print" => print(function, &c_name, text)?,
        "triton_assert" => {
            let message = text_attribute(&function.attributes, "msg");
            let parameter = if rank == 0 && !first.contains('<') {
                "_Bool v"
            } else {
                "void *v"
            };
            let (call, value) = if rank == 0 && !first.contains('<') {
                ("jumar_triton_assert_one", "v")
            } else {
                ("jumar_triton_assert", "v")
            };
            let rank = if call.ends_with("one") {
                String::new()
            } else {
                format!(", {rank}")
            };
            writeln!(
                text,
                "void {c_name}({parameter}) {{ {call}(\"{message}\", {value}{rank}); }}"
            )?;
        }
        _ => bail!(
            "the kernel uses \"{}\", an extension of the card's compiler, which is not supported",
            name.trim_start_matches("triton_")
        ),
    }
    Ok(())
}

fn print(function: &OutsideFunction, c_name: &str, text: &mut String) -> Result<()> {
    let (mut declared, mut values) = (Vec::new(), Vec::new());
    for (at, kind) in function.parameters.iter().enumerate() {
        let (number, rank) = described(kind)?;
        if kind.contains('<') {
            declared.push(format!("void *v{at}"));
            values.push(format!("{{{number}, {rank}, v{at}}}"));
        } else {
            let value = element(kind)?.1;
            declared.push(format!("{value} v{at}"));
            values.push(format!("{{{number}, -1, &v{at}}}"));
        }
    }
    if declared.is_empty() {
        declared.push("void".into());
        values.push("{0, -1, 0}".into());
    }
    let prefix = text_attribute(&function.attributes, "prefix");
    let hex = u8::from(function.attributes.contains("hex = true"));
    let count = function.parameters.len();
    writeln!(
        text,
        "void {c_name}({}) {{ const jumar_triton_value values[] = {{{}}}; jumar_triton_print(\"{prefix}\", {hex}, values, {count}); }}",
        declared.join(", "),
        values.join(", ")
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(
        name: &str,
        parameters: &[&str],
        results: &[&str],
        attributes: &str,
    ) -> OutsideFunction {
        OutsideFunction {
            name: name.into(),
            parameters: parameters.iter().map(|one| (*one).to_owned()).collect(),
            results: results.iter().map(|one| (*one).to_owned()).collect(),
            attributes: attributes.into(),
        }
    }

    #[test]
    fn texts_of_a_kernel_become_texts_of_c() {
        let print = function(
            "triton_print_0",
            &["tensor<4xf32>", "i32"],
            &[],
            "hex = true, prefix = \" a\\0Ab? \"",
        );
        let text = define(&[print]).unwrap();
        assert!(
            text.contains("jumar_triton_print(\" a\\012b\\? \", 1, values, 2)"),
            "{text}"
        );
        assert!(
            text.contains("{JT_F32, 1, v0}, {JT_I32, -1, &v1}"),
            "{text}"
        );
    }

    #[test]
    fn extensions_of_the_card_are_refused_by_their_name() {
        let error = define(&[function(
            "triton_embedding_gather_3",
            &["tensor<4xf32>"],
            &[],
            "",
        )])
        .unwrap_err();
        assert!(
            error.to_string().contains("\"embedding_gather\""),
            "{error}"
        );
        let error = define(&[function("__hmf_sqrt_rn", &["f32"], &["f32"], "")]).unwrap_err();
        assert!(error.to_string().contains("\"sqrt_rn\""), "{error}");
    }
}
