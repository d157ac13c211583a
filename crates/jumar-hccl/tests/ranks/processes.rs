//! Ranks in processes of their own: this test program starts itself once more for each rank.

use std::env;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jumar_hal::Span;
use jumar_hccl::{
    Collective, Communicator, DataType, Domain, Kind, Operation, Options, Pieces, Reduction,
    RootInfo, Signature,
};
use jumar_types::{ErrorKind, Result};

use crate::harness::{LARGE, Machine, Random, broadcast, call, tasks, wait};
use crate::reference::{combined, elements, same};

const ROLE: &str = "JUMAR_TEST_RANK";
/// Set where ranks use the network although they are on one machine.
const OVER_NETWORK: &str = "JUMAR_TEST_OVER_NETWORK";
/// Set where no file may be so long that it stands for a device's memory. A rank's segment is shorter.
const LENDS_NOTHING: &str = "JUMAR_TEST_LENDS_NOTHING";
const NO_FILE: &str = "ulimit -f 614400; exec \"$0\" \"$@\"";
/// Set to a rank that has too few addresses to map what the others lend. Its own memory and the segments need less.
const MAPS_NOTHING: &str = "JUMAR_TEST_MAPS_NOTHING";
const FEW_ADDRESSES: &str = "ulimit -v 4194304; exec \"$0\" \"$@\"";
const LIMIT: Duration = Duration::from_secs(60);

/// Starts the ranks of a test; each runs the same test, which finds its role in the environment.
fn start(test: &str, info: &RootInfo, size: u32) -> Vec<Child> {
    start_with(test, info, 0..size, size, &[])
}

fn start_with(
    test: &str,
    info: &RootInfo,
    ranks: Range<u32>,
    size: u32,
    variables: &[(&str, &str)],
) -> Vec<Child> {
    let program = env::current_exe().expect("this program");
    ranks
        .map(|rank| {
            let limit = variables.iter().find_map(|(name, value)| match *name {
                LENDS_NOTHING => Some(NO_FILE),
                MAPS_NOTHING => (*value == rank.to_string()).then_some(FEW_ADDRESSES),
                _ => None,
            });
            let mut command = Command::new(limit.map_or(program.as_path(), |_| "sh".as_ref()));
            if let Some(limit) = limit {
                command.args(["-c", limit]).arg(&program);
            }
            command
                .args(["--exact", test, "--nocapture"])
                .env(ROLE, format!("{size} {rank} {}", info.text()))
                .envs(variables.iter().copied())
                .stdout(Stdio::piped())
                .spawn()
                .expect("a process")
        })
        .collect()
}

/// Returns this process's communicator, if it was started as a rank.
fn role(machine: &Machine) -> Option<Arc<Communicator>> {
    let text = env::var(ROLE).ok()?;
    let mut words = text.splitn(3, ' ');
    let mut number = || {
        words
            .next()
            .and_then(|word| word.parse().ok())
            .expect("a number")
    };
    let size_and_rank = (number(), number());
    let info = RootInfo::read(words.next().expect("root information").as_bytes());
    let domain = match env::var_os(OVER_NETWORK) {
        Some(_) => Domain::with_network_only(machine.backend.clone()),
        None => Domain::new(machine.backend.clone()),
    };
    let options = Options {
        limit: Some(LIMIT),
        ..Options::default()
    };
    let made = domain.join(
        &info.expect("root information"),
        size_and_rank,
        0,
        options,
        LIMIT,
    );
    Some(made.expect("a communicator"))
}

pub fn sum(
    machine: &Machine,
    own: &Arc<Communicator>,
    of: DataType,
    bytes: &[u8],
) -> Result<Vec<u8>> {
    let span = machine.buffer(bytes);
    let outcome = call(
        own,
        Operation::Collective(Collective {
            signature: Signature {
                kind: Kind::AllReduce,
                data_type: of,
                reduction: Some(Reduction::Sum),
                root: None,
                count: (bytes.len() / of.bytes()) as u64,
                digest: 0,
            },
            send: Pieces::Same(span),
            receive: Pieces::Same(span),
        }),
    );
    let got = machine.read(span);
    machine.free(span);
    outcome.map(|()| got)
}

