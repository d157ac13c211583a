//! What ranks learn when they disagree, when one does not come, or when one goes.

use std::fs;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use jumar_hal::Span;
use jumar_hccl::{
    Collective, Communicator, DataType, Domain, Kind, Message, Operation, Options, Pieces,
    Reduction, RootInfo, Signature,
};
use jumar_types::{Error, ErrorKind};

use crate::harness::{
    LARGE, Machine, Way, all, broadcast, call, one_by_one, run, tasks, wait, ways,
};

fn sum(span: Span, count: u64) -> Operation {
    Operation::Collective(Collective {
        signature: Signature {
            kind: Kind::AllReduce,
            data_type: DataType::Int32,
            reduction: Some(Reduction::Sum),
            root: None,
            count,
            digest: 0,
        },
        send: Pieces::Same(span),
        receive: Pieces::Same(span),
    })
}

fn gather(send: Span, receive: &[Span]) -> Operation {
    Operation::Collective(Collective {
        signature: Signature {
            kind: Kind::AllGather,
            data_type: DataType::Int32,
            reduction: None,
            root: None,
            count: 1,
            digest: 0,
        },
        send: Pieces::Same(send),
        receive: Pieces::Each(receive.iter().map(|span| Some(*span)).collect()),
    })
}

fn message(sends: bool, peer: u32, span: Span, count: u64) -> Operation {
    Operation::Messages(Box::new([Message {
        sends,
        peer,
        span,
        count,
        data_type: DataType::Int32,
    }]))
}

/// All ranks fail with the kind, and the sentence holds all parts.
fn assert_failed(outcomes: &[Result<(), Error>], kind: ErrorKind, parts: &[&str]) {
    for outcome in outcomes {
        let error = outcome.as_ref().expect_err("it has to fail");
        assert_eq!(error.kind(), kind, "{error}");
        for part in parts {
            assert!(error.sentence().contains(part), "{part:?} in: {error}");
        }
    }
}

fn options(limit: Duration) -> Options {
    Options {
        name: "tested".into(),
        limit: Some(limit),
        ..Options::default()
    }
}

#[test]
fn ranks_that_call_different_operations_fail_at_once_and_name_both() {
    let machine = Machine::new();
    for way in ways() {
        let ranks = machine.ranks_with(way, 2, &options(Duration::from_secs(60)));
        let spans: Vec<Span> = (0..4).map(|_| machine.buffer(&[0; 4])).collect();
        let outcomes = all(
            &ranks,
            vec![sum(spans[0], 1), gather(spans[1], &spans[2..])],
        );
        let parts = [
            "\"tested\" (2 ranks)",
            "operation 0",
            "rank 0 called HcclAllReduce(1 x int32, sum)",
            "rank 1 called HcclAllGather(1 x int32)",
        ];
        assert_failed(&outcomes, ErrorKind::CommMismatch, &parts);
        // The communicator is of no use any more, and says why.
        for rank in &ranks {
            assert_eq!(
                rank.failure().map(|error| error.kind()),
                Some(ErrorKind::CommMismatch)
            );
            let refused = call(rank, sum(spans[0], 1));
            assert_failed(&[refused], ErrorKind::CommUnavailable, &["HcclAllGather"]);
        }
    }
}

#[test]
fn ranks_that_pass_different_counts_fail_at_once_and_name_both() {
    let machine = Machine::new();
    for way in ways() {
        let ranks = machine.ranks_with(way, 3, &options(Duration::from_secs(60)));
        let spans: Vec<Span> = (0..3).map(|_| machine.buffer(&[0; 8])).collect();
        let short = spans[2].part(0, 4).expect("half of it");
        let outcomes = all(
            &ranks,
            vec![sum(spans[0], 2), sum(spans[1], 2), sum(short, 1)],
        );
        let parts = [
            "(2 x int32, sum)",
            "rank 2 called HcclAllReduce(1 x int32, sum)",
        ];
        assert_failed(&outcomes, ErrorKind::CommMismatch, &parts);
    }
}

