//! A pause of a stream.

use std::time::Duration;

use super::Table;
use crate::Refusal;
use crate::build::Cx;

pub(crate) static TABLE: &Table = &[("aclnnSleep", sleep)];

/// Cycles of the clock in 20 nanoseconds: the document counts 1.65 cycles in each.
const CYCLES: u128 = 33;
const NANOSECONDS: u128 = 20;

/// Returns the time that takes at least so many cycles.
fn time_of(cycles: u64) -> Duration {
    let nanoseconds = (u128::from(cycles) * NANOSECONDS).div_ceil(CYCLES);
    // Fewer nanoseconds than cycles, so they fit.
    Duration::from_nanos(nanoseconds as u64)
}

fn sleep(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let given = cx.ints("cycles")?;
    let cycles = match *given {
        [cycles] if cycles > 0 => cycles.cast_unsigned(),
        _ => {
            return Err(cx.invalid(format_args!(
                "cycles is {given:?}; expected one number above 0"
            )));
        }
    };
    cx.pause = time_of(cycles);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arg, Plan, plan};

    fn planned(cycles: Arg) -> Result<Plan, Refusal> {
        let mut all = crate::signatures::ALL.iter();
        let signature = all.find(|signature| signature.name == "aclnnSleep");
        plan(signature.unwrap(), &[cycles])
    }

    #[test]
    fn a_plan_pauses_for_the_time_of_the_cycles_and_is_not_short() {
        let plan = planned(Arg::Ints(vec![8_250_000])).unwrap();
        assert_eq!(plan.pause(), Duration::from_millis(5));
        assert!(!plan.is_short());
    }

    #[test]
    fn cycles_count_a_clock_of_1650_megahertz_and_are_rounded_up() {
        assert_eq!(time_of(1_650_000_000), Duration::from_secs(1));
        assert_eq!(time_of(1), Duration::from_nanos(1));
        // The document states about 18 minutes for this number.
        assert_eq!(time_of(1_782_000_000_000), Duration::from_secs(18 * 60));
        assert!(time_of(u64::MAX) > Duration::from_secs(1 << 33));
    }

    #[test]
    fn other_than_one_positive_number_is_refused() {
        for (cycles, status) in [
            (Arg::Null, 161_001),
            (Arg::Ints(vec![]), 161_002),
            (Arg::Ints(vec![0]), 161_002),
            (Arg::Ints(vec![-5]), 161_002),
            (Arg::Ints(vec![1, 2]), 161_002),
        ] {
            let refusal = planned(cycles).err().unwrap();
            assert_eq!(refusal.status().code(), status);
            assert!(refusal.text().contains("cycles"), "{refusal}");
        }
    }
}
