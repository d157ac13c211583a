//! The checks, fed by hand with what passes the gate: what they keep is bounded, and threads are in the order of their calls.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

use jumar_core::{Admission, Op, Phase, Probe, Span, ValueTest, WaitEnd};
use jumar_diag::check::{Check, Memory, Options};

static TICKETS: AtomicU64 = AtomicU64::new(0);

fn check() -> Check {
    Check::new(Options::default()).expect("no report file is asked for")
}

/// Memory that is never accessed: the checks only count with addresses.
fn span(address: usize, bytes: usize) -> Span {
    // SAFETY: nothing reads or writes the span, as the check was given no access to memory.
    unsafe { Span::trusted(address, bytes) }
}

fn admit(check: &Check, stream: Option<u32>, call: &'static str, op: Op<'_>) -> u64 {
    let ticket = TICKETS.fetch_add(1, Ordering::Relaxed) + 1;
    let admission = Admission {
        ticket,
        call,
        device: 0,
        stream,
        inner: false,
        at_ns: 0,
        op,
    };
    check.before(&admission).expect("checks refuse nothing");
    ticket
}

fn done(check: &Check, ticket: u64) {
    check.reported(ticket, &Phase::Started, 0);
    check.reported(ticket, &Phase::Finished, 0);
}

fn allocate(check: &Check, address: usize, bytes: usize) {
    let span = span(address, bytes);
    let device = Some(0);
    admit(check, None, "aclrtMalloc", Op::Allocate { span, device });
}

fn fill(check: &Check, stream: Option<u32>, address: usize, bytes: usize) {
    let to = span(address, bytes);
    let ticket = admit(check, stream, "aclrtMemsetAsync", Op::Fill { to });
    done(check, ticket);
}

const BASE: usize = 1 << 40;

#[test]
fn a_million_tasks_leave_no_more_behind_than_a_thousand() {
    let check = check();
    allocate(&check, BASE, 1 << 20);
    let run = |rounds: usize, check: &Check| {
        for round in 0..rounds {
            let stream = Some((round % 7) as u32);
            let event = (round % 11) as u64;
            // One owner for each range, so that nothing is found.
            let at = BASE + (round % 7) * 4096;
            fill(check, stream, at + round % 64 * 64, 64);
            let record = round as u64 + 1;
            let ticket = admit(
                check,
                stream,
                "aclrtRecordEvent",
                Op::Record { event, record },
            );
            done(check, ticket);
            let other = Some(((round + 1) % 7) as u32);
            let ticket = admit(
                check,
                other,
                "aclrtStreamWaitEvent",
                Op::Wait {
                    event,
                    record,
                    ends: WaitEnd::Newest,
                },
            );
            done(check, ticket);
            let extra = BASE + (1 << 21) + round % 3 * 4096;
            allocate(check, extra, 4096);
            let (to, from) = (span(extra, 64), span(at + round % 64 * 64, 64));
            let direction = "device to device";
            let copy = Op::Copy {
                to,
                from,
                direction,
            };
            let ticket = admit(check, stream, "aclrtMemcpyAsync", copy);
            done(check, ticket);
            let wait = admit(check, stream, "aclrtSynchronizeStream", Op::WaitForStream);
            done(check, wait);
            let (span, device) = (span(extra, 4096), Some(0));
            admit(check, None, "aclrtFree", Op::Free { span, device });
        }
    };
    run(20_000, &check);
    let before = check.sizes();
    // Seven operations each.
    run(980_000 / 7, &check);
    assert_eq!(check.totals(), (0, 0));
    assert_eq!(check.sizes(), before);
}

#[test]
fn cells_of_one_allocation_are_bounded() {
    let check = check();
    allocate(&check, BASE, 1 << 26);
    for at in 0..20_000 {
        fill(&check, Some(1), BASE + at * 128, 64);
    }
    let cells = check
        .sizes()
        .iter()
        .find(|(what, _)| *what == "cells")
        .map(|(_, n)| *n);
    assert!(cells.is_some_and(|cells| cells <= 5_000), "{cells:?}");
}