#[test]
fn a_receive_of_another_length_than_its_send_fails_on_both_ends() {
    let machine = Machine::new();
    for way in ways() {
        let ranks = machine.ranks_with(way, 2, &options(Duration::from_secs(60)));
        let (long, short) = (machine.buffer(&[0; 8]), machine.buffer(&[0; 4]));
        let outcomes = all(
            &ranks,
            vec![message(true, 1, long, 2), message(false, 0, short, 1)],
        );
        let parts = [
            "HcclSend(2 x int32, to rank 1)",
            "HcclRecv(1 x int32, from rank 0)",
        ];
        assert_failed(&outcomes, ErrorKind::CommMismatch, &parts);
    }
}

#[test]
fn parts_of_different_lengths_fail_on_all_ranks() {
    let machine = Machine::new();
    for way in ways() {
        let ranks = machine.ranks_with(way, 2, &options(Duration::from_secs(60)));
        let span = machine.buffer(&[0; 64]);
        let part = |at, bytes| span.part(at, bytes);
        let operation = |send: [usize; 2], receive: [usize; 2], base| {
            Operation::Collective(Collective {
                signature: Signature {
                    kind: Kind::AllToAllV,
                    data_type: DataType::Int32,
                    reduction: None,
                    root: None,
                    count: 0,
                    digest: 0,
                },
                send: Pieces::Each([part(base, send[0]), part(base + 8, send[1])].into()),
                receive: Pieces::Each(
                    [part(base + 16, receive[0]), part(base + 24, receive[1])].into(),
                ),
            })
        };
        // Rank 1 expects 4 bytes of rank 0, which sends 8.
        let outcomes = all(
            &ranks,
            vec![operation([4, 8], [4, 4], 0), operation([4, 4], [4, 4], 32)],
        );
        let parts = ["rank 0 sends 8 bytes to rank 1, which expects 4 bytes"];
        assert_failed(&outcomes, ErrorKind::CommMismatch, &parts);
        // The rank that expects another length has provided what the other one reads, which could be content with it.
        let ranks = machine.ranks_with(way, 2, &options(Duration::from_secs(60)));
        let outcomes = one_by_one(vec![
            (&ranks[1], operation([4, 4], [4, 4], 32)),
            (&ranks[0], operation([4, 8], [4, 4], 0)),
        ]);
        assert_failed(&outcomes, ErrorKind::CommMismatch, &parts);
    }
}

/// Begins an operation of a rank, and returns how it ends once it has.
fn begin(rank: &Arc<Communicator>, operation: Operation) -> impl FnOnce() -> Result<(), Error> {
    let queued = rank.prepare(operation, false).expect("accepted");
    let (begin, signal, end) = tasks(&queued);
    begin.run().expect("it is announced");
    move || {
        let _queued = queued;
        wait(&signal);
        end.run()
    }
}

#[test]
fn what_waits_ends_with_parts_of_different_lengths_in_another_operation() {
    let machine = Machine::new();
    for way in ways() {
        let ranks = machine.ranks_with(way, 2, &Options::default());
        let (sent, span) = (machine.buffer(&[0; 4]), machine.buffer(&[0; 64]));
        // Its other end is still to come.
        let waiting = begin(&ranks[0], message(true, 1, sent, 1));
        let part = |at, bytes| span.part(at, bytes);
        let operation = |send: [usize; 2], receive: [usize; 2], base| {
            Operation::Collective(Collective {
                signature: Signature {
                    kind: Kind::AllToAllV,
                    data_type: DataType::Int32,
                    reduction: None,
                    root: None,
                    count: 0,
                    digest: 0,
                },
                send: Pieces::Each([part(base, send[0]), part(base + 8, send[1])].into()),
                receive: Pieces::Each(
                    [part(base + 16, receive[0]), part(base + 24, receive[1])].into(),
                ),
            })
        };
        let outcomes = all(
            &ranks,
            vec![operation([4, 8], [4, 4], 0), operation([4, 4], [4, 4], 32)],
        );
        let parts = ["rank 0 sends 8 bytes to rank 1, which expects 4 bytes"];
        assert_failed(&outcomes, ErrorKind::CommMismatch, &parts);
        assert_failed(&[waiting()], ErrorKind::CommMismatch, &parts);
    }
}

