//! Kernels: binaries, functions, argument lists, launches, and what else programs ask of a device's cores.

mod arguments;
mod binary;
mod cores;
mod function;
mod launch;
mod limits;
mod overflow;
mod symbol;

pub(crate) use arguments::forget as forget_list;
pub use arguments::*;
pub use binary::*;
pub use cores::*;
pub use function::*;
pub use launch::*;
pub use limits::*;
pub use overflow::*;
pub use symbol::*;

use jumar::engine::Table;
use jumar::engine::sync::Mutex;
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::Cx;

/// What a process keeps for kernels beside the runtime.
pub struct Kernels {
    binaries: Table<binary::Description>,
    lists: Table<arguments::List>,
    parameters: Table<arguments::Parameter>,
    /// Lists in the program's own memory, by the address that stands for each.
    caller_lists: Mutex<std::collections::HashMap<u64, std::sync::Arc<arguments::List>>>,
    operators: binary::Operators,
    pub(crate) watchers: binary::Watchers,
    pub(crate) registry: super::rts::Registry,
    limits: limits::Limits,
}

impl Default for Kernels {
    fn default() -> Self {
        Kernels {
            binaries: Table::new(IdKind::Binary, std::sync::Arc::default()),
            lists: Table::new(IdKind::Arguments, std::sync::Arc::default()),
            parameters: Table::new(IdKind::Argument, std::sync::Arc::default()),
            caller_lists: Mutex::default(),
            registry: super::rts::Registry::default(),
            operators: Mutex::default(),
            watchers: Mutex::default(),
            limits: limits::Limits::default(),
        }
    }
}

fn value<T>(sentence: impl Into<String>) -> Result<T> {
    Err(Error::new(ErrorKind::InvalidValue, sentence))
}

/// The number of the current context's device.
fn device(cx: &Cx<'_>) -> Result<u32> {
    Ok(cx.context()?.device().number())
}
