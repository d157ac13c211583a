//! From text to steps.

use super::{
    Action, CALLBACKS, Call, Comparison, Condition, DOERS, Expr, MAKERS, PREDICATES, Step,
    SyntaxError, VALUES,
};

/// Reads the steps of a case, one a line. Empty lines and lines that begin with `#` say nothing.
///
/// # Errors
/// The first line that is not of the language, and why.
pub fn steps(text: &str) -> Result<Vec<Step>, SyntaxError> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            step(line).map_err(|reason| SyntaxError {
                line: line.to_string(),
                reason,
            })
        })
        .collect()
}

type ParseResult<T> = Result<T, String>;

fn step(line: &str) -> ParseResult<Step> {
    let (thread, background, rest) = match label(line)? {
        Some((thread, background, rest)) => (thread, background, rest),
        None => (1, false, line),
    };
    let mut parser = Parser::new(rest)?;
    let action = parser.action()?;
    parser.end()?;
    Ok(Step {
        text: line.to_string(),
        thread,
        background,
        action,
    })
}

/// Splits `T2: rest` and `T2&: rest`.
fn label(line: &str) -> ParseResult<Option<(u32, bool, &str)>> {
    let Some((head, rest)) = line.split_once(':') else {
        return Ok(None);
    };
    let (head, background) = match head.strip_suffix('&') {
        Some(head) => (head, true),
        None => (head, false),
    };
    let Some(thread) = thread_number(head) else {
        return Ok(None);
    };
    if !(2..=9).contains(&thread) {
        return Err("threads are T2 to T9; a line without a label is the first thread's".into());
    }
    Ok(Some((thread, background, rest.trim())))
}

