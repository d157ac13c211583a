//! An emulator of the instructions that `matrix` uses, for tests: a processor without the unit stops at each of them with
//! SIGILL, and the handler does what the unit would have done. So the machine code that ships runs on any x86-64 Linux.
//!
//! What a processor would refuse (#UD, #GP) is a fault that fails the test. Source of encodings, sizes and refusals:
//! Intel's manual for software developers, volume 2, "LDTILECFG", "TILELOADD", "TILESTORED", "TILEZERO", "TILERELEASE",
//! "TDPBF16PS" and "TDPBUSD", and chapter 18 of volume 1. On a processor that has the unit nothing stops, and the tests
//! run on the unit itself, where the system allows it.

use std::cell::UnsafeCell;
use std::sync::OnceLock;

const REGISTERS: usize = 8;
const BYTES: usize = 1024;
const WIDTH: usize = 64;

/// What was executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecutedInstructions {
    pub configurations: usize,
    pub loads: usize,
    pub products: usize,
    pub releases: usize,
}

/// The unit's state of one thread.
pub struct Machine {
    on: bool,
    /// Rows and bytes of a row of each register, once it is configured.
    sizes: Option<[(usize, usize); REGISTERS]>,
    registers: [[u8; BYTES]; REGISTERS],
    /// What may be read beside the stack, by address and end; anything where it is not said.
    readable: Option<[(u64, u64); 2]>,
    fault: Option<&'static str>,
    /// Bytes of the instruction that was executed last.
    length: usize,
    seen: ExecutedInstructions,
}

impl Machine {
    pub const fn new() -> Machine {
        Machine {
            on: false,
            sizes: None,
            registers: [[0; BYTES]; REGISTERS],
            readable: None,
            fault: None,
            length: 0,
            seen: ExecutedInstructions {
                configurations: 0,
                loads: 0,
                products: 0,
                releases: 0,
            },
        }
    }

