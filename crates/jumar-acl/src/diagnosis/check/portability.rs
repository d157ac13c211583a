//! Finds what is legal on the imitated device but refused on another product: limits, and calls that not every product has.
//!
//! Only the requested profiles are checked. The facts come from the interface's documentation. If it states that some products have a
//! call without listing them, the finding states the same.

use jumar::check::{Check, Finding};
use jumar::engine::sync::{AtomicU64, Ordering};
use jumar::engine::{Device, Profile};
use jumar_hccl::{DataType, Kind, Reduction, Signature};

use super::{CompletedCall, image_portability};
use crate::generated::enums;
use crate::process;

/// A family of products, by the beginning of its profiles' names; the first that fits counts.
const FAMILIES: &[(&str, Family)] = &[
    ("Ascend310P", Family::P310),
    ("Ascend310B", Family::B310),
    ("Ascend310", Family::A310),
    ("Ascend910B", Family::B910),
    // The 910C.
    ("Ascend910_9", Family::B910),
    ("Ascend910", Family::A910),
];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    A310,
    P310,
    B310,
    B910,
    A910,
}

fn family(profile: &Profile) -> Option<Family> {
    let found = FAMILIES
        .iter()
        .find(|(begin, _)| profile.soc_name.starts_with(begin));
    found.map(|(_, family)| *family)
}

/// Calls that some products have, which are not listed.
const OF_SOME: &[&str] = &[
    "aclrtStreamAbort",
    "aclrtMemAllocManaged",
    "aclrtMallocPhysical",
    "aclrtDeviceGetPCIBusId",
    "aclrtDeviceGetByPCIBusId",
    "aclrtGetOverflowStatus",
    "aclrtSetGroup",
];

/// What a call uses that not every product has: the words for it, and who lacks it.
fn lacking(seen: &CompletedCall) -> Option<(&'static str, &'static [Family])> {
    const DEVICE_TO_DEVICE: u64 = 3;
    match seen.call.name {
        "aclrtCreateEventWithFlag"
            if seen.words[1] == u64::from(enums::ACL_EVENT_DEVICE_USE_ONLY) =>
        {
            Some(("events with ACL_EVENT_DEVICE_USE_ONLY", &[Family::B310]))
        }
        "aclrtMemcpy2dAsync" if seen.words[6] == DEVICE_TO_DEVICE => Some((
            "copies of rows inside the device",
            &[Family::P310, Family::B310, Family::A910],
        )),
        _ => None,
    }
}

/// A kind of objects of which a device has so many.
struct LimitedKind {
    noun: &'static str,
    makers: &'static [&'static str],
    of: fn(&Profile) -> u32,
    left: fn(&Device) -> u32,
}

const LIMITED: &[LimitedKind] = &[
    LimitedKind {
        noun: "streams, default streams included",
        makers: &[
            "aclrtCreateStream",
            "aclrtCreateStreamV2",
            "aclrtCreateStreamWithConfig",
            "aclrtCreateContext",
        ],
        of: |profile| profile.limits.streams,
        left: Device::streams_available,
    },
    LimitedKind {
        noun: "events that count (aclrtCreateEventWithFlag)",
        makers: &["aclrtCreateEventWithFlag"],
        of: |profile| profile.limits.events,
        left: Device::events_available,
    },
    LimitedKind {
        noun: "notifies",
        makers: &["aclrtCreateNotify"],
        of: |profile| profile.limits.notifies,
        left: Device::notifies_available,
    },
];

/// The exceeded limits that were reported: a bit for each kind and profile.
static REPORTED: AtomicU64 = AtomicU64::new(0);