#[test]
fn processes_compute_what_the_reference_does() {
    let machine = Machine::new();
    if let Some(own) = role(&machine) {
        for (of, count) in [
            (DataType::Float32, 1),
            (DataType::Float16, 1_003),
            (DataType::Float32, 300_007),
            (DataType::Int64, 0),
        ] {
            let inputs: Vec<Vec<u8>> = (0..own.size())
                .map(|rank| elements(of, count, &mut Random(1 + u64::from(rank))))
                .collect();
            let got = sum(&machine, &own, of, &inputs[own.rank() as usize]).expect("all come");
            let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
            let expected = combined(of, Reduction::Sum, &inputs);
            assert!(same(of, Reduction::Sum, &got, &expected));
        }
        for round in 0..300u32 {
            let got = sum(
                &machine,
                &own,
                DataType::UInt64,
                &u64::from(round).to_le_bytes(),
            );
            let expected = u64::from(round * own.size());
            assert_eq!(got.expect("all come"), expected.to_le_bytes());
        }
        return;
    }
    let domain = Domain::new(machine.backend.clone());
    for size in [2, 4] {
        let info = domain.root_info(LIMIT).expect("root information");
        let name = "processes::processes_compute_what_the_reference_does";
        for mut rank in start(name, &info, size) {
            assert!(rank.wait().expect("it ends").success());
        }
    }
}