    fn size(&self, register: usize) -> Result<(usize, usize), &'static str> {
        let sizes = self.sizes.ok_or("#UD: the unit is not configured")?;
        match sizes.get(register) {
            None => Err("#UD: no such register"),
            Some((0, _) | (_, 0)) => Err("#UD: a register without a size"),
            Some(&size) => Ok(size),
        }
    }

    /// Refuses what lies neither on the stack nor, where it is read, in what the test named.
    fn reaches(&self, at: u64, len: usize, stack: u64, reads: bool) -> Result<(), &'static str> {
        let Some(readable) = self.readable else {
            return Ok(());
        };
        let inside = |(from, end): (u64, u64)| at >= from && at + len as u64 <= end;
        if inside((stack, stack + (1 << 16))) || reads && readable.into_iter().any(inside) {
            return Ok(());
        }
        Err("an access beside the operands")
    }

    fn configure(&mut self, config: &[u8; 64]) -> Result<(), &'static str> {
        match config[0] {
            0 => {
                self.sizes = None;
                return Ok(());
            }
            1 => {}
            _ => return Err("#GP: no such palette"),
        }
        if config[1] != 0 {
            return Err("a first row that is not 0 is not emulated");
        }
        if config[2..16].iter().any(|&byte| byte != 0) {
            return Err("#GP: reserved bytes");
        }
        let mut sizes = [(0, 0); REGISTERS];
        for at in 0..16 {
            let width = usize::from(u16::from_le_bytes([
                config[16 + 2 * at],
                config[17 + 2 * at],
            ]));
            let rows = usize::from(config[48 + at]);
            if at >= REGISTERS && (rows, width) != (0, 0) {
                return Err("#GP: sizes of a register that is not there");
            }
            if (rows == 0) != (width == 0) {
                return Err("#GP: rows without bytes, or bytes without rows");
            }
            if rows > 16 || width > WIDTH {
                return Err("#GP: a register that is too large");
            }
            if at < REGISTERS {
                sizes[at] = (rows, width);
            }
        }
        self.sizes = Some(sizes);
        self.registers = [[0; BYTES]; REGISTERS];
        self.seen.configurations += 1;
        Ok(())
    }

    /// Executes one instruction and returns its length.
    ///
    /// # Safety
    ///
    /// `code` lies at `rip`; what the instruction reads and writes by `general` (registers rax, rcx, rdx, rbx, rsp,
    /// rbp, rsi, rdi, r8 to r15) is memory.
    pub unsafe fn execute(
        &mut self,
        code: &[u8],
        rip: u64,
        general: &[u64; 16],
    ) -> Result<usize, &'static str> {
        self.length = 0;
        let &[0xc4, one, two, opcode, modrm, ..] = code else {
            return Err("not an instruction of three bytes of VEX");
        };
        let (r, x, b) = (one >> 7 & 1 ^ 1, one >> 6 & 1 ^ 1, one >> 5 & 1 ^ 1);
        let other = usize::from(two >> 3 & 15 ^ 15);
        if one & 31 != 2 || two & 0x84 != 0 {
            return Err("#UD: not in the map of these instructions, W or L");
        }
        let (mode, rm) = (modrm >> 6, modrm & 7);
        let reg = usize::from(modrm >> 3 & 7 | r << 3);
        let mut length = 5;
        // The address without what is added for each row, and what that is.
        let mut address = 0u64;
        let mut stride = None;
        if mode != 3 {
            let mut base = Some(usize::from(rm | b << 3));
            let mut wide = mode == 2;
            if rm == 4 {
                let sib = code[5];
                length = 6;
                let index = usize::from(sib >> 3 & 7 | x << 3);
                let scaled = match index {
                    4 => 0,
                    index => general[index] << (sib >> 6),
                };
                stride = Some(scaled);
                base = Some(usize::from(sib & 7 | b << 3));
                if sib & 7 == 5 && mode == 0 {
                    (base, wide) = (None, true);
                }
            } else if rm == 5 && mode == 0 {
                (base, wide) = (None, true);
            }
            let distance = if wide {
                let bytes = [
                    code[length],
                    code[length + 1],
                    code[length + 2],
                    code[length + 3],
                ];
                length += 4;
                i64::from(i32::from_le_bytes(bytes))
            } else if mode == 1 {
                length += 1;
                i64::from(code[length - 1] as i8)
            } else {
                0
            };
            address = distance as u64;
            if let Some(base) = base {
                address = address.wrapping_add(general[base]);
            } else if rm == 5 {
                address = address.wrapping_add(rip + length as u64);
            }
        }
        self.length = length;
        let prefix = two & 3;
        let (plain, x66, xf3, xf2) = (0, 1, 2, 3);
        if opcode != 0x5c && opcode != 0x5e && other != 0 {
            return Err("#UD: VEX.vvvv is in use");
        }
        match (opcode, prefix) {
            (0x49, p) if p == plain && mode == 3 && reg == 0 && rm == 0 => {
                self.sizes = None;
                self.registers = [[0; BYTES]; REGISTERS];
                self.seen.releases += 1;
            }
            (0x49, p) if p == plain && mode != 3 && reg == 0 => {
                let address = address.wrapping_add(stride.unwrap_or(0));
                // SAFETY: the caller's word.
                let config = unsafe { (address as *const [u8; 64]).read_unaligned() };
                self.configure(&config)?;
            }
            (0x49, p) if p == xf2 && mode == 3 && rm == 0 => {
                self.size(reg)?;
                self.registers[reg] = [0; BYTES];
            }
            (0x4b, p) if (p == xf2 || p == x66) && mode != 3 => {
                let stride = stride.ok_or("#UD: rows need a distance")?;
                let (rows, width) = self.size(reg)?;
                self.registers[reg] = [0; BYTES];
                for row in 0..rows {
                    let from = address.wrapping_add(stride.wrapping_mul(row as u64));
                    self.reaches(from, width, general[4], true)?;
                    let to = &mut self.registers[reg][row * WIDTH..][..width];
                    // SAFETY: the caller's word.
                    unsafe { to.as_mut_ptr().copy_from(from as *const u8, width) };
                }
                self.seen.loads += 1;
            }
            (0x4b, p) if p == xf3 && mode != 3 => {
                let stride = stride.ok_or("#UD: rows need a distance")?;
                let (rows, width) = self.size(reg)?;
                for row in 0..rows {
                    let to = address.wrapping_add(stride.wrapping_mul(row as u64));
                    self.reaches(to, width, general[4], false)?;
                    let from = &self.registers[reg][row * WIDTH..][..width];
                    // SAFETY: the caller's word.
                    unsafe { from.as_ptr().copy_to(to as *mut u8, width) };
                }
            }
            (0x5c, p) if p == xf3 && mode == 3 => {
                self.multiply(reg, usize::from(rm | b << 3), other, floats)?;
            }
            (0x5e, p) if p == x66 && mode == 3 => {
                self.multiply(reg, usize::from(rm | b << 3), other, integers)?;
            }
            _ => return Err("#UD: not an instruction that is emulated"),
        }
        Ok(length)
    }

    /// Multiplies a left register with a right one, row by row: `dots` returns the new sum from the old one and the groups.
    fn multiply(
        &mut self,
        sums: usize,
        left: usize,
        right: usize,
        dots: fn(u32, &mut dyn Iterator<Item = (u32, u32)>) -> u32,
    ) -> Result<(), &'static str> {
        if sums == left || sums == right || left == right {
            return Err("#UD: registers that are not different");
        }
        let (height, width) = self.size(sums)?;
        let (left_height, left_width) = self.size(left)?;
        let (depth, right_width) = self.size(right)?;
        if height != left_height || width != right_width || left_width != 4 * depth {
            return Err("#UD: sizes that do not agree");
        }
        if width % 4 != 0 {
            return Err("#UD: rows of part of a sum");
        }
        let at = |register: &[u8; BYTES], row: usize, column: usize| {
            let at = row * WIDTH + 4 * column;
            u32::from_le_bytes(register[at..at + 4].try_into().unwrap())
        };
        for row in 0..height {
            for column in 0..width / 4 {
                let (a, b) = (&self.registers[left], &self.registers[right]);
                let mut groups = (0..depth).map(|k| (at(a, row, k), at(b, k, column)));
                let sum = dots(at(&self.registers[sums], row, column), &mut groups);
                let to = row * WIDTH + 4 * column;
                self.registers[sums][to..to + 4].copy_from_slice(&sum.to_le_bytes());
            }
        }
        self.seen.products += 1;
        Ok(())
    }
}

