//! Values in device memory that streams write and wait for.

use jumar::engine::{Span, ValueTest};
use jumar_types::{ErrorKind, Result};

use crate::{Cx, Raw, refuse};

pub fn aclrtValueWrite(cx: &Cx<'_>, word: Span, value: u64, flag: u32, stream: Raw) -> Result<()> {
    if flag != 0 {
        return refuse(
            ErrorKind::InvalidValue,
            format!("the flag of a value write is {flag}; it must be 0"),
        );
    }
    cx.with_stream(stream, |stream| {
        stream.write_value(word, value, &cx.caller())
    })
}

pub fn aclrtValueWait(cx: &Cx<'_>, word: Span, value: u64, flag: u32, stream: Raw) -> Result<()> {
    let test = test_of(flag)?;
    cx.with_stream(stream, |stream| {
        stream.wait_value(word, test, value, &cx.caller())
    })
}

/// What a flag of the interface tests.
pub(crate) fn test_of(flag: u32) -> Result<ValueTest> {
    Ok(match flag {
        0 => ValueTest::AtLeast,
        1 => ValueTest::Equal,
        2 => ValueTest::AnyBit,
        3 => ValueTest::NoneOfSomeBit,
        _ => {
            return refuse(
                ErrorKind::InvalidValue,
                format!(
                    "the flag of a value wait is {flag}; 0 waits for >=, 1 for ==, 2 for a common bit, 3 for a bit that neither has"
                ),
            );
        }
    })
}

/// The flag of the interface for a test.
pub(crate) fn flag_of(test: ValueTest) -> u32 {
    match test {
        ValueTest::AtLeast => 0,
        ValueTest::Equal => 1,
        ValueTest::AnyBit => 2,
        ValueTest::NoneOfSomeBit => 3,
    }
}