/// Two threads write the same bytes; `between` says what happens between the two calls.
fn two_writers(overlap: bool) -> u64 {
    let check = check();
    allocate(&check, BASE, 4096);
    let (began, wrote) = (Barrier::new(2), Barrier::new(2));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            check.begin_call("aclrtMemset", None);
            began.wait();
            fill(&check, None, BASE, 64);
            if overlap {
                wrote.wait();
            }
            check.end_call(Default::default());
            if !overlap {
                wrote.wait();
            }
        });
        scope.spawn(|| {
            began.wait();
            if !overlap {
                wrote.wait();
            }
            check.begin_call("aclrtMemset", None);
            if overlap {
                wrote.wait();
            }
            fill(&check, None, BASE, 64);
            check.end_call(Default::default());
        });
    });
    check.totals().1
}

#[test]
fn calls_of_two_threads_that_follow_each_other_are_in_order() {
    for _ in 0..20 {
        assert_eq!(two_writers(false), 0);
    }
}

#[test]
fn calls_of_two_threads_that_overlap_are_not() {
    // The second call may begin after the first one wrote and before it ended: they overlap all the same.
    for _ in 0..20 {
        assert_eq!(two_writers(true), 1);
    }
}

#[test]
fn whoever_a_callback_wakes_knows_what_came_before_it() {
    let check = check();
    allocate(&check, BASE, 4096);
    check.begin_call("aclrtMemsetAsync", None);
    fill(&check, Some(1), BASE, 64);
    let callback = admit(
        &check,
        Some(1),
        "aclrtLaunchHostFunc",
        Op::Callback { blocks: true },
    );
    check.end_call(Default::default());
    // The function runs, and sets a condition variable.
    check.reported(callback, &Phase::Started, 0);
    check.begin_call("aclrtFree", None);
    let (span, device) = (span(BASE, 4096), Some(0));
    admit(&check, None, "aclrtFree", Op::Free { span, device });
    check.end_call(Default::default());
    assert_eq!(check.totals(), (0, 0));
}

/// Two threads: the first waits in a call while the second, inside a callback, copies in a call of its own; then the first frees.
#[test]
fn what_another_thread_did_during_a_wait_is_known_behind_it() {
    let check = check();
    allocate(&check, BASE, 4096);
    let (waits, copied) = (Barrier::new(2), Barrier::new(2));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            waits.wait();
            check.begin_call("aclrtMemcpy", None);
            fill(&check, None, BASE, 64);
            check.end_call(Default::default());
            copied.wait();
        });
        check.begin_call("aclrtSynchronizeStream", None);
        let wait = admit(&check, Some(1), "aclrtSynchronizeStream", Op::WaitForStream);
        waits.wait();
        copied.wait();
        done(&check, wait);
        check.end_call(Default::default());
    });
    check.begin_call("aclrtFree", None);
    let (span, device) = (span(BASE, 4096), Some(0));
    admit(&check, None, "aclrtFree", Op::Free { span, device });
    check.end_call(Default::default());
    assert_eq!(check.totals(), (0, 0));
}

/// A call of one thread waits for a function on another thread, which copies in a call of its own, and frees the memory before it
/// returns, as the end of a video channel does. `notes`: the call records that it has waited.
fn freed_behind_a_function(notes: bool) -> u64 {
    let check = check();
    allocate(&check, BASE, 4096);
    let (waits, copied) = (Barrier::new(2), Barrier::new(2));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            waits.wait();
            check.begin_call("aclrtMemcpy", None);
            fill(&check, None, BASE, 64);
            check.end_call(Default::default());
            copied.wait();
        });
        check.begin_call("aclvencDestroyChannel", None);
        fill(&check, None, BASE + 1024, 64);
        waits.wait();
        copied.wait();
        if notes {
            check.host_knows_returned();
        }
        let (span, device) = (span(BASE, 4096), Some(0));
        admit(
            &check,
            None,
            "aclvencDestroyChannel",
            Op::Free { span, device },
        );
        check.end_call(Default::default());
    });
    check.totals().1
}

