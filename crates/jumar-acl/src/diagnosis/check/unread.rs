//! Failed calls whose result the program does not look at: the instructions behind the call overwrite the register of the result
//! before any of them reads it.
//!
//! What the program could still do is ask for the error later (`aclGetRecentErrMsg`, `aclrtGetLastError`). So a finding waits until the
//! process ends, and is dropped if the thread asks before.
//!
//! A script's bytecode is looked at by the module `acl`, which asks for the failure of the call ([`failed_in_script`]) and answers whether the
//! result is used ([`answered`]).
//!
//! Only instructions that this module knows are followed. At any other one, at a return, and where the code cannot be read, the result
//! counts as read. A result that is stored and not used afterwards counts as read too.

use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;

use jumar::check::{Check, Finding, SourceLocation};
use jumar::engine::sync::{Mutex, thread};

use super::CompletedCall;

/// The rule.
const RULE: &str = "JMR-CALL-001";
/// The maximum number of findings that wait.
const MOST_WAITING: usize = 256;
/// How many bytes before and behind the return address are read: a loop jumps back.
const BEFORE: usize = 256;
const BEHIND: usize = 256;
/// The maximum number of instructions that are followed on one path, and of branches.
const MOST_STEPS: usize = 48;
const MOST_BRANCHES: usize = 4;

/// A finding that waits, with its thread and the location of the call.
struct Waiting {
    thread: thread::ThreadId,
    location: SourceLocation,
    finding: Finding,
}

static WAITING: Mutex<Vec<Waiting>> = Mutex::new(Vec::new());

thread_local! {
    /// The newest failed call of the thread that a script made, until its interpreter answers.
    static ASKED: RefCell<Option<Waiting>> = const { RefCell::new(None) };
}

impl Waiting {
    fn new(seen: &CompletedCall, location: SourceLocation) -> Waiting {
        let sentence = seen.sentence.as_deref().unwrap_or("no more is known");
        let text = format!("fails with {}: {sentence}", seen.code);
        Waiting {
            thread: thread::current().id(),
            location,
            finding: Finding::now(RULE, text)
                .missing(format!("a look at the result of {}", seen.call.name)),
        }
    }

    /// Keeps it until the process ends. The first one of each location stays.
    fn wait(self) {
        let mut waiting = WAITING.lock();
        if waiting.len() < MOST_WAITING && waiting.iter().all(|one| one.location != self.location) {
            waiting.push(self);
        }
    }
}

/// Notes a failed call if nothing reads its result.
pub(super) fn failed(check: &Check, seen: &CompletedCall) {
    if !check.wants(RULE) {
        return;
    }
    let location = jumar::check::here();
    if jumar::check::is_in_script() {
        let waiting = Waiting::new(seen, location);
        let _none_on_a_thread_that_ends =
            ASKED.try_with(|asked| asked.borrow_mut().replace(waiting));
        return;
    }
    if check.return_address(location).is_some_and(is_unread_at) {
        Waiting::new(seen, location).wait();
    }
}

/// The C++ library of the Graph Engine, whose functions make the calls that fail.
const GRAPH_ENGINE: &str = "libjumar_ge.so";

/// Notes a failed call of the Graph Engine if the program does not read the status of the function that it called.
pub(crate) fn failed_in_graph_engine(check: &Check, status: u32, sentence: &str) {
    if !check.wants(RULE) || jumar::check::has_reported() {
        return;
    }
    let location = jumar::check::here();
    let Some((function, address)) = check.entry(location, GRAPH_ENGINE) else {
        return;
    };
    if !returns_status(&function) || !is_unread_at(address) {
        return;
    }
    let text = format!("{function} fails with {status}: {sentence}");
    Waiting {
        thread: thread::current().id(),
        location,
        finding: Finding::now(RULE, text).missing(format!("a look at the status of {function}"))
            .fix("Compare the status with ge::SUCCESS, and print ge::GEGetErrorMsgV3 where it differs."),
    }
    .wait();
}

/// Returns whether a function of the Graph Engine returns the status of the call that it makes.
fn returns_status(function: &str) -> bool {
    let Some(name) = function.strip_prefix("ge::") else {
        return false;
    };
    let method = ["Session::", "GeSession::"]
        .iter()
        .find_map(|class| name.strip_prefix(class));
    match method {
        Some(method) => {
            let first = method.chars().next();
            !["Session", "GeSession"].contains(&method) && first != Some('~')
        }
        None => name.starts_with("aclgrph") || ["GEInitialize", "GEFinalize"].contains(&name),
    }
}

