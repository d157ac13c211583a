//! The C headers, and the C program that checks their layout.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::model::{Api, CType, ConstantValue, Field, Function, Passing};

/// A header, as `api/types/headers.toml` describes it.
pub struct Header {
    /// The path below `include/acl`, or below `include` for those of [`OTHER_FOLDERS`].
    pub path: String,
    title: String,
    includes: Vec<String>,
    /// The include guard that other copies of the header use; otherwise Jumar's own.
    guard: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHeader {
    title: String,
    includes: Vec<String>,
    #[serde(default)]
    guard: Option<String>,
}

/// The folders beside `include/acl` that hold generated headers.
const OTHER_FOLDERS: &[&str] = &[
    "aclnn",
    "driver",
    "experiment",
    "hccl",
    "mmpa",
    "mspti",
    "toolchain",
];

/// Returns the path below `include` by which programs include a header.
pub fn included(header: &str) -> String {
    let outside = header
        .split_once('/')
        // Headers that are written by hand lie in `include/jumar`.
        .is_some_and(|(folder, _)| folder == "jumar" || OTHER_FOLDERS.contains(&folder));
    match outside {
        true => header.to_owned(),
        false => format!("acl/{header}"),
    }
}

/// Reads the list of headers.
pub fn list(root: &Path) -> Result<Vec<Header>> {
    let file = root.join("api/types/headers.toml");
    let text =
        std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    let table: toml::Table = text.parse().context("parsing headers.toml")?;
    table
        .into_iter()
        .map(|(path, value)| {
            let raw: RawHeader = value.try_into().with_context(|| path.clone())?;
            Ok(Header {
                path,
                title: raw.title,
                includes: raw.includes,
                guard: raw.guard,
            })
        })
        .collect()
}

/// Writes all headers.
pub fn write(root: &Path, api: &Api, files: &mut Vec<(PathBuf, String)>) -> Result<()> {
    let headers = list(root)?;
    check_all_named(api, &headers)?;
    for header in &headers {
        files.push((
            Path::new("include").join(included(&header.path)),
            header_text(api, header),
        ));
    }
    files.push((
        PathBuf::from("tests/c/layout.c"),
        layout_test(api, &headers),
    ));
    Ok(())
}

fn check_all_named(api: &Api, headers: &[Header]) -> Result<()> {
    let known: BTreeSet<&str> = headers.iter().map(|h| h.path.as_str()).collect();
    let named = api
        .functions()
        .map(|(_, f)| (&f.name, &f.header))
        .chain(api.enums.iter().map(|x| (&x.name, &x.header)))
        .chain(api.structs.iter().map(|x| (&x.name, &x.header)))
        .chain(api.handles.iter().map(|x| (&x.name, &x.header)))
        .chain(api.callbacks.iter().map(|x| (&x.name, &x.header)))
        .chain(api.aliases.iter().map(|x| (&x.name, &x.header)))
        .chain(api.constants.iter().map(|x| (&x.name, &x.header)));
    for (name, header) in named {
        ensure!(
            known.contains(header.as_str()),
            "{name}: headers.toml has no {header}"
        );
    }
    Ok(())
}

/// What the first header defines beside its data: helpers that programs use by name.
const BASE_MACROS: &str = "\
/* Marks what is deprecated, for other copies of the headers that follow. */
#ifndef ACL_DEPRECATED_MESSAGE
#define ACL_DEPRECATED_MESSAGE(message) __attribute__((deprecated(message)))
#endif

/* Marks what the library exports. */
#ifndef ACL_FUNC_VISIBILITY
#if defined(__GNUC__) || defined(__clang__)
#define ACL_FUNC_VISIBILITY __attribute__((visibility(\"default\")))
#else
#define ACL_FUNC_VISIBILITY
#endif
#endif

";

const APP_LOG: &str = "\
/** Writes a line to the log, with its source location. Takes a level, and a format with its arguments. */
#define ACL_APP_LOG(level, fmt, ...) aclAppLog(level, __FUNCTION__, __FILE__, __LINE__, fmt, ##__VA_ARGS__)

";

const OK: &str = "\
#ifdef __cplusplus
constexpr aclnnStatus OK = 0;
#endif

";

/// Each program carries its own copy of this function: the structure's size is that of the header it was compiled with.
const COMM_CONFIG_INIT: &str = "\
/** Fills a configuration with the values that leave every option as it is. */
static inline void HcclCommConfigInit(HcclCommConfig *config) {
    struct {
        size_t size;
        uint32_t magic;
        uint32_t version;
        uint64_t reserved;
    } info = {sizeof(HcclCommConfig), HCCL_COMM_CONFIG_MAGIC_WORD, HCCL_COMM_CONFIG_VERSION, 0};
    if (config == NULL) {
        return;
    }
    memset(config, 0, sizeof(*config));
    memcpy(config->reserved, &info, sizeof(info));
    config->hcclBufferSize = HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET;
    config->hcclDeterministic = HCCL_COMM_DETERMINISTIC_CONFIG_NOT_SET;
    config->hcclOpExpansionMode = HCCL_COMM_DEFAULT_OP_EXPANSION_MODE;
    config->hcclRdmaTrafficClass = HCCL_COMM_TRAFFIC_CLASS_CONFIG_NOT_SET;
    config->hcclRdmaServiceLevel = HCCL_COMM_SERVICE_LEVEL_CONFIG_NOT_SET;
    config->hcclExecTimeOut = -1;
    config->hcclQos = HCCL_COMM_QOS_CONFIG_NOT_SET;
    config->hcclSymWinMaxMemSizePerRank = HCCL_DEFAULT_SYMMETRIC_MEMORY_STRIDE;
    config->hcclChannelSqDepth = HCCL_COMM_SQ_DEPTH_CONFIG_NOT_SET;
}

";

const UNUSED: &str = "\
#ifndef ACL_MAYBE_UNUSED
#if defined(__GNUC__) || defined(__clang__)
#define ACL_MAYBE_UNUSED __attribute__((unused))
#else
#define ACL_MAYBE_UNUSED
#endif
#endif

";

fn header_text(api: &Api, header: &Header) -> String {
    let mut out = String::new();
    let path = header.path.as_str();
    let guard = header.guard.clone().unwrap_or_else(|| {
        let name = path.replace(['/', '.'], "_").to_uppercase();
        format!("JUMAR_ACL_{}_", name.replace("ACL_ACL", "ACL"))
    });
    let of_acl = included(path).starts_with("acl/");
    let up = if path.contains('/') { "../" } else { "" };
    let _ = writeln!(
        out,
        "/* Generated by `cargo xtask gen` from api/; edits are lost. */"
    );
    let _ = writeln!(
        out,
        "/*\n * {}\n *\n * Part of Jumar. SPDX-License-Identifier: Apache-2.0\n */",
        header.title
    );
    let _ = writeln!(out, "#ifndef {guard}\n#define {guard}\n");
    let _ = writeln!(
        out,
        "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>{}\n",
        match path {
            "hccl/hccl_comm.h" => "\n#include <string.h>",
            _ => "",
        }
    );
    for include in &header.includes {
        let _ = match of_acl {
            true => writeln!(out, "#include \"{up}{include}\""),
            false => writeln!(out, "#include \"{}\"", included(include)),
        };
    }
    if !header.includes.is_empty() {
        out.push('\n');
    }
    if path == "acl_base_rt.h" {
        out.push_str(BASE_MACROS);
    }
    if api
        .constants
        .iter()
        .any(|c| c.header == path && matches!(c.value, ConstantValue::Typed(..)))
    {
        out.push_str(UNUSED);
    }
    let body = header_body(api, path);
    if !body.is_empty() {
        let _ = write!(out, "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n{body}");
        let _ = writeln!(out, "#ifdef __cplusplus\n}}\n#endif\n");
    }
    if path == "acl_base_rt.h" {
        out.push_str(APP_LOG);
    }
    if path == "aclnn/acl_meta.h" {
        out.push_str(OK);
    }
    if path == "hccl/hccl_comm.h" {
        out.push_str(COMM_CONFIG_INIT);
    }
    if path == "mspti/mspti_activity.h" {
        // The records are packed, which the numbers in api/types do not describe.
        out.push_str("#include \"mspti_records.h\"\n\n");
    }
    let _ = writeln!(out, "#endif /* {guard} */");
    out
}

fn header_body(api: &Api, path: &str) -> String {
    let mut out = String::new();
    let before = out.len();
    for constant in api.constants.iter().filter(|c| c.header == path) {
        let name = &constant.name;
        let _ = match &constant.value {
            ConstantValue::Typed(of, value) => {
                writeln!(out, "static const {of} {name} ACL_MAYBE_UNUSED = {value};")
            }
            ConstantValue::Macro(literal, _) => writeln!(out, "#define {name} {literal}"),
            ConstantValue::Text(text) => writeln!(out, "#define {name} \"{text}\""),
        };
    }
    if out.len() > before {
        out.push('\n');
    }
    let before = out.len();
    for alias in api.aliases.iter().filter(|x| x.header == path) {
        let _ = writeln!(out, "typedef {} {};", alias.ctype, alias.name);
    }
    for handle in api.handles.iter().filter(|x| x.header == path) {
        let _ = match &handle.tag {
            None => writeln!(out, "typedef void *{};", handle.name),
            Some(tag) => writeln!(out, "typedef struct {tag} {};", handle.name),
        };
    }
    if out.len() > before {
        out.push('\n');
    }
    for e in api.enums.iter().filter(|x| x.header == path) {
        let _ = writeln!(out, "typedef enum {} {{", e.tag);
        for (name, value) in &e.values {
            let _ = writeln!(out, "    {name} = {value},");
        }
        // No comma after the last one: C++98 compilers in pedantic mode refuse it.
        out.truncate(out.trim_end_matches([',', '\n']).len());
        let _ = writeln!(out, "\n}} {};\n", e.name);
    }
    for s in api.structs.iter().filter(|x| x.header == path) {
        let word = if s.union { "union" } else { "struct" };
        let _ = writeln!(out, "typedef {word} {} {{", s.tag);
        fields(&mut out, &s.fields, "    ");
        let _ = writeln!(out, "}} {};\n", s.name);
    }
    let before = out.len();
    for callback in api.callbacks.iter().filter(|x| x.header == path) {
        let params: Vec<String> = callback
            .params
            .iter()
            .map(|(name, of)| declare(of, name))
            .collect();
        let params = if params.is_empty() {
            "void".to_owned()
        } else {
            params.join(", ")
        };
        let ret = &callback.ret.text;
        let space = if ret.ends_with('*') { "" } else { " " };
        let _ = writeln!(out, "typedef {ret}{space}(*{})({params});", callback.name);
    }
    if out.len() > before {
        out.push('\n');
    }
    for (_, function) in api.functions().filter(|(_, f)| f.header == path) {
        out.push_str(&comment(function));
        out.push_str(&prototype(function));
    }
    out
}

fn fields(out: &mut String, all: &[Field], indent: &str) {
    for field in all {
        match &field.ctype {
            Some(ctype) => {
                let _ = writeln!(out, "{indent}{};", declare(ctype, &field.name));
            }
            None => {
                let space = if field.tag.is_empty() { "" } else { " " };
                let _ = writeln!(out, "{indent}union{space}{} {{", field.tag);
                fields(out, &field.members, &format!("{indent}    "));
                let space = if field.name.is_empty() { "" } else { " " };
                let _ = writeln!(out, "{indent}}}{space}{};", field.name);
            }
        }
    }
}

/// Declares a name with a type.
pub fn declare(ctype: &CType, name: &str) -> String {
    if ctype.function {
        return ctype.text.replacen(")(", &format!(" {name})("), 1);
    }
    let (head, array) = match ctype.text.find('[') {
        Some(at) => ctype.text.split_at(at),
        None => (ctype.text.as_str(), ""),
    };
    let head = head.trim_end();
    let space = if head.ends_with('*') { "" } else { " " };
    format!("{head}{space}{name}{array}")
}

fn comment(function: &Function) -> String {
    let mut out = String::from("/**\n");
    let brief = if function.brief.is_empty() {
        format!("{}.", function.name)
    } else {
        function.brief.clone()
    };
    let _ = writeln!(out, " * {brief}");
    if function.deprecated {
        let _ = writeln!(out, " * Deprecated.");
    }
    for param in &function.params {
        let direction = match param.passing {
            Passing::Out { .. } | Passing::OutArray { .. } => "[OUT]",
            Passing::InOut => "[IN/OUT]",
            _ => "[IN]",
        };
        let _ = writeln!(out, " * @param {} {direction}", param.name);
    }
    if function.ret.text != "void" {
        let text = if function.ret.is_hccl() {
            "HCCL_SUCCESS, or a code"
        } else if function.ret.is_media() {
            "HI_SUCCESS, or a code"
        } else if function.ret.is_status() {
            "ACL_SUCCESS, or a code"
        } else {
            "the value"
        };
        let _ = writeln!(out, " * @return {text}");
    }
    out.push_str(" */\n");
    out
}

fn prototype(function: &Function) -> String {
    let mut params: Vec<String> = function
        .params
        .iter()
        .map(|p| declare(&p.ctype, &p.name))
        .collect();
    if function.variadic {
        params.push("...".to_owned());
    }
    let params = if params.is_empty() {
        "void".to_owned()
    } else {
        params.join(", ")
    };
    let ret = &function.ret.text;
    let space = if ret.ends_with('*') { "" } else { " " };
    let head = format!("ACL_FUNC_VISIBILITY {ret}{space}{}(", function.name);
    if head.len() + params.len() <= 116 {
        return format!("{head}{params});\n\n");
    }
    let mut out = head;
    out.push('\n');
    let mut line = String::from("   ");
    for (at, param) in params.split(", ").enumerate() {
        if line.len() + param.len() + 2 > 118 {
            let _ = writeln!(out, "{line},");
            line = format!("    {param}");
        } else if at == 0 {
            line = format!("    {param}");
        } else {
            line = format!("{line}, {param}");
        }
    }
    let _ = write!(out, "{line});\n\n");
    out
}

fn layout_test(api: &Api, headers: &[Header]) -> String {
    let mut out = String::new();
    out.push_str("/* Generated by `cargo xtask gen` from api/; edits are lost. */\n");
    out.push_str("/* Sizes, offsets and values of the headers against the numbers in api/types. Compiles as C11 and as C++11. */\n");
    for header in headers {
        let _ = writeln!(out, "#include \"{}\"", included(&header.path));
    }
    out.push_str(
        "\n#ifdef __cplusplus\n#define SAME(a, b) static_assert((a) == (b), #a)\n#define ALIGN(t) alignof(t)\n#else\n\
         #define SAME(a, b) _Static_assert((a) == (b), #a)\n#define ALIGN(t) _Alignof(t)\n#endif\n\n",
    );
    for s in &api.structs {
        let _ = writeln!(out, "SAME(sizeof({}), {}u);", s.name, s.size);
        let _ = writeln!(out, "SAME(ALIGN({}), {}u);", s.name, s.align);
        layout_fields(&mut out, &s.name, "", &s.fields);
    }
    for e in &api.enums {
        for (name, value) in &e.values {
            let _ = writeln!(out, "SAME((long long){name}, {value}LL);");
        }
        let _ = writeln!(out, "SAME(sizeof({}), 4u);", e.name);
    }
    for handle in &api.handles {
        let star = if handle.tag.is_some() { " *" } else { "" };
        let _ = writeln!(out, "SAME(sizeof({}{star}), sizeof(void *));", handle.name);
    }
    for constant in &api.constants {
        let name = &constant.name;
        let _ = match &constant.value {
            // A typed constant is a variable in C, which no static assertion may read.
            ConstantValue::Typed(_, value) => {
                writeln!(
                    out,
                    "#ifdef __cplusplus\nSAME((long long){name}, {value}LL);\n#endif"
                )
            }
            ConstantValue::Macro(_, value) => {
                writeln!(
                    out,
                    "SAME((unsigned long long)({name}), {}ULL);",
                    value.cast_unsigned()
                )
            }
            ConstantValue::Text(text) => {
                writeln!(out, "SAME(sizeof({name}), {}u);", text.len() + 1)
            }
        };
    }
    out.push_str("\n/* The address of every function: what a header declares can be linked. */\n");
    out.push_str(
        "typedef void (*any_function)(void);\nextern const any_function all_functions[];\n",
    );
    out.push_str("const any_function all_functions[] = {\n");
    for (_, function) in api.functions() {
        let _ = writeln!(out, "    (any_function){},", function.name);
    }
    out.push_str(
        "};\n\n/* Reads the constants, so that C sees their values too. */\nint main(void) {\n",
    );
    out.push_str("    if (sizeof(all_functions) / sizeof(all_functions[0]) != ");
    let _ = writeln!(out, "{}u) return 1;", api.functions().count());
    out.push_str(
        "    for (unsigned i = 0; i < sizeof(all_functions) / sizeof(all_functions[0]); ++i)\n",
    );
    out.push_str("        if (all_functions[i] == 0) return 1;\n");
    for constant in &api.constants {
        if let ConstantValue::Typed(_, value) = &constant.value {
            let _ = writeln!(
                out,
                "    if ((long long){} != {value}LL) return 1;",
                constant.name
            );
        }
    }
    out.push_str("    return 0;\n}\n");
    out
}

fn layout_fields(out: &mut String, name: &str, prefix: &str, all: &[Field]) {
    for field in all {
        let path = format!("{prefix}{}", field.name);
        if !field.name.is_empty() {
            let _ = writeln!(out, "SAME(offsetof({name}, {path}), {}u);", field.offset);
            let _ = writeln!(out, "SAME(sizeof((({name} *)0)->{path}), {}u);", field.size);
        }
        let inner = if field.name.is_empty() {
            prefix.to_owned()
        } else {
            format!("{path}.")
        };
        for member in &field.members {
            // Members of a union written in place count their offsets from the union.
            let at = Field {
                name: member.name.clone(),
                ctype: member.ctype.clone(),
                tag: String::new(),
                members: Vec::new(),
                offset: field.offset + member.offset,
                size: member.size,
            };
            layout_fields(out, name, &inner, &[at]);
        }
    }
}