/// Returns the number of `T2`.
pub(super) fn thread_number(name: &str) -> Option<u32> {
    name.strip_prefix('T')?.parse().ok()
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Identifier(String),
    Number(i128),
    Real(String),
    Text(String),
    Sign(&'static str),
}

/// The signs, the longer ones first.
const SIGNS: &[&str] = &[
    "->", "==", "!=", "<=", ">=", "(", ")", "[", "]", ",", ".", ";", ":", "=", "<", ">", "+", "-",
    "*", "/", "%", "|", "&",
];

fn tokens(text: &str) -> ParseResult<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_alphabetic() || first == '_' {
            let length = run(rest, |c| c.is_ascii_alphanumeric() || c == '_');
            tokens.push(Token::Identifier(rest[..length].to_string()));
            length
        } else if first.is_ascii_digit() {
            let (token, length) = number(rest)?;
            tokens.push(token);
            length
        } else if first == '"' {
            let (token, length) = quoted(rest)?;
            tokens.push(token);
            length
        } else {
            let sign = SIGNS
                .iter()
                .find(|sign| rest.starts_with(**sign))
                .ok_or_else(|| format!("{first:?} has no meaning here"))?;
            tokens.push(Token::Sign(sign));
            sign.len()
        };
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

fn number(text: &str) -> ParseResult<(Token, usize)> {
    if let Some(digits) = text.strip_prefix("0x") {
        let length = run(digits, |c| c.is_ascii_hexdigit());
        let value = i128::from_str_radix(&digits[..length], 16)
            .map_err(|_| format!("{} is not a number", &text[..length + 2]))?;
        return within_64_bits(value).map(|value| (Token::Number(value), length + 2));
    }
    let bytes = text.as_bytes();
    let mut length = run(text, |c| c.is_ascii_digit());
    let mut real = false;
    if bytes.get(length) == Some(&b'.') && bytes.get(length + 1).is_some_and(u8::is_ascii_digit) {
        real = true;
        length += 1 + run(&text[length + 1..], |c| c.is_ascii_digit());
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        real = true;
        length += 1;
        if matches!(bytes.get(length), Some(b'+' | b'-')) {
            length += 1;
        }
        length += run(&text[length..], |c| c.is_ascii_digit());
    }
    let digits = &text[..length];
    if real {
        digits
            .parse::<f64>()
            .map_err(|_| format!("{digits} is not a number"))?;
        return Ok((Token::Real(digits.to_string()), length));
    }
    let value = digits
        .parse()
        .map_err(|_| format!("{digits} is not a number"))?;
    within_64_bits(value).map(|value| (Token::Number(value), length))
}

fn within_64_bits(value: i128) -> ParseResult<i128> {
    if value > i128::from(u64::MAX) {
        return Err(format!("{value} has more than 64 bits"));
    }
    Ok(value)
}

/// Reads a text in quotes, with the escapes `\"`, `\\` and `\n`.
fn quoted(text: &str) -> ParseResult<(Token, usize)> {
    let mut value = String::new();
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match (escaped, c) {
            (true, 'n') => value.push('\n'),
            (true, '"' | '\\') => value.push(c),
            (true, c) => return Err(format!("\\{c} has no meaning in a text")),
            (false, '\\') => {}
            (false, '"') => return Ok((Token::Text(value), at + 1)),
            (false, c) => value.push(c),
        }
        escaped = !escaped && c == '\\';
    }
    Err("a text without its end".into())
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn new(text: &str) -> ParseResult<Self> {
        Ok(Parser {
            tokens: tokens(text)?,
            at: 0,
        })
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn peek_word(&self) -> Option<&str> {
        match self.peek() {
            Some(Token::Identifier(word)) => Some(word),
            _ => None,
        }
    }

    /// Whether the token after the next one is this sign.
    fn second_is(&self, sign: &str) -> bool {
        matches!(self.tokens.get(self.at + 1), Some(Token::Sign(found)) if *found == sign)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Sign(found)) if *found == sign);
        self.at += usize::from(found);
        found
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn sign(&mut self, sign: &str) -> ParseResult<()> {
        if self.takes(sign) {
            Ok(())
        } else {
            Err(format!("{sign:?} is missing"))
        }
    }

    fn word(&mut self) -> ParseResult<String> {
        match self.peek_word().map(str::to_string) {
            Some(word) => {
                self.at += 1;
                Ok(word)
            }
            None => Err("a name is missing".into()),
        }
    }

    fn end(&self) -> ParseResult<()> {
        match self.peek() {
            None => Ok(()),
            Some(token) => Err(format!("{token:?} is too much")),
        }
    }

    fn action(&mut self) -> ParseResult<Action> {
        // A keyword is one only where no call or assignment of that name stands.
        let keyword = !self.second_is("(") && !self.second_is("=");
        if keyword && self.takes_word("check") {
            return self.condition().map(Action::Check);
        }
        if keyword && self.takes_word("var") {
            let name = self.word()?;
            self.sign(":")?;
            return Ok(Action::Declare {
                name,
                ty: self.word()?,
            });
        }
        if keyword && self.takes_word("set") {
            let target = self.postfix()?;
            self.sign("=")?;
            return Ok(Action::Set {
                target,
                value: self.expr()?,
            });
        }
        if keyword && self.takes_word("join") {
            let name = self.word()?;
            let thread = thread_number(&name).ok_or("join takes a thread, such as T2")?;
            return Ok(Action::Join(thread));
        }
        let eventually = keyword && self.takes_word("eventually");
        let first = self.word()?;
        let (assign, name) = if self.takes("=") {
            (Some(first), self.word()?)
        } else {
            (None, first)
        };
        let args = self.arguments()?;
        // Functions of the interface have capital letters or the prefix of the second media interface, helpers have neither.
        if name.contains(char::is_uppercase) || name.starts_with("hi_") {
            return self.call(eventually, assign, name, args);
        }
        if eventually {
            return Err("eventually takes a call of the interface".into());
        }
        match assign {
            Some(variable) => {
                known(&name, &args, MAKERS)?;
                let value = Expr::Helper(name, args);
                Ok(Action::Let {
                    name: variable,
                    value,
                })
            }
            None => {
                known(&name, &args, DOERS)?;
                Ok(Action::Do { name, args })
            }
        }
    }

    fn call(
        &mut self,
        eventually: bool,
        assign: Option<String>,
        function: String,
        args: Vec<Expr>,
    ) -> ParseResult<Action> {
        let answer = if self.takes("->") {
            Some(self.expr()?)
        } else {
            None
        };
        let until = if eventually {
            self.sign(";")?;
            Some(self.condition()?)
        } else {
            None
        };
        Ok(Action::Call(Call {
            assign,
            function,
            args,
            answer,
            until,
        }))
    }

    fn condition(&mut self) -> ParseResult<Condition> {
        let left = self.expr()?;
        let comparison = match self.peek() {
            Some(Token::Sign("==")) => Comparison::Equal,
            Some(Token::Sign("!=")) => Comparison::Different,
            Some(Token::Sign("<")) => Comparison::Less,
            Some(Token::Sign("<=")) => Comparison::LessOrEqual,
            Some(Token::Sign(">")) => Comparison::Greater,
            Some(Token::Sign(">=")) => Comparison::GreaterOrEqual,
            _ => {
                let yes_or_no = matches!(&left, Expr::Helper(name, _) if PREDICATES.iter().any(|p| p.0 == name));
                return if yes_or_no {
                    Ok(Condition::Holds(left))
                } else {
                    Err("a comparison is missing".into())
                };
            }
        };
        self.at += 1;
        Ok(Condition::Compare(left, comparison, self.expr()?))
    }

    fn expr(&mut self) -> ParseResult<Expr> {
        let mut left = self.sum()?;
        while self.takes("|") {
            left = Expr::Binary(Box::new(left), '|', Box::new(self.sum()?));
        }
        Ok(left)
    }

    fn sum(&mut self) -> ParseResult<Expr> {
        let mut left = self.product()?;
        loop {
            let sign = match self.peek() {
                Some(Token::Sign("+")) => '+',
                Some(Token::Sign("-")) => '-',
                _ => return Ok(left),
            };
            self.at += 1;
            left = Expr::Binary(Box::new(left), sign, Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> ParseResult<Expr> {
        let mut left = self.postfix()?;
        loop {
            let sign = match self.peek() {
                Some(Token::Sign("*")) => '*',
                Some(Token::Sign("/")) => '/',
                Some(Token::Sign("%")) => '%',
                _ => return Ok(left),
            };
            self.at += 1;
            left = Expr::Binary(Box::new(left), sign, Box::new(self.postfix()?));
        }
    }

    fn postfix(&mut self) -> ParseResult<Expr> {
        let mut value = self.primary()?;
        loop {
            if self.takes(".") {
                value = Expr::Field(Box::new(value), self.word()?);
            } else if self.takes("[") {
                let index = self.expr()?;
                self.sign("]")?;
                value = Expr::Index(Box::new(value), Box::new(index));
            } else {
                return Ok(value);
            }
        }
    }

    fn primary(&mut self) -> ParseResult<Expr> {
        if self.takes("-") {
            return self.primary().map(|value| Expr::Negative(Box::new(value)));
        }
        if self.takes("&") {
            return self.word().map(Expr::Out);
        }
        if self.takes("(") {
            let value = self.expr()?;
            self.sign(")")?;
            return Ok(value);
        }
        if self.takes("[") {
            return self.list("]").map(Expr::Array);
        }
        let token = self.peek().cloned().ok_or("a value is missing")?;
        self.at += 1;
        match token {
            Token::Number(value) => Ok(Expr::Number(value)),
            Token::Real(digits) => Ok(Expr::Real(digits)),
            Token::Text(text) => Ok(Expr::Text(text)),
            Token::Identifier(word) if word == "NULL" => Ok(Expr::Null),
            Token::Identifier(word) if matches!(self.peek(), Some(Token::Sign("("))) => {
                let args = self.arguments()?;
                known(&word, &args, VALUES).or_else(|_| known(&word, &args, PREDICATES))?;
                Ok(Expr::Helper(word, args))
            }
            Token::Identifier(word)
                if word.starts_with("cb_") && !CALLBACKS.contains(&word.as_str()) =>
            {
                Err(format!("there is no callback {word}"))
            }
            Token::Identifier(word) => Ok(Expr::Name(word)),
            Token::Sign(sign) => Err(format!("{sign:?} is not a value")),
        }
    }

    fn arguments(&mut self) -> ParseResult<Vec<Expr>> {
        self.sign("(")?;
        self.list(")")
    }

    fn list(&mut self, end: &str) -> ParseResult<Vec<Expr>> {
        let mut values = Vec::new();
        if self.takes(end) {
            return Ok(values);
        }
        loop {
            values.push(self.expr()?);
            if self.takes(end) {
                return Ok(values);
            }
            self.sign(",")?;
        }
    }
}

/// Checks a helper's name and its number of arguments.
fn known(name: &str, args: &[Expr], helpers: &[(&str, usize)]) -> ParseResult<()> {
    match helpers.iter().find(|helper| helper.0 == name) {
        None => Err(format!("there is no helper {name} that could stand here")),
        Some((_, count)) if *count != args.len() => Err(format!(
            "{name} takes {count} arguments and was given {}",
            args.len()
        )),
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Step {
        steps(line).unwrap().remove(0)
    }

    fn refused(line: &str) -> String {
        steps(line).unwrap_err().to_string()
    }

    #[test]
    fn a_call_has_arguments_and_an_answer() {
        let Action::Call(call) = one("aclrtMalloc(&d, 0x10 + 4, NULL) -> 0").action else {
            panic!("no call");
        };
        assert_eq!(call.function, "aclrtMalloc");
        assert_eq!(call.args[0], Expr::Out("d".into()));
        assert_eq!(
            call.args[1],
            Expr::Binary(Box::new(Expr::Number(16)), '+', Box::new(Expr::Number(4)))
        );
        assert_eq!(call.args[2], Expr::Null);
        assert_eq!(call.answer, Some(Expr::Number(0)));
    }

    #[test]
    fn labels_name_threads() {
        let step = one("T3&: aclrtSynchronizeStream(s) -> 0");
        assert_eq!((step.thread, step.background), (3, true));
        assert_eq!(one("join T3").action, Action::Join(3));
        assert!(refused("T1: join T2").contains("first thread"));
    }

    #[test]
    fn numbers_are_integers_or_floats() {
        let Action::Check(Condition::Compare(left, _, right)) =
            one("check a == 0xffffffffffffffff").action
        else {
            panic!("no comparison");
        };
        assert_eq!(left, Expr::Name("a".into()));
        assert_eq!(right, Expr::Number(i128::from(u64::MAX)));
        let Action::Check(Condition::Compare(_, _, right)) = one("check a < -1.5e-3").action else {
            panic!("no comparison");
        };
        assert_eq!(right, Expr::Negative(Box::new(Expr::Real("1.5e-3".into()))));
    }

    #[test]
    fn fields_and_indices_hang_on_their_value() {
        let Action::Check(Condition::Compare(left, ..)) = one("check a.b.c[2] == 1").action else {
            panic!("no comparison");
        };
        assert!(matches!(left, Expr::Index(..)));
    }

    #[test]
    fn products_bind_before_sums_and_sums_before_bits() {
        let Action::Let { value, .. } = one("h = host(A | 1 + 2 * 3)").action else {
            panic!("no variable");
        };
        let Expr::Helper(_, args) = value else {
            panic!("no helper");
        };
        assert!(
            matches!(&args[0], Expr::Binary(_, '|', right) if matches!(**right, Expr::Binary(_, '+', _)))
        );
    }

    #[test]
    fn texts_have_escapes() {
        let Action::Check(Condition::Holds(Expr::Helper(_, args))) =
            one(r#"check contains(m, "a\"b\\c\n, (")"#).action
        else {
            panic!("no predicate");
        };
        assert_eq!(args[1], Expr::Text("a\"b\\c\n, (".into()));
    }

    #[test]
    fn what_is_not_of_the_language_is_refused_with_its_line() {
        assert!(refused("aclrtFree(d -> 0").contains("missing"));
        assert!(refused("check a").contains("comparison"));
        assert!(refused("h = hots(3)").contains("no helper"));
        assert!(refused("fill(h, 3)").contains("takes 3"));
        assert!(refused("eventually fill(h, 3, 4)").contains("interface"));
        assert!(refused("aclrtFree(cb_nothing) -> 0").contains("no callback"));
        assert!(refused("aclrtFree(d) -> 0 ok").contains("too much"));
        assert!(refused("check \"a").contains("end"));
        assert!(refused("check 0x1ffffffffffffffff == 0").contains("64 bits"));
    }

    #[test]
    fn comments_and_empty_lines_say_nothing() {
        assert_eq!(steps("# nothing\n\n  \n").unwrap(), vec![]);
    }
}
