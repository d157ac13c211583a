//! Transfers between two ranks, alone and in batches.

use std::sync::Arc;
use std::time::Duration;

use jumar_hal::Span;
use jumar_hccl::{Communicator, DataType, Message, Operation, Options};
use jumar_types::{Error, ErrorKind};

use crate::harness::{Machine, Random, all, tasks, wait, ways};

fn message(sends: bool, peer: u32, span: Span) -> Message {
    Message {
        sends,
        peer,
        span,
        count: span.bytes() as u64,
        data_type: DataType::UInt8,
    }
}

#[test]
fn a_send_meets_its_receive() {
    let machine = Machine::new();
    for way in ways() {
        let ranks = machine.ranks(way, 3);
        for bytes in [0, 1, 1_000, 1_700_001] {
            let data: Vec<u8> = (0..bytes).map(|at| (at * 7) as u8).collect();
            let (from, to) = (machine.buffer(&data), machine.buffer(&vec![0; bytes]));
            let sent = Operation::Messages(Box::new([message(true, 2, from)]));
            let received = Operation::Messages(Box::new([message(false, 0, to)]));
            let outcomes = all(&[ranks[0].clone(), ranks[2].clone()], vec![sent, received]);
            assert!(outcomes.into_iter().all(|outcome| outcome.is_ok()));
            assert_eq!(machine.read(to), data);
        }
    }
}

/// Every rank sends to every rank, itself included, several times, and all of it is one batch.
#[test]
fn a_batch_meets_the_batches_of_the_others_in_order() {
    let machine = Machine::new();
    let mut random = Random(11);
    for way in ways() {
        for size in 1..=5u32 {
            let ranks = machine.ranks(way, size);
            let text = |from: u32, to: u32, time: u32| format!("{from} to {to}, time {time}");
            let mut operations = Vec::new();
            let mut received = Vec::new();
            for own in 0..size {
                let mut messages = Vec::new();
                for time in 0..3 {
                    let mut both = Vec::new();
                    for peer in 0..size {
                        let sent = machine.buffer(text(own, peer, time).as_bytes());
                        both.push(message(true, peer, sent));
                        let expected = text(peer, own, time);
                        let to = machine.buffer(&vec![0; expected.len()]);
                        both.push(message(false, peer, to));
                        received.push((to, expected));
                    }
                    // The order among different pairs and directions is free.
                    for at in (1..both.len()).rev() {
                        both.swap(at, random.below(at as u64 + 1) as usize);
                    }
                    messages.extend(both);
                }
                operations.push(Operation::Messages(messages.into()));
            }
            for outcome in all(&ranks, operations) {
                outcome.expect("it ends");
            }
            for (span, expected) in received {
                assert_eq!(machine.read(span), expected.as_bytes(), "{way:?}");
            }
        }
    }
}

/// Begins an operation of a rank, and returns how it ends once it has.
fn begin(rank: &Arc<Communicator>, message: Message) -> impl FnOnce() -> Result<(), Error> + use<> {
    let operation = Operation::Messages(Box::new([message]));
    let queued = rank.prepare(operation, false).expect("accepted");
    let (begin, signal, end) = tasks(&queued);
    begin.run().expect("it is announced");
    move || {
        let _queued = queued;
        wait(&signal);
        end.run()
    }
}

fn options(limit: Duration) -> Options {
    Options {
        limit: Some(limit),
        ..Options::default()
    }
}

/// As a program that queues the two on two streams, in either order.
#[test]
fn the_two_ends_of_a_transfer_to_oneself_meet_across_batches() {
    let machine = Machine::new();
    for way in ways() {
        let ranks = machine.ranks_with(way, 2, &options(Duration::from_secs(60)));
        for sends_first in [true, false] {
            let data: Vec<Vec<u8>> = (1..4).map(|value| vec![value; 100]).collect();
            let ends: Vec<(Span, Span)> = data
                .iter()
                .map(|data| (machine.buffer(data), machine.buffer(&[0; 100])))
                .collect();
            let begin_all = |sends| {
                let begin = |(from, to): &(Span, Span)| {
                    let span = if sends { *from } else { *to };
                    begin(&ranks[1], message(sends, 1, span))
                };
                ends.iter().map(begin).collect::<Vec<_>>()
            };
            let (first, second) = (begin_all(sends_first), begin_all(!sends_first));
            for outcome in first.into_iter().chain(second) {
                outcome().unwrap_or_else(|error| panic!("{way:?}: {error}"));
            }
            for ((_, to), data) in ends.iter().zip(data) {
                assert_eq!(machine.read(*to), data, "{way:?}");
            }
        }
    }
}