#[test]
fn what_a_function_did_is_known_to_the_call_that_waited_for_it() {
    assert_eq!(freed_behind_a_function(true), 0);
    assert_eq!(freed_behind_a_function(false), 1);
}

/// Fills on one stream, reads on another; `edge` says whether captured models on the two record and wait in between.
fn graphs_in_order(edge: bool) -> u64 {
    let check = check();
    allocate(&check, BASE, 4096);
    allocate(&check, BASE + 4096, 4096);
    fill(&check, Some(1), BASE, 64);
    if edge {
        for (stream, records) in [(1, true), (2, false)] {
            let op = Op::Edge { event: 7, records };
            admit(&check, Some(stream), "aclmdlRIExecuteAsync", op);
        }
    }
    let (to, from) = (span(BASE + 4096, 64), span(BASE, 64));
    let direction = "device to device";
    let copy = Op::Copy {
        to,
        from,
        direction,
    };
    done(&check, admit(&check, Some(2), "aclrtMemcpyAsync", copy));
    check.totals().1
}

#[test]
fn an_event_between_captured_models_orders_their_steps() {
    assert_eq!(graphs_in_order(true), 0);
    assert_eq!(graphs_in_order(false), 1);
}

/// Writes half of a buffer, copies all of it, and then lets a task read the copy from `from` on.
fn half_written(from: Option<usize>) -> u64 {
    let check = check();
    allocate(&check, BASE, 1024);
    allocate(&check, BASE + 4096, 1024);
    fill(&check, Some(1), BASE, 512);
    let (to, all) = (span(BASE + 4096, 1024), span(BASE, 1024));
    let direction = "device to device";
    let copy = Op::Copy {
        to,
        from: all,
        direction,
    };
    done(&check, admit(&check, Some(1), "aclrtMemcpyAsync", copy));
    if let Some(from) = from {
        let reads = [span(BASE + 4096 + from, 256)];
        let launch = Op::Launch {
            name: "model",
            reads: &reads,
            writes: &[],
        };
        done(&check, admit(&check, Some(1), "aclmdlExecuteAsync", launch));
    }
    check.totals().1
}

#[test]
fn a_copy_may_carry_bytes_that_nothing_computes_with() {
    assert_eq!(half_written(None), 0);
    assert_eq!(half_written(Some(256)), 0);
    assert_eq!(half_written(Some(512)), 1);
}

#[test]
fn a_copy_of_nothing_but_unwritten_bytes_is_found() {
    let check = check();
    allocate(&check, BASE, 1024);
    let (to, from) = (span(1 << 20, 1024), span(BASE, 1024));
    let direction = "device to host";
    let copy = Op::Copy {
        to,
        from,
        direction,
    };
    done(&check, admit(&check, Some(1), "aclrtMemcpyAsync", copy));
    assert_eq!(check.totals().1, 1);
}

/// The texts of the findings of one run, the first line of each.
fn texts(rules: &[&str], run: impl FnOnce(&Check)) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("findings.json");
    let check = Check::new(Options {
        rules: rules.iter().map(|&rule| rule.to_owned()).collect(),
        report: Some(report.clone()),
        ..Options::default()
    });
    let check = check.expect("the report file can be made");
    run(&check);
    check.finish();
    let lines = std::fs::read_to_string(&report).expect("a report");
    let text = |line: &str| {
        let finding: serde_json::Value = serde_json::from_str(line).expect("JSON");
        finding["lines"][0]["text"]
            .as_str()
            .expect("a text")
            .to_owned()
    };
    lines.lines().map(text).collect()
}

