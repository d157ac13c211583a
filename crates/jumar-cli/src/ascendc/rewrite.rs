//! The rewriter: preprocessed Ascend C in, C++ out.
//!
//! It changes four things and keeps every line where it is: `__global__` and `[aicore]` are removed, a launch
//! `callee<<<blocks, l2, stream>>>(arguments)` becomes a call of the header `ascendc/launch.h`, `asm("trap")` fails the
//! block, and a failed `assert` of a kernel fails the block instead of the process. It finds the definitions of kernels, from which the
//! functions `aclrtlaunch_<kernel>` and the exported descriptions are made.

use std::fmt::Write as _;

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

/// What the rewriter returns.
#[derive(Debug)]
pub struct Rewritten {
    /// The C++ text.
    pub text: String,
    /// The kernels that are functions; templates are not among them.
    pub kernels: Vec<Kernel>,
    /// Whether blocks of the kernels wait for each other.
    pub waits: bool,
}

/// Calls by which blocks wait for each other.
const WAITS: &[&str] = &["SyncAll", "CrossCoreWaitFlag", "IBWait", "wait_flag_dev"];

/// Functions of cube cores. A kernel without a type that uses them and asks for the kind of core runs on both kinds.
const CUBE: &[&str] = &["Mmad", "LoadData", "Fixpipe"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Identifier,
    Number,
    Literal,
    Punctuation,
    /// A line that begins with `#`: a line marker or a pragma.
    Directive,
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    begin: usize,
    end: usize,
}

