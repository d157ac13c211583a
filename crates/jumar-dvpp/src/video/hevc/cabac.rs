//! Arithmetic coding (clause 9.3 of the standard): the contexts of intra slices, and the coder.

/// The first context of each syntax element.
pub(super) mod context {
    pub(in super::super) const SPLIT_CU: usize = 0;
    pub(in super::super) const PART_MODE: usize = 3;
    pub(in super::super) const PREVIOUS_MODE: usize = 4;
    pub(in super::super) const CHROMA_MODE: usize = 5;
    pub(in super::super) const CODED_LUMA: usize = 6;
    pub(in super::super) const CODED_CHROMA: usize = 8;
    pub(in super::super) const LAST_X: usize = 12;
    pub(in super::super) const LAST_Y: usize = 30;
    pub(in super::super) const CODED_SUB_BLOCK: usize = 48;
    pub(in super::super) const SIGNIFICANT: usize = 52;
    pub(in super::super) const GREATER_1: usize = 94;
    pub(in super::super) const GREATER_2: usize = 118;
    pub(super) const COUNT: usize = 124;
}

/// The initial values of the contexts in intra slices, in the order of [`context`].
const INITIAL: [u8; context::COUNT] = [
    139, 141, 157, // split_cu_flag
    184, // part_mode
    184, // prev_intra_luma_pred_flag
    63,  // intra_chroma_pred_mode
    111, 141, // cbf_luma
    94, 138, 182, 154, // cbf_cb, cbf_cr
    110, 110, 124, 125, 140, 153, 125, 127, 140, 109, 111, 143, 127, 111, 79, 108, 123,
    63, // x
    110, 110, 124, 125, 140, 153, 125, 127, 140, 109, 111, 143, 127, 111, 79, 108, 123,
    63, // y
    91, 171, 134, 141, // coded_sub_block_flag
    111, 111, 125, 110, 110, 94, 124, 108, 124, 107, 125, 141, 179, 153, 125, 107, 125, 141, 179,
    153, 125, 107, 125, 141, 179, 153, 125, // sig_coeff_flag, luma
    140, 139, 182, 182, 152, 136, 152, 136, 153, 136, 139, 111, 136, 139, 111, // and chroma
    140, 92, 137, 138, 140, 152, 138, 139, 153, 74, 149, 92, 139, 107, 122, 152, 140, 179, 166,
    182, 140, 227, 122, 197, // coeff_abs_level_greater1_flag
    138, 153, 136, 167, 152, 152, // coeff_abs_level_greater2_flag
];

/// The range of the less probable symbol, by state and by the quarter of the range (table 9-46).
const RANGES: [[u8; 4]; 64] = [
    [128, 176, 208, 240],
    [128, 167, 197, 227],
    [128, 158, 187, 216],
    [123, 150, 178, 205],
    [116, 142, 169, 195],
    [111, 135, 160, 185],
    [105, 128, 152, 175],
    [100, 122, 144, 166],
    [95, 116, 137, 158],
    [90, 110, 130, 150],
    [85, 104, 123, 142],
    [81, 99, 117, 135],
    [77, 94, 111, 128],
    [73, 89, 105, 122],
    [69, 85, 100, 116],
    [66, 80, 95, 110],
    [62, 76, 90, 104],
    [59, 72, 86, 99],
    [56, 69, 81, 94],
    [53, 65, 77, 89],
    [51, 62, 73, 85],
    [48, 59, 69, 80],
    [46, 56, 66, 76],
    [43, 53, 63, 72],
    [41, 50, 59, 69],
    [39, 48, 56, 65],
    [37, 45, 54, 62],
    [35, 43, 51, 59],
    [33, 41, 48, 56],
    [32, 39, 46, 53],
    [30, 37, 43, 50],
    [29, 35, 41, 48],
    [27, 33, 39, 45],
    [26, 31, 37, 43],
    [24, 30, 35, 41],
    [23, 28, 33, 39],
    [22, 27, 32, 37],
    [21, 26, 30, 35],
    [20, 24, 29, 33],
    [19, 23, 27, 31],
    [18, 22, 26, 30],
    [17, 21, 25, 28],
    [16, 20, 23, 27],
    [15, 19, 22, 25],
    [14, 18, 21, 24],
    [14, 17, 20, 23],
    [13, 16, 19, 22],
    [12, 15, 18, 21],
    [12, 14, 17, 20],
    [11, 14, 16, 19],
    [11, 13, 15, 18],
    [10, 12, 15, 17],
    [10, 12, 14, 16],
    [9, 11, 13, 15],
    [9, 11, 12, 14],
    [8, 10, 12, 14],
    [8, 9, 11, 13],
    [7, 9, 11, 12],
    [7, 9, 10, 12],
    [7, 8, 10, 11],
    [6, 8, 9, 11],
    [6, 7, 9, 10],
    [6, 7, 8, 9],
    [2, 2, 2, 2],
];

