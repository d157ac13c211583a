//! Definitions of kernels, and the functions and descriptions that are made of them.

use std::fmt::Write as _;
use std::ops::Range;

use super::tokens::{Kind, Token, matching, texts};

/// A kernel that is defined in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The name without namespaces.
    pub name: String,
    /// The name with the namespaces that enclose it.
    pub path: String,
    /// The text of each parameter, without its name and default value.
    pub parameters: Vec<String>,
    /// Whether it has the linkage of C, so that its symbol is its name.
    pub is_c: bool,
}

/// Returns the first token of the declaration that has `__global__` as token `at`, and the parenthesis of its parameters.
pub(super) fn declaration(tokens: &[Token<'_>], at: usize) -> Option<(usize, usize)> {
    let begin = tokens[..at]
        .iter()
        .rposition(|token| matches!(token.text, ";" | "}" | "{") || token.kind == Kind::Directive)
        .map_or(0, |before| before + 1);
    let open = (at..tokens.len()).find(|index| {
        tokens[*index].text == "("
            && *index > 0
            && tokens[*index - 1].kind == Kind::Identifier
            && !matches!(
                tokens[*index - 1].text,
                "__attribute__" | "__mix__" | "__schedmode__" | "alignas"
            )
    })?;
    Some((begin, open))
}

/// Returns the brace that opens the body of the function whose parameters end at token `close`.
pub(super) fn body(tokens: &[Token<'_>], close: usize) -> Option<usize> {
    let found = (close + 1..tokens.len()).find(|index| {
        tokens[*index].kind != Kind::Directive && tokens[*index].text != "noexcept"
    })?;
    (tokens[found].text == "{").then_some(found)
}

/// Returns the tokens of the bodies of kernels and of functions that are marked as device code.
pub(super) fn device_bodies(tokens: &[Token<'_>]) -> Vec<Range<usize>> {
    (0..tokens.len())
        .filter(|at| tokens[*at].text == "__global__" || texts(tokens, *at, &["[", "aicore", "]"]))
        .filter_map(|at| device_body(tokens, at))
        .collect()
}

/// Returns the body of the function that has the mark at token `at`.
fn device_body(tokens: &[Token<'_>], at: usize) -> Option<Range<usize>> {
    let (_, open) = declaration(tokens, at)?;
    let mut at = matching(tokens, open)? + 1;
    let mut initialises_members = false;
    loop {
        match tokens.get(at)?.text {
            ";" | "=" | "}" => return None,
            ":" => initialises_members = true,
            "(" => at = matching(tokens, at)?,
            // A member's initial value follows its name.
            "{" if initialises_members && tokens[at - 1].kind == Kind::Identifier => {
                at = closing_brace(tokens, at)?;
            }
            "{" => return Some(at..closing_brace(tokens, at)?),
            _ => {}
        }
        at += 1;
    }
}

/// Returns the brace that closes the one at token `open`.
fn closing_brace(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0_i32;
    (open..tokens.len()).find(|at| {
        match tokens[*at].text {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

/// Finds the definitions of kernels.
pub(super) fn kernels(tokens: &[Token<'_>]) -> Vec<Kernel> {
    let mut found: Vec<Kernel> = Vec::new();
    // The names of enclosing namespaces, and the brace depth at which each began.
    let mut namespaces: Vec<(String, i32)> = Vec::new();
    let mut depth = 0_i32;
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].text {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                while namespaces.last().is_some_and(|(_, began)| *began > depth) {
                    namespaces.pop();
                }
            }
            "namespace" if tokens[at].kind == Kind::Identifier => {
                let name: String = tokens[at + 1..]
                    .iter()
                    .take_while(|token| {
                        token.text == "::"
                            || (token.kind == Kind::Identifier && token.text != "__attribute__")
                    })
                    .map(|token| token.text)
                    .collect();
                let after = tokens[at + 1..]
                    .iter()
                    .find(|token| matches!(token.text, "{" | ";" | "="));
                if after.is_some_and(|token| token.text == "{") {
                    namespaces.push((name, depth + 1));
                }
            }
            "__global__" => {
                if let Some(kernel) = definition(tokens, at, &namespaces)
                    && !found.iter().any(|known| known.path == kernel.path)
                {
                    found.push(kernel);
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Reads the function whose declaration has `__global__` as token `at`; none for templates and mere declarations.
fn definition(tokens: &[Token<'_>], at: usize, namespaces: &[(String, i32)]) -> Option<Kernel> {
    // A template has `template` at the declaration's begin.
    let (begin, open) = declaration(tokens, at)?;
    if tokens[begin..at]
        .iter()
        .any(|token| token.text == "template")
    {
        return None;
    }
    let name = tokens[open - 1].text;
    let mut parameters = Vec::new();
    let (mut depth, mut current, mut close) = (0_i32, Vec::new(), None);
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth -= 1,
            _ => {}
        }
        if index == open || token.kind == Kind::Directive {
            continue;
        }
        if depth == 0 || (depth == 1 && token.text == ",") {
            if !current.is_empty() {
                parameters.push(parameter(&current));
            }
            current.clear();
            if depth == 0 {
                close = Some(index);
                break;
            }
            continue;
        }
        current.push(token.text);
    }
    body(tokens, close?)?;
    if parameters == ["void"] {
        parameters.clear();
    }
    let mut path = String::new();
    for (namespace, _) in namespaces.iter().filter(|(name, _)| !name.is_empty()) {
        let _ = write!(path, "{namespace}::");
    }
    path.push_str(name);
    Some(Kernel {
        name: name.to_owned(),
        path,
        parameters,
        is_c: tokens[begin..open]
            .iter()
            .any(|token| token.text == "\"C\"")
            || texts(tokens, begin.saturating_sub(2), &["\"C\"", "{"]),
    })
}

/// Returns a parameter's type: its text without the name.
fn parameter(tokens: &[&str]) -> String {
    let declared = tokens
        .iter()
        .position(|text| *text == "=")
        .map_or(tokens, |equals| &tokens[..equals]);
    let is_word = |text: &str| text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let builtin = |text: &str| {
        matches!(
            text,
            "const"
                | "volatile"
                | "unsigned"
                | "signed"
                | "int"
                | "char"
                | "short"
                | "long"
                | "float"
                | "double"
                | "bool"
                | "__restrict"
                | "__restrict__"
                | "struct"
                | "restrict"
        )
    };
    let words = declared
        .iter()
        .filter(|text| {
            is_word(text)
                && !matches!(
                    **text,
                    "const" | "volatile" | "struct" | "__restrict" | "__restrict__" | "restrict"
                )
        })
        .count();
    let mut end = declared.len();
    // The last word is the name, unless it is the type itself.
    if let Some(last) = declared.last()
        && is_word(last)
        && !builtin(last)
        && words > 1
        && declared[..end - 1]
            .last()
            .is_none_or(|before| *before != "::")
    {
        end -= 1;
    }
    let mut text = String::new();
    for word in declared[..end]
        .iter()
        .filter(|text| !matches!(**text, "__restrict" | "__restrict__" | "restrict"))
    {
        let glued = text.ends_with("::") || *word == "::" || text.is_empty();
        if !glued && is_word(word) {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

impl Kernel {
    /// Returns the parameter types of `aclrtlaunch_<kernel>`: pointers to numbers become `void *`.
    pub fn entry_types(&self) -> Vec<String> {
        self.parameters
            .iter()
            .map(|text| {
                if is_number_pointer(text) {
                    "void *".to_owned()
                } else {
                    text.clone()
                }
            })
            .collect()
    }

    /// Returns the declaration of `aclrtlaunch_<kernel>`.
    pub fn declaration(&self) -> String {
        let mut text = format!(
            "extern \"C\" uint32_t aclrtlaunch_{}(uint32_t numBlocks, aclrtStream stream",
            self.name
        );
        for (number, kind) in self.entry_types().iter().enumerate() {
            let _ = write!(text, ", {kind} p{number}");
        }
        text.push(')');
        text
    }

    /// Returns the definition of `aclrtlaunch_<kernel>`. It stands in the kernel's namespace, where the parameters' types are known.
    pub fn entry(&self, waits: bool) -> String {
        let (name, path) = (&self.name, &self.path);
        let mut text = format!(
            "{} {{ return ::jumar::ascendc::Entry<{waits}, &::{path}>::queue(\"{name}\", numBlocks, stream",
            self.declaration()
        );
        for number in 0..self.parameters.len() {
            let _ = write!(text, ", p{number}");
        }
        text.push_str("); }");
        match path.strip_suffix(&format!("::{name}")) {
            Some(namespace) => format!("namespace {namespace} {{ {text} }}\n"),
            None => text + "\n",
        }
    }

    /// Returns the code of the kernel in a pass of one kind of core.
    pub fn pass_entry(&self) -> String {
        format!(
            "template struct ::jumar::ascendc::KernelSite<&::{}>;\n",
            self.path
        )
    }

    /// Returns the function that describes the kernel of a custom operator.
    pub fn operator(&self, waits: bool, symbol: &str) -> String {
        format!(
            "extern \"C\" __attribute__((visibility(\"hidden\"))) const jumar_kernel_object* {symbol}(const char* name) \
             {{ return ::jumar::ascendc::OperatorEntry<{waits}, &::{}>::object(name); }}\n",
            self.path
        )
    }

    /// Returns what a kernel binary exports: the kernel's name, and its description.
    pub fn binary(&self, waits: bool) -> String {
        let (name, path) = (&self.name, &self.path);
        let symbol = if self.is_c {
            String::new()
        } else {
            // The loader finds a kernel by its plain name.
            format!(
                "extern \"C\" __attribute__((visibility(\"default\"))) void jumar_symbol_{name}() __asm__(\"{name}\");\n\
                 extern \"C\" void jumar_symbol_{name}() {{}}\n"
            )
        };
        format!(
            "{symbol}extern \"C\" __attribute__((visibility(\"default\"))) const jumar_kernel_info jumar_kernel_info_{name};\n\
             const jumar_kernel_info jumar_kernel_info_{name} = ::jumar::ascendc::Entry<{waits}, &::{path}>::info();\n"
        )
    }

    /// Returns the header `aclrtlaunch_<kernel>.h`.
    pub fn header(&self) -> String {
        let guard = format!("HEADER_ACLRTLAUNCH_{}_H", self.name.to_uppercase());
        format!(
            "#ifndef {guard}\n#define {guard}\n#include \"acl/acl_base.h\"\n\n#ifndef ACLRT_LAUNCH_KERNEL\n#define ACLRT_LAUNCH_KERNEL(kernel_func) \
             aclrtlaunch_##kernel_func\n#endif\n\n{};\n#endif\n",
            self.declaration()
        )
    }
}

/// Returns whether a type is a pointer to a number.
fn is_number_pointer(text: &str) -> bool {
    const NUMBERS: &[&str] = &[
        "void",
        "bool",
        "char",
        "signed char",
        "unsigned char",
        "short",
        "unsigned short",
        "int",
        "unsigned",
        "unsigned int",
        "long",
        "unsigned long",
        "long long",
        "unsigned long long",
        "float",
        "double",
        "half",
        "_Float16",
        "bfloat16_t",
        "int8_t",
        "uint8_t",
        "int16_t",
        "uint16_t",
        "int32_t",
        "uint32_t",
        "int64_t",
        "uint64_t",
        "size_t",
    ];
    let Some(pointee) = text.trim().strip_suffix('*') else {
        return false;
    };
    let pointee = pointee.trim();
    let pointee = pointee.strip_prefix("const ").unwrap_or(pointee).trim();
    NUMBERS.contains(&pointee.trim_end_matches(" const"))
}
