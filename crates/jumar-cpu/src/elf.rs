//! What can be known of a kernel binary before it is loaded: what it was made for, and what it exports.

use std::collections::HashMap;

use jumar_types::{Error, ErrorKind, Result};
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader, Sym};

/// What stands in all refusals.
pub(crate) const ADVICE: &str = "Compile the kernel's source with jumar/kernel.h into a shared object for this machine; \
                      docs/kernels.md shows how.";

#[cfg(target_arch = "aarch64")]
const HOST: elf::Machine = elf::EM_AARCH64;
#[cfg(not(target_arch = "aarch64"))]
const HOST: elf::Machine = elf::EM_X86_64;

/// An exported symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) value: u64,
    pub(crate) bytes: usize,
    pub(crate) is_function: bool,
    pub(crate) is_variable: bool,
}

/// What a shared object exports, and how much memory it takes.
#[derive(Debug, Default)]
pub(crate) struct Exports {
    pub(crate) symbols: HashMap<String, Symbol>,
    pub(crate) bytes: usize,
    /// Offsets in the file of the information bytes of unique symbols (`STB_GNU_UNIQUE`).
    unique: Vec<usize>,
}

impl Exports {
    /// Returns whether the object has symbols that the loader keeps once for the whole process: plain g++ makes such symbols of
    /// variables of inline functions, of templates and of C++17 `inline` variables. Two objects share them, and an object that
    /// defines one is never unloaded.
    pub(crate) fn has_unique(&self) -> bool {
        !self.unique.is_empty()
    }

    /// Makes the unique symbols of an object weak, as the compiler's option `-fno-gnu-unique` does. `bytes` is what was read.
    pub(crate) fn make_weak(&self, bytes: &mut [u8]) {
        for offset in &self.unique {
            let info = &mut bytes[*offset];
            *info = elf::STB_WEAK.0 << 4 | *info & 0xf;
        }
    }
}

/// Reads what a shared object for this machine exports.
///
/// # Errors
/// `InvalidValue`: the bytes are something else; the sentence says what.
pub(crate) fn read(bytes: &[u8]) -> Result<Exports> {
    type Elf = elf::FileHeader64<object::Endianness>;
    if !bytes.starts_with(b"\x7fELF") {
        return Err(refused(format!(
            "the {} bytes are no ELF file, so they are no kernel binary",
            bytes.len()
        )));
    }
    let damaged = |error: object::Error| refused(format!("the ELF file is damaged: {error}"));
    match machine_of(bytes) {
        None => return Err(refused("the ELF file is cut short in its header".into())),
        Some(machine) if machine != HOST => return Err(refused(foreign(machine))),
        Some(_) => {}
    }
    let header = Elf::parse(bytes).map_err(damaged)?;
    let endian = header.endian().map_err(damaged)?;
    match header.e_type(endian) {
        elf::ET_DYN => {}
        elf::ET_REL => {
            return Err(refused(
                "the binary is an object file that was not linked; a shared object is needed (cc -shared)"
                    .into(),
            ));
        }
        elf::ET_EXEC => {
            return Err(refused(
                "the binary is a program; a shared object is needed (cc -shared)".into(),
            ));
        }
        other => {
            return Err(refused(format!(
                "the ELF file is of type {}, and no shared object",
                other.0
            )));
        }
    }
    let programs = header.program_headers(endian, bytes).map_err(damaged)?;
    let end = programs
        .iter()
        .filter(|program| program.p_type(endian) == elf::PT_LOAD)
        .map(|program| {
            program
                .p_vaddr(endian)
                .saturating_add(program.p_memsz(endian))
        })
        .max()
        .unwrap_or(0);
    // The loader reads all of these bytes; where they are not there it would end the process.
    let cut = programs.iter().any(|program| {
        program
            .p_offset(endian)
            .saturating_add(program.p_filesz(endian))
            > bytes.len() as u64
    });
    if cut {
        return Err(refused("the ELF file is cut short".into()));
    }
    let sections = header.sections(endian, bytes).map_err(damaged)?;
    let table = sections
        .symbols(endian, bytes, elf::SHT_DYNSYM)
        .map_err(damaged)?;
    let mut symbols = HashMap::new();
    let mut unique = Vec::new();
    for symbol in table.iter().filter(|symbol| !symbol.is_undefined(endian)) {
        let kind = symbol.st_type();
        if symbol.st_bind() == elf::STB_GNU_UNIQUE {
            let info = std::ptr::from_ref(&symbol.st_info).addr();
            unique.push(info - bytes.as_ptr().addr());
        }
        let bound = matches!(
            symbol.st_bind(),
            elf::STB_GLOBAL | elf::STB_WEAK | elf::STB_GNU_UNIQUE
        );
        if !bound || !matches!(kind, elf::STT_FUNC | elf::STT_OBJECT) {
            continue;
        }
        let name = table.symbol_name(endian, symbol).map_err(damaged)?;
        symbols.insert(
            String::from_utf8_lossy(name).into_owned(),
            Symbol {
                value: symbol.st_value(endian),
                bytes: usize::try_from(symbol.st_size(endian)).unwrap_or(0),
                is_function: kind == elf::STT_FUNC,
                is_variable: kind == elf::STT_OBJECT,
            },
        );
    }
    Ok(Exports {
        symbols,
        bytes: usize::try_from(end).unwrap_or(0),
        unique,
    })
}