#[test]
fn a_read_of_unwritten_bytes_is_described_by_task_range_and_allocation() {
    let found = texts(&[], |check| {
        allocate(check, BASE, 1024);
        fill(check, Some(1), BASE, 512);
        let reads = [span(BASE + 256, 512)];
        let launch = Op::Launch {
            name: "model",
            reads: &reads,
            writes: &[],
        };
        done(check, admit(check, Some(1), "aclmdlExecuteAsync", launch));
    });
    let [text] = &found[..] else {
        panic!("one finding: {found:?}");
    };
    let (task, rest) = text.split_once(" reads ").expect("a sentence");
    assert!(task.starts_with("task "), "{text}");
    assert!(
        rest.starts_with("bytes 512 to 767 of ")
            && rest.ends_with(", which no task, copy or fill has written"),
        "{text}"
    );
}

#[test]
fn a_copy_of_partly_written_memory_is_described_alike() {
    let found = texts(&["JMR-MEM-016"], |check| {
        allocate(check, BASE, 1024);
        fill(check, Some(1), BASE, 1000);
        let (to, from) = (span(1 << 20, 1024), span(BASE, 1024));
        let direction = "device to host";
        let copy = Op::Copy {
            to,
            from,
            direction,
        };
        done(check, admit(check, Some(1), "aclrtMemcpyAsync", copy));
    });
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains(" reads bytes 1000 to 1023 of ")
            && found[0].ends_with(", which no task, copy or fill has written"),
        "{found:?}"
    );
}

/// The ranges of a view of four rows, 64 bytes from row to row.
fn rows(column: usize, bytes: usize) -> [Span; 4] {
    [0, 1, 2, 3].map(|row| span(BASE + row * 64 + column, bytes))
}

/// Counts what `rules` find where two streams run a task each that write these ranges.
fn findings_of_two_writers(
    call: &'static str,
    rules: &[&str],
    one: &[Span],
    other: &[Span],
) -> u64 {
    let options = Options {
        rules: rules.iter().map(|rule| (*rule).to_owned()).collect(),
        ..Options::default()
    };
    let check = Check::new(options).expect("no report file is asked for");
    allocate(&check, BASE, 1024);
    for (stream, writes) in [(1, one), (2, other)] {
        let launch = Op::Launch {
            name: "one of them",
            reads: &[],
            writes,
        };
        done(&check, admit(&check, Some(stream), call, launch));
    }
    check.totals().1
}

#[test]
fn columns_of_one_matrix_are_memory_of_their_own() {
    assert_eq!(
        findings_of_two_writers("aclnnAdd", &[], &rows(0, 32), &rows(32, 32)),
        0
    );
    assert_eq!(
        findings_of_two_writers("aclnnAdd", &[], &rows(0, 33), &rows(32, 32)),
        1
    );
}

#[test]
fn two_operators_of_one_name_are_not_one_model() {
    let all = rows(0, 64);
    let count = |call, rule| findings_of_two_writers(call, &[rule], &all, &all);
    assert_eq!(count("aclnnAdd", "JMR-SYNC-001"), 1);
    assert_eq!(count("aclnnAdd", "JMR-MODEL-010"), 0);
    assert_eq!(count("aclmdlExecuteAsync", "JMR-MODEL-010"), 1);
}

#[test]
fn elements_that_may_have_been_written_are_not_missed() {
    let check = check();
    allocate(&check, BASE, 1024);
    check.may_be_written(span(BASE, 512));
    for (column, found) in [(0, 0), (512, 1)] {
        let launch = Op::Launch {
            name: "one of them",
            reads: &rows(column, 32),
            writes: &[],
        };
        done(&check, admit(&check, Some(1), "aclnnAbs", launch));
        assert_eq!(check.totals().1, found);
    }
}

