//! Code that a program brings along: kernel binaries, their functions and their variables.
//!
//! What a binary is, and how its functions are called, is the backend's: for the CPU it is a shared object of host code.

use std::path::PathBuf;
use std::sync::Arc;

use jumar_types::Result;

use crate::Span;

/// The bytes of a kernel binary, and where they came from.
#[derive(Clone, Debug)]
pub struct CodeImage {
    /// The whole binary.
    pub bytes: Arc<[u8]>,
    /// The file that holds these bytes, so that a debugger finds it; `None` for bytes that a program made.
    pub file: Option<PathBuf>,
}

/// How a function is to be called where it does not say so itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeForm {
    /// With the argument block, its length, the block's number and the number of blocks.
    Kernel,
    /// With the argument block alone, once for each block; it answers a status, 0 for success.
    Status,
}

/// A binary that was loaded. It stays loaded while anything of it is referenced.
pub trait Code: Send + Sync {
    /// Finds an exported function.
    ///
    /// # Errors
    /// `InvalidValue`: there is no function of that name, or its description has another version.
    fn function(&self, name: &str, form: CodeForm) -> Result<Arc<dyn CodeFunction>>;

    /// Returns the name of the exported function whose symbol has this value.
    fn name_at(&self, value: u64) -> Option<String>;

    /// Finds an exported variable.
    fn variable(&self, name: &str) -> Option<Span>;

    /// Returns the memory that the binary lies in.
    fn image(&self) -> Span;
}

/// A function of a binary.
pub trait CodeFunction: Send + Sync {
    /// Checks that this machine can run the function.
    ///
    /// # Errors
    /// `FeatureUnsupported`: it is code for other cores.
    fn check_runnable(&self) -> Result<()> {
        Ok(())
    }

    /// Returns the address of its first instruction, and how many bytes it has, 0 where the binary does not say.
    fn code_range(&self) -> (usize, usize);

    /// Returns its parameters, if the binary describes them.
    fn parameters(&self) -> Option<&[Parameter]>;

    /// Returns whether it is called for each thread of a block rather than for each block.
    fn is_of_threads(&self) -> bool;

    /// Runs all blocks and returns when they have ended. The blocks run in no order, some of them at the same time.
    fn run(&self, launch: &Launch) -> Report;
}

/// One parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Where its value lies in the argument block.
    pub offset: usize,
    /// The length of the value.
    ///
    /// # Units
    /// Bytes.
    pub bytes: usize,
    /// What the function does with it.
    pub access: Access,
}

/// What a function does with a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is not an address.
    Value,
    /// It is the address of what is read.
    Read,
    /// It is the address of what is read or written.
    Write,
    /// The binary does not say.
    Unknown,
}

/// What a function is run with.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// The argument block.
    pub arguments: Span,
    /// How many blocks there are along x, y and z.
    pub grid: [u32; 3],
    /// How many threads a block has along x, y and z.
    pub group: [u32; 3],
    /// How much memory each block has for itself.
    ///
    /// # Units
    /// Bytes.
    pub local_bytes: usize,
    /// The device whose stream runs it.
    pub device: u32,
}

impl Launch {
    /// Counts the blocks.
    pub fn blocks(&self) -> u32 {
        self.grid.iter().product()
    }
}

/// What became of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The failure of the lowest block that failed.
    pub failure: Option<BlockFailure>,
    /// Whether a floating-point result was too large, or something was divided by zero.
    pub overflowed: bool,
}

/// How a block failed.
#[derive(Clone, Debug)]
pub struct BlockFailure {
    /// The block's number.
    pub block: u32,
    /// The function's own code.
    pub status: i32,
    /// The function's own words, or none.
    pub text: String,
}