/// Returns the machine of an ELF file, or `None` if its header is incomplete.
fn machine_of(bytes: &[u8]) -> Option<elf::Machine> {
    let number: [u8; 2] = bytes.get(18..20)?.try_into().ok()?;
    Some(elf::Machine(match bytes[5] {
        2 => u16::from_be_bytes(number),
        _ => u16::from_le_bytes(number),
    }))
}

/// Returns the machine of a file of code for the cores of a card. Code for the processor of another machine does not count.
pub(crate) fn device_machine(bytes: &[u8]) -> Option<elf::Machine> {
    const PROCESSORS: [elf::Machine; 4] =
        [elf::EM_AARCH64, elf::EM_X86_64, elf::EM_386, elf::EM_RISCV];
    let machine = machine_of(bytes).filter(|_| bytes.starts_with(b"\x7fELF"))?;
    (machine != elf::EM_NONE && !PROCESSORS.contains(&machine)).then_some(machine)
}

pub(crate) fn refused(sentence: String) -> Error {
    Error::new(ErrorKind::InvalidValue, sentence).fix(ADVICE)
}

pub(crate) fn foreign(machine: elf::Machine) -> String {
    let whose = match machine {
        elf::EM_AARCH64 => "64-bit Arm processors, as operators for the card's own CPU are",
        elf::EM_X86_64 => "x86-64 processors",
        elf::EM_386 => "32-bit x86 processors",
        elf::EM_RISCV => "RISC-V processors",
        _ => "the cores of a card",
    };
    format!(
        "the binary holds code for {whose} (ELF machine {machine:#x}), and Jumar runs kernels as code of this machine's processor"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(bytes: &[u8]) -> String {
        let error = read(bytes).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidValue);
        error.to_string()
    }

    /// The beginning of a 64-bit little-endian ELF file of a type, for a machine.
    fn header(kind: elf::FileType, machine: elf::Machine) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        bytes[16..18].copy_from_slice(&kind.0.to_le_bytes());
        bytes[18..20].copy_from_slice(&machine.0.to_le_bytes());
        bytes[20] = 1;
        bytes[52] = 64;
        bytes
    }

    #[test]
    fn each_kind_of_wrong_file_is_called_what_it_is() {
        assert!(sentence(b"#!/bin/sh").contains("no ELF file"));
        assert!(sentence(b"\x7fELF\x02\x01").contains("cut short"));
        assert!(sentence(&header(elf::ET_REL, elf::Machine(0x1029))).contains("cores of a card"));
        assert!(sentence(&header(elf::ET_REL, HOST)).contains("object file"));
        assert!(sentence(&header(elf::ET_EXEC, HOST)).contains("program"));
    }

    #[test]
    fn a_shared_object_that_is_cut_anywhere_is_refused_or_read_but_never_trusted() {
        let own = std::fs::read("/proc/self/exe").expect("the test's own file");
        // Test programs are shared objects to the reader; only the loader distinguishes them.
        for cut in [20, 64, 100, 4096, own.len() / 2, own.len() - 1] {
            let _ = read(&own[..cut]);
        }
        assert!(read(&own[..own.len() / 2]).is_err());
    }
}