#[test]
fn an_operation_that_begins_while_its_communicator_fails_ends_with_it() {
    let machine = Machine::new();
    let reason = Error::new(ErrorKind::Internal, "the test fails it");
    // Over the network each failure costs a connection.
    for way in [Way::Threads, Way::SharedMemory] {
        let ranks = machine.ranks_with(way, 2, &Options::default());
        let span = machine.buffer(&[0; 4]);
        for _ in 0..2000 {
            let prepare = || ranks[0].prepare(sum(span, 1), false).expect("accepted");
            let (failing, beginning) = (prepare(), prepare());
            let (start, signal, end) = tasks(&beginning);
            let together = Barrier::new(2);
            thread::scope(|scope| {
                scope.spawn(|| {
                    together.wait();
                    failing.fail(&reason);
                });
                together.wait();
                start.run().expect("it is announced");
            });
            wait(&signal);
            assert!(end.run().is_err());
            for rank in &ranks {
                rank.suspend();
            }
            for rank in &ranks {
                rank.resume();
            }
        }
    }
}

#[test]
fn a_batch_with_a_rank_that_has_gone_ends_though_another_transfer_meets_its_end() {
    let machine = Machine::new();
    for way in ways() {
        let ranks = machine.ranks_with(way, 3, &Options::default());
        let spans: Vec<Span> = (0..3).map(|_| machine.buffer(&[0; 4])).collect();
        assert!(ranks[2].close());
        let sending = begin(&ranks[0], message(true, 1, spans[0], 1));
        let receive = |peer, span| Message {
            sends: false,
            peer,
            span,
            count: 1,
            data_type: DataType::Int32,
        };
        let batch = Operation::Messages([receive(0, spans[1]), receive(2, spans[2])].into());
        let outcome = begin(&ranks[1], batch)();
        let parts = ["rank 2 destroyed its communicator"];
        assert_failed(&[outcome], ErrorKind::CommPeerLost, &parts);
        drop(sending());
    }
}

#[test]
fn an_operation_that_a_rank_never_issues_ends_after_the_limit() {
    let machine = Machine::new();
    for way in ways() {
        let limit = Duration::from_millis(150);
        let ranks = machine.ranks_with(way, 3, &options(limit));
        let spans: Vec<Span> = (0..3).map(|_| machine.buffer(&[0; 4])).collect();
        let start = Instant::now();
        let outcomes = all(&ranks[..2], vec![sum(spans[0], 1), sum(spans[1], 1)]);
        assert!(start.elapsed() >= limit);
        assert_failed(
            &outcomes,
            ErrorKind::CommTimeout,
            &["waited 0.15 s for rank"],
        );
        // On a busy machine the other rank may not have come by then either.
        let last = outcomes[0].as_ref().expect_err("it failed").sentence();
        assert!(last.ends_with(" 2"), "{last}");
        // The rank that comes too late learns it too.
        let late = call(&ranks[2], sum(spans[2], 1));
        assert!(late.is_err(), "{way:?}");
    }
}

#[test]
fn a_receive_without_its_send_ends_after_the_limit() {
    let machine = Machine::new();
    for way in ways() {
        let ranks = machine.ranks_with(way, 2, &options(Duration::from_millis(100)));
        let span = machine.buffer(&[0; 4]);
        let outcome = call(&ranks[0], message(false, 1, span, 1));
        assert_failed(
            &[outcome],
            ErrorKind::CommTimeout,
            &["HcclRecv", "for rank 1"],
        );
    }
}

#[test]
fn a_rank_that_destroys_its_communicator_ends_the_waits_of_the_others() {
    let machine = Machine::new();
    for way in ways() {
        let ranks = machine.ranks_with(way, 3, &options(Duration::from_secs(60)));
        let spans: Vec<Span> = (0..3).map(|_| machine.buffer(&[0; 4])).collect();
        std::thread::scope(|scope| {
            let waiting = [0, 1].map(|rank| {
                let (own, span) = (ranks[rank].clone(), spans[rank]);
                scope.spawn(move || call(&own, sum(span, 1)))
            });
            assert!(ranks[2].close());
            assert!(!ranks[2].close());
            let outcomes = waiting.map(|rank| rank.join().expect("no panic"));
            let parts = ["rank 2 destroyed its communicator"];
            for outcome in outcomes {
                // A rank that comes after the failure is refused with its reason.
                let error = outcome.expect_err("rank 2 is gone");
                assert!(error.sentence().contains(parts[0]), "{error}");
            }
        });
        assert!(ranks[2].prepare(sum(spans[2], 1), false).is_err());
    }
}