/// Returns whether a call that failed waits for the answer of the thread's interpreter.
pub(crate) fn failed_in_script() -> bool {
    ASKED
        .try_with(|asked| asked.borrow().is_some())
        .unwrap_or(false)
}

/// Takes the answer of the thread's interpreter: whether the script uses the result of the call that failed.
pub(crate) fn answered(is_read: bool) {
    let asked = ASKED.try_with(|asked| asked.borrow_mut().take());
    if let (Ok(Some(waiting)), false) = (asked, is_read) {
        waiting.wait();
    }
}

/// Drops what waits: the calling thread asks for its errors.
pub(crate) fn asked() {
    let own = thread::current().id();
    WAITING.lock().retain(|one| one.thread != own);
}

/// Reports what waits.
pub(super) fn report(check: &Check) {
    for one in std::mem::take(&mut *WAITING.lock()) {
        check.find(one.finding);
    }
}

/// Returns whether the code that a call returns to overwrites the result before it reads it.
fn is_unread_at(address: usize) -> bool {
    let mut code = vec![0; BEFORE + BEHIND];
    let Some(start) = address.checked_sub(BEFORE) else {
        return false;
    };
    // The kernel reads: what is not mapped is an error, and no fault.
    let read = File::open("/proc/self/mem")
        .and_then(|memory| memory.read_exact_at(&mut code, start as u64));
    read.is_ok() && is_unread(&code, BEFORE)
}

/// What an instruction does with the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResultUse {
    /// It reads it, or is not known.
    Reads,
    /// It overwrites it.
    Overwrites,
    /// Neither; the next instruction is so many bytes behind the begin of this one.
    Passes(usize),
    /// Execution continues there alone, relative to the begin of the instruction.
    Jumps(isize),
    /// Execution continues there or behind this instruction.
    Branches(isize, usize),
}

#[cfg(target_arch = "x86_64")]
use x86_64::instruction;

#[cfg(target_arch = "aarch64")]
use aarch64::instruction;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn instruction(_code: &[u8]) -> ResultUse {
    ResultUse::Reads
}

fn is_unread(code: &[u8], at: usize) -> bool {
    let mut open = vec![at];
    let mut branches = 0;
    while let Some(mut at) = open.pop() {
        let mut steps = 0;
        loop {
            steps += 1;
            let Some(rest) = code.get(at..).filter(|_| steps <= MOST_STEPS) else {
                return false;
            };
            let next = match instruction(rest) {
                ResultUse::Reads => return false,
                ResultUse::Overwrites => break,
                ResultUse::Passes(bytes) => Some(at + bytes),
                ResultUse::Jumps(by) => at.checked_add_signed(by),
                ResultUse::Branches(by, bytes) => {
                    branches += 1;
                    let Some(target) = at.checked_add_signed(by) else {
                        return false;
                    };
                    if branches > MOST_BRANCHES {
                        return false;
                    }
                    open.push(target);
                    Some(at + bytes)
                }
            };
            let Some(next) = next else {
                return false;
            };
            at = next;
        }
    }
    true
}

#[cfg(any(target_arch = "x86_64", test))]
mod x86_64 {
    use super::ResultUse;

    /// The number of the register `rax`.
    const RESULT: u8 = 0;

    struct Operands {
        /// How many bytes the operand bytes have.
        bytes: usize,
        /// The register operand.
        register: u8,
        /// The other operand, where it is a register.
        other: Option<u8>,
        /// Whether the address of a memory operand uses the result.
        address_uses: bool,
    }