/// Takes denormal numbers for zero.
fn flushed(value: f32) -> f32 {
    if value.is_subnormal() {
        0f32.copysign(value)
    } else {
        value
    }
}

/// TDPBF16PS: first and second numbers of pairs are multiplied and added apart, by fused instructions.
fn floats(sum: u32, groups: &mut dyn Iterator<Item = (u32, u32)>) -> u32 {
    let mut sums = [0f32; 2];
    for (a, b) in groups {
        for (half, sum) in sums.iter_mut().enumerate() {
            let number = |pair: u32| flushed(f32::from_bits(pair >> (16 * half) << 16));
            *sum = flushed(number(a).mul_add(number(b), *sum));
        }
    }
    flushed(flushed(f32::from_bits(sum)) + flushed(sums[0] + sums[1])).to_bits()
}

/// TDPBUSD: bytes without sign times bytes with one; sums wrap around.
fn integers(sum: u32, groups: &mut dyn Iterator<Item = (u32, u32)>) -> u32 {
    let mut sum = sum as i32;
    for (a, b) in groups {
        for (a, b) in a.to_le_bytes().into_iter().zip(b.to_le_bytes()) {
            sum = sum.wrapping_add(i32::from(a) * i32::from(b as i8));
        }
    }
    sum as u32
}

