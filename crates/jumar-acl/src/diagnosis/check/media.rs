//! Refused calls of the second interface of images and video: its codes, and where channels ended.

use jumar::check::{Finding, SourceLocation};
use jumar::engine::sync::Mutex;

use super::CompletedCall;

/// The causes in the codes of the interface.
mod cause {
    pub(super) const ILLEGAL_PARAM: u32 = 3;
    pub(super) const UNEXIST: u32 = 5;
}

/// How the names of the functions with channels begin.
const FAMILIES: &[&str] = &[
    "hi_mpi_vpc_",
    "hi_mpi_vdec_",
    "hi_mpi_venc_",
    "hi_mpi_pngd_",
];

/// Calls whose images and streams are checked; those of image processing are, with these exceptions.
const SENDS: &[&str] = &[
    "hi_mpi_vdec_send_stream",
    "hi_mpi_pngd_send_stream",
    "hi_mpi_venc_send_frame",
    "hi_mpi_venc_send_jpege_frame",
];
const WITHOUT_IMAGES: &[&str] = &[
    "hi_mpi_vpc_create_chn",
    "hi_mpi_vpc_sys_create_chn",
    "hi_mpi_vpc_destroy_chn",
    "hi_mpi_vpc_get_process_result",
];

/// Where channels were destroyed, by family and number.
static ENDED: Mutex<Vec<(&str, u64, SourceLocation)>> = Mutex::new(Vec::new());

fn family(name: &str) -> Option<&'static str> {
    FAMILIES
        .iter()
        .copied()
        .find(|family| name.starts_with(family))
}

/// Returns whether a function ends a channel.
pub(super) fn destroys_channel(name: &str) -> bool {
    family(name).is_some() && name.ends_with("_destroy_chn")
}

/// Records that a channel was destroyed.
pub(super) fn channel_destroyed(seen: &CompletedCall) {
    let Some(family) = family(seen.call.name) else {
        return;
    };
    let number = seen.words[0];
    let mut ended = ENDED.lock();
    ended.retain(|(of, known, _)| (*of, *known) != (family, number));
    ended.push((family, number, jumar::check::here()));
}

/// Returns the rule behind a refused call.
pub(super) fn rule_for(seen: &CompletedCall) -> Option<&'static str> {
    let name = seen.call.name;
    // A code has the module in its upper half.
    let code = seen.code.cast_unsigned() & 0x1FFF;
    let says = |words: &str| {
        let sentence = seen.sentence.as_deref();
        sentence.is_some_and(|sentence| sentence.contains(words))
    };
    let is_matrix = name == "hi_mpi_sys_set_chn_csc_matrix";
    match code {
        // A channel that another thread destroys while a call waits existed when the call began.
        cause::UNEXIST if (is_matrix || family(name).is_some()) && says("does not exist") => {
            Some("JMR-DVPP-002")
        }
        cause::ILLEGAL_PARAM if name.contains("_release_") && says("was released before") => {
            Some("JMR-DVPP-003")
        }
        cause::ILLEGAL_PARAM if !says("milli_sec") && checks_images(name) => Some("JMR-DVPP-001"),
        _ => None,
    }
}

fn checks_images(name: &str) -> bool {
    let is_processing = name.starts_with("hi_mpi_vpc_") && !WITHOUT_IMAGES.contains(&name);
    is_processing || SENDS.contains(&name)
}

/// Adds where the channel of a call was destroyed.
pub(super) fn with_end(finding: Finding, seen: &CompletedCall) -> Finding {
    let ended = ENDED.lock();
    let family = family(seen.call.name);
    let of_call = ended
        .iter()
        .find(|(of, number, _)| Some(*of) == family && *number == seen.words[0]);
    match of_call {
        Some((_, number, location)) => {
            let text = format!("channel {} is destroyed", *number as i32);
            finding.and("earlier", *location, text)
        }
        None => finding,
    }
}
