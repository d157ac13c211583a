//! The numbers of the operators' functions. They follow the numbers of the functions in `generated::calls`.

use crate::Call;
use crate::generated::calls;

const OPERATORS: usize = jumar_eager::signatures::ALL.len();
const FIRST: usize = calls::ALL.len();

/// How many functions have a number.
pub const CALLS: usize = FIRST + 2 * OPERATORS;

/// A phase of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// `aclnnXGetWorkspaceSize`.
    First,
    /// `aclnnX`.
    Second,
}

/// Returns the call of one phase of the operator with a number.
pub const fn call(name: &'static str, operator: usize, phase: Phase) -> Call {
    assert!(operator < OPERATORS && CALLS < u16::MAX as usize);
    Call {
        name,
        number: (FIRST + 2 * operator + phase as usize) as u16,
    }
}

/// Returns the operator's number and the phase, if a call is one of an operator.
pub fn phase_of(call: &Call) -> Option<(usize, Phase)> {
    let number = usize::from(call.number).checked_sub(FIRST)?;
    let phase = match number % 2 {
        0 => Phase::First,
        _ => Phase::Second,
    };
    (number / 2 < OPERATORS).then_some((number / 2, phase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_functions_are_found_again() {
        for operator in [0, 20, OPERATORS - 1] {
            for phase in [Phase::First, Phase::Second] {
                let call = call("aclnnX", operator, phase);
                assert_eq!(phase_of(&call), Some((operator, phase)));
            }
        }
        assert_eq!(phase_of(calls::ALL[FIRST - 1]), None);
        let none = Call {
            name: "a call without a number",
            number: u16::MAX,
        };
        assert_eq!(phase_of(&none), None);
    }
}
