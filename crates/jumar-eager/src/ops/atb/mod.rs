//! Operations of the transformer library (`libatb.so`).
//!
//! An operation is created from parameters, by name ([`Operation::new`]). Its form then says which tensors a call passes, in which
//! order, of which types and ranks, and which of them lie in host memory. [`Operation::bind`] checks a call against the form and
//! returns the arguments of a plan, whose steps are those of single operators: nothing is computed here in another way.
//!
//! A call is checked from its own tensors alone. Nothing is kept between two calls of an operation.
//!
//! # How to add an operation
//!
//! A row in [`OPERATIONS`], and a file with
//!
//! 1. its signature: the names of tensors and attributes, for the plan;
//! 2. `form`, which reads the parameters, refuses combinations that are not computed, and returns a [`Form`];
//! 3. a function that finds types and shapes of the outputs, for `InferShape` and for the checks;
//! 4. a function that plans a call, as those of single operators do.

mod attention;
mod cache;
mod elewise;
mod fields;
mod form;
mod grouped;
mod latent;
mod linear;
mod refused;
mod rms_norm;
mod rope;
mod routing;

pub use fields::{Fields, Number};
pub use form::{Bound, Described, Source, Tensor};
pub use refused::{Refused, Status};

use form::Form;

/// Reads the parameters of an operation, and returns its form.
type Create = fn(&Fields<'_>) -> Result<Form, Refused>;

/// The operations, by the names of their parameter structures or C functions.
static OPERATIONS: &[(&str, Create)] = &[
    ("Linear", linear::form),
    ("Elewise", elewise::form),
    ("RmsNorm", rms_norm::form),
    ("GroupTopk", routing::group_topk),
    ("ReshapeAndCache", cache::reshape_and_cache),
    ("Rope", rope::form),
    ("PagedAttention", attention::paged),
    ("SelfAttention", attention::own),
    ("GroupedMatmulInplaceAdd", grouped::form),
    ("FusedAddTopkDiv", routing::fused_add_topk_div),
    ("PagedCacheLoad", cache::paged_cache_load),
    ("RingMLA", latent::ring),
    ("MLA", latent::paged),
    ("SelfAttentionPrefixEncoder", attention::prefix),
];

/// Returns the names of all operations.
pub fn names() -> impl Iterator<Item = &'static str> {
    OPERATIONS.iter().map(|(name, _)| *name)
}

/// An operation: a form that was chosen by parameters. It keeps nothing of a call.
pub struct Operation {
    form: Form,
}

impl Operation {
    /// Creates the operation of a name.
    ///
    /// # Errors
    ///
    /// `InvalidParam`: a parameter has no meaning, or its combination with others is not supported.
    pub fn new(name: &str, fields: &Fields<'_>) -> Result<Operation, Refused> {
        let row = OPERATIONS.iter().find(|(own, _)| *own == name);
        let Some((_, create)) = row else {
            return Err(Refused::param(format!("there is no operation {name}")));
        };
        fields.check_reserved(name)?;
        Ok(Operation {
            form: create(fields)?,
        })
    }

    /// Returns the name that tasks and messages have.
    pub fn name(&self) -> &'static str {
        self.form.signature.name
    }

    /// Returns the number of inputs.
    pub fn inputs(&self) -> usize {
        self.form.inputs.len()
    }

    /// Returns whether an input lies in host memory.
    pub fn is_host(&self, input: usize) -> bool {
        let slot = self.form.inputs.get(input);
        slot.is_some_and(|slot| slot.is_host())
    }

    /// Returns the number of outputs.
    pub fn outputs(&self) -> usize {
        self.form.outputs.len()
    }

    /// Finds the types and shapes of the outputs.
    ///
    /// # Errors
    ///
    /// The number of inputs, their types, formats, ranks or shapes are not those of the operation.
    pub fn infer(&self, inputs: &[Tensor<'_>]) -> Result<Vec<Described>, Refused> {
        self.form.infer(inputs)
    }

    /// Checks the tensors of a call.
    ///
    /// # Errors
    ///
    /// As those of [`Operation::infer`], for inputs and outputs; a host tensor without an address.
    pub fn bind(&self, inputs: &[Tensor<'_>], outputs: &[Tensor<'_>]) -> Result<Bound, Refused> {
        self.form.bind(inputs, outputs)
    }
}