struct Slot(UnsafeCell<Machine>);

thread_local! {
    static MACHINE: Slot = const { Slot(UnsafeCell::new(Machine::new())) };
}

/// The general registers by their numbers in instructions.
const NUMBERED: [libc::c_int; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

extern "C" fn handle(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system passes a context to a handler with SA_SIGINFO.
    let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    let saved = &mut context.uc_mcontext.gregs;
    let rip = saved[libc::REG_RIP as usize] as u64;
    // SAFETY: nothing else on this thread holds the machine while one of these instructions stops it.
    let machine = MACHINE.with(|slot| unsafe { &mut *slot.0.get() });
    if !machine.on {
        // An instruction of other code: the program ends as it would have without a handler.
        // SAFETY: a system call.
        unsafe { libc::signal(libc::SIGILL, libc::SIG_DFL) };
        return;
    }
    let general = NUMBERED.map(|at| saved[at as usize] as u64);
    // SAFETY: the thread was executing there; no instruction here is longer, and code is followed by more of it.
    let code = unsafe { std::slice::from_raw_parts(rip as *const u8, 10) };
    // SAFETY: the processor would read and write the same.
    let done = unsafe { machine.execute(code, rip, &general) };
    if let Err(fault) = done {
        machine.fault.get_or_insert(fault);
    }
    if machine.length == 0 {
        let text = "emulator: an instruction of unknown length\n";
        // SAFETY: system calls.
        unsafe {
            libc::write(2, text.as_ptr().cast(), text.len());
            libc::abort();
        }
    }
    saved[libc::REG_RIP as usize] += machine.length as i64;
}

fn install() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        // SAFETY: a handler that touches its own thread's machine and the context that it is given.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(_, _, _) = handle;
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO;
            assert_eq!(
                libc::sigaction(libc::SIGILL, &action, std::ptr::null_mut()),
                0
            );
        }
    });
}

/// Runs something with the unit emulated on this thread. Returns what the unit would have refused.
pub fn tried(run: impl FnOnce()) -> Result<ExecutedInstructions, &'static str> {
    tried_with(None, run)
}

fn tried_with(
    readable: Option<[(u64, u64); 2]>,
    run: impl FnOnce(),
) -> Result<ExecutedInstructions, &'static str> {
    install();
    let machine = || MACHINE.with(|slot| slot.0.get());
    // SAFETY: no instruction of the unit is being executed, so that the machine has no other user.
    unsafe {
        *machine() = Machine::new();
        (*machine()).readable = readable;
        (*machine()).on = true;
    }
    run();
    // SAFETY: as above.
    let machine = unsafe { &mut *machine() };
    machine.on = false;
    match (machine.fault, machine.sizes) {
        (Some(fault), _) => Err(fault),
        (None, Some(_)) => Err("the unit was left configured"),
        (None, None) => Ok(machine.seen),
    }
}

/// Runs something with the unit emulated on this thread. Panics where a processor would have refused an instruction, where
/// the unit reads anything but the stack and `readable`, and where it is left configured.
pub fn emulated(readable: [(u64, u64); 2], run: impl FnOnce()) -> ExecutedInstructions {
    tried_with(Some(readable), run).unwrap_or_else(|fault| panic!("{fault}"))
}

mod tests {
    use super::*;