/// Ranks that are through may go while others still read what they provided.
#[test]
fn what_is_complete_does_not_miss_a_rank_that_goes() {
    let machine = Machine::new();
    for way in ways() {
        for _ in 0..50 {
            let ranks = machine.ranks_with(way, 3, &options(Duration::from_secs(60)));
            let spans: Vec<Span> = (0..3).map(|_| machine.buffer(&[1; 40])).collect();
            std::thread::scope(|scope| {
                for (own, span) in ranks.iter().zip(&spans) {
                    scope.spawn(move || {
                        call(own, sum(*span, 10)).expect("all ranks came");
                        own.close();
                    });
                }
            });
            spans.into_iter().for_each(|span| machine.free(span));
        }
    }
}

/// As before, for transfers and for captured operations, which are numbered apart from collectives.
#[test]
fn a_transfer_and_a_captured_operation_do_not_miss_a_rank_that_goes() {
    let machine = Machine::new();
    for way in ways() {
        for captured in [false, true] {
            for _ in 0..20 {
                let ranks = machine.ranks_with(way, 2, &options(Duration::from_secs(60)));
                let spans: Vec<Span> = (0..2).map(|_| machine.buffer(&[1; 40])).collect();
                thread::scope(|scope| {
                    for (rank, span) in spans.iter().enumerate() {
                        let own = &ranks[rank];
                        let operations = [
                            sum(span.part(0, 8).expect("a part"), 2),
                            message(rank == 0, 1 - rank as u32, *span, 10),
                        ];
                        scope.spawn(move || {
                            for operation in operations {
                                let queued = own.prepare(operation, captured).expect("accepted");
                                run(&queued).expect("both ranks came");
                            }
                            own.close();
                        });
                    }
                });
                spans.into_iter().for_each(|span| machine.free(span));
            }
        }
    }
}

#[test]
fn an_operation_that_its_stream_gives_up_fails_on_the_others() {
    let machine = Machine::new();
    for way in ways() {
        let ranks = machine.ranks_with(way, 2, &options(Duration::from_secs(60)));
        let spans: Vec<Span> = (0..2).map(|_| machine.buffer(&[0; 4])).collect();
        let queued = ranks[0].prepare(sum(spans[0], 1), false).expect("accepted");
        let (begin, _, end) = tasks(&queued);
        begin.run().expect("it only announces the rank");
        // As a stream does that is aborted: the task is dropped and not run.
        drop((begin, end));
        let outcome = call(&ranks[1], sum(spans[1], 1));
        let error = outcome.expect_err("rank 0 gave it up");
        assert!(error.sentence().contains("rank 0 gave it up"), "{error}");
    }
}

/// The message that is on its way can neither be taken back nor hold up the reason.
#[test]
fn an_operation_that_is_given_up_in_the_middle_of_a_message_fails_on_the_others() {
    let machine = Machine::new();
    // Between threads the rank that comes last does the work of all: there is no middle.
    for way in ways().into_iter().filter(|way| *way != Way::Threads) {
        let ranks = machine.ranks_with(way, 2, &options(Duration::from_secs(60)));
        let spans = [1, 0].map(|value| machine.buffer(&vec![value; LARGE]));
        let sender = ranks[0]
            .prepare(broadcast(0, 0, spans[0]), false)
            .expect("accepted");
        let receiver = ranks[1]
            .prepare(broadcast(1, 0, spans[1]), false)
            .expect("accepted");
        let (sender_begins, _, sender_ends) = tasks(&sender);
        let (receiver_begins, signal, receiver_ends) = tasks(&receiver);
        receiver_begins.run().expect("it only announces the rank");
        sender_begins.run().expect("it only announces the rank");
        machine.wait_for_the_middle(spans[1]);
        drop((sender_begins, sender_ends));
        wait(&signal);
        let error = receiver_ends.run().expect_err("rank 0 gave it up");
        assert!(
            error.sentence().contains("rank 0 gave it up"),
            "{way:?}: {error}"
        );
        assert!(ranks.iter().all(|rank| rank.close()));
        spans.into_iter().for_each(|span| machine.free(span));
    }
}

