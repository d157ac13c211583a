//! Where calls come from, without walking the stack each time.
//!
//! A walk costs microseconds. It finds where on the stack the return addresses of the program's innermost frames lie; when a later
//! call of the same thread finds the same addresses at the same positions, it comes from the same source location. First the
//! return address of the C function is read: it lies at a distance from the shim's own frame that is the same at each call, and
//! that the first walk found.
//!
//! What is remembered was verified by a walk: an entry is only made when the addresses that the walk gave lie where they are
//! expected, which is how x86-64 calls. Elsewhere nothing is remembered, and each call walks.
//!
//! The distance was learnt on one call path, and another one may end nearer to the end of the stack. So only words of the thread's own
//! stack are read; a call on another stack (of a coroutine, of a signal handler) always walks.

use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::ops::Range;

use crate::acl::Call;
use crate::acl::observers::{DEPTH, SourceLocation, Walk};
use jumar_acl::aclnn::CALLS;

/// A stack of the program that was walked.
#[derive(Clone, Copy)]
struct Site {
    call: u16,
    here: usize,
    frames: [(usize, usize); DEPTH],
    location: SourceLocation,
}

/// Two calls whose numbers here are the same push each other out.
const SITES: usize = 256;
/// Return addresses lie within so many bytes.
const REACH: usize = 64 << 10;

struct Sites {
    /// The stack of the thread.
    stack: Range<usize>,
    /// By the number of the call: how far above the shim's frame its return address lies; 0: no walk yet.
    distance: Box<[u16]>,
    sites: Vec<Option<Site>>,
}

thread_local! {
    static KNOWN: RefCell<Option<Sites>> = const { RefCell::new(None) };
}

fn slot(call: u16, here: usize, address: usize) -> usize {
    let mixed = (address ^ (here >> 4).rotate_left(24) ^ usize::from(call).rotate_left(48))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 40) % SITES
}

/// Finds the stack of the calling thread. Empty if the system does not say; then nothing is remembered.
fn stack() -> Range<usize> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: the call has no arguments and no effect.
    let own = unsafe { libc::pthread_self() };
    // SAFETY: the thread is the calling one, and the structure is ours to write.
    if unsafe { libc::pthread_getattr_np(own, attributes.as_mut_ptr()) } != 0 {
        return 0..0;
    }
    let (mut start, mut bytes) = (std::ptr::null_mut(), 0);
    // SAFETY: the structure was written, and both results are ours.
    let failed =
        unsafe { libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut start, &raw mut bytes) };
    // SAFETY: the structure was written, and is not used again.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
    match failed {
        0 => start.addr()..start.addr() + bytes,
        _ => 0..0,
    }
}

/// Reads a word of a stack, if all of it lies between a frame of a running function and the stack's end.
fn word(here: usize, stack: &Range<usize>, address: usize) -> Option<usize> {
    let is_inside = stack.contains(&here)
        && address >= here
        && address.is_multiple_of(align_of::<usize>())
        && stack
            .end
            .checked_sub(size_of::<usize>())
            .is_some_and(|last| address <= last);
    if !is_inside {
        return None;
    }
    let from: *const usize = std::ptr::with_exposed_provenance(address);
    // SAFETY: the word is aligned and lies in the part of the thread's stack that is in use, which is mapped.
    Some(unsafe { from.read_volatile() })
}

/// Returns the source location of a call whose shim's frame is at `here`, if a walk from there was remembered.
pub(super) fn find(call: &'static Call, here: usize) -> Option<SourceLocation> {
    let known = |known: &RefCell<Option<Sites>>| {
        let known = known.borrow();
        let known = known.as_ref()?;
        let distance = usize::from(*known.distance.get(usize::from(call.number))?);
        if distance == 0 {
            return None;
        }
        let word = |address| word(here, &known.stack, address);
        let address = word(here.checked_add(distance)?)?;
        let site = known.sites[slot(call.number, here, address)]?;
        let is_there = |(frame, at): &(usize, usize)| *frame == 0 || word(*at) == Some(*frame);
        (site.call == call.number && site.here == here && site.frames.iter().all(is_there))
            .then_some(site.location)
    };
    KNOWN.try_with(known).ok().flatten()
}

/// Remembers what a walk saw.
pub(super) fn learn(call: &'static Call, here: usize, walk: &Walk) {
    let (first, at) = walk.frames[0];
    let number = usize::from(call.number);
    let near = at.checked_sub(here).filter(|distance| *distance < REACH);
    let Some(Ok(distance)) = near.map(u16::try_from) else {
        return;
    };
    if first == 0 || number >= CALLS {
        return;
    }
    let _ = KNOWN.try_with(|known| {
        let mut known = known.borrow_mut();
        let known = known.get_or_insert_with(|| Sites {
            stack: stack(),
            distance: vec![0; CALLS].into(),
            sites: vec![None; SITES],
        });
        let is_there = |(frame, at): &(usize, usize)| {
            *frame == 0 || (*at < here + REACH && word(here, &known.stack, *at) == Some(*frame))
        };
        if !walk.frames.iter().all(is_there) {
            return;
        }
        known.distance[number] = distance;
        known.sites[slot(call.number, here, first)] = Some(Site {
            call: call.number,
            here,
            frames: walk.frames,
            location: walk.location,
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_beside_the_part_of_the_stack_in_use_is_read() {
        let stack = stack();
        let local = 7_usize;
        let here = (&raw const local).expose_provenance();
        assert!(stack.contains(&here), "{here:#x} of {stack:x?}");
        assert_eq!(word(here, &stack, here), Some(7));
        let last = stack.end - size_of::<usize>();
        assert!(word(here, &stack, last).is_some());
        for outside in [stack.end, last + 1, here + 1, here - 8, usize::MAX - 7] {
            assert_eq!(word(here, &stack, outside), None, "{outside:#x}");
        }
        // On another stack nothing is known.
        assert_eq!(word(here, &(0..0), here), None);
        assert_eq!(word(stack.end + 64, &stack, stack.end + 64), None);
    }
}