#[test]
fn a_transfer_to_oneself_without_its_other_end_ends_after_the_limit() {
    let machine = Machine::new();
    for way in ways() {
        for sends in [true, false] {
            let ranks = machine.ranks_with(way, 2, &options(Duration::from_millis(100)));
            let span = machine.buffer(&[7; 64]);
            let error = begin(&ranks[1], message(sends, 1, span))().expect_err("it is alone");
            assert_eq!(error.kind(), ErrorKind::CommTimeout, "{way:?}: {error}");
            let sentence = error.sentence();
            assert!(sentence.ends_with("waited 0.1 s for rank 1"), "{sentence}");
        }
    }
}

/// Everything that ends an operation which waits for another rank ends one that waits for the rank itself.
#[test]
fn a_transfer_to_oneself_without_its_other_end_ends_with_its_communicator() {
    let machine = Machine::new();
    type Ends = fn(&[Arc<Communicator>]);
    let all: [(&str, Ends); 3] = [
        ("destroyed its communicator", |ranks| {
            assert!(ranks[1].close())
        }),
        ("was suspended", |ranks| ranks[1].suspend()),
        ("was given up", |ranks| {
            let span = Span::EMPTY;
            let queued =
                ranks[1].prepare(Operation::Messages([message(true, 0, span)].into()), false);
            let (begin, _, end) = tasks(&queued.expect("accepted"));
            begin.run().expect("it is announced");
            drop((begin, end));
        }),
    ];
    for way in ways() {
        for (why, end) in all {
            let ranks = machine.ranks_with(way, 2, &Options::default());
            // In the middle of a batch whose other transfer waits for another rank.
            let span = machine.buffer(&[7; 64]);
            let batch = [message(true, 1, span), message(true, 0, span)];
            let queued = ranks[1]
                .prepare(Operation::Messages(batch.into()), false)
                .expect("accepted");
            let (begins, signal, ends) = tasks(&queued);
            begins.run().expect("it is announced");
            let alone = begin(&ranks[1], message(true, 1, span));
            end(&ranks);
            wait(&signal);
            for outcome in [ends.run(), alone()] {
                let error = outcome.expect_err("the communicator ended");
                let why = why.replace("was given up", "gave it up");
                assert!(error.sentence().contains(&why), "{way:?}: {error}");
            }
        }
    }
}

#[test]
fn ends_of_a_transfer_to_oneself_that_differ_fail_with_what_waits() {
    let machine = Machine::new();
    for way in ways() {
        let ranks = machine.ranks_with(way, 2, &Options::default());
        let span = machine.buffer(&[7; 64]);
        let other = begin(&ranks[1], message(false, 0, span));
        let long = begin(&ranks[1], message(true, 1, span));
        let short = begin(
            &ranks[1],
            message(false, 1, span.part(0, 4).expect("shorter")),
        );
        for outcome in [long(), short(), other()] {
            let error = outcome.expect_err("they differ");
            assert_eq!(error.kind(), ErrorKind::CommMismatch, "{way:?}: {error}");
            for part in [
                "HcclSend(64 x uint8, to rank 1)",
                "HcclRecv(4 x uint8, from rank 1)",
            ] {
                assert!(error.sentence().contains(part), "{part} in: {error}");
            }
        }
    }
}

/// A batch meets the transfers of two ranks; one of them does not fit, and the other one ends all the same.
#[test]
fn a_transfer_that_fits_ends_though_another_one_of_the_batch_does_not() {
    let machine = Machine::new();
    for way in ways() {
        for order in [[1, 2], [2, 1]] {
            let ranks = machine.ranks_with(way, 3, &Options::default());
            let span = machine.buffer(&[7; 64]);
            let part = |bytes| span.part(0, bytes).expect("shorter");
            let waiting = [(1, 64), (2, 4)].map(|(rank, bytes): (usize, usize)| {
                begin(&ranks[rank], message(true, 0, part(bytes)))
            });
            let batch = order.map(|peer| message(false, peer, part(64)));
            let queued = ranks[0]
                .prepare(Operation::Messages(batch.into()), false)
                .expect("accepted");
            let (begins, signal, ends) = tasks(&queued);
            begins.run().expect("it is announced");
            wait(&signal);
            let error = ends.run().expect_err("rank 2 sends less");
            assert_eq!(error.kind(), ErrorKind::CommMismatch, "{way:?}: {error}");
            let [fits, differs] = waiting;
            assert!(differs().is_err());
            // Whether it was complete before depends on the transport.
            drop(fits());
        }
    }
}