/// A rank that fails destroys its communicator next. What the others read is why it failed.
#[test]
fn a_rank_that_failed_and_left_is_reported_with_the_failure() {
    let machine = Machine::new();
    for way in ways() {
        let ranks = machine.ranks_with(way, 3, &options(Duration::from_secs(60)));
        let spans: Vec<Span> = (0..2).map(|_| machine.buffer(&[0; 4])).collect();
        let queued = ranks[0].prepare(sum(spans[0], 1), false).expect("accepted");
        let (begin, _, end) = tasks(&queued);
        begin.run().expect("it only announces the rank");
        drop((begin, end));
        assert!(ranks[0].close());
        let error = call(&ranks[1], sum(spans[1], 1)).expect_err("rank 0 is gone");
        assert!(error.sentence().contains("rank 0 gave it up"), "{error}");
    }
}

#[test]
fn a_suspended_communicator_refuses_operations_until_it_is_resumed() {
    let machine = Machine::new();
    for way in ways() {
        let ranks = machine.ranks_with(way, 2, &options(Duration::from_secs(60)));
        let spans: Vec<Span> = (0..2).map(|_| machine.buffer(&[1, 0, 0, 0])).collect();
        // Rank 0 is one operation ahead, which both forget.
        let ahead = ranks[0].clone();
        let span = spans[0];
        std::thread::scope(|scope| {
            let waiting = scope.spawn(move || call(&ahead, sum(span, 1)));
            while ranks[0].operations() == 0 {
                std::thread::yield_now();
            }
            ranks.iter().for_each(|rank| rank.suspend());
            assert!(waiting.join().expect("no panic").is_err());
        });
        let refused = call(&ranks[1], sum(spans[1], 1));
        assert_failed(&[refused], ErrorKind::CommSuspended, &["tested"]);
        ranks.iter().for_each(|rank| rank.resume());
        if way == Way::Network {
            // What was abandoned on its way cannot be taken back: the connections are spent.
            let refused = call(&ranks[1], sum(spans[1], 1));
            assert_failed(&[refused], ErrorKind::CommUnavailable, &["suspended"]);
            continue;
        }
        let outcomes = all(&ranks, spans.iter().map(|span| sum(*span, 1)).collect());
        assert!(outcomes.iter().all(Result::is_ok), "{way:?}: {outcomes:?}");
        assert_eq!(machine.read(spans[1]), [2, 0, 0, 0]);
    }
}

#[test]
fn a_refused_submit_gives_its_number_back() {
    let machine = Machine::new();
    for way in ways() {
        let ranks = machine.ranks(way, 2);
        let spans: Vec<Span> = (0..2).map(|_| machine.buffer(&[1, 0, 0, 0])).collect();
        let queued = ranks[0].prepare(sum(spans[0], 1), false).expect("accepted");
        queued.revoke(&Error::new(ErrorKind::InvalidValue, "refused"));
        let outcomes = all(&ranks, spans.iter().map(|span| sum(*span, 1)).collect());
        assert!(outcomes.iter().all(Result::is_ok));
    }
}

#[test]
fn ranks_of_a_part_work_among_themselves() {
    let machine = Machine::new();
    for way in ways() {
        let ranks = machine.ranks(way, 4);
        let odd: Vec<Arc<Communicator>> = [1, 3]
            .into_iter()
            .enumerate()
            .map(|(index, rank): (usize, usize)| {
                ranks[rank]
                    .split(&[1, 3], index as u32, 7, Options::default())
                    .expect("a member")
            })
            .collect();
        assert_eq!((odd[1].rank(), odd[1].size()), (1, 2));
        assert_eq!(odd[0].name(), format!("{}_sub_7", ranks[0].name()));
        assert!(odd[0].is_child());
        let spans: Vec<Span> = (0..2u8)
            .map(|at| machine.buffer(&[at + 1, 0, 0, 0]))
            .collect();
        let outcomes = all(&odd, spans.iter().map(|span| sum(*span, 1)).collect());
        assert!(outcomes.iter().all(Result::is_ok));
        assert_eq!(machine.read(spans[0]), [3, 0, 0, 0]);
        let wrong = |ids: &[u32], index| {
            let made = ranks[1].split(ids, index, 8, Options::default());
            made.map(drop).map_err(|error| error.kind())
        };
        assert_eq!(wrong(&[3, 1], 1), Err(ErrorKind::CommArgument));
        assert_eq!(wrong(&[1, 1], 0), Err(ErrorKind::CommArgument));
        assert_eq!(wrong(&[1, 4], 0), Err(ErrorKind::CommArgument));
        assert_eq!(wrong(&[0, 3], 0), Err(ErrorKind::CommArgument));
        assert_eq!(wrong(&[], 0), Err(ErrorKind::CommArgument));
    }
}

