//! The rules for calls that take addresses: copies, frees and the buffers of models.

use jumar::check::{Allocation, Check, Finding};
use jumar::engine::MemoryKind;

use crate::Cx;
use crate::observers::MOST;

use super::{lifetimes, mapped, recent};
/// The kind of a copy that takes its source with it at once.
const BUFFERED: usize = crate::generated::enums::ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE as usize;

/// Checks a copy: destination with capacity, source with length, and whether it is queued.
pub(super) fn copy(
    cx: &Cx<'_>,
    check: &Check,
    (to, capacity): (usize, usize),
    (from, count): (usize, usize),
    kind: usize,
    queued: bool,
) {
    if count == 0 || to == 0 || from == 0 {
        return;
    }
    if kind == BUFFERED {
        check.source_is_read_at_once();
    }
    let ends = [
        recent::allocation(check, to),
        recent::allocation(check, from),
    ];
    ends_of_copy(cx, check, [(to, &ends[0]), (from, &ends[1])], kind);
    if queued {
        pageable(cx, check, [(to, &ends[0]), (from, &ends[1])]);
    }
    let [target, source] = &ends;
    reach_of(check, "target", target, to, count);
    reach_of(check, "source", source, from, count);
    for (what, known, address) in [("target", target, to), ("source", source, from)] {
        if known.is_none() && home(cx, address).is_none() {
            mapped::examine(check, what, address, count);
        }
    }
    if capacity > count
        && let Some(allocation) = target
        && capacity > left(allocation, to)
    {
        check.find(
            Finding::now(
                "JMR-COPY-003",
                format!(
                    "destMax is {capacity}, and {} has {} bytes from there",
                    allocation.name(),
                    left(allocation, to)
                ),
            )
            .and("made", allocation.made, allocation.name()),
        );
    }
    if count > capacity {
        let text = format!("{count} bytes are copied into a destination of {capacity} (destMax)");
        let mut finding = Finding::now("JMR-COPY-002", text);
        if let Some(allocation) = target {
            finding = finding.and("made", allocation.made, allocation.name());
        }
        check.find(finding);
    }
    if to < from.saturating_add(count) && from < to.saturating_add(count) && to != from {
        check.find(Finding::now(
            "JMR-COPY-009",
            format!(
                "target and source share {} bytes",
                count - to.abs_diff(from)
            ),
        ));
    }
}

/// How much of an allocation lies behind an address.
pub(super) fn left(allocation: &Allocation, address: usize) -> usize {
    (allocation.start + allocation.asked).saturating_sub(address)
}

fn home(cx: &Cx<'_>, address: usize) -> Option<MemoryKind> {
    let block = cx.runtime().ok()?.space().find(address)?;
    Some(block.home)
}

pub(super) fn free(cx: &Cx<'_>, check: &Check, address: usize, device: bool) {
    if address == 0 {
        return check.find(Finding::now("JMR-MEM-003", "the address is null"));
    }
    let known = check.allocation(address);
    if let Some(allocation) = &known {
        if allocation.start != address {
            return check.find(
                Finding::now(
                    "JMR-MEM-006",
                    format!(
                        "the address lies {} bytes into {}",
                        address - allocation.start,
                        allocation.name()
                    ),
                )
                .and("made", allocation.made, allocation.name()),
            );
        }
        if allocation.device.is_some() != device {
            let want = if device { "aclrtFreeHost" } else { "aclrtFree" };
            return check.find(
                Finding::now(
                    "JMR-MEM-005",
                    format!("{} was made by {}", allocation.name(), allocation.made_by),
                )
                .and("made", allocation.made, allocation.name())
                .fix(format!("Give it back with {want}.")),
            );
        }
        return;
    }
    if home(cx, address).is_some() {
        return;
    }
    match check.freed(address) {
        Some((allocation, location)) if allocation.start == address => check.find(
            Finding::now(
                "JMR-MEM-004",
                format!("{} is freed again", allocation.name()),
            )
            .and(
                "earlier",
                location,
                format!("{} is freed", allocation.name()),
            )
            .and("made", allocation.made, allocation.name()),
        ),
        _ => check.find(Finding::now(
            "JMR-MEM-006",
            format!("{address:#x} is not an allocation of this runtime"),
        )),
    }
}