#[test]
fn a_process_that_is_killed_ends_the_waits_of_the_others() {
    let machine = Machine::new();
    if let Some(own) = role(&machine) {
        let failed = loop {
            match sum(&machine, &own, DataType::Int32, &[1, 0, 0, 0]) {
                Ok(_) if own.rank() == 1 => {
                    println!("ready");
                    // Killed here, while the others wait for the next operation.
                    std::thread::sleep(LIMIT);
                }
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert_eq!(failed.kind(), ErrorKind::CommPeerLost, "{failed}");
        assert!(failed.sentence().contains("rank 1 (process"), "{failed}");
        assert_eq!(
            own.failure().map(|error| error.kind()),
            Some(ErrorKind::CommPeerLost)
        );
        return;
    }
    let domain = Domain::new(machine.backend.clone());
    let info = domain.root_info(LIMIT).expect("root information");
    let name = "processes::a_process_that_is_killed_ends_the_waits_of_the_others";
    let mut ranks = start(name, &info, 3);
    let output = ranks[1].stdout.take().expect("a pipe");
    let mut lines = BufReader::new(output).lines();
    assert!(lines.any(|line| line.expect("text").contains("ready")));
    ranks[1].kill().expect("it runs");
    let killed = Instant::now();
    ranks[1].wait().expect("it has ended");
    for at in [0, 2] {
        assert!(ranks[at].wait().expect("it ends").success());
    }
    // A second, and time for a machine that does other things to end two processes.
    assert!(
        killed.elapsed() < Duration::from_secs(6),
        "{:?}",
        killed.elapsed()
    );
}

fn exchange(machine: &Machine, own: &Arc<Communicator>, bytes: usize) -> Result<Vec<u8>> {
    let size = own.size() as usize;
    let [send, receive] = [own.rank() as u8 + 1, 0].map(|byte| {
        let parts = (0..size).flat_map(|to| vec![byte * 16 + to as u8; bytes]);
        machine.buffer(&parts.collect::<Vec<u8>>())
    });
    let cut = |span: Span| Pieces::Each((0..size).map(|at| span.part(at * bytes, bytes)).collect());
    let operation = Operation::Collective(Collective {
        signature: Signature {
            kind: Kind::AllToAll,
            data_type: DataType::Int8,
            reduction: None,
            root: None,
            count: bytes as u64,
            digest: 0,
        },
        send: cut(send),
        receive: cut(receive),
    });
    let outcome = call(own, operation);
    let got = machine.read(receive);
    machine.free(send);
    machine.free(receive);
    outcome.map(|()| got)
}

/// Returns what rank `from` provides to rank `to` in a round: each byte three times, then the next one.
fn provided(from: usize, to: usize, round: usize, bytes: usize) -> Vec<u8> {
    const PERIOD: usize = 3 * 256;
    let period: Vec<u8> = (0..PERIOD)
        .map(|at| (at / 3 + from * 101 + to * 29 + round * 7) as u8)
        .collect();
    let mut content = period.repeat(bytes.div_ceil(PERIOD));
    content.truncate(bytes);
    content
}

/// Ranks map what the others lend of their memory. Buffers begin and end inside pages, and memory is used again for other data.
#[test]
fn what_a_process_lends_is_what_the_others_get() {
    let machine = match env::var_os(MAPS_NOTHING) {
        None => Machine::new(),
        Some(_) => Machine::with_memory(16 << 30),
    };
    if let Some(own) = role(&machine) {
        let (me, size) = (own.rank() as usize, own.size() as usize);
        for (round, (kind, bytes, shift)) in [
            (Kind::AllToAll, 700_001, 1),
            (Kind::AllToAll, 1 << 20, 0),
            (Kind::AllToAll, 600_000, 4_095),
            (Kind::Broadcast, (5 << 20) + 5, 64),
            (Kind::Broadcast, 3 << 20, 0),
            (Kind::AllGather, 1_000_003, 512),
            (Kind::AllGather, (4 << 20) + 4_095, 1),
        ]
        .into_iter()
        .cycle()
        .take(14)
        .enumerate()
        {
            let root = round % size;
            let separate = kind == Kind::AllToAll;
            // What lies beside the data stays as it is.
            let beside = vec![0xee; shift];
            let parts = if separate { size } else { 1 };
            let sent = (0..parts).map(|to| provided(me, to, round, bytes));
            let sent: Vec<Vec<u8>> = sent.collect();
            let content = [beside, sent.concat(), vec![0xee; 77]].concat();
            let send = machine.buffer(&content);
            let receive = machine.buffer(&vec![0; size * bytes]);
            let part = |at: usize| send.part(shift + at * bytes, bytes);
            let sends: Vec<_> = (0..size)
                .map(
                    |to| match (separate, kind == Kind::Broadcast && me != root) {
                        (true, _) => part(to),
                        (false, true) => None,
                        (false, false) => part(0),
                    },
                )
                .collect();
            let receives: Vec<_> = (0..size)
                .map(|from| match kind == Kind::Broadcast && from != root {
                    true => None,
                    false => receive.part(from * bytes, bytes),
                })
                .collect();
            let operation = Operation::Collective(Collective {
                signature: Signature {
                    kind,
                    data_type: DataType::Int8,
                    reduction: None,
                    root: (kind == Kind::Broadcast).then_some(root as u32),
                    count: bytes as u64,
                    digest: 0,
                },
                send: Pieces::Each(sends.into()),
                receive: Pieces::Each(receives.clone().into()),
            });
            call(&own, operation).expect("all come");
            for (from, span) in receives.iter().enumerate() {
                let Some(span) = span else { continue };
                let to = if separate { me } else { 0 };
                let expected = provided(from, to, round, bytes);
                assert!(
                    machine.read(*span) == expected,
                    "round {round}, from {from}"
                );
            }
            assert!(machine.read(send) == content, "round {round}");
            machine.free(send);
            machine.free(receive);
        }
        if env::var_os(LENDS_NOTHING).is_some() {
            assert_eq!(machine.backend.lent_memory(0), None);
            return;
        }
        let maps = std::fs::read_to_string("/proc/self/maps").expect("this process");
        let mut mapped = maps
            .lines()
            .filter(|line| line.contains("jumar-lent-memory"));
        let maps_others = mapped.any(|line| line.contains(" r--s "));
        let is_limited = env::var(MAPS_NOTHING).is_ok_and(|rank| rank == me.to_string());
        assert_eq!(maps_others, !is_limited, "{maps}");
        let lent = machine.backend.lent_memory(0).expect("a file");
        let file = std::fs::metadata(format!("/proc/self/fd/{}", lent.descriptor));
        assert!(file.expect("open").blocks() * 512 >= 4 << 20);
        return;
    }
    let domain = Domain::new(machine.backend.clone());
    let name = "processes::what_a_process_lends_is_what_the_others_get";
    // Without a file the system copies for the ranks.
    for (size, variables) in [
        (2, [].as_slice()),
        (3, &[]),
        (3, &[(LENDS_NOTHING, "1")]),
        // One of several readers of the same bytes does not read them where the others do.
        (3, &[(MAPS_NOTHING, "2")]),
        (3, &[(MAPS_NOTHING, "0")]),
    ] {
        let info = domain.root_info(LIMIT).expect("root information");
        for mut rank in start_with(name, &info, 0..size, size, variables) {
            assert!(rank.wait().expect("it ends").success());
        }
    }
}

/// Ranks read the memory of each other's processes. One is killed while they do.
#[test]
fn a_process_that_is_killed_while_others_read_its_memory_ends_their_waits() {
    const BYTES: usize = 5 << 20;
    let machine = Machine::new();
    if let Some(own) = role(&machine) {
        let me = own.rank() as u8;
        let failed = loop {
            match exchange(&machine, &own, BYTES) {
                Ok(got) => {
                    let parts = got.chunks_exact(BYTES).zip(1..);
                    for (part, from) in parts {
                        assert!(part.iter().all(|byte| *byte == from * 16 + me));
                    }
                    if own.rank() == 1 {
                        println!("ready");
                    }
                }
                Err(error) => break error,
            }
        };
        assert_eq!(failed.kind(), ErrorKind::CommPeerLost, "{failed}");
        assert!(failed.sentence().contains("rank 1 (process"), "{failed}");
        return;
    }
    let domain = Domain::new(machine.backend.clone());
    let name = "processes::a_process_that_is_killed_while_others_read_its_memory_ends_their_waits";
    for turn in 0..3 {
        let info = domain.root_info(LIMIT).expect("root information");
        let mut ranks = start(name, &info, 3);
        let output = ranks[1].stdout.take().expect("a pipe");
        let lines = BufReader::new(output).lines();
        let ready = lines.filter(|line| line.as_ref().is_ok_and(|line| line.contains("ready")));
        assert_eq!(ready.take(turn + 1).count(), turn + 1);
        ranks[1].kill().expect("it runs");
        ranks[1].wait().expect("it has ended");
        for at in [0, 2] {
            assert!(ranks[at].wait().expect("it ends").success());
        }
    }
}

/// Gloo ends what waits for a connection that breaks, but not the message that is on its way.
#[test]
fn a_process_that_is_killed_in_the_middle_of_a_message_ends_the_waits_of_the_others() {
    let machine = Machine::new();
    if let Some(own) = role(&machine) {
        let span = machine.buffer(&vec![1; LARGE]);
        // Killed while it sends.
        let _ = call(&own, broadcast(1, 1, span));
        std::thread::sleep(LIMIT);
        return;
    }
    if env::var_os("JUMAR_TEST_GLOO").is_none() {
        return;
    }
    let domain = Domain::with_network_only(machine.backend.clone());
    let name = "processes::a_process_that_is_killed_in_the_middle_of_a_message_ends_the_waits_of_the_others";
    let info = domain.root_info(LIMIT).expect("root information");
    let mut other = start_with(name, &info, 1..2, 2, &[(OVER_NETWORK, "1")]);
    let options = Options {
        limit: Some(LIMIT),
        ..Options::default()
    };
    let own = domain.join(&info, (2, 0), 0, options, LIMIT);
    let own = own.expect("a communicator");
    let span = machine.buffer(&vec![0; LARGE]);
    let queued = own.prepare(broadcast(0, 1, span), false).expect("accepted");
    let (begin, signal, end) = tasks(&queued);
    begin.run().expect("it only announces the rank");
    machine.wait_for_the_middle(span);
    other[0].kill().expect("it runs");
    let killed = Instant::now();
    other[0].wait().expect("it has ended");
    wait(&signal);
    let took = killed.elapsed();
    let failed = end.run().expect_err("rank 1 has ended");
    assert_eq!(failed.kind(), ErrorKind::CommPeerLost, "{failed}");
    assert!(failed.sentence().contains("rank 1 (process"), "{failed}");
    // A second, and time for a machine that does other things.
    assert!(took < Duration::from_secs(6), "{took:?}");
}