/// The state after the less probable symbol (table 9-47).
const AFTER_LESS_PROBABLE: [u8; 64] = [
    0, 0, 1, 2, 2, 4, 4, 5, 6, 7, 8, 9, 9, 11, 11, 12, 13, 13, 15, 15, 16, 16, 18, 18, 19, 19, 21,
    21, 22, 22, 23, 24, 24, 25, 26, 26, 27, 27, 28, 29, 29, 30, 30, 30, 31, 32, 32, 33, 33, 33, 34,
    34, 35, 35, 35, 36, 36, 36, 37, 37, 37, 38, 38, 63,
];

/// The state of a context.
#[derive(Clone, Copy)]
struct Context {
    state: u8,
    most_probable: bool,
}

impl Context {
    fn new(initial: u8, quantizer: i32) -> Context {
        let (slope, offset) = (i32::from(initial >> 4), i32::from(initial & 15));
        let sum = (((slope * 5 - 45) * quantizer.clamp(0, 51)) >> 4) + offset * 8 - 16;
        let sum = sum.clamp(1, 126) as u8;
        Context {
            state: if sum > 63 { sum - 64 } else { 63 - sum },
            most_probable: sum > 63,
        }
    }
}

/// Codes the bins of a slice.
pub(super) struct Coder {
    contexts: [Context; context::COUNT],
    low: u32,
    range: u32,
    /// The bits that `low` can take before its upper byte is written.
    bits_left: i32,
    /// A byte that a carry may still change, and how many bytes wait, of which all but the first are 0xFF.
    waiting: u32,
    count: u32,
    bytes: Vec<u8>,
}

impl Coder {
    /// Creates a coder that continues a slice header, which ends with a byte.
    pub(super) fn new(header: Vec<u8>, quantizer: i32) -> Coder {
        Coder {
            contexts: INITIAL.map(|initial| Context::new(initial, quantizer)),
            low: 0,
            range: 510,
            bits_left: 23,
            waiting: 0xFF,
            count: 0,
            bytes: header,
        }
    }

    /// Codes a bin with a context.
    pub(super) fn bin(&mut self, context: usize, value: bool) {
        let context = &mut self.contexts[context];
        let state = usize::from(context.state);
        let less = u32::from(RANGES[state][(self.range >> 6 & 3) as usize]);
        self.range -= less;
        if value == context.most_probable {
            context.state = (context.state + 1).min(62);
            if self.range >= 256 {
                return;
            }
            self.low <<= 1;
            self.range <<= 1;
            self.bits_left -= 1;
        } else {
            if context.state == 0 {
                context.most_probable = !context.most_probable;
            }
            context.state = AFTER_LESS_PROBABLE[state];
            let shift = less.leading_zeros() - 23;
            self.low = (self.low + self.range) << shift;
            self.range = less << shift;
            self.bits_left -= shift as i32;
        }
        self.write_full_byte();
    }

    /// Codes bits without a context, the highest first.
    pub(super) fn bypass(&mut self, value: u32, count: u32) {
        for index in (0..count).rev() {
            self.low <<= 1;
            if value >> index & 1 == 1 {
                self.low += self.range;
            }
            self.bits_left -= 1;
            self.write_full_byte();
        }
    }

    /// Codes whether the slice ends here.
    pub(super) fn end_of_slice(&mut self, ends: bool) {
        self.range -= 2;
        if ends {
            self.low = (self.low + self.range) << 7;
            self.range = 2 << 7;
            self.bits_left -= 7;
        } else if self.range >= 256 {
            return;
        } else {
            self.low <<= 1;
            self.range <<= 1;
            self.bits_left -= 1;
        }
        self.write_full_byte();
    }

    fn write_full_byte(&mut self) {
        if self.bits_left >= 12 {
            return;
        }
        let byte = self.low >> (24 - self.bits_left);
        self.bits_left += 8;
        self.low &= u32::MAX >> self.bits_left;
        if byte == 0xFF {
            self.count += 1;
        } else if self.count > 0 {
            self.write_waiting(byte >> 8);
            self.waiting = byte & 0xFF;
            self.count = 1;
        } else {
            self.waiting = byte;
            self.count = 1;
        }
    }

    fn write_waiting(&mut self, carry: u32) {
        if self.count > 0 {
            self.bytes.push((self.waiting + carry) as u8);
        }
        for _ in 1..self.count {
            self.bytes.push((0xFF + carry) as u8);
        }
        self.count = 0;
    }

    /// Returns the slice, with the bit behind its end.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let carry = self.low >> (32 - self.bits_left);
        self.write_waiting(carry);
        self.low -= carry << (32 - self.bits_left);
        // What is left of `low`, and the stop bit, filled up to a byte.
        let count = 25 - self.bits_left;
        let bits = self.low >> 8 << 1 | 1;
        let filled = (count + 7) / 8 * 8;
        let bits = bits << (filled - count);
        for byte in (0..filled / 8).rev() {
            self.bytes.push((bits >> (8 * byte)) as u8);
        }
        self.bytes
    }
}