    /// Assembled by hand from the manual's tables, and what each operand is.
    #[test]
    fn instructions_are_decoded_as_the_manual_encodes_them() {
        let mut machine = Machine::new();
        let mut config = [0u8; 64];
        config[0] = 1;
        for (register, rows, bytes) in [(1, 2, 8), (2, 2, 12), (7, 3, 8)] {
            config[48 + register] = rows;
            config[16 + 2 * register] = bytes;
        }
        let image: Vec<u8> = (0..64).collect();
        let mut out = [0u8; 64];
        let mut general = [0u64; 16];
        let mut run = |code: &[u8], general: &[u64; 16]| {
            let mut padded = code.to_vec();
            padded.resize(16, 0x90);
            // SAFETY: the addresses below are those of the vectors above.
            let length = unsafe { machine.execute(&padded, 0x1000, general) };
            assert_eq!(length, Ok(code.len()), "{code:x?}");
        };
        // ldtilecfg [rax]
        general[0] = config.as_ptr() as u64;
        run(&[0xc4, 0xe2, 0x78, 0x49, 0x00], &general);
        // tilezero tmm1
        run(&[0xc4, 0xe2, 0x7b, 0x49, 0xc8], &general);
        // tileloadd tmm2, [rcx + rdx*1]: rows 20 bytes apart
        general[1] = image.as_ptr() as u64;
        general[2] = 20;
        run(&[0xc4, 0xe2, 0x7b, 0x4b, 0x14, 0x11], &general);
        // tileloadd tmm7, [r9 + r10*2 + 4]: rows 8 bytes apart, from the fifth byte
        general[9] = image.as_ptr() as u64;
        general[10] = 4;
        run(&[0xc4, 0x82, 0x7b, 0x4b, 0x7c, 0x51, 0x04], &general);
        // tdpbusd tmm1, tmm2, tmm7: the destination in reg, the left side in r/m, the right side in vvvv
        run(&[0xc4, 0xe2, 0x41, 0x5e, 0xca], &general);
        // tilestored [r8 + rdx*1 + 256], tmm1, with the address given 256 too low
        general[8] = (out.as_mut_ptr() as u64).wrapping_sub(256);
        run(
            &[0xc4, 0xc2, 0x7a, 0x4b, 0x8c, 0x10, 0x00, 0x01, 0x00, 0x00],
            &general,
        );
        // tilerelease
        run(&[0xc4, 0xe2, 0x78, 0x49, 0xc0], &general);
        assert!(machine.sizes.is_none());
        for row in 0..2 {
            for column in 0..2 {
                let wanted: i32 = (0..12)
                    .map(|k| {
                        let (group, byte) = (k / 4, k % 4);
                        let left = image[20 * row + k];
                        let right = image[4 + 8 * group + 4 * column + byte];
                        i32::from(left) * i32::from(right)
                    })
                    .sum();
                let at = 20 * row + 4 * column;
                let found = i32::from_le_bytes(out[at..at + 4].try_into().unwrap());
                assert_eq!(found, wanted, "{row},{column}");
            }
        }
        let seen = ExecutedInstructions {
            configurations: 1,
            loads: 2,
            products: 1,
            releases: 1,
        };
        assert_eq!(machine.seen, seen);
    }

    #[test]
    fn pairs_are_summed_separately_and_denormals_are_zero() {
        let pair = |low: f32, high: f32| low.to_bits() >> 16 | high.to_bits() & 0xffff_0000;
        let sum = |start: f32, groups: &[(u32, u32)]| {
            f32::from_bits(floats(start.to_bits(), &mut groups.iter().copied()))
        };
        let one = pair(1.0, 1.0);
        // First and second numbers: 2^24 + 1 is lost alone, 1 + 1 is not.
        let big = 16_777_216.0;
        assert_eq!(
            sum(0.0, &[(pair(big, 1.0), one), (pair(0.0, 1.0), one)]),
            big + 2.0
        );
        assert_eq!(
            sum(
                0.0,
                &[
                    (pair(big, 0.0), one),
                    (pair(1.0, 0.0), one),
                    (pair(1.0, 0.0), one)
                ]
            ),
            big
        );
        // Sums of an instruction are complete before the old one is added.
        assert_eq!(
            sum(big, &[(pair(1.0, 0.0), one), (pair(1.0, 0.0), one)]),
            big + 2.0
        );
        let tiny = f32::from_bits(0x0040_0000);
        assert_eq!(sum(0.0, &[(pair(tiny, 0.0), pair(big, 0.0))]), 0.0);
        assert_eq!(sum(tiny, &[(0, one)]), 0.0);
        let small = f32::from_bits(0x2000_0000);
        assert_eq!(
            sum(
                0.0,
                &[(pair(small, 0.0), pair(f32::from_bits(0x1f00_0000), 0.0))]
            ),
            0.0
        );
        assert!(sum(0.0, &[(pair(f32::INFINITY, 0.0), pair(0.0, 0.0))]).is_nan());
    }