/// Rewrites a preprocessed source. `library` is the folder of the library's own headers, whose calls do not count as the kernel's.
///
/// # Errors
/// A launch or a literal is not closed; the sentence has file and line.
pub fn rewrite(source: &str, library: &str) -> Result<Rewritten, String> {
    let tokens = tokens(source)?;
    let mut changes: Vec<(usize, usize, String)> = Vec::new();
    let waits = uses(&tokens, library, WAITS);
    let uses_both = uses(&tokens, library, CUBE) && uses(&tokens, library, &["g_coreType"]);
    let kernels = kernels(&tokens);
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at];
        match (token.kind, token.text) {
            (Kind::Identifier, "__global__") => {
                changes.push((token.begin, token.end, String::new()));
                if let Some(change) = selected_cores(&tokens, at, uses_both) {
                    changes.push(change);
                }
            }
            (Kind::Identifier, "__cube__" | "__vector__") => {
                changes.push((token.begin, token.end, String::new()));
            }
            (Kind::Identifier, "__mix__") if texts(&tokens, at + 1, &["("]) => {
                if let Some(close) = matching(&tokens, at + 1) {
                    changes.push((token.begin, tokens[close].end, String::new()));
                    at = close;
                }
            }
            // The kind of core is known when the kernel runs.
            (Kind::Identifier, "constexpr")
                if at > 0 && tokens[at - 1].text == "if" && asks_for_core(&tokens, at + 1) =>
            {
                changes.push((token.begin, token.end, String::new()));
            }
            (Kind::Punctuation, "[") if texts(&tokens, at + 1, &["aicore", "]"]) => {
                changes.push((token.begin, tokens[at + 2].end, String::new()));
                at += 2;
            }
            (Kind::Identifier, "asm" | "__asm__" | "__asm")
                if texts(&tokens, at + 1, &["(", "\"trap\"", ")"]) =>
            {
                let call = "::jumar::ascendc::trap()".to_owned();
                changes.push((token.begin, tokens[at + 3].end, call));
                at += 3;
            }
            (Kind::Identifier, "asm" | "__asm__" | "__asm")
                if texts(&tokens, at + 1, &["volatile", "(", "\"trap\"", ")"]) =>
            {
                let call = "::jumar::ascendc::trap()".to_owned();
                changes.push((token.begin, tokens[at + 4].end, call));
                at += 4;
            }
            // The declaration in the C library's header stays: its name follows a type.
            (Kind::Identifier, "__assert_fail")
                if at > 0 && !matches!(tokens[at - 1].text, "void" | "*") =>
            {
                let call = "::jumar::ascendc::assertion_failed".to_owned();
                changes.push((token.begin, token.end, call));
            }
            (Kind::Punctuation, "<<<") => {
                let launch = launch(source, &tokens, at, waits)?;
                changes.push(launch.callee);
                changes.push(launch.configuration);
                at = launch.next;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    changes.sort_by_key(|(begin, _, _)| *begin);
    let mut text = String::with_capacity(source.len() + 1024);
    let mut done = 0;
    for (begin, end, change) in changes {
        // A launch inside of another one's configuration would overlap; no compiler takes it.
        if begin < done {
            continue;
        }
        text.push_str(&source[done..begin]);
        text.push_str(&change);
        // Lines stay where they are.
        let lines = source[begin..end].matches('\n').count();
        let kept = change.matches('\n').count();
        text.extend(std::iter::repeat_n('\n', lines.saturating_sub(kept)));
        done = end;
    }
    text.push_str(&source[done..]);
    Ok(Rewritten {
        text,
        kernels,
        waits,
    })
}

/// Returns whether the tokens from `at` on have these texts.
fn texts(tokens: &[Token<'_>], at: usize, wanted: &[&str]) -> bool {
    tokens.len() >= at + wanted.len()
        && wanted
            .iter()
            .zip(&tokens[at..])
            .all(|(text, token)| *text == token.text)
}

/// Returns whether code outside of the library's headers uses one of the names.
fn uses(tokens: &[Token<'_>], library: &str, names: &[&str]) -> bool {
    let mut own = true;
    for token in tokens {
        if token.kind == Kind::Directive {
            if let Some((_, file)) = marker(token.text) {
                own = library.is_empty() || !file.starts_with(library);
            }
        } else if own && token.kind == Kind::Identifier && names.contains(&token.text) {
            return true;
        }
    }
    false
}

/// Reads a line marker: `# 12 "file.cpp" 1`.
fn marker(line: &str) -> Option<(u32, &str)> {
    let rest = line.strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let (number, rest) = rest.split_once(' ')?;
    let file = rest.trim_start().strip_prefix('"')?;
    Some((number.parse().ok()?, &file[..file.find('"')?]))
}

/// Returns file and line of a position, as line markers give them.
fn location(source: &str, position: usize) -> String {
    let (mut file, mut line) = ("", 0);
    for text in source[..position].split('\n') {
        match marker(text) {
            Some((number, name)) => (file, line) = (name, number.saturating_sub(1)),
            None => line += 1,
        }
    }
    format!("{file}:{line}")
}

struct Launch {
    callee: (usize, usize, String),
    configuration: (usize, usize, String),
    next: usize,
}

/// Rewrites the launch whose `<<<` is the token `at`.
fn launch(source: &str, tokens: &[Token<'_>], at: usize, waits: bool) -> Result<Launch, String> {
    let wrong = |what: &str| format!("{}: {what}", location(source, tokens[at].begin));
    let first = callee(tokens, at).ok_or_else(|| wrong("no kernel's name stands before <<<"))?;
    let close = closing(tokens, at + 1).ok_or_else(|| wrong("a launch's <<< has no >>>"))?;
    let callee = &source[tokens[first].begin..tokens[at].begin];
    let (begin, end) = (tokens[at].end, tokens[close].begin);
    let configuration = source[begin..end].trim();
    if configuration.is_empty() {
        return Err(wrong(
            "a launch needs a number of blocks between <<< and >>>",
        ));
    }
    if tokens.get(close + 1).is_none_or(|token| token.text != "(") {
        return Err(wrong("a launch's >>> is not followed by arguments"));
    }
    let name: String = tokens[first..at]
        .iter()
        .take_while(|token| token.text != "<")
        .map(|token| token.text)
        .collect();
    let name = name.rsplit("::").next().unwrap_or(&name);
    let callee = callee.trim();
    let call = format!(
        "::jumar::ascendc::launch<{waits}>(\"{name}\", [](auto... jumar_arguments) {{ {callee}(jumar_arguments...); }}, "
    );
    Ok(Launch {
        callee: (tokens[first].begin, begin, call),
        configuration: (end, tokens[close].end, ")".to_owned()),
        // The configuration and the arguments are looked through as well.
        next: at + 1,
    })
}

/// Finds the first token of a launch's callee: a qualified name with optional template arguments.
fn callee(tokens: &[Token<'_>], launch: usize) -> Option<usize> {
    let mut at = launch.checked_sub(1)?;
    if tokens[at].text == ">" || tokens[at].text == ">>" || tokens[at].text == ">>>" {
        let mut depth = 0_i32;
        loop {
            match tokens[at].text {
                ">" => depth += 1,
                ">>" => depth += 2,
                ">>>" => depth += 3,
                "<" => depth -= 1,
                "<<" => depth -= 2,
                _ => {}
            }
            if depth <= 0 {
                break;
            }
            at = at.checked_sub(1)?;
        }
        at = at.checked_sub(1)?;
    }
    if tokens[at].kind != Kind::Identifier {
        return None;
    }
    while at >= 1 && tokens[at - 1].text == "::" {
        at -= 1;
        if at >= 1 && tokens[at - 1].kind == Kind::Identifier && !is_keyword(tokens[at - 1].text) {
            at -= 1;
        }
    }
    Some(at)
}

/// Words that can stand before a name that begins with `::`.
fn is_keyword(word: &str) -> bool {
    matches!(word, "return" | "else" | "do" | "case" | "co_return")
}

/// Finds the `>>>` at bracket depth 0.
fn closing(tokens: &[Token<'_>], from: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            ">>>" if depth == 0 => return Some(at),
            ";" if depth == 0 => return None,
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    None
}

/// Returns the parenthesis that closes the one at token `open`.
fn matching(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0_i32;
    (open..tokens.len()).find(|at| {
        match tokens[*at].text {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

/// Returns whether the condition that begins at token `at` depends on the kind of core.
fn asks_for_core(tokens: &[Token<'_>], at: usize) -> bool {
    texts(tokens, at, &["("])
        && matching(tokens, at).is_some_and(|close| {
            tokens[at..close]
                .iter()
                .any(|token| token.text == "g_coreType")
        })
}

/// Returns the statement to add at the start of the body of the kernel whose `__global__` is token `at`: it selects the cores that
/// `__cube__`, `__vector__` or `__mix__(cubes, vectors)` name, or both kinds for a kernel that needs them.
fn selected_cores(
    tokens: &[Token<'_>],
    at: usize,
    uses_both: bool,
) -> Option<(usize, usize, String)> {
    let (begin, open) = declaration(tokens, at)?;
    let body = body(tokens, matching(tokens, open)?)?;
    let words = &tokens[begin..open];
    let position = |word: &str| words.iter().position(|token| token.text == word);
    let statement = if let Some(mix) = position("__mix__") {
        let close = matching(tokens, begin + mix + 1)?;
        let values: Vec<&str> = tokens[begin + mix + 2..close]
            .iter()
            .map(|token| token.text)
            .collect();
        format!(" ::jumar::ascendc::kernel_cores({});", values.join(" "))
    } else if position("__cube__").is_some() {
        " ::jumar::ascendc::kernel_cores(1, 0);".to_owned()
    } else if position("__vector__").is_some() {
        " ::jumar::ascendc::kernel_cores(0, 1);".to_owned()
    } else if uses_both {
        " ::jumar::ascendc::kernel_uses_both();".to_owned()
    } else {
        return None;
    };
    Some((tokens[body].end, tokens[body].end, statement))
}

/// Returns the first token of the declaration that has `__global__` as token `at`, and the parenthesis of its parameters.
fn declaration(tokens: &[Token<'_>], at: usize) -> Option<(usize, usize)> {
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
fn body(tokens: &[Token<'_>], close: usize) -> Option<usize> {
    let found = (close + 1..tokens.len()).find(|index| {
        tokens[*index].kind != Kind::Directive && tokens[*index].text != "noexcept"
    })?;
    (tokens[found].text == "{").then_some(found)
}

/// Finds the definitions of kernels.
fn kernels(tokens: &[Token<'_>]) -> Vec<Kernel> {
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

/// Splits a preprocessed source into tokens. White space and comments are left out.
fn tokens(source: &str) -> Result<Vec<Token<'_>>, String> {
    let bytes = source.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    let mut line_begins = true;
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80 || b == b'$';
    while at < bytes.len() {
        let begin = at;
        let b = bytes[at];
        if b == b'\n' {
            line_begins = true;
            at += 1;
            continue;
        }
        if b.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if b == b'#' && line_begins {
            while at < bytes.len() && bytes[at] != b'\n' {
                at += 1;
            }
            found.push(Token {
                kind: Kind::Directive,
                text: &source[begin..at],
                begin,
                end: at,
            });
            continue;
        }
        line_begins = false;
        if b == b'/' && byte(at + 1) == b'/' {
            while at < bytes.len() && bytes[at] != b'\n' {
                at += 1;
            }
            continue;
        }
        if b == b'/' && byte(at + 1) == b'*' {
            at = source[at + 2..]
                .find("*/")
                .map_or(bytes.len(), |end| at + 2 + end + 2);
            continue;
        }
        let kind;
        if let Some(end) = literal_end(source, at)? {
            kind = Kind::Literal;
            at = end;
        } else if b.is_ascii_digit() || (b == b'.' && byte(at + 1).is_ascii_digit()) {
            kind = Kind::Number;
            at += 1;
            while is_word(byte(at))
                || byte(at) == b'.'
                || (byte(at) == b'\'' && is_word(byte(at + 1)))
                || (matches!(byte(at), b'+' | b'-')
                    && matches!(byte(at - 1), b'e' | b'E' | b'p' | b'P'))
            {
                at += 1;
            }
        } else if is_word(b) {
            kind = Kind::Identifier;
            while is_word(byte(at)) {
                at += 1;
            }
        } else {
            kind = Kind::Punctuation;
            at += ["<<<", ">>>", "<<", ">>", "::", "->", "<=", ">="]
                .iter()
                .find(|text| source[at..].starts_with(**text))
                .map_or(1, |text| text.len());
        }
        found.push(Token {
            kind,
            text: &source[begin..at],
            begin,
            end: at,
        });
    }
    Ok(found)
}

/// Returns the end of the literal that begins at a position, if one does: a text, a raw text or a character, with its prefix.
fn literal_end(source: &str, begin: usize) -> Result<Option<usize>, String> {
    let rest = &source[begin..];
    let prefix = ["u8R", "uR", "UR", "LR", "R", "u8", "u", "U", "L", ""]
        .into_iter()
        .find(|prefix| {
            rest.strip_prefix(prefix).is_some_and(|after| {
                after.starts_with('"') || (after.starts_with('\'') && !prefix.ends_with('R'))
            })
        });
    let Some(prefix) = prefix else {
        return Ok(None);
    };
    let open = begin + prefix.len();
    let unclosed = || format!("{}: a literal is not closed", location(source, begin));
    if prefix.ends_with('R') {
        let paren = source[open..].find('(').ok_or_else(unclosed)? + open;
        let end = format!("){}\"", &source[open + 1..paren]);
        let found = source[paren..].find(&end).ok_or_else(unclosed)?;
        return Ok(Some(paren + found + end.len()));
    }
    let bytes = source.as_bytes();
    let quote = bytes[open];
    let mut at = open + 1;
    while let Some(b) = bytes.get(at) {
        match *b {
            b'\\' => at += 1,
            b'\n' => return Err(unclosed()),
            b if b == quote => return Ok(Some(at + 1)),
            _ => {}
        }
        at += 1;
    }
    Err(unclosed())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> String {
        rewrite(source, "").unwrap().text
    }

    #[test]
    fn a_launch_becomes_a_call_on_the_same_lines() {
        let source = "int main() {\n  add<<<8,\n    nullptr, s>>>(x, y >> 3);\n  done();\n}\n";
        let out = text(source);
        assert!(out.contains("::jumar::ascendc::launch<false>(\"add\", [](auto... jumar_arguments) { add(jumar_arguments...); }, 8,\n    nullptr, s)(x, y >> 3);"), "{out}");
        assert_eq!(out.matches('\n').count(), source.matches('\n').count());
    }

    #[test]
    fn a_callee_may_be_qualified_and_have_template_arguments() {
        let out = text("return ::n::k<int, m::V<2>><<<f(1, 2), 0, s>>>(a);");
        assert!(out.starts_with("return ::jumar::ascendc::launch<false>(\"k\", [](auto... jumar_arguments) { ::n::k<int, m::V<2>>(jumar_arguments...); }, f(1, 2), 0, s)(a);"), "{out}");
    }

    #[test]
    fn texts_and_comments_are_not_looked_into() {
        let source = "auto s = \"a<<<1>>>()\"; auto r = R\"x(b<<<1>>>() __global__)x\"; char c = '\"'; // d<<<1>>>()\nint n = 1'000 << 2 >> 1;";
        assert_eq!(text(source), source);
    }

    #[test]
    fn attributes_traps_and_assertions_are_replaced() {
        let out = text(
            "extern void __assert_fail (const char *);\nvoid [aicore] f() { asm(\"trap\"); (x ? void(0) : __assert_fail(\"x\", \"f\", 1, \"f\")); }",
        );
        assert!(
            out.contains("extern void __assert_fail (const char *);"),
            "{out}"
        );
        assert!(out.contains("void  f() { ::jumar::ascendc::trap(); (x ? void(0) : ::jumar::ascendc::assertion_failed(\"x\""), "{out}");
    }

    #[test]
    fn kinds_of_cores_become_statements_of_the_kernel() {
        let out = text(
            "__global__ __mix__(1, 2) void a() { f(); }\n__cube__ __global__ void b(int x)\n{ g(); }\ntemplate <typename T> __global__ __vector__ void c(T* x) { h(); }\n",
        );
        assert!(
            out.contains("void a() { ::jumar::ascendc::kernel_cores(1 , 2); f(); }"),
            "{out}"
        );
        assert!(
            out.contains("void b(int x)\n{ ::jumar::ascendc::kernel_cores(1, 0); g(); }"),
            "{out}"
        );
        assert!(
            out.contains("void c(T* x) { ::jumar::ascendc::kernel_cores(0, 1); h(); }"),
            "{out}"
        );
        assert!(!out.contains("__"), "{out}");
        let both = "__global__ void k() { if (g_coreType == AIC) Mmad(); }";
        assert!(text(both).contains("{ ::jumar::ascendc::kernel_uses_both(); if"));
        assert!(!text("__global__ void k() { Mmad(); }").contains("kernel_uses_both"));
    }

    #[test]
    fn conditions_on_the_kind_of_core_are_evaluated_when_the_kernel_runs() {
        assert_eq!(
            text("if constexpr ((g_coreType == AIV) && N > 1) { f(); }"),
            "if  ((g_coreType == AIV) && N > 1) { f(); }"
        );
        let other = "if constexpr (N > 1) { g_coreType; }";
        assert_eq!(text(other), other);
    }

    #[test]
    fn kernels_are_found_with_their_parameters() {
        let source = "extern \"C\" __global__ void add(uint8_t* x, const float *y, Tiling t, unsigned int n, std::size_t m = 3) {}\n\
             namespace a { namespace b { __global__ void c(void) {} } __global__ void d(); }\n\
             template <typename T> __global__ void e(T* x) {}\n";
        let found = rewrite(source, "").unwrap().kernels;
        let names: Vec<_> = found.iter().map(|kernel| kernel.path.as_str()).collect();
        assert_eq!(names, ["add", "a::b::c"]);
        assert_eq!(
            found[0].parameters,
            [
                "uint8_t*",
                "const float*",
                "Tiling",
                "unsigned int",
                "std::size_t"
            ]
        );
        assert_eq!(
            found[0].entry_types(),
            ["void *", "void *", "Tiling", "unsigned int", "std::size_t"]
        );
        assert!(found[1].parameters.is_empty());
    }

    #[test]
    fn an_entry_stands_in_the_namespace_of_its_kernel() {
        let found = rewrite("namespace n { struct S {}; __global__ void k(S s) {} }", "").unwrap();
        assert_eq!(
            found.kernels[0].entry(false),
            "namespace n { extern \"C\" uint32_t aclrtlaunch_k(uint32_t numBlocks, aclrtStream stream, S p0) \
             { return ::jumar::ascendc::Entry<false, &::n::k>::queue(\"k\", numBlocks, stream, p0); } }\n"
        );
        assert!(found.kernels[0].binary(true).contains("__asm__(\"k\")"));
    }

    #[test]
    fn blocks_wait_if_the_program_says_so_and_not_if_the_library_does() {
        let library = "# 1 \"/lib/sync.h\" 1\nvoid SyncAll();\n# 2 \"a.cpp\" 2\n";
        assert!(!rewrite(library, "/lib").unwrap().waits);
        assert!(
            rewrite(&format!("{library}void k() {{ SyncAll(); }}"), "/lib")
                .unwrap()
                .waits
        );
    }

    #[test]
    fn an_open_launch_is_refused_with_file_and_line() {
        let error = rewrite("# 7 \"k.asc\"\n\nvoid f() { add<<<8, 0(x); }", "").unwrap_err();
        assert_eq!(error, "k.asc:8: a launch's <<< has no >>>");
    }
}
