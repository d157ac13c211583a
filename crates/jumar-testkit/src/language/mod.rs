//! The language of the steps: what `docs/behaviour-table.md` describes, as a tree.

mod parse;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use parse::steps;

/// One line of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The line as it stands in the table.
    pub text: String,
    /// Which thread does it: 1 is the case's own.
    pub thread: u32,
    /// Whether the next line does not wait for it to end.
    pub background: bool,
    /// What is done.
    pub action: Action,
}

/// What a line does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// A call of the interface.
    Call(Call),
    /// Something that has to hold.
    Check(Condition),
    /// `var name: type`: a structure, all zero.
    Declare {
        /// The variable.
        name: String,
        /// Its C type.
        ty: String,
    },
    /// `set path = value`.
    Set {
        /// The variable, or a field of it.
        target: Expr,
        /// The value.
        value: Expr,
    },
    /// `name = helper(...)`.
    Let {
        /// The variable.
        name: String,
        /// What makes its value: [`MAKERS`].
        value: Expr,
    },
    /// A helper that is called for what it does: [`DOERS`].
    Do {
        /// Its name.
        name: String,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// `join T2`: waits for a step in the background.
    Join(u32),
}

/// A call of the interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The variable that gets the result.
    pub assign: Option<String>,
    /// The C function.
    pub function: String,
    /// The arguments.
    pub args: Vec<Expr>,
    /// What it answers.
    pub answer: Option<Expr>,
    /// `eventually`: the call is made again until this holds.
    pub until: Option<Condition>,
}

/// Something that holds or does not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Condition {
    /// Two values compared.
    Compare(Expr, Comparison, Expr),
    /// A helper that answers yes or no: [`PREDICATES`].
    Holds(Expr),
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    Different,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// The sign, which C, Python and the table share.
    pub fn sign(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::Different => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }
}

/// A value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Expr {
    /// An integer of up to 64 bits, signed or not.
    Number(i128),
    /// A floating point number, as it was written.
    Real(String),
    /// A text.
    Text(String),
    /// The null pointer.
    Null,
    /// A variable, a constant, a callback or a thread.
    Name(String),
    /// `&name`: where a call puts a value.
    Out(String),
    /// `value.field`
    Field(Box<Expr>, String),
    /// `value[index]`
    Index(Box<Expr>, Box<Expr>),
    /// A helper: [`VALUES`].
    Helper(String, Vec<Expr>),
    /// Two values and a sign of arithmetic.
    Binary(Box<Expr>, char, Box<Expr>),
    /// A negative value.
    Negative(Box<Expr>),
    /// `[a, b]`
    Array(Vec<Expr>),
}

/// Helpers that make a variable, with their number of arguments.
pub const MAKERS: &[(&str, usize)] = &[("host", 1), ("pages", 1), ("cstring", 1), ("read", 1)];

/// Helpers that do something.
pub const DOERS: &[(&str, usize)] = &[
    ("fill", 3),
    ("put_f32", 2),
    ("put_i64", 2),
    ("release_held", 0),
    ("await_held", 0),
    ("await_count", 1),
];

/// Helpers that give a value.
pub const VALUES: &[(&str, usize)] = &[
    ("file", 1),
    ("model", 1),
    ("tid", 1),
    ("counter", 0),
    ("recorded", 1),
    ("callback_thread", 0),
    ("length", 1),
    ("f32", 2),
    ("i64", 2),
    ("text", 1),
    ("process_id", 0),
];

/// Helpers that answer yes or no.
pub const PREDICATES: &[(&str, usize)] = &[("same", 3), ("contains", 2)];

/// Functions that a case hands to the library.
pub const CALLBACKS: &[&str] = &[
    "cb_count",
    "cb_note",
    "cb_frame",
    "cb_hold",
    "cb_device_state",
    "cb_stream_state",
    "cb_abort",
    "cb_abort_fails",
    "cb_init",
    "cb_init_fails",
    "cb_finalize",
    "cb_finalize_fails",
    "cb_snapshot",
    "cb_snapshot_fails",
    "cb_dump",
    "cb_exception",
    "cb_allocate",
    "cb_allocate_none",
    "cb_address",
    "cb_address_none",
    "cb_free",
];

/// Why a line is not of the language.
#[derive(Debug)]
pub struct SyntaxError {
    /// The line.
    pub line: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.line, self.reason)
    }
}

impl std::error::Error for SyntaxError {}

impl Step {
    /// Walks over every expression of the step.
    pub fn each_expr<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match &self.action {
            Action::Call(call) => {
                call.args.iter().for_each(|arg| arg.each(visit));
                if let Some(answer) = &call.answer {
                    answer.each(visit);
                }
                if let Some(until) = &call.until {
                    until.each_expr(visit);
                }
            }
            Action::Check(condition) => condition.each_expr(visit),
            Action::Set { target, value } => {
                target.each(visit);
                value.each(visit);
            }
            Action::Let { value, .. } => value.each(visit),
            Action::Do { args, .. } => args.iter().for_each(|arg| arg.each(visit)),
            Action::Declare { .. } | Action::Join(_) => {}
        }
    }
}

impl Condition {
    fn each_expr<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match self {
            Condition::Compare(left, _, right) => {
                left.each(visit);
                right.each(visit);
            }
            Condition::Holds(expr) => expr.each(visit),
        }
    }
}

impl Expr {
    /// Visits the expression and everything inside it.
    pub fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        match self {
            Expr::Field(inner, _) | Expr::Negative(inner) => inner.each(visit),
            Expr::Index(inner, index) => {
                inner.each(visit);
                index.each(visit);
            }
            Expr::Helper(_, args) | Expr::Array(args) => {
                args.iter().for_each(|arg| arg.each(visit));
            }
            Expr::Binary(left, _, right) => {
                left.each(visit);
                right.each(visit);
            }
            Expr::Number(_)
            | Expr::Real(_)
            | Expr::Text(_)
            | Expr::Null
            | Expr::Name(_)
            | Expr::Out(_) => {}
        }
    }
}