/// Compares the kind of a copy with where its ends live.
fn ends_of_copy(cx: &Cx<'_>, check: &Check, ends: [(usize, &Option<Allocation>); 2], kind: usize) {
    const HOST_TO_HOST: usize = 0;
    const HOST_TO_DEVICE: usize = 1;
    const DEVICE_TO_HOST: usize = 2;
    const DEVICE_TO_DEVICE: usize = 3;
    let wanted = match kind {
        HOST_TO_HOST => (false, false),
        HOST_TO_DEVICE => (true, false),
        DEVICE_TO_HOST => (false, true),
        DEVICE_TO_DEVICE => (true, true),
        _ => return,
    };
    let [(to, target), (from, source)] = ends;
    for (name, address, known, wanted) in [
        ("dst", to, target, wanted.0),
        ("src", from, source, wanted.1),
    ] {
        let found = match known {
            Some(allocation) => allocation.device.is_some(),
            // Managed and registered memory is both.
            None if home(cx, address).is_some() => continue,
            None => {
                if let Some((allocation, location)) = check.freed(address)
                    && allocation.device.is_some()
                {
                    check.find(
                        Finding::now(
                            "JMR-MEM-007",
                            format!("{name} is {}, which was freed", allocation.name()),
                        )
                        .and(
                            "earlier",
                            location,
                            format!("{} is freed", allocation.name()),
                        )
                        .and("made", allocation.made, allocation.name()),
                    );
                    return;
                }
                false
            }
        };
        if found != wanted {
            let memory_name = |device| {
                if device {
                    "device memory"
                } else {
                    "host memory"
                }
            };
            let mut finding = Finding::now(
                "JMR-COPY-001",
                format!(
                    "{name} is {}; the kind says {}",
                    memory_name(found),
                    memory_name(wanted)
                ),
            );
            if let Some(allocation) = known {
                finding = finding.and("made", allocation.made, allocation.name());
            }
            check.find(finding);
        }
    }
}

/// Ordinary host memory makes an asynchronous copy wait.
fn pageable(cx: &Cx<'_>, check: &Check, ends: [(usize, &Option<Allocation>); 2]) {
    for (name, (address, known)) in ["target", "source"].into_iter().zip(ends) {
        let freed = || check.freed(address).is_some();
        if known.is_none() && home(cx, address).is_none() && !freed() {
            check.find(Finding::now(
                "JMR-PERF-001",
                format!(
                    "the {name} is pageable host memory: the call waits for the stream and copies on the calling thread"
                ),
            ));
        }
    }
}

/// Finds ranges that leave their allocation.
pub(super) fn reach(check: &Check, what: &str, address: usize, bytes: usize) {
    if recent::fits(check, address, bytes) {
        return;
    }
    reach_of(
        check,
        what,
        &recent::allocation(check, address),
        address,
        bytes,
    );
}

fn reach_of(
    check: &Check,
    what: &str,
    allocation: &Option<Allocation>,
    address: usize,
    bytes: usize,
) {
    let Some(allocation) = allocation else {
        return;
    };
    if bytes > left(allocation, address) {
        check.find(
            Finding::now(
                "JMR-MEM-010",
                format!(
                    "the {what} of {bytes} bytes begins at +{} of {}, which has {} bytes",
                    address - allocation.start,
                    allocation.name(),
                    allocation.asked
                ),
            )
            .and("made", allocation.made, allocation.name()),
        );
    }
}

pub(super) fn buffer(check: &Check, address: usize, bytes: usize) {
    let Some(allocation) = check.allocation(address) else {
        return;
    };
    let capacity = left(&allocation, address);
    if bytes > capacity {
        check.find(
            Finding::now(
                "JMR-MEM-015",
                format!(
                    "the buffer is {bytes} bytes, and {} has {capacity} from there",
                    allocation.name()
                ),
            )
            .and("made", allocation.made, allocation.name()),
        );
    }
}

/// Finds data buffers of a model's execution that were destroyed, or lie on the host.
pub(super) fn host_buffers(check: &Check, words: &[u64; MOST]) {
    for (what, dataset) in [("input", words[1]), ("output", words[2])] {
        let held: Vec<u64> = lifetimes::members_of(dataset);
        for buffer in held {
            let Some(object) = check.object("data buffer", buffer) else {
                continue;
            };
            if let Some((by, location)) = object.ended {
                check.find(
                    Finding::now(
                        "JMR-DATASET-004",
                        format!("the {what} data set holds {}, which is gone", object.name()),
                    )
                    .and(
                        "earlier",
                        location,
                        format!("{} is ended by {by}", object.name()),
                    )
                    .and("made", object.made, object.name()),
                );
            }
        }
    }
}
