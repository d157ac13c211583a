//! Transfers between two ranks, alone and in batches.

use jumar_hal::Span;
use jumar_hccl::{DataType, Message, Operation};

use crate::harness::{Machine, Random, all, ways};

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
