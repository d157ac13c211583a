//! Objects of which a device carries a limited number: a warning before the limit is met, as long as the program can still be changed
//! calmly. A card refuses the next object, often hours later or with a larger model only.

use jumar::check::{Check, Finding};
use jumar::engine::sync::{AtomicBool, Ordering};
use jumar::engine::{Device, StreamUse};

use crate::process;

/// The rule.
const RULE: &str = "JMR-LIMIT-001";
/// The share of a limit from which on it is reported, in percent.
const SHARE: u64 = 80;

/// A kind of objects that a device counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitedObject {
    /// Those that the program made, and those that captured models take.
    Streams,
    /// Those that hold a hardware id.
    Events,
    Notifies,
}

/// Whether a kind was reported: once in a process.
static REPORTED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];

/// Reports a kind of which a device has few left.
pub(super) fn inspect(check: &Check, counted: LimitedObject) {
    let reported = &REPORTED[counted as usize];
    if reported.load(Ordering::Relaxed) || !check.wants(RULE) {
        return;
    }
    let Ok(runtime) = process::get().runtime() else {
        return;
    };
    let devices = (0..i64::from(runtime.device_count())).filter_map(|one| runtime.device(one).ok());
    let Some(text) = devices
        .into_iter()
        .find_map(|device| near(&device, counted))
    else {
        return;
    };
    if !reported.swap(true, Ordering::Relaxed) {
        check.find(Finding::now(RULE, text));
    }
}

/// Returns the sentence for a device that has few objects of a kind left.
fn near(device: &Device, counted: LimitedObject) -> Option<String> {
    let limits = device.profile().limits;
    let StreamUse {
        used, by_models, ..
    } = device.stream_use();
    let (used, limit, noun) = match counted {
        LimitedObject::Streams => (used, limits.streams, "streams"),
        LimitedObject::Events => (
            limits.events - device.events_available(),
            limits.events,
            "events",
        ),
        LimitedObject::Notifies => {
            let used = limits.notifies - device.notifies_available();
            (used, limits.notifies, "notifies")
        }
    };
    if !is_near(used, limit) {
        return None;
    }
    let of_models = match (counted, by_models) {
        (LimitedObject::Streams, 1..) => {
            format!(
                ", {by_models} of them by captured models, which keep them until they are destroyed"
            )
        }
        _ => String::new(),
    };
    Some(format!(
        "{used} of the {limit} {noun} of device {} are in use{of_models}",
        device.number()
    ))
}

fn is_near(used: u32, limit: u32) -> bool {
    u64::from(used) * 100 >= u64::from(limit) * SHARE
}

#[cfg(test)]
mod tests {
    use super::is_near;

    #[test]
    fn four_fifths_of_a_limit_are_near_it() {
        assert!(!is_near(1_638, 2_048));
        assert!(is_near(1_639, 2_048));
        assert!(is_near(4, 5) && !is_near(3, 5));
    }
}
