//! The builder that plans are made with.

mod arguments;
mod steps;

use std::time::Duration;

use jumar_ops::Kernel;
use jumar_types::dtype::DataType;

use crate::exchange::Exchange;
use crate::plan::{Access, Plan};
use crate::refusal::CONVERT;
use crate::view::View;
use crate::{Arg, Io, Param, Refusal, Signature, Status};

pub(crate) use arguments::Operand;
#[allow(unused_imports, reason = "families use parts of the builder")]
pub(crate) use steps::Input;

/// The builder of one plan: the arguments of the call, and the steps so far.
///
/// Arguments are found by the names of their parameters. Null pointers and element types that the operator does not accept were
/// refused, and every tensor was checked to have a layout, before an operator sees the builder.
pub(crate) struct Cx<'a> {
    signature: &'static Signature,
    args: &'a [Arg],
    accesses: Vec<Access>,
    drafts: Vec<Draft>,
    temporaries: Vec<Temporary>,
    constants: Vec<u8>,
    reports: Vec<(usize, View)>,
    exchanges: Vec<(Exchange, Option<View>, Option<View>)>,
    /// How long a run waits before its steps.
    pub pause: Duration,
    /// The last step fills a dense view with zeros.
    pub fills_zeros: bool,
    /// Reads that have to see what an earlier step wrote.
    written: Vec<usize>,
}

/// A step whose temporaries have no offset in the workspace yet.
struct Draft {
    kernel: Box<dyn Kernel>,
    inputs: Vec<Option<View>>,
    outputs: Vec<View>,
    in_place: bool,
    /// The inputs that read what an earlier step wrote to an argument, as bits.
    reread: u64,
    /// The temporary that is the kernel's scratch memory.
    scratch: Option<usize>,
}

/// An intermediate result.
struct Temporary {
    bytes: usize,
    /// The argument whose values it holds in another type or layout, for messages.
    origin: Option<usize>,
    /// The first and the last step that uses it.
    used: Option<(usize, usize)>,
}

impl<'a> Cx<'a> {
    /// Checks the arguments against the signature: the element types of tensors if `typed` is set.
    pub fn new(
        signature: &'static Signature,
        args: &'a [Arg],
        typed: bool,
    ) -> Result<Cx<'a>, Refusal> {
        let mut cx = Cx {
            signature,
            args,
            accesses: Vec::with_capacity(args.len()),
            drafts: Vec::new(),
            temporaries: Vec::new(),
            constants: Vec::new(),
            reports: Vec::new(),
            exchanges: Vec::new(),
            pause: Duration::ZERO,
            fills_zeros: false,
            written: Vec::new(),
        };
        if args.len() != signature.params.len() {
            let text = format!(
                "{} arguments for {} parameters",
                args.len(),
                signature.params.len()
            );
            return Err(Refusal::new(Status::Inner, text));
        }
        for (param, arg) in signature.params.iter().zip(args) {
            if matches!(arg, Arg::Null) && !param.optional {
                return Err(cx.null(param.name));
            }
        }
        if typed {
            cx.check_listed_types()?;
        }
        for (param, arg) in signature.params.iter().zip(args) {
            match arg {
                Arg::Tensor(tensor) => cx.admit(param, tensor)?,
                Arg::Tensors(members) => {
                    for tensor in members.iter().flatten() {
                        cx.admit(param, tensor)?;
                    }
                }
                _ => {}
            }
        }
        Ok(cx)
    }

    /// Returns the name of the operator.
    pub fn name(&self) -> &'static str {
        self.signature.name
    }

    /// Returns the parameters.
    pub fn params(&self) -> &'static [Param] {
        self.signature.params
    }

    /// Creates the refusal of an argument: status 161002.
    #[cold]
    pub fn invalid(&self, text: impl std::fmt::Display) -> Refusal {
        Refusal::new(Status::Invalid, text.to_string())
    }

    /// Creates the refusal of a null pointer: status 161001.
    #[cold]
    pub fn null(&self, param: &str) -> Refusal {
        let text = format!("{param} is a null pointer; it is required");
        Refusal::new(Status::NullPointer, text)
    }

    /// Creates the refusal of a case that no kernel computes: status 561003.
    #[cold]
    pub fn unsupported(&self, text: impl std::fmt::Display) -> Refusal {
        Refusal::new(Status::NoKernel, text.to_string())
    }

    /// Creates the report of a defect of the operator's own plan: status 561000.
    #[cold]
    pub fn defect(&self, text: impl std::fmt::Display) -> Refusal {
        Refusal::new(Status::Inner, text.to_string())
    }

    /// Refuses a type of an argument: the sentence lists what it can be.
    #[cold]
    pub fn refuse_type(&self, param: &str, dtype: DataType, wanted: &str) -> Refusal {
        self.invalid(format_args!(
            "{param} has the type {dtype}; it must be {wanted}"
        ))
        .with_fix(CONVERT)
    }
}

/// Reports whether a parameter is written.
pub(crate) fn writes(io: Io) -> bool {
    matches!(io, Io::Out | Io::InOut)
}

impl Cx<'_> {
    /// Assigns offsets to temporaries, and returns the plan.
    pub fn finish(self) -> Result<Plan, Refusal> {
        steps::finish(self)
    }
}