#[test]
fn objects_of_operators_do_not_displace_what_is_known_of_others() {
    let check = check();
    check.made("stream", 1, Some(7), "aclrtCreateStream", 0);
    check.ended("stream", 1, "aclrtDestroyStream");
    for key in 2..10_000 {
        check.made("tensor", key, None, "aclCreateTensor", 0);
        check.ended("tensor", key, "aclDestroyTensor");
    }
    assert!(check.object("stream", 1).is_some());
    assert!(check.object("tensor", 2).is_none());
    assert!(check.object("tensor", 9_999).is_some());
}

#[test]
fn a_reset_takes_no_object_that_another_thread_is_destroying() {
    let check = check();
    check.made("stream", 5, None, "aclrtCreateStream", 0);
    let reset = |key| check.swept("stream", key, Some(1), "aclrtResetDevice");
    // The owner's call has taken the stream out of the runtime, and has not returned.
    check.set_ending("stream", 5, true);
    assert!(reset(5).is_none());
    check.ended("stream", 5, "aclrtDestroyStream");
    assert!(reset(5).is_none());
    let ended = check.object("stream", 5).and_then(|object| object.ended);
    assert_eq!(ended.map(|(by, _)| by), Some("aclrtDestroyStream"));

    // A refused call leaves the stream to the reset, which takes it once.
    check.made("stream", 6, None, "aclrtCreateStream", 0);
    check.set_ending("stream", 6, true);
    check.set_ending("stream", 6, false);
    assert!(reset(6).is_some());
    assert!(reset(6).is_none());

    // Two devices are reset at once: each reset takes what is its own.
    check.made("stream", 7, None, "aclrtCreateStream", 0);
    check.belongs_to("stream", 7, 2);
    assert!(reset(7).is_none());
    assert!(
        check
            .swept("stream", 7, Some(2), "aclrtResetDevice")
            .is_some()
    );
}

/// Counts what the checks do to memory, which no thread accesses.
#[derive(Default)]
struct EffectCounter {
    fills: AtomicU64,
    guards: AtomicU64,
    reads: AtomicU64,
}

impl Memory for EffectCounter {
    fn read(&self, _: Span, into: &mut [u8]) {
        // The program writes it between any two looks.
        into.fill(self.reads.fetch_add(1, Ordering::Relaxed) as u8);
    }

    fn fill(&self, _: Span, _: u8) {
        self.fills.fetch_add(1, Ordering::Relaxed);
    }