fn kind_of<T>(made: Result<T, Error>) -> ErrorKind {
    made.map(drop).expect_err("it has to be refused").kind()
}

#[test]
fn root_information_is_good_for_one_communicator_of_agreeing_ranks() {
    let machine = Machine::new();
    let domain = Domain::new(machine.backend.clone());
    let limit = Duration::from_millis(200);
    let info = domain.root_info(limit).expect("root information");
    let join =
        |info: &RootInfo, size, rank| domain.join(info, (size, rank), 0, Options::default(), limit);
    // Rank 1 does not come.
    let error = join(&info, 2, 0)
        .map(drop)
        .expect_err("rank 1 does not come");
    assert_eq!(error.kind(), ErrorKind::CommIncomplete);
    assert!(
        error
            .sentence()
            .contains("rank 1 of 2 did not come within 0.2 s"),
        "{error}"
    );
    assert_eq!(kind_of(join(&info, 3, 1)), ErrorKind::CommDisagreement);
    assert_eq!(kind_of(join(&info, 2, 0)), ErrorKind::CommDisagreement);
    let used = domain.root_info(limit).expect("root information");
    join(&used, 1, 0).expect("one rank alone");
    assert_eq!(kind_of(join(&used, 1, 0)), ErrorKind::CommRootGone);
    let other_key = RootInfo {
        key: info.key ^ 1,
        ..info
    };
    assert_eq!(kind_of(join(&other_key, 2, 1)), ErrorKind::CommRootGone);
    // The rest is about ranks of one machine.
    let info = RootInfo {
        address: None,
        ..info
    };
    let other_key = RootInfo {
        key: info.key ^ 1,
        ..info
    };
    assert_eq!(kind_of(join(&other_key, 2, 1)), ErrorKind::CommRootGone);
    let ended = RootInfo {
        started: info.started + 1,
        ..info
    };
    assert_eq!(kind_of(join(&ended, 2, 1)), ErrorKind::CommRootGone);
    let elsewhere = RootInfo {
        machine: info.machine ^ 1,
        ..info
    };
    assert_eq!(kind_of(join(&elsewhere, 2, 1)), ErrorKind::CommUnsupported);
    let another_file = RootInfo {
        descriptor: 0,
        ..info
    };
    assert_eq!(kind_of(join(&another_file, 2, 1)), ErrorKind::CommRootGone);
}

#[test]
fn communicators_that_are_gone_leave_no_descriptor_and_no_mapping() {
    let machine = Machine::new();
    let count = |of: &str| match of {
        "fd" => fs::read_dir("/proc/self/fd").expect("the list").count(),
        _ => fs::read_to_string("/proc/self/maps")
            .expect("the list")
            .lines()
            .filter(|line| line.contains("jumar-hccl-segment"))
            .count(),
    };
    let domain = Domain::with_shared_memory_only(machine.backend.clone());
    let limit = Duration::from_secs(30);
    let one = || {
        let info = domain.root_info(limit).expect("root information");
        let spans: Vec<Span> = (0..2).map(|_| machine.buffer(&[0; 4])).collect();
        let (domain, info) = (&domain, &info);
        std::thread::scope(|scope| {
            for (rank, span) in spans.iter().enumerate() {
                scope.spawn(move || {
                    let size_and_rank = (2, rank as u32);
                    let own = domain
                        .join(info, size_and_rank, 0, Options::default(), limit)
                        .expect("a communicator");
                    call(&own, sum(*span, 1)).expect("both come");
                });
            }
        });
        spans.into_iter().for_each(|span| machine.free(span));
    };
    one();
    // The mappings of other tests of this process come and go, so that only the many of this one count.
    let (files, maps) = (count("fd"), count("maps"));
    for _ in 0..300 {
        one();
    }
    let (files_after, maps_after) = (count("fd"), count("maps"));
    assert!(files_after < files + 290, "{files} then {files_after}");
    assert!(maps_after < maps + 290, "{maps} then {maps_after}");
}