    fn operands(code: &[u8], rex: u8) -> Option<Operands> {
        let byte = *code.first()?;
        let register = (byte >> 3 & 7) | (rex << 1 & 8);
        let low = byte & 7;
        let base = low | (rex << 3 & 8);
        let mode = byte >> 6;
        if mode == 3 {
            return Some(Operands {
                bytes: 1,
                register,
                other: Some(base),
                address_uses: false,
            });
        }
        let displacement = [0, 1, 4][usize::from(mode)];
        let (bytes, address_uses) = match low {
            4 => {
                let scaled = *code.get(1)?;
                let index = (scaled >> 3 & 7) | (rex << 2 & 8);
                let has_base = !(mode == 0 && scaled & 7 == 5);
                let base = (scaled & 7) | (rex << 3 & 8);
                let without = if has_base { 0 } else { 4 };
                let uses = index == RESULT || (has_base && base == RESULT);
                (2 + displacement + without, uses)
            }
            5 if mode == 0 => (5, false),
            _ => (1 + displacement, base == RESULT),
        };
        Some(Operands {
            bytes,
            register,
            other: None,
            address_uses,
        })
    }

    fn word(code: &[u8]) -> Option<isize> {
        let bytes = code.get(..4)?.try_into().ok()?;
        Some(i32::from_le_bytes(bytes) as isize)
    }

    /// Returns what the first instruction does with `eax`.
    pub(super) fn instruction(code: &[u8]) -> ResultUse {
        known(code).unwrap_or(ResultUse::Reads)
    }

