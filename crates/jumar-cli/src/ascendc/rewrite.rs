//! The rewriter: preprocessed Ascend C in, C++ out.
//!
//! It changes six things and keeps every line where it is: `__global__`, `[aicore]` and the words of local memories are removed, arrays with
//! such a word are reserved in that memory, a launch `callee<<<blocks, l2, stream>>>(arguments)` becomes a call of the header
//! `ascendc/launch.h`, `asm("trap")` fails the block, `printf` in device code is that of kernels, and a failed `assert` of a kernel fails the block instead of the process. It finds the definitions of kernels, from which the
//! functions `aclrtlaunch_<kernel>` and the exported descriptions are made.

use std::collections::BTreeSet;

use super::kernel::{Kernel, body, declaration, device_bodies, kernels};
use super::tokens::{Kind, Token, location, marker, matching, texts, tokens};

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

/// What a text is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// The host and all cores; the kind of core is known when the kernel runs.
    All,
    /// The host and the vector cores.
    VectorAndHost,
    /// The cube cores.
    Cube,
    /// The vector cores.
    Vector,
    /// The host.
    Host,
}

/// What the passes of a source have to agree on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Whether blocks of the kernels wait for each other.
    pub waits: bool,
    /// Whether a kernel without a type runs on cube and vector cores.
    pub uses_both: bool,
}

/// A preprocessed source.
pub struct Unit<'a> {
    source: &'a str,
    tokens: Vec<Token<'a>>,
    library: &'a str,
}

/// Calls by which blocks wait for each other.
const WAITS: &[&str] = &[
    "SyncAll",
    "CrossCoreWaitFlag",
    "IBSet",
    "IBWait",
    "WaitPreBlock",
    "NotifyNextBlock",
    "GroupBarrier",
    "wait_flag_dev",
];

/// Functions of cube cores. A kernel without a type that uses them and asks for the kind of core runs on both kinds.
const CUBE: &[&str] = &["Mmad", "LoadData", "Fixpipe", "asc_mmad"];

/// Words for local memories, and the library's names of these. The word in front of an array reserves memory for it.
const MEMORIES: &[(&str, &str)] = &[
    ("__ubuf__", "MEMORY_UB"),
    ("__cbuf__", "MEMORY_L1"),
    ("__ca__", "MEMORY_L0A"),
    ("__cb__", "MEMORY_L0B"),
    ("__cc__", "MEMORY_L0C"),
    ("__fbuf__", "MEMORY_FIXPIPE"),
];

impl<'a> Unit<'a> {
    /// Reads a preprocessed source. `library` is the folder of the library's own headers, whose calls do not count as the kernel's.
    ///
    /// # Errors
    /// A literal is not closed; the sentence has file and line.
    pub fn read(source: &'a str, library: &'a str) -> Result<Unit<'a>, String> {
        Ok(Unit {
            source,
            tokens: tokens(source)?,
            library,
        })
    }

    /// Returns what the source uses.
    pub fn facts(&self) -> Facts {
        Facts {
            waits: self.uses(WAITS),
            uses_both: self.uses_cube() && self.uses(&["g_coreType"]),
        }
    }

    /// Returns whether the source calls functions of cube cores.
    pub fn uses_cube(&self) -> bool {
        self.uses(CUBE)
    }

    /// Returns the kernels that the source defines.
    pub fn kernels(&self) -> Vec<Kernel> {
        kernels(&self.tokens)
    }

    /// Returns the program's own files, which are neither headers of the system nor of the library.
    pub fn files(&self) -> BTreeSet<&'a str> {
        self.tokens
            .iter()
            .filter(|token| token.kind == Kind::Directive && !is_system(token.text))
            .filter_map(|token| marker(token.text))
            .map(|(_, file)| file)
            .filter(|file| !file.starts_with('<') && !self.is_of_library(file))
            .collect()
    }

    /// Returns whether two passes have the same code outside of the library.
    pub fn has_code_of(&self, other: &Unit<'_>) -> bool {
        self.own()
            .map(|token| token.text)
            .eq(other.own().map(|token| token.text))
    }

    /// Returns whether two passes have the same launches and the same `main`.
    pub fn has_host_code_of(&self, other: &Unit<'_>) -> bool {
        fn host_code<'b>(unit: &'b Unit<'_>) -> impl Iterator<Item = &'b str> {
            unit.own()
                .map(|token| token.text)
                .filter(|text| matches!(*text, "<<<" | "main"))
        }
        host_code(self).eq(host_code(other))
    }

    /// Returns whether a constant expression depends on the kind of core: a template argument, a `constexpr` variable or a
    /// `static_assert`.
    pub fn has_constant_of_core(&self) -> bool {
        let own: Vec<Token<'_>> = self.own().collect();
        (0..own.len()).any(|at| own[at].text == "g_coreType" && is_constant(&own[..at]))
    }

    /// Returns the tokens outside of the library's headers.
    fn own(&self) -> impl Iterator<Item = Token<'a>> + '_ {
        let mut own = true;
        self.tokens.iter().copied().filter(move |token| {
            if token.kind == Kind::Directive {
                if let Some((_, file)) = marker(token.text) {
                    own = !self.is_of_library(file);
                }
                return false;
            }
            own
        })
    }

    fn is_of_library(&self, file: &str) -> bool {
        !self.library.is_empty() && file.starts_with(self.library)
    }

    /// Returns whether code outside of the library's headers uses one of the names.
    fn uses(&self, names: &[&str]) -> bool {
        self.own()
            .any(|token| token.kind == Kind::Identifier && names.contains(&token.text))
    }

    /// Rewrites the source for a pass. `named` are the kernels that other passes define.
    ///
    /// # Errors
    /// A launch is not closed; the sentence has file and line.
    pub fn rewrite(&self, facts: Facts, pass: Pass, named: &[Kernel]) -> Result<Rewritten, String> {
        let kernels = self.kernels();
        let text = rewrite_tokens(self.source, &self.tokens, facts, pass, named)?;
        Ok(Rewritten {
            text,
            kernels,
            waits: facts.waits,
        })
    }
}

