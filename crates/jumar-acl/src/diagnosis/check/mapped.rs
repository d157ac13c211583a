//! Copies from and to ordinary host memory that is not all there.

use jumar::check::{Check, Finding};

/// How many pages of a range are examined at most: a range that is too long leaves its mapping at its end.
const MOST_PAGES: usize = 64;

/// Finds ordinary host memory that is not mapped, before a copy stops the process there.
pub(super) fn examine(check: &Check, what: &str, address: usize, bytes: usize) {
    const PAGE: usize = 4096;
    let Some(last) = address.checked_add(bytes - 1) else {
        return;
    };
    let Ok(memory) = std::fs::File::open("/proc/self/mem") else {
        return;
    };
    let is_mapped = |at: usize| {
        // An offset that the file cannot have is an address that no process has.
        std::os::unix::fs::FileExt::read_at(&memory, &mut [0], at as u64)
            .is_ok_and(|read| read == 1)
    };
    let pages = (last / PAGE - address / PAGE).min(MOST_PAGES);
    let near_the_end = (0..pages).map(|back| (last / PAGE - back) * PAGE);
    let Some(at) = near_the_end
        .chain([address])
        .filter(|at| !is_mapped(*at))
        .min()
    else {
        return;
    };
    check.find(
        Finding::now(
            "JMR-COPY-010",
            format!(
                "the {what} of {bytes} bytes at {address:#x} is not mapped from byte {} on",
                at.saturating_sub(address)
            ),
        )
        .fix("Give the length of the memory that is there."),
    );
}