/// A rank ends its operation as soon as it has its own result. What it leaves in shared memory stays readable.
#[test]
fn a_rank_may_leave_while_others_still_read_what_it_provided() {
    let machine = Machine::new();
    for way in [Way::Threads, Way::SharedMemory] {
        for turn in 0..20_u32 {
            let ranks = machine.ranks(way, 4);
            // More than two pieces, so that ranks end at different times.
            let count = 400_000 + u64::from(turn);
            let spans: Vec<Span> = (1..=4_u32)
                .map(|value| machine.buffer(&value.to_ne_bytes().repeat(count as usize)))
                .collect();
            let outcomes: Vec<Result<(), Error>> = std::thread::scope(|scope| {
                let calls: Vec<_> = ranks
                    .into_iter()
                    .zip(&spans)
                    .map(|(rank, span)| {
                        scope.spawn(move || {
                            let outcome = call(&rank, sum(*span, count));
                            rank.close();
                            outcome
                        })
                    })
                    .collect();
                calls
                    .into_iter()
                    .map(|call| call.join().expect("no panic"))
                    .collect()
            });
            for (outcome, span) in outcomes.iter().zip(spans) {
                outcome.as_ref().expect("every rank came");
                assert!(machine.read(span) == 10_u32.to_ne_bytes().repeat(count as usize));
                machine.free(span);
            }
        }
    }
}

/// Ranks with a small part of the result have it long before the others, and leave as soon as what they provide is in shared memory.
#[test]
fn a_rank_with_a_small_part_may_leave_before_the_others_have_theirs() {
    const COUNTS: [usize; 4] = [1, 300_000, 1, 250_000];
    let machine = Machine::new();
    let total: usize = COUNTS.iter().sum();
    for way in [Way::Threads, Way::SharedMemory] {
        for _ in 0..20 {
            let ranks = machine.ranks(way, 4);
            let buffers: Vec<(Span, Span)> = (1..=4_u32)
                .zip(COUNTS)
                .map(|(value, count)| {
                    let send = machine.buffer(&value.to_ne_bytes().repeat(total));
                    (send, machine.buffer(&vec![0; count * 4]))
                })
                .collect();
            let outcomes: Vec<Result<(), Error>> = std::thread::scope(|scope| {
                let calls: Vec<_> = ranks
                    .into_iter()
                    .zip(&buffers)
                    .map(|(rank, (send, receive))| {
                        let operation = scatter(*send, *receive, &COUNTS);
                        scope.spawn(move || {
                            let outcome = call(&rank, operation);
                            rank.close();
                            outcome
                        })
                    })
                    .collect();
                calls
                    .into_iter()
                    .map(|call| call.join().expect("no panic"))
                    .collect()
            });
            for ((outcome, (send, receive)), count) in outcomes.iter().zip(buffers).zip(COUNTS) {
                outcome.as_ref().expect("every rank came");
                assert!(machine.read(receive) == 10_u32.to_ne_bytes().repeat(count));
                machine.free(send);
                machine.free(receive);
            }
        }
    }
}

/// A sum of which each rank receives a part of its own length.
fn scatter(send: Span, receive: Span, counts: &[usize]) -> Operation {
    let mut at = 0;
    let parts = counts.iter().map(|count| {
        at += count;
        send.part((at - count) * 4, count * 4)
    });
    let send = Pieces::Each(parts.collect());
    Operation::Collective(Collective {
        signature: Signature {
            kind: Kind::ReduceScatterV,
            data_type: DataType::Int32,
            reduction: Some(Reduction::Sum),
            root: None,
            count: 0,
            digest: 1,
        },
        send,
        receive: Pieces::Same(receive),
    })
}
