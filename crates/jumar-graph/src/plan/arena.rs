//! Where in the arena each request for bytes lies.

use std::collections::BTreeMap;

use super::too_large;
use crate::Result;
use crate::compile::ALIGNMENT;

/// Who asked for bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    Scratch(usize),
    Storage(usize),
}

/// Bytes that are needed from one step to another, both included.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) bytes: usize,
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) owner: Owner,
}

/// How many neighbours are checked for gaps in total. Models of a few thousand steps never come near it; a graph in which a hundred
/// thousand tensors are needed at once would have ten thousand million.
const MOST_LOOKUPS: usize = 1 << 25;

/// Returns an offset for each request, and the size of the arena. The largest are assigned first, each into the tightest gap
/// between those that are needed at the same time; where that would be looked for too long, above all of them.
pub(super) fn assign(requests: &[Request]) -> Result<(Vec<usize>, usize)> {
    assign_within(requests, MOST_LOOKUPS)
}

fn assign_within(requests: &[Request], mut lookups_left: usize) -> Result<(Vec<usize>, usize)> {
    let size = |request: &Request| {
        request
            .bytes
            .checked_next_multiple_of(ALIGNMENT)
            .ok_or_else(too_large)
    };
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.sort_by_key(|&index| {
        (
            std::cmp::Reverse(requests[index].bytes),
            requests[index].first,
            index,
        )
    });
    // Steps that begin or end something, in order: all others change nothing.
    let mut steps: Vec<usize> = requests
        .iter()
        .flat_map(|request| [request.first, request.last])
        .collect();
    steps.sort_unstable();
    steps.dedup();
    let rank = |step: usize| steps.binary_search(&step).unwrap_or_default();
    let mut assigned = AssignedRanges::new(steps.len());
    let mut offsets = vec![0; requests.len()];
    let mut total = 0;
    let mut taken = Vec::new();
    for index in order {
        let own = &requests[index];
        let bytes = size(own)?;
        let (first, last) = (rank(own.first), rank(own.last));
        taken.clear();
        let offset = match lookups_left {
            0 => assigned.top(first, last),
            _ => {
                assigned.meeting(first, last, &mut taken);
                lookups_left = lookups_left.saturating_sub(taken.len());
                taken.sort_unstable();
                gap(&taken, bytes)
            }
        };
        let end = offset.checked_add(bytes).ok_or_else(too_large)?;
        offsets[index] = offset;
        total = total.max(end);
        assigned.add(first, last, (offset, end));
    }
    Ok((offsets, total))
}

/// Finds the tightest gap between ranges that are sorted by their start, or the offset above them.
fn gap(taken: &[(usize, usize)], bytes: usize) -> usize {
    let (mut best, mut end): (Option<(usize, usize)>, usize) = (None, 0);
    for &(from, to) in taken {
        if from > end && from - end >= bytes && best.is_none_or(|(gap, _)| from - end < gap) {
            best = Some((from - end, end));
        }
        end = end.max(to);
    }
    best.map_or(end, |(_, offset)| offset)
}

/// The assigned ranges, by the steps during which it is needed. A binary tree over the steps: an interval is kept at the few nodes
/// that together are just it.
struct AssignedRanges {
    /// The number of leaves, a power of two.
    leaves: usize,
    /// The ranges kept at each node.
    at: Vec<Vec<(usize, usize)>>,
    /// The highest end at each node, and at all nodes below it.
    own_top: Vec<usize>,
    top_below: Vec<usize>,
    /// The same ranges by their first step.
    by_first: BTreeMap<usize, Vec<(usize, usize)>>,
}

impl AssignedRanges {
    fn new(steps: usize) -> AssignedRanges {
        let leaves = steps.next_power_of_two().max(1);
        AssignedRanges {
            leaves,
            at: vec![Vec::new(); 2 * leaves],
            own_top: vec![0; 2 * leaves],
            top_below: vec![0; 2 * leaves],
            by_first: BTreeMap::new(),
        }
    }

