//! Tokens of preprocessed C++.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Identifier,
    Number,
    Literal,
    Punctuation,
    /// A line that begins with `#`: a line marker or a pragma.
    Directive,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    pub(super) begin: usize,
    pub(super) end: usize,
}

/// Splits a preprocessed source into tokens. White space and comments are left out.
pub(super) fn tokens(source: &str) -> Result<Vec<Token<'_>>, String> {
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
pub(super) fn literal_end(source: &str, begin: usize) -> Result<Option<usize>, String> {
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

/// Returns whether the tokens from `at` on have these texts.
pub(super) fn texts(tokens: &[Token<'_>], at: usize, wanted: &[&str]) -> bool {
    tokens.len() >= at + wanted.len()
        && wanted
            .iter()
            .zip(&tokens[at..])
            .all(|(text, token)| *text == token.text)
}

/// Returns the parenthesis that closes the one at token `open`.
pub(super) fn matching(tokens: &[Token<'_>], open: usize) -> Option<usize> {
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

/// Reads a line marker: `# 12 "file.cpp" 1`.
pub(super) fn marker(line: &str) -> Option<(u32, &str)> {
    let rest = line.strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let (number, rest) = rest.split_once(' ')?;
    let file = rest.trim_start().strip_prefix('"')?;
    Some((number.parse().ok()?, &file[..file.find('"')?]))
}

/// Returns file and line of a position, as line markers give them.
pub(super) fn location(source: &str, position: usize) -> String {
    let (mut file, mut line) = ("", 0);
    for text in source[..position].split('\n') {
        match marker(text) {
            Some((number, name)) => (file, line) = (name, number.saturating_sub(1)),
            None => line += 1,
        }
    }
    format!("{file}:{line}")
}