    fn guard(&self, _: u64, _: Span, _: bool) {
        self.guards.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn what_a_callback_may_use_is_left_alone_until_the_host_has_waited() {
    let options = Options {
        poison: true,
        protect: true,
        ..Options::default()
    };
    let check = Check::new(options).expect("no report file is asked for");
    let memory = Arc::new(EffectCounter::default());
    check.set_memory(memory.clone());
    let pinned = BASE + (1 << 30);
    allocate(&check, BASE, 4096);
    let (host, device) = (span(pinned, 4096), None);
    let op = Op::Allocate { span: host, device };
    admit(&check, None, "aclrtMallocHost", op);
    let stream = Some(1);
    let copies = || {
        for (to, from, direction) in [
            (span(BASE, 64), span(pinned, 64), "host to device"),
            (span(pinned + 64, 64), span(BASE, 64), "device to host"),
        ] {
            let op = Op::Copy {
                to,
                from,
                direction,
            };
            let ticket = admit(&check, stream, "aclrtMemcpyAsync", op);
            done(&check, ticket);
        }
        let counts = [&memory.fills, &memory.guards].map(|count| count.load(Ordering::Relaxed));
        (counts, check.totals())
    };
    let wait = || {
        let op = Op::WaitForStream;
        done(&check, admit(&check, stream, "aclrtSynchronizeStream", op));
    };
    let callback = |blocks| {
        let op = Op::Callback { blocks };
        admit(&check, stream, "aclrtLaunchCallback", op)
    };

    // It is handed over; when it returns, no event says.
    let first = callback(true);
    done(&check, first);
    assert_eq!(copies(), ([0, 0], (0, 0)), "it may be running");
    wait();
    let second = callback(true);
    assert_eq!(copies(), ([0, 0], (0, 0)), "it has not begun");
    done(&check, second);
    assert_eq!(copies(), ([0, 0], (0, 0)), "it may be running");
    wait();
    let ([fills, guards], (errors, _)) = copies();
    assert!(fills == 1 && guards > 0, "{fills} fills, {guards} guards");
    assert_eq!(errors, 1, "the source of the copy has changed");
}

/// A step of a program of two streams: 1 fills a buffer over and over, 2 copies from it.
#[derive(Clone, Copy)]
enum Step {
    Fill,
    Record,
    Wait(WaitEnd),
    /// Of stream 2.
    Reset,
    /// The host waits for stream 1.
    Finish,
    Read,
    Write(u64),
    WaitFor(ValueTest, u64),
}

/// Returns the number of errors in a sequence of steps.
fn errors_in(steps: &[Step]) -> u64 {
    let check = check();
    allocate(&check, BASE, 4096);
    allocate(&check, BASE + 4096, 4096);
    let word = span(BASE + 2048, 8);
    let event = 7;
    for (index, step) in steps.iter().enumerate() {
        let record = index as u64 + 1;
        let (stream, call, op) = match *step {
            Step::Fill => {
                let to = span(BASE, 64);
                (1, "aclrtMemsetAsync", Op::Fill { to })
            }
            Step::Record => (1, "aclrtRecordEvent", Op::Record { event, record }),
            Step::Wait(ends) => {
                let op = Op::Wait {
                    event,
                    record,
                    ends,
                };
                (2, "aclrtStreamWaitEvent", op)
            }
            Step::Reset => (2, "aclrtResetEvent", Op::ResetEvent { event }),
            Step::Finish => (1, "aclrtSynchronizeStream", Op::WaitForStream),
            Step::Read => {
                let copy = Op::Copy {
                    to: span(BASE + 4096, 64),
                    from: span(BASE, 64),
                    direction: "device to device",
                };
                (2, "aclrtMemcpyAsync", copy)
            }
            Step::Write(value) => (1, "aclrtValueWrite", Op::WriteValue { to: word, value }),
            Step::WaitFor(test, value) => {
                let at = word;
                (2, "aclrtValueWait", Op::WaitValue { at, value, test })
            }
        };
        done(&check, admit(&check, Some(stream), call, op));
    }
    check.totals().0
}

#[test]
fn a_level_that_was_not_reset_lets_the_next_wait_pass_early() {
    use Step::{Fill, Finish, Read, Record, Reset, Wait};
    let wait = Wait(WaitEnd::Level);
    assert_eq!(errors_in(&[Fill, Record, wait, Read]), 0);
    // The second wait may pass at the first record: the rule about it, and the read that it does not order. The second fill
    // races with the first read.
    let twice = [Fill, Record, wait, Read, Fill, Record, wait, Read];
    assert_eq!(errors_in(&twice), 3);
    let recorded_first = [Fill, Record, Fill, Record, wait, Read];
    assert_eq!(errors_in(&recorded_first), 2);
    let reset = [Fill, Record, wait, Reset, Fill, Record, wait, Read];
    assert_eq!(errors_in(&reset), 0);
    let finished = [Fill, Record, wait, Fill, Record, Finish, wait, Read];
    assert_eq!(errors_in(&finished), 0);
    let moves = [Fill, Record, Fill, Record, Wait(WaitEnd::Newest), Read];
    assert_eq!(errors_in(&moves), 0);
}

#[test]
fn a_wait_for_a_notify_takes_one_record() {
    use Step::{Fill, Read, Record, Wait};
    let wait = Wait(WaitEnd::Taken);
    assert_eq!(errors_in(&[Fill, Record, wait, Read]), 0);
    assert_eq!(
        errors_in(&[Fill, Record, wait, Fill, Record, wait, Read]),
        0
    );
    // One wait behind two records: the first record ends it.
    assert_eq!(errors_in(&[Fill, Record, Fill, Record, wait, Read]), 1);
    assert_eq!(
        errors_in(&[Fill, Record, Fill, Record, wait, wait, Read]),
        0
    );
}

#[test]
fn a_number_that_several_records_make_is_behind_all_of_them() {
    use Step::{Fill, Read, Record, Wait};
    let wait = Wait(WaitEnd::Counted);
    assert_eq!(errors_in(&[Fill, Record, Fill, Record, wait, Read]), 0);
}

#[test]
fn a_wait_for_a_value_is_behind_the_first_write_that_passes() {
    use Step::{Fill, Read, WaitFor, Write};
    let at_least = |value| WaitFor(ValueTest::AtLeast, value);
    assert_eq!(
        errors_in(&[Fill, Write(1), Fill, Write(2), at_least(2), Read]),
        0
    );
    assert_eq!(
        errors_in(&[Fill, Write(1), Fill, Write(2), at_least(1), Read]),
        1
    );
    let equal = WaitFor(ValueTest::Equal, 2);
    assert_eq!(errors_in(&[Fill, Write(1), Fill, Write(2), equal, Read]), 0);
    // No write that was seen passes: nothing is concluded.
    assert_eq!(errors_in(&[Fill, Write(1), at_least(5), Read]), 0);
}

/// The host waits on a thread of its own while the main thread queues a fill; then the host frees the memory.
fn freed_after(wait: Op<'_>, stream: Option<u32>) -> u64 {
    let check = check();
    allocate(&check, BASE, 4096);
    fill(&check, Some(1), BASE, 64);
    let (event, record) = (7, 1);
    let op = Op::Record { event, record };
    done(&check, admit(&check, Some(1), "aclrtRecordEvent", op));
    let (waits, queued) = (Barrier::new(2), Barrier::new(2));
    std::thread::scope(|scope| {
        let queue = || {
            waits.wait();
            check.begin_call("aclrtMemsetAsync", None);
            fill(&check, Some(1), BASE, 64);
            check.end_call(Default::default());
            let op = Op::Record { event, record: 2 };
            check.begin_call("aclrtRecordEvent", None);
            done(&check, admit(&check, Some(1), "aclrtRecordEvent", op));
            check.end_call(Default::default());
            queued.wait();
        };
        scope.spawn(queue);
        check.begin_call("a wait of the host", None);
        let wait = admit(&check, stream, "a wait of the host", wait);
        waits.wait();
        queued.wait();
        done(&check, wait);
        check.end_call(Default::default());
    });
    let (span, device) = (span(BASE, 4096), Some(0));
    admit(&check, None, "aclrtFree", Op::Free { span, device });
    check.totals().0
}

#[test]
fn a_wait_of_the_host_does_not_include_what_is_queued_during_it() {
    let (event, record) = (7, 1);
    assert_eq!(freed_after(Op::WaitForEvent { event, record }, None), 1);
    assert_eq!(freed_after(Op::WaitForContext { streams: &[1] }, None), 1);
    assert_eq!(freed_after(Op::WaitForStream, Some(1)), 1);
}

#[test]
fn a_wait_for_a_context_does_not_include_streams_of_another_one() {
    let freed_after_waiting_for = |streams: &[u32]| {
        let check = check();
        allocate(&check, BASE, 4096);
        fill(&check, Some(1), BASE, 64);
        let op = Op::WaitForContext { streams };
        done(&check, admit(&check, None, "aclrtSynchronizeDevice", op));
        let (span, device) = (span(BASE, 4096), Some(0));
        admit(&check, None, "aclrtFree", Op::Free { span, device });
        check.totals().0
    };
    assert_eq!(freed_after_waiting_for(&[1, 2]), 0);
    assert_eq!(freed_after_waiting_for(&[2]), 1);
}
