//! What a rank that destroys its communicator leaves behind: how far it has come, so that the others know what still arrives from it.
//!
//! The notice of it and the data take different ways: either may come first.

use std::collections::HashMap;
use std::io;

use jumar_hal::sync::Mutex;

use super::link::Fields;
use crate::arrival::{Arrival, Channel, Numbers};
use crate::operation::Operation;
use crate::sequence::Sequence;

/// What a rank numbers by itself: the collectives, and its transfers to and from each member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Series {
    Collectives,
    SendsTo(u32),
    ReceivesFrom(u32),
}

const CHANNELS: [Channel; 2] = [Channel::Calls, Channel::Graphs];
const SERIES: usize = 3;

/// The operations of one communicator that this rank has begun.
#[derive(Default)]
pub(super) struct Begun(Mutex<HashMap<(Channel, Series), Sequence>>);

impl Begun {
    /// Notes that an operation begins.
    pub(super) fn add(&self, arrival: &Arrival) {
        let mut begun = self.0.lock();
        let mut add = |series, number| {
            let key = (arrival.channel, series);
            begun.entry(key).or_default().add(number);
        };
        match (arrival.operation(), &arrival.numbers) {
            (Operation::Messages(messages), Numbers::Messages(numbers)) => {
                for (message, number) in messages.iter().zip(numbers) {
                    let series = match message.sends {
                        true => Series::SendsTo(message.peer),
                        false => Series::ReceivesFrom(message.peer),
                    };
                    add(series, *number);
                }
            }
            (_, Numbers::Collective(number)) => add(Series::Collectives, *number),
            (Operation::Collective(_), Numbers::Messages(_)) => {}
        }
    }

    /// Returns what a notice states to a member.
    pub(super) fn as_seen_by(&self, member: u32) -> Departure {
        let begun = self.0.lock();
        let series = [
            Series::Collectives,
            Series::SendsTo(member),
            Series::ReceivesFrom(member),
        ];
        let below = |channel, series| begun.get(&(channel, series)).map_or(0, Sequence::below);
        Departure(CHANNELS.map(|channel| series.map(|series| below(channel, series))))
    }
}

/// How far a rank had come when it left, as a notice states it to another one: by channel, the collectives, its sends to that one, its receives from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Departure([[u64; SERIES]; 2]);

impl Departure {
    /// Appends it to a notice.
    pub(super) fn put(&self, content: &mut Vec<u8>) {
        let words = self.0.iter().flatten();
        content.extend(words.flat_map(|word| word.to_le_bytes()));
    }

    /// Reads it from a notice.
    ///
    /// # Errors
    /// The notice is too short.
    pub(super) fn read(fields: &mut Fields<'_>) -> io::Result<Departure> {
        let mut all = [[0; SERIES]; 2];
        for word in all.iter_mut().flatten() {
            *word = fields.u64()?;
        }
        Ok(Departure(all))
    }

    /// Reports whether the rank had begun its part of an operation, so that what it sends is on its way. `sends` is what this rank does
    /// in a transfer; `None` for a collective.
    pub(super) fn has_begun(&self, channel: Channel, sends: Option<bool>, number: u64) -> bool {
        let series = match sends {
            None => 0,
            Some(false) => 1,
            Some(true) => 2,
        };
        let at = CHANNELS.iter().position(|one| *one == channel);
        at.is_some_and(|at| number < self.0[at][series])
    }
}

/// The ranks that have left communicators of a mesh, as long as that matters to this rank.
#[derive(Default)]
pub(super) struct Departures(HashMap<u64, DepartedRanks>);

#[derive(Default)]
struct DepartedRanks {
    /// By the rank in the mesh.
    ranks: HashMap<u32, Departure>,
    /// How many others there are, once this rank has left too.
    others: Option<usize>,
}

impl Departures {
    /// Notes that a rank has left a communicator.
    pub(super) fn add(&mut self, tag: u64, rank: u32, departure: Departure) {
        self.0.entry(tag).or_default().ranks.insert(rank, departure);
        self.forget(tag);
    }

    /// Notes that this rank has left a communicator with so many others.
    pub(super) fn leave(&mut self, tag: u64, others: usize) {
        self.0.entry(tag).or_default().others = Some(others);
        self.forget(tag);
    }

    /// Forgets a communicator that all ranks have left: it does not come back.
    fn forget(&mut self, tag: u64) {
        let all = |departed: &DepartedRanks| departed.others == Some(departed.ranks.len());
        if self.0.get(&tag).is_some_and(all) {
            self.0.remove(&tag);
        }
    }

    /// Returns how far a rank had come when it left a communicator, if it has.
    pub(super) fn get(&self, tag: u64, rank: u32) -> Option<Departure> {
        self.0.get(&tag)?.ranks.get(&rank).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rank_had_begun_before_it_left_is_stated_by_channel_and_series() {
        let departure = Departure([[3, 2, 1], [0, 1, 0]]);
        let mut content = Vec::new();
        departure.put(&mut content);
        let read = Departure::read(&mut Fields(&content)).expect("as written");
        assert_eq!(read, departure);
        assert!(Departure::read(&mut Fields(&content[1..])).is_err());
        let (calls, graphs) = (Channel::Calls, Channel::Graphs);
        assert!(read.has_begun(calls, None, 2) && !read.has_begun(calls, None, 3));
        assert!(!read.has_begun(graphs, None, 0));
        // What this rank receives the other one has sent.
        assert!(read.has_begun(calls, Some(false), 1) && !read.has_begun(calls, Some(false), 2));
        assert!(read.has_begun(calls, Some(true), 0) && !read.has_begun(calls, Some(true), 1));
        assert!(read.has_begun(graphs, Some(false), 0) && !read.has_begun(graphs, Some(true), 0));
    }

    #[test]
    fn communicators_that_all_ranks_have_left_are_forgotten() {
        let departure = Departure([[0; SERIES]; 2]);
        let mut departures = Departures::default();
        for tag in 0..1_000 {
            // The others before this rank, or after it.
            for step in 0..3 {
                match (step + tag) % 3 {
                    0 => departures.leave(tag, 2),
                    rank => departures.add(tag, rank as u32, departure),
                }
                assert_eq!(departures.0.len(), usize::from(step < 2), "tag {tag}");
            }
        }
        departures.leave(1_000, 0);
        assert!(departures.0.is_empty(), "a rank alone");
        departures.add(1_001, 7, departure);
        assert_eq!(departures.get(1_001, 7), Some(departure));
        assert_eq!(departures.get(1_001, 6), None);
    }
}