/// Returns whether a line marker has the flag of system headers.
fn is_system(line: &str) -> bool {
    line.rsplit_once('"')
        .is_some_and(|(_, flags)| flags.split(' ').any(|flag| flag == "3"))
}

/// Returns whether the expression that follows the tokens has to be constant.
fn is_constant(before: &[Token<'_>]) -> bool {
    let (mut open_angles, mut parentheses) = (0_i32, 0_i32);
    // What follows `<` up to a logical operator is compared, and no template argument.
    let mut is_compared = false;
    for (at, token) in before.iter().enumerate().rev() {
        match token.text {
            ";" | "{" | "}" => return false,
            ")" => parentheses += 1,
            "(" if parentheses == 0 => {
                // The kind of core in the condition of an `if` needs no constant.
                let callee = before[..at].last().map_or("", |token| token.text);
                let is_if = callee == "if"
                    || (callee == "constexpr" && at >= 2 && before[at - 2].text == "if");
                if is_if {
                    return false;
                }
                if callee == "static_assert" {
                    return true;
                }
            }
            "(" => parentheses -= 1,
            ">" => open_angles -= 1,
            ">>" => open_angles -= 2,
            "<" => {
                open_angles += 1;
                if open_angles > 0
                    && !is_compared
                    && at > 0
                    && before[at - 1].kind == Kind::Identifier
                {
                    return true;
                }
            }
            // The token of "&&" is "&" twice.
            "&" | "|" if parentheses == 0 => is_compared = true,
            "constexpr" | "using" | "typedef" => return true,
            _ => {}
        }
    }
    false
}

/// Makes the changes of the pass.
fn rewrite_tokens(
    source: &str,
    tokens: &[Token<'_>],
    facts: Facts,
    pass: Pass,
    named: &[Kernel],
) -> Result<String, String> {
    let mut changes: Vec<(usize, usize, String)> = Vec::new();
    // The passes of one kind of core know it at compile time.
    let is_known = matches!(pass, Pass::VectorAndHost | Pass::Vector | Pass::Cube);
    let bodies = device_bodies(tokens);
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at];
        match (token.kind, token.text) {
            // Overload resolution would select the C library's function for a text without arguments.
            (Kind::Identifier, "printf")
                if at > 0
                    && texts(tokens, at + 1, &["("])
                    && !matches!(tokens[at - 1].text, "::" | "." | "->")
                    && bodies.iter().any(|body| body.contains(&at)) =>
            {
                let call = "::jumar::ascendc::print".to_owned();
                changes.push((token.begin, token.end, call));
            }
            (Kind::Identifier, "__global__") => {
                changes.push((token.begin, token.end, String::new()));
                if let Some(change) = selected_cores(tokens, at, facts.uses_both) {
                    changes.push(change);
                }
            }
            (Kind::Identifier, "__cube__" | "__vector__") => {
                changes.push((token.begin, token.end, String::new()));
            }
            (Kind::Identifier, "__mix__") if texts(tokens, at + 1, &["("]) => {
                if let Some(close) = matching(tokens, at + 1) {
                    changes.push((token.begin, tokens[close].end, String::new()));
                    at = close;
                }
            }
            // The kind of core is known when the kernel runs.
            (Kind::Identifier, "constexpr")
                if !is_known
                    && at > 0
                    && tokens[at - 1].text == "if"
                    && asks_for_core(tokens, at + 1) =>
            {
                changes.push((token.begin, token.end, String::new()));
            }
            (Kind::Identifier, word) if MEMORIES.iter().any(|(name, _)| *name == word) => {
                let arrays = local_arrays(source, tokens, at);
                let (last, change) = arrays.unwrap_or((at, String::new()));
                changes.push((token.begin, tokens[last].end, change));
                at = last;
            }
            (Kind::Punctuation, "[") if texts(tokens, at + 1, &["aicore", "]"]) => {
                changes.push((token.begin, tokens[at + 2].end, String::new()));
                at += 2;
            }
            (Kind::Identifier, "asm" | "__asm__" | "__asm")
                if texts(tokens, at + 1, &["(", "\"trap\"", ")"]) =>
            {
                let call = "::jumar::ascendc::trap()".to_owned();
                changes.push((token.begin, tokens[at + 3].end, call));
                at += 3;
            }
            (Kind::Identifier, "asm" | "__asm__" | "__asm")
                if texts(tokens, at + 1, &["volatile", "(", "\"trap\"", ")"]) =>
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
                let launch = launch(source, tokens, at, facts, named)?;
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
    Ok(text)
}

/// Returns the declarations for the arrays of local memory that the word `at` starts, and their last token. Anything else that has the word,
/// such as a pointer, is a type without it.
fn local_arrays(source: &str, tokens: &[Token<'_>], at: usize) -> Option<(usize, String)> {
    let (_, memory) = MEMORIES.iter().find(|(name, _)| *name == tokens[at].text)?;
    if at > 0 && tokens[at - 1].text == "static" {
        return None;
    }
    let is_type = |token: &Token<'_>| {
        token.kind == Kind::Identifier || matches!(token.text, ":" | "::" | "<" | ">")
    };
    let mut name = at
        + tokens[at + 1..]
            .iter()
            .take_while(|token| is_type(token))
            .count();
    if name < at + 2 || tokens[name].kind != Kind::Identifier {
        return None;
    }
    let element = &source[tokens[at + 1].begin..tokens[name].begin].trim();
    let mut text = String::new();
    loop {
        let begin = name + 1;
        let mut next = begin;
        while tokens.get(next)?.text == "[" {
            let rest = &tokens[next..];
            let close = next + rest.iter().position(|token| token.text == "]")?;
            if close == next + 1 {
                return None;
            }
            next = close + 1;
        }
        if next == begin || tokens[name].kind != Kind::Identifier {
            return None;
        }
        let sizes = &source[tokens[begin].begin..tokens[next - 1].end];
        let array = tokens[name].text;
        text.push_str(&format!(
            "::jumar::ascendc::LocalArray<::jumar::ascendc::{memory}, {element}{sizes}> jumar_{array}; auto& {array} = jumar_{array}.get();"
        ));
        match tokens.get(next)?.text {
            ";" => return Some((next, text)),
            "," => name = next + 1,
            _ => return None,
        }
        tokens.get(name)?;
    }
}

struct Launch {
    callee: (usize, usize, String),
    configuration: (usize, usize, String),
    next: usize,
}

/// Rewrites the launch whose `<<<` is the token `at`.
fn launch(
    source: &str,
    tokens: &[Token<'_>],
    at: usize,
    facts: Facts,
    named: &[Kernel],
) -> Result<Launch, String> {
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
    let waits = facts.waits;
    let path = callee.strip_prefix("::").unwrap_or(callee);
    let call = if named
        .iter()
        .any(|kernel| kernel.path == path || kernel.name == path)
    {
        format!("::jumar::ascendc::launch_kernel<{waits}, &{callee}>(\"{name}\", ")
    } else {
        format!(
            "::jumar::ascendc::launch<{waits}>(\"{name}\", [](auto... jumar_arguments) {{ {callee}(jumar_arguments...); }}, "
        )
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rewrite(source: &str, library: &str) -> Result<Rewritten, String> {
        let unit = Unit::read(source, library)?;
        unit.rewrite(unit.facts(), Pass::All, &[])
    }

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
    fn printf_is_that_of_kernels_in_device_code_alone() {
        let print = "::jumar::ascendc::print";
        for source in [
            "__global__ void k(int a) { printf(\"x\"); }",
            "template <class T> [aicore] inline void f(T a) { if (a) { printf(\"x\"); } }",
            "struct S { [aicore] S(int a) : a_(a), b_{a} { printf(\"x\"); } };",
            "[aicore] inline auto f() -> decltype(g(1)) { return printf(\"x\"), 1; }",
        ] {
            assert!(
                text(source).contains(&format!("{print}(\"x\")")),
                "{source}"
            );
        }
        for source in [
            "__global__ void k(int a); int main() { printf(\"x\"); }",
            "[aicore] void f() {} int main() { printf(\"x\"); }",
            "[aicore] void f() { AscendC::printf(\"x\"); o.printf(\"x\"); }",
            "extern int printf(const char *, ...);",
        ] {
            assert!(!text(source).contains(print), "{source}");
        }
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
    fn arrays_of_local_memory_are_reserved_there() {
        let out =
            text("__ubuf__ float x[N * 2], y[4][8];\n__cbuf__ a::half* p = (__cbuf__ a::half*)q;");
        assert_eq!(
            out,
            "::jumar::ascendc::LocalArray<::jumar::ascendc::MEMORY_UB, float[N * 2]> jumar_x; auto& x = jumar_x.get();\
             ::jumar::ascendc::LocalArray<::jumar::ascendc::MEMORY_UB, float[4][8]> jumar_y; auto& y = jumar_y.get();\n a::half* p = ( a::half*)q;"
        );
        assert_eq!(
            text("void f(__ubuf__ float x[], __ca__ T t);"),
            "void f( float x[],  T t);"
        );
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
    fn each_call_between_blocks_makes_them_wait() {
        for name in WAITS {
            assert!(
                rewrite(&format!("void k() {{ {name}(); }}"), "/lib")
                    .unwrap()
                    .waits,
                "{name}"
            );
        }
    }

    #[test]
    fn an_open_launch_is_refused_with_file_and_line() {
        let error = rewrite("# 7 \"k.asc\"\n\nvoid f() { add<<<8, 0(x); }", "").unwrap_err();
        assert_eq!(error, "k.asc:8: a launch's <<< has no >>>");
    }

    #[test]
    fn a_pass_of_one_kind_of_core_keeps_its_constants() {
        let source = "void f() { if constexpr (g_coreType == AIC) { g(); } }";
        let unit = Unit::read(source, "").unwrap();
        let cube = unit.rewrite(unit.facts(), Pass::Cube, &[]).unwrap();
        assert_eq!(cube.text, source);
        let host = unit.rewrite(unit.facts(), Pass::Host, &[]).unwrap();
        assert!(!host.text.contains("constexpr"));
    }

    #[test]
    fn constants_of_the_core_differ_from_conditions() {
        let needs = |source: &str| Unit::read(source, "").unwrap().has_constant_of_core();
        assert!(needs("void f() { Tile<g_coreType == AIC> tile; }"));
        assert!(needs(
            "void f() { constexpr bool is_cube = g_coreType == AIC; }"
        ));
        assert!(needs("static_assert(g_coreType == AIV);"));
        assert!(needs(
            "using T = std::conditional_t<(g_coreType == AIC), A, B>;"
        ));
        assert!(!needs("void f() { if (g_coreType == AIC) { g(); } }"));
        assert!(!needs(
            "void f() { if constexpr (N > 1 && (g_coreType == AIC)) { g(); } }"
        ));
        assert!(!needs(
            "void f() { if (i < n && g_coreType == AIC) g(); bool b = g_coreType == AIV; }"
        ));
    }

    #[test]
    fn passes_are_compared_by_the_code_of_the_program() {
        let library = "# 1 \"/lib/a.h\" 1\nint a;\n# 2 \"k.cpp\" 2\nint b;";
        let other = "# 1 \"/lib/a.h\" 1\nint c;\n# 7 \"k.cpp\" 2\n\nint b;";
        let (one, two) = (
            Unit::read(library, "/lib").unwrap(),
            Unit::read(other, "/lib").unwrap(),
        );
        assert!(one.has_code_of(&two));
        assert!(one.has_host_code_of(&two));
        let launching = Unit::read("int b; int main() { k<<<1>>>(); }", "/lib").unwrap();
        assert!(!one.has_code_of(&launching));
        assert!(!one.has_host_code_of(&launching));
        let system = "# 1 \"/usr/include/x.h\" 1 3 4\n# 1 \"/lib/a.h\" 1\n# 3 \"own.h\" 1\n";
        let files = Unit::read(system, "/lib").unwrap().files();
        assert_eq!(files.into_iter().collect::<Vec<_>>(), ["own.h"]);
    }

    #[test]
    fn a_kernel_that_only_other_passes_define_is_launched_by_its_name() {
        let device = Unit::read("namespace n { __global__ void k(int x) {} }", "").unwrap();
        let host = Unit::read("void f() { n::k<<<4, 0, s>>>(1); }", "").unwrap();
        let text = host
            .rewrite(host.facts(), Pass::Host, &device.kernels())
            .unwrap()
            .text;
        assert!(
            text.contains("::jumar::ascendc::launch_kernel<false, &n::k>(\"k\", 4, 0, s)(1);"),
            "{text}"
        );
    }
}
