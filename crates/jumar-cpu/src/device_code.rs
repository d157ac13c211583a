//! Kernel binaries of code for the cores of a card.

use std::sync::Arc;

use jumar_hal::{BlockFailure, Code, CodeForm, CodeFunction, Launch, Parameter, Report, Span};
use jumar_types::{Error, ErrorKind, Result};

use crate::elf;

/// A binary of code for the cores of a card. Programs load such binaries when they start, whether or not they use them: its
/// functions can be found, and their launches are refused.
pub(crate) struct DeviceCode {
    /// What it is.
    sentence: String,
}

impl DeviceCode {
    /// Reads a binary. Returns `None` if it is for a processor or not a binary.
    pub(crate) fn read(bytes: &[u8]) -> Option<DeviceCode> {
        let machine = elf::device_machine(bytes)?;
        Some(DeviceCode {
            sentence: elf::foreign(machine),
        })
    }
}

struct DeviceFunction {
    name: String,
    sentence: String,
}

impl Code for DeviceCode {
    fn function(&self, name: &str, _form: CodeForm) -> Result<Arc<dyn CodeFunction>> {
        Ok(Arc::new(DeviceFunction {
            name: name.to_owned(),
            sentence: self.sentence.clone(),
        }))
    }

    fn name_at(&self, value: u64) -> Option<String> {
        Some(format!("entry {value:#x}"))
    }

    fn variable(&self, _name: &str) -> Option<Span> {
        None
    }

    fn image(&self) -> Span {
        Span::EMPTY
    }
}

impl CodeFunction for DeviceFunction {
    fn check_runnable(&self) -> Result<()> {
        let sentence = format!("kernel \"{}\" cannot run: {}", self.name, self.sentence);
        Err(Error::new(ErrorKind::FeatureUnsupported, sentence).fix(elf::ADVICE))
    }

    fn code_range(&self) -> (usize, usize) {
        (0, 0)
    }

    fn parameters(&self) -> Option<&[Parameter]> {
        None
    }

    fn is_of_threads(&self) -> bool {
        false
    }

    fn run(&self, _launch: &Launch) -> Report {
        Report {
            failure: Some(BlockFailure {
                block: 0,
                status: -1,
                text: self.sentence.clone(),
            }),
            overflowed: false,
        }
    }
}
