//! Where calls come from, without walking the stack each time.
//!
//! A walk costs microseconds. It tells where on the stack the return addresses of the program's innermost frames lie; when a later
//! call of the same thread finds the same addresses in the same places, it comes from the same place in the program. First the
//! return address of the C function is read: it lies at a distance from the shim's own frame that is the same at each call, and
//! that the first walk gave.
//!
//! What is remembered was verified by a walk: an entry is only made when the addresses that the walk gave lie where they are
//! expected, which is how x86-64 calls. Elsewhere nothing is remembered, and each call walks.

use std::cell::RefCell;

use crate::acl::Call;
use crate::acl::watch::{DEPTH, Place, Walk};

/// A stack of the program that was walked.
#[derive(Clone, Copy)]
struct Site {
    call: u16,
    here: usize,
    frames: [(usize, usize); DEPTH],
    place: Place,
}

/// Two calls whose numbers here are the same push each other out.
const SITES: usize = 256;
/// More functions than the interface has.
const CALLS: usize = 1024;
/// Return addresses lie within so many bytes.
const REACH: usize = 64 << 10;

struct Sites {
    /// By the number of the call: how far above the shim's frame its return address lies; 0: nobody walked yet.
    distance: Box<[u16; CALLS]>,
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

/// Reads a word of the calling thread's stack.
fn word(address: usize) -> usize {
    let from: *const usize = std::ptr::with_exposed_provenance(address);
    // SAFETY: every address that comes here lies above the frame of a running function, on the same stack and within reach, where
    // an earlier walk from the same frame of the same thread found a return address: the stack is mapped up to there.
    unsafe { from.read_volatile() }
}

/// Finds the place of a call whose shim's frame is at `here`, if a walk from there was remembered.
pub(super) fn find(call: &'static Call, here: usize) -> Option<Place> {
    let known = |known: &RefCell<Option<Sites>>| {
        let known = known.borrow();
        let known = known.as_ref()?;
        let distance = usize::from(*known.distance.get(usize::from(call.number))?);
        if distance == 0 {
            return None;
        }
        let address = word(here + distance);
        let site = known.sites[slot(call.number, here, address)]?;
        let is_there = |(frame, at): &(usize, usize)| *frame == 0 || word(*at) == *frame;
        (site.call == call.number && site.here == here && site.frames.iter().all(is_there))
            .then_some(site.place)
    };
    KNOWN.try_with(known).ok().flatten()
}

/// Remembers what a walk saw.
pub(super) fn learn(call: &'static Call, here: usize, walk: &Walk) {
    let (first, at) = walk.frames[0];
    let is_near =
        |at: usize| at > here && at - here < REACH && at.is_multiple_of(align_of::<usize>());
    // The walk was of this stack, so what lies between this frame and the found ones is mapped.
    let is_there =
        |(frame, at): &(usize, usize)| *frame == 0 || (is_near(*at) && word(*at) == *frame);
    let number = usize::from(call.number);
    if first == 0 || number >= CALLS || !walk.frames.iter().all(is_there) {
        return;
    }
    let Ok(distance) = u16::try_from(at - here) else {
        return;
    };
    let _ = KNOWN.try_with(|known| {
        let mut known = known.borrow_mut();
        let known = known.get_or_insert_with(|| Sites {
            distance: Box::new([0; CALLS]),
            sites: vec![None; SITES],
        });
        known.distance[number] = distance;
        known.sites[slot(call.number, here, first)] = Some(Site {
            call: call.number,
            here,
            frames: walk.frames,
            place: walk.place,
        });
    });
}