    fn known(code: &[u8]) -> Option<ResultUse> {
        let mut at = 0;
        let mut is_short = false;
        while let 0x66 | 0xF2 | 0xF3 | 0x64 | 0x2E | 0x3E = *code.get(at)? {
            is_short |= code[at] == 0x66;
            at += 1;
        }
        let rex = match code.get(at)? {
            byte @ 0x40..=0x4F => {
                at += 1;
                *byte
            }
            _ => 0,
        };
        let opcode = *code.get(at)?;
        at += 1;
        let rest = &code[at..];
        let immediate = if is_short { 2 } else { 4 };
        // Reads both operands, or reads the second one and writes the first one.
        let pair = |extra: usize, writes: bool, to_register: bool| -> Option<ResultUse> {
            let of = operands(rest, rex)?;
            let (target, source) = match to_register {
                true => (Some(of.register), of.other),
                false => (of.other, Some(of.register)),
            };
            let reads = of.address_uses || source == Some(RESULT);
            Some(match (reads, target == Some(RESULT)) {
                (true, _) => ResultUse::Reads,
                (false, true) if writes => ResultUse::Overwrites,
                (false, true) => ResultUse::Reads,
                (false, false) => ResultUse::Passes(at + of.bytes + extra),
            })
        };
        // One operand, which is read and maybe written.
        let single = |extra: usize, only_writes: bool| -> Option<ResultUse> {
            let of = operands(rest, rex)?;
            Some(match of.other {
                _ if of.address_uses => ResultUse::Reads,
                Some(RESULT) if only_writes => ResultUse::Overwrites,
                Some(RESULT) => ResultUse::Reads,
                _ => ResultUse::Passes(at + of.bytes + extra),
            })
        };
        match opcode {
            // A function is called. One with variable arguments reads `al`, which is then set behind the first call.
            0xE8 => Some(ResultUse::Overwrites),
            0xE9 => Some(ResultUse::Jumps(word(rest)? + at as isize + 4)),
            0xEB => Some(ResultUse::Jumps(
                *rest.first()? as i8 as isize + at as isize + 1,
            )),
            0x70..=0x7F => {
                let by = *rest.first()? as i8 as isize + at as isize + 1;
                Some(ResultUse::Branches(by, at + 1))
            }
            0x90 | 0xC9 => Some(ResultUse::Passes(at)),
            0x6A => Some(ResultUse::Passes(at + 1)),
            0x68 => Some(ResultUse::Passes(at + 4)),
            // The whole register is written, or nothing of it is certain.
            0x89 => pair(0, !is_short, false),
            0x8B => pair(0, !is_short, true),
            0x8D => {
                let of = operands(rest, rex)?;
                Some(match (of.address_uses, of.register == RESULT) {
                    (true, _) => ResultUse::Reads,
                    (false, true) => ResultUse::Overwrites,
                    (false, false) => ResultUse::Passes(at + of.bytes),
                })
            }
            0x63 => pair(0, true, true),
            0x88 => pair(0, false, false),
            0xB8..=0xBF => {
                let bytes = if rex & 8 != 0 { 8 } else { immediate };
                match (opcode & 7) | (rex << 3 & 8) {
                    RESULT if is_short => Some(ResultUse::Reads),
                    RESULT => Some(ResultUse::Overwrites),
                    _ => Some(ResultUse::Passes(at + bytes)),
                }
            }
            0xC7 => single(immediate, !is_short),
            0xC6 => single(1, false),
            0x31 | 0x33 | 0x29 | 0x2B => {
                let of = operands(rest, rex)?;
                let clears = of.other == Some(of.register);
                match clears && of.register == RESULT && !is_short {
                    true => Some(ResultUse::Overwrites),
                    false => pair(0, false, false),
                }
            }
            0x01
            | 0x03
            | 0x09
            | 0x0B
            | 0x21
            | 0x23
            | 0x11
            | 0x13
            | 0x19
            | 0x1B
            | 0x38..=0x3B
            | 0x84
            | 0x85 => pair(0, false, false),
            0x83 | 0x80 | 0xC0 | 0xC1 => single(1, false),
            0x81 => single(immediate, false),
            0xD1 | 0xD3 => single(0, false),
            0x50..=0x57 => match (opcode & 7) | (rex << 3 & 8) {
                RESULT => Some(ResultUse::Reads),
                _ => Some(ResultUse::Passes(at)),
            },
            0x58..=0x5F => match (opcode & 7) | (rex << 3 & 8) {
                RESULT => Some(ResultUse::Overwrites),
                _ => Some(ResultUse::Passes(at)),
            },
            0xFF => {
                let of = operands(rest, rex)?;
                match of.register & 7 {
                    0 | 1 | 6 => single(0, false),
                    2 if of.address_uses || of.other == Some(RESULT) => Some(ResultUse::Reads),
                    2 => Some(ResultUse::Overwrites),
                    _ => None,
                }
            }
            0x0F => {
                let second = *rest.first()?;
                let (at, rest) = (at + 1, &rest[1..]);
                let of = || operands(rest, rex);
                match second {
                    0x80..=0x8F => Some(ResultUse::Branches(word(rest)? + at as isize + 4, at + 4)),
                    0x1E | 0x1F => Some(ResultUse::Passes(at + of()?.bytes)),
                    0xB6 | 0xB7 | 0xBE | 0xBF => {
                        let of = of()?;
                        Some(match (of.address_uses, of.other, of.register) {
                            (true, ..) | (_, Some(RESULT), _) => ResultUse::Reads,
                            (_, _, RESULT) => ResultUse::Overwrites,
                            _ => ResultUse::Passes(at + of.bytes),
                        })
                    }
                    // Moves and arithmetic between vector registers and memory.
                    0x10
                    | 0x11
                    | 0x12
                    | 0x13
                    | 0x16
                    | 0x17
                    | 0x28
                    | 0x29
                    | 0x54
                    | 0x57..=0x59
                    | 0x5A
                    | 0x5C
                    | 0x5E
                    | 0x6F
                    | 0x7F
                    | 0xEF
                    | 0xD6 => {
                        let of = of()?;
                        match of.address_uses {
                            true => Some(ResultUse::Reads),
                            false => Some(ResultUse::Passes(at + of.bytes)),
                        }
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

#[cfg(any(target_arch = "aarch64", test))]
mod aarch64 {
    use super::ResultUse;

    /// The numbers of the registers `x0` and of the one that is none.
    const RESULT: u32 = 0;

    fn of(reads: &[u32], writes: Option<u32>) -> ResultUse {
        if reads.contains(&RESULT) {
            ResultUse::Reads
        } else if writes == Some(RESULT) {
            ResultUse::Overwrites
        } else {
            ResultUse::Passes(4)
        }
    }

    /// Returns a distance of `bits` bits in words.
    fn distance(word: u32, shift: u32, bits: u32) -> isize {
        let field = word >> shift << (32 - bits);
        (field as i32 >> (32 - bits)) as isize * 4
    }

    /// Returns what the first instruction does with `w0`.
    pub(super) fn instruction(code: &[u8]) -> ResultUse {
        let Some(Ok(bytes)) = code.get(..4).map(<[u8; 4]>::try_from) else {
            return ResultUse::Reads;
        };
        let word = u32::from_le_bytes(bytes);
        let (d, n, m, second) = (word & 31, word >> 5 & 31, word >> 16 & 31, word >> 10 & 31);
        let is_vector = word >> 26 & 1 == 1;
        let is_load = |bit: u32| word >> bit & 3 != 0;
        let one = |loads: bool| match (is_vector, loads) {
            (true, _) => of(&[n], None),
            (false, true) => of(&[n], Some(d)),
            (false, false) => of(&[n, d], None),
        };
        match word {
            // Hints: nop, bti and the like.
            _ if word & 0xFFFF_F01F == 0xD503_201F => ResultUse::Passes(4),
            _ if word & 0xFC00_0000 == 0x1400_0000 => ResultUse::Jumps(distance(word, 0, 26)),
            _ if word & 0xFF00_0010 == 0x5400_0000 => ResultUse::Branches(distance(word, 5, 19), 4),
            _ if word & 0x7E00_0000 == 0x3400_0000 && d != RESULT => {
                ResultUse::Branches(distance(word, 5, 19), 4)
            }
            // Constants and addresses. One of the forms keeps the rest of the register.
            _ if word & 0x7F80_0000 == 0x5280_0000 || word & 0x7F80_0000 == 0x1280_0000 => {
                of(&[], Some(d))
            }
            _ if word & 0x7F80_0000 == 0x7280_0000 => of(&[d], None),
            _ if word & 0x1F00_0000 == 0x1000_0000 => of(&[], Some(d)),
            // Loads and stores of one register: with an offset, before or behind an update, relative to the code.
            _ if word & 0x3B00_0000 == 0x3900_0000 => one(is_load(22)),
            _ if word & 0x3B20_0000 == 0x3800_0000 => one(is_load(22)),
            _ if word & 0x3B00_0000 == 0x1800_0000 && !is_vector => of(&[], Some(d)),
            // Of two registers.
            _ if word & 0x3A00_0000 == 0x2800_0000 => match (is_vector, word >> 22 & 1 == 1) {
                (true, _) => of(&[n], None),
                (false, true) if n == RESULT => ResultUse::Reads,
                (false, true) if d == RESULT || second == RESULT => ResultUse::Overwrites,
                (false, true) => ResultUse::Passes(4),
                (false, false) => of(&[n, d, second], None),
            },
            // Sums with constants, sums and logic with registers.
            _ if word & 0x1F00_0000 == 0x1100_0000 => of(&[n], Some(d)),
            _ if word & 0x1F00_0000 == 0x0A00_0000 || word & 0x1F20_0000 == 0x0B00_0000 => {
                of(&[n, m], Some(d))
            }
            // A call takes the register as an argument unless it was set.
            _ => ResultUse::Reads,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ResultUse, aarch64, x86_64};

    #[test]
    fn instructions_of_x86_64_read_overwrite_or_pass_the_result() {
        let cases: &[(&[u8], ResultUse)] = &[
            // test eax, eax; mov [rbp-4], eax; cmp eax, 5; movsxd rdx, eax; cdqe; ret
            (&[0x85, 0xC0], ResultUse::Reads),
            (&[0x89, 0x45, 0xFC], ResultUse::Reads),
            (&[0x83, 0xF8, 0x05], ResultUse::Reads),
            (&[0x48, 0x63, 0xD0], ResultUse::Reads),
            (&[0x48, 0x98], ResultUse::Reads),
            (&[0xC3], ResultUse::Reads),
            // mov eax, 0; xor eax, eax; mov rax, [rbp-8]; lea rax, [rip+n]; mov rax, fs:0x28; call
            (&[0xB8, 0, 0, 0, 0], ResultUse::Overwrites),
            (&[0x31, 0xC0], ResultUse::Overwrites),
            (&[0x48, 0x8B, 0x45, 0xF8], ResultUse::Overwrites),
            (&[0x48, 0x8D, 0x05, 1, 0, 0, 0], ResultUse::Overwrites),
            (
                &[0x64, 0x48, 0x8B, 0x04, 0x25, 0x28, 0, 0, 0],
                ResultUse::Overwrites,
            ),
            (&[0xE8, 0, 0, 0, 0], ResultUse::Overwrites),
            (&[0xFF, 0x15, 0, 0, 0, 0], ResultUse::Overwrites),
            // mov edi, [rbp-4]; mov edi, eax; mov r8d, 7; add dword [rbp-4], 1; mov rdx, [rax]; call [rax]
            (&[0x8B, 0x7D, 0xFC], ResultUse::Passes(3)),
            (&[0x89, 0xC7], ResultUse::Reads),
            (&[0x41, 0xB8, 7, 0, 0, 0], ResultUse::Passes(6)),
            (&[0x83, 0x45, 0xFC, 0x01], ResultUse::Passes(4)),
            (&[0x48, 0x8B, 0x10], ResultUse::Reads),
            (&[0xFF, 0x10], ResultUse::Reads),
            // push 0; push [rsp+n]
            (&[0x6A, 0], ResultUse::Passes(2)),
            (&[0xFF, 0x74, 0x24, 0x70], ResultUse::Passes(4)),
            // jmp +2; jle -4; endbr64; nop word [rax+rax]
            (&[0xEB, 0x02], ResultUse::Jumps(4)),
            (&[0x7E, 0xFC], ResultUse::Branches(-2, 2)),
            (&[0xF3, 0x0F, 0x1E, 0xFA], ResultUse::Passes(4)),
            (&[0x66, 0x0F, 0x1F, 0x44, 0, 0], ResultUse::Passes(6)),
            // mov ax, 1 leaves the upper half.
            (&[0x66, 0xB8, 1, 0], ResultUse::Reads),
        ];
        for (code, wanted) in cases {
            assert_eq!(x86_64::instruction(code), *wanted, "{code:02x?}");
        }
    }

    #[test]
    fn instructions_of_aarch64_read_overwrite_or_pass_the_result() {
        let cases: &[(u32, ResultUse)] = &[
            (0x7100_001F, ResultUse::Reads),           // cmp w0, #0
            (0xB900_1FE0, ResultUse::Reads),           // str w0, [sp, #28]
            (0x3500_0040, ResultUse::Reads),           // cbnz w0, +8
            (0x9400_0000, ResultUse::Reads),           // bl
            (0xD65F_03C0, ResultUse::Reads),           // ret
            (0x2A00_03E1, ResultUse::Reads),           // mov w1, w0
            (0x5280_0000, ResultUse::Overwrites),      // mov w0, #0
            (0xF940_0FE0, ResultUse::Overwrites),      // ldr x0, [sp, #24]
            (0x9100_43E0, ResultUse::Overwrites),      // add x0, sp, #16
            (0xAA13_03E0, ResultUse::Overwrites),      // mov x0, x19
            (0x9000_0000, ResultUse::Overwrites),      // adrp x0, ...
            (0x5280_0021, ResultUse::Passes(4)),       // mov w1, #1
            (0xA9BF_7BFD, ResultUse::Passes(4)),       // stp x29, x30, [sp, #-16]!
            (0xD503_201F, ResultUse::Passes(4)),       // nop
            (0x1400_0002, ResultUse::Jumps(8)),        // b +8
            (0x54FF_FFC1, ResultUse::Branches(-8, 4)), // b.ne -8
        ];
        for (word, wanted) in cases {
            let code = word.to_le_bytes();
            assert_eq!(aarch64::instruction(&code), *wanted, "{word:08x}");
        }
    }

    #[test]
    fn functions_that_return_a_status_are_known_by_their_names() {
        for name in [
            "ge::Session::RunGraph",
            "ge::GeSession::AddGraph",
            "ge::GEInitialize",
            "ge::aclgrphBuildModel",
        ] {
            assert!(super::returns_status(name), "{name}");
        }
        for name in [
            "ge::Session::Session",
            "ge::Session::~Session",
            "ge::Graph::SetInputs",
            "jumar::Call",
            "Session::RunGraph",
        ] {
            assert!(!super::returns_status(name), "{name}");
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn both_ends_of_a_branch_have_to_overwrite_the_result() {
        // jle over a mov to edx; then mov eax, 0.
        let both = [0x7E, 5, 0xBA, 1, 0, 0, 0, 0xB8, 0, 0, 0, 0];
        assert!(super::is_unread(&both, 0));
        // The target tests the result.
        let one = [0x7E, 5, 0xB8, 0, 0, 0, 0, 0x85, 0xC0];
        assert!(!super::is_unread(&one, 0));
        // The code ends.
        assert!(!super::is_unread(&[0x90], 0));
    }
}