    #[test]
    fn what_a_processor_refuses_is_a_fault() {
        let config = |change: &dyn Fn(&mut [u8; 64])| {
            let mut config = [0u8; 64];
            config[0] = 1;
            change(&mut config);
            let mut machine = Machine::new();
            machine.configure(&config)
        };
        assert_eq!(config(&|_| {}), Ok(()));
        for (wrong, change) in [
            (
                "palette",
                (&|c: &mut [u8; 64]| c[0] = 2) as &dyn Fn(&mut [u8; 64]),
            ),
            ("reserved", &|c| c[5] = 1),
            ("rows alone", &|c| c[48] = 1),
            ("bytes alone", &|c| c[16] = 4),
            ("17 rows", &|c| (c[48], c[16]) = (17, 4)),
            ("68 bytes", &|c| (c[48], c[16]) = (1, 68)),
            ("a ninth", &|c| (c[56], c[32]) = (1, 4)),
        ] {
            assert!(
                config(change).is_err_and(|fault| fault.starts_with("#GP")),
                "{wrong}"
            );
        }
        let mut sized = [0u8; 64];
        sized[0] = 1;
        for (register, rows, bytes) in [(0, 2, 8), (1, 2, 12), (2, 3, 8), (3, 4, 8), (4, 3, 12)] {
            sized[48 + register] = rows;
            sized[16 + 2 * register] = bytes;
        }
        let dot = |left: u8, right: u8| {
            [
                0xc4,
                0xe2,
                0x02 | (15 - right) << 3,
                0x5c,
                0xc0 | left,
                0x90,
            ]
        };
        for (wrong, configured, code) in [
            ("no configuration", false, dot(1, 2)),
            ("left and right alike", true, dot(1, 1)),
            ("the sum is a side", true, dot(0, 2)),
            ("depths", true, dot(1, 3)),
            ("widths", true, dot(1, 4)),
            ("a register without a size", true, dot(6, 2)),
            ("no distance", true, [0xc4, 0xe2, 0x7b, 0x4b, 0x00, 0x90]),
            ("another map", true, [0xc4, 0xe1, 0x7b, 0x4b, 0x04, 0x10]),
        ] {
            let mut machine = Machine::new();
            if configured {
                machine.configure(&sized).unwrap();
            }
            // SAFETY: none of these gets to its address.
            let done = unsafe { machine.execute(&code, 0, &[0; 16]) };
            assert!(
                done.is_err_and(|fault| fault.starts_with("#UD")),
                "{wrong}: {done:?}"
            );
        }
        let mut machine = Machine::new();
        machine.configure(&sized).unwrap();
        // SAFETY: no address.
        assert_eq!(unsafe { machine.execute(&dot(1, 2), 0, &[0; 16]) }, Ok(5));
    }

    #[test]
    fn a_fault_and_a_unit_left_configured_are_found() {
        if crate::simd::unit::found() != crate::simd::unit::Unit::default() {
            return; // The unit itself would execute these.
        }
        let mut config = [0u8; 64];
        config[0] = 1;
        // SAFETY: the emulator executes these; nothing of the thread changes.
        let unset = tried(|| unsafe { std::arch::asm!("tilezero tmm0", out("tmm0") _) });
        assert_eq!(unset, Err("#UD: the unit is not configured"));
        // SAFETY: as above.
        let left = tried(|| unsafe {
            std::arch::asm!("ldtilecfg [{}]", in(reg) &raw const config, options(nostack));
        });
        assert_eq!(left, Err("the unit was left configured"));
    }
}