    fn add(&mut self, first: usize, last: usize, range: (usize, usize)) {
        self.by_first.entry(first).or_default().push(range);
        let (mut low, mut high) = (first + self.leaves, last + 1 + self.leaves);
        while low < high {
            if low % 2 == 1 {
                self.keep(low, range);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                self.keep(high, range);
            }
            (low, high) = (low / 2, high / 2);
        }
    }

    fn keep(&mut self, node: usize, range: (usize, usize)) {
        self.at[node].push(range);
        self.own_top[node] = self.own_top[node].max(range.1);
        let mut up = node;
        while up > 0 {
            self.top_below[up] = self.top_below[up].max(range.1);
            up /= 2;
        }
    }

    /// Collects what is needed at any of the steps, each once.
    fn meeting(&self, first: usize, last: usize, into: &mut Vec<(usize, usize)>) {
        // What is there at the first step, and what begins after it.
        let mut node = first + self.leaves;
        while node > 0 {
            into.extend_from_slice(&self.at[node]);
            node /= 2;
        }
        let later = self.by_first.range(first + 1..last + 1);
        into.extend(later.flat_map(|(_, ranges)| ranges).copied());
    }

    /// Returns the highest end of what is needed at any of the steps.
    fn top(&self, first: usize, last: usize) -> usize {
        let mut top = 0;
        let (mut low, mut high) = (first + self.leaves, last + 1 + self.leaves);
        while low < high {
            if low % 2 == 1 {
                top = top.max(self.top_below[low]);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                top = top.max(self.top_below[high]);
            }
            (low, high) = (low / 2, high / 2);
        }
        // What reaches over the steps is kept above them.
        for leaf in [first, last] {
            let mut node = leaf + self.leaves;
            while node > 0 {
                top = top.max(self.own_top[node]);
                node /= 2;
            }
        }
        top
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storage(index: usize, bytes: usize, first: usize, last: usize) -> Request {
        Request {
            bytes,
            first,
            last,
            owner: Owner::Storage(index),
        }
    }

    #[test]
    fn requests_that_live_at_once_never_overlap() {
        let mut random = fastrand::Rng::with_seed(12345);
        let mut next = |bound: u64| random.u64(..bound);
        for round in 0..60 {
            let longest = [1, 6, 30][round % 3];
            let requests: Vec<Request> = (0..40)
                .map(|index| {
                    let first = next(30) as usize;
                    let last = match next(20) {
                        0 => usize::MAX,
                        _ => first + next(longest) as usize,
                    };
                    storage(index, 1 + next(5000) as usize, first, last)
                })
                .collect();
            // With gaps looked for always, for a while, and never.
            for lookups_left in [usize::MAX, 60, 0] {
                let (offsets, total) = assign_within(&requests, lookups_left).unwrap();
                for (i, a) in requests.iter().enumerate() {
                    assert_eq!(offsets[i] % ALIGNMENT, 0);
                    assert!(offsets[i] + a.bytes <= total);
                    for (j, b) in requests.iter().enumerate().skip(i + 1) {
                        let together = a.first <= b.last && b.first <= a.last;
                        let disjoint = offsets[i] + a.bytes <= offsets[j]
                            || offsets[j] + b.bytes <= offsets[i];
                        assert!(
                            !together || disjoint,
                            "{a:?} at {} and {b:?} at {}",
                            offsets[i],
                            offsets[j]
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_chain_needs_two_buffers() {
        for count in [10, 100_000] {
            let requests: Vec<Request> = (0..count)
                .map(|step| storage(step, 100, step, step + 1))
                .collect();
            assert_eq!(assign(&requests).unwrap().1, 256);
        }
    }

    #[test]
    fn a_hundred_thousand_at_once_are_stacked() {
        let count = 100_000;
        let requests: Vec<Request> = (0..count)
            .map(|step| storage(step, 64, step, usize::MAX))
            .collect();
        // The first few thousand are compared with their neighbours. Then the lookups are used up, and all others lie above.
        let assigned = assign_within(&requests, MOST_LOOKUPS / 16).unwrap();
        assert_eq!(assigned.1, 64 * count);
    }
}