/// Returns whether a family of products has a collective for a type and a reduction.
///
/// # Source
/// The tables of data types in the documentation of HCCL. It has none for the 310 and the 310B.
fn has_collective(family: Family, kind: Kind, of: DataType, by: Option<Reduction>) -> Option<bool> {
    use DataType as T;
    let bits_8_to_64 = matches!(
        of,
        T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64
    );
    let transfers = bits_8_to_64 || matches!(of, T::Float16 | T::Float32 | T::Float64);
    let halves = matches!(of, T::Float16 | T::Float32);
    let Some(by) = by else {
        return Some(match (family, kind) {
            (Family::A310 | Family::B310, _) => return None,
            (Family::B910, Kind::Barrier) | (Family::A910, Kind::Barrier) => true,
            (Family::B910, _) => transfers || of == T::BFloat16,
            (Family::A910, kind) => kind != Kind::AllGatherV && transfers,
            (
                Family::P310,
                Kind::AllGather | Kind::AllGatherV | Kind::AllToAll | Kind::AllToAllV,
            ) => transfers,
            (Family::P310, _) => false,
        });
    };
    let product = by == Reduction::Product;
    Some(match (family, kind) {
        (Family::A310 | Family::B310, _) => return None,
        (Family::B910, Kind::ReduceScatterV) => {
            !product && (halves || matches!(of, T::Int8 | T::Int16 | T::Int32 | T::BFloat16))
        }
        (Family::B910, _) => {
            let refused = product && matches!(of, T::Int16 | T::BFloat16);
            let integer = matches!(of, T::Int8 | T::Int16 | T::Int32 | T::Int64);
            !refused && (halves || integer || of == T::BFloat16)
        }
        (Family::A910, Kind::ReduceScatterV) => false,
        (Family::A910, _) => halves || matches!(of, T::Int8 | T::Int32 | T::Int64),
        (Family::P310, Kind::Reduce) => false,
        (Family::P310, Kind::ReduceScatterV) => by == Reduction::Sum && (halves || of == T::Int16),
        (Family::P310, _) => {
            let integer = matches!(of, T::Int8 | T::Int32);
            halves || integer || of == T::Int16 && by == Reduction::Sum
        }
    })
}

/// Finds the requested products that lack a collective which a call is about to queue.
pub(super) fn lacking_collective(signature: &Signature) -> Option<Finding> {
    let Signature {
        kind,
        data_type,
        reduction,
        ..
    } = *signature;
    let lack = jumar::check::profiles().iter().filter(|profile| {
        family(profile)
            .and_then(|family| has_collective(family, kind, data_type, reduction))
            .is_some_and(|has| !has)
    });
    let names: Vec<&str> = lack.map(|profile| profile.soc_name.as_str()).collect();
    let what = match (kind, reduction) {
        (Kind::Barrier, _) => kind.name().to_owned(),
        (_, Some(by)) => format!("{} of type {} with {by}", kind.name(), data_type.name()),
        (_, None) => format!("{} of type {}", kind.name(), data_type.name()),
    };
    (!names.is_empty()).then(|| {
        Finding::now(
            "JMR-PORT-001",
            format!("{} has no {what}", names.join(", ")),
        )
    })
}

/// Looks at a call that went well.
pub(super) fn inspect(check: &Check, seen: &CompletedCall) {
    let profiles = jumar::check::profiles();
    if profiles.is_empty() {
        return;
    }
    let name = seen.call.name;
    let missing = lacking(seen).map(|(what, families)| (what.to_owned(), families));
    if let Some((what, families)) = missing.or_else(|| image_portability::lacking(seen)) {
        let lack = profiles
            .iter()
            .filter(|profile| family(profile).is_some_and(|family| families.contains(&family)));
        let names: Vec<&str> = lack.map(|profile| profile.soc_name.as_str()).collect();
        if !names.is_empty() {
            let text = format!("{} has no {what}", names.join(", "));
            check.find(Finding::now("JMR-PORT-001", text));
        }
    }
    image_portability::inspect_images(check, seen, profiles);
    if OF_SOME.contains(&name) {
        let text = format!("not every product has {name}: ask for it first, or keep another way");
        check.find(Finding::now("JMR-PORT-001", text));
    }
    for (kind, limited) in LIMITED.iter().enumerate() {
        if limited.makers.contains(&name) {
            passed(check, profiles, kind, limited);
        }
    }
}

fn passed(check: &Check, profiles: &[Profile], kind: usize, limited: &LimitedKind) {
    let Ok(runtime) = process::get().runtime() else {
        return;
    };
    let devices = (0..runtime.device_count()).filter_map(|n| runtime.device(i64::from(n)).ok());
    for device in devices {
        let used = (limited.of)(device.profile()).saturating_sub((limited.left)(&device));
        for (number, profile) in profiles.iter().enumerate().take(16) {
            let limit = (limited.of)(profile);
            let bit = 1 << (kind * 16 + number);
            if used <= limit || REPORTED.fetch_or(bit, Ordering::Relaxed) & bit != 0 {
                continue;
            }
            check.find(Finding::now(
                "JMR-PORT-002",
                format!(
                    "device {} has {used} {} now; {} has at most {limit}",
                    device.number(),
                    limited.noun,
                    profile.soc_name
                ),
            ));
        }
    }
}
