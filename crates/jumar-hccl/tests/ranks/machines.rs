//! Ranks on several machines: network namespaces with process namespaces of their own, connected by one cable.
//!
//! These tests need the plug-in, the system's administrator, `ip` and `tc`. They run where `JUMAR_TEST_GLOO` is `machines`.

use std::env;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jumar_hccl::{
    Communicator, DataType, Domain, Network, Options, Reduction, RootAddress, RootInfo,
};
use jumar_types::ErrorKind;

use crate::harness::{Machine, Random};
use crate::processes::sum;
use crate::reference::{combined, elements, same};

const ROLE: &str = "JUMAR_TEST_MACHINE";
/// What the ranks of a rank table know.
const TABLE: &str = "JUMAR_TEST_TABLE";
/// How long operations wait.
const LIMIT: Duration = Duration::from_secs(3);
/// How long ranks wait for each other at first.
const JOIN: Duration = Duration::from_secs(60);

fn system(line: &str) {
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().expect("a program"));
    let status = command.args(words).status().expect("it can be run");
    assert!(status.success(), "{line}");
}

/// Makes a cable slow and lossy. A kernel without the means for it has a perfect one, which the output states.
fn degrade(name: &str, quality: &str) {
    let line = format!("-n {name} qdisc add dev cable root netem {quality}");
    let done = Command::new("tc").args(line.split(' ')).output();
    let done = done.expect("tc can be run");
    if !done.status.success() {
        let why = String::from_utf8_lossy(&done.stderr);
        println!("no delay and no loss on {name}: {}", why.trim());
    }
}

/// Two machines with a cable between them.
struct Cable {
    names: [String; 2],
    /// The address of the first one.
    address: String,
}

impl Cable {
    /// `number` is different for each test, because tests run at the same time.
    fn new(number: u32, quality: &str) -> Cable {
        let id = std::process::id();
        let names = ["a", "b"].map(|end| format!("jumar-{id}-{number}-{end}"));
        let address = format!("10.{}.{number}.1", id % 250);
        let cable = Cable { names, address };
        let [a, b] = &cable.names;
        system(&format!("ip netns add {a}"));
        system(&format!("ip netns add {b}"));
        system(&format!(
            "ip link add cable netns {a} type veth peer name cable netns {b}"
        ));
        for (at, name) in cable.names.iter().enumerate() {
            let address = format!("10.{}.{number}.{}/24", id % 250, at + 1);
            system(&format!("ip -n {name} address add {address} dev cable"));
            system(&format!("ip -n {name} link set cable up"));
            system(&format!("ip -n {name} link set lo up"));
            degrade(name, quality);
        }
        cable
    }

    fn pull(&self) {
        system(&format!("ip -n {} link set cable down", self.names[0]));
    }

    /// Starts the ranks of a test, half of them on each machine, and carries the root information to them.
    fn start(&self, test: &str, size: u32) -> Vec<Rank> {
        self.start_with(test, size, None)
    }

    /// As [`Cable::start`]; where there is a table, each rank gets the address of rank 0's machine and no root information.
    fn start_with(&self, test: &str, size: u32, table: Option<&str>) -> Vec<Rank> {
        let mut ranks: Vec<Rank> = Vec::new();
        let mut info = self.address.clone();
        for rank in 0..size {
            let name = &self.names[(rank * 2 / size) as usize];
            let program = env::current_exe().expect("this program");
            let mut child = Command::new("ip")
                .args(["netns", "exec", name, "unshare", "--pid", "--fork"])
                .args(["--kill-child", "--mount-proc"])
                .arg(program)
                .args(["--exact", &format!("machines::{test}"), "--nocapture"])
                .env(ROLE, format!("{size} {rank}"))
                .envs(table.map(|table| (TABLE, table)))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("a process");
            let output = child.stdout.take().expect("a pipe");
            let mut started = Rank {
                child,
                lines: BufReader::new(output).lines(),
            };
            if rank == 0 && table.is_none() {
                info = started.wait_for("JUMAR-HCCL");
            }
            let input = started.child.stdin.as_mut().expect("a pipe");
            writeln!(input, "{info}").expect("it reads");
            ranks.push(started);
        }
        ranks
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        for name in &self.names {
            // What is left is reported by the next test of the same process number.
            let _ = Command::new("ip").args(["netns", "delete", name]).status();
        }
    }
}

struct Rank {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Rank {
    /// Waits for a line with a word, and returns it from there on.
    fn wait_for(&mut self, word: &str) -> String {
        let found = self.lines.by_ref().find_map(|line| {
            let line = line.expect("text");
            line.find(word).map(|at| line[at..].to_owned())
        });
        found.unwrap_or_else(|| panic!("the rank ended without \"{word}\""))
    }

    fn succeed(mut self) {
        self.lines
            .by_ref()
            .for_each(|line| println!("{}", line.expect("text")));
        assert!(self.child.wait().expect("it ends").success());
    }
}

/// Reports whether these tests are wanted.
fn wanted() -> bool {
    env::var("JUMAR_TEST_GLOO").is_ok_and(|value| value == "machines")
}

/// Returns this process's communicator, if it was started as a rank.
fn role(machine: &Machine) -> Option<Arc<Communicator>> {
    let text = env::var(ROLE).ok()?;
    let numbers: Vec<u32> = text
        .split(' ')
        .map(|word| word.parse().expect("a number"))
        .collect();
    let domain = Domain::with_network(machine.backend.clone(), Network::default());
    let options = Options {
        limit: Some(LIMIT),
        ..Options::default()
    };
    let mut line = String::new();
    if let Ok(table) = env::var(TABLE) {
        std::io::stdin().read_line(&mut line).expect("a line");
        let root_address = RootAddress {
            address: line.trim_end().parse().expect("an address"),
            key: 77,
        };
        let size_and_rank = (numbers[0], numbers[1]);
        let made = domain.join_by_name(
            (&table, Some(&root_address)),
            size_and_rank,
            0,
            options,
            JOIN,
        );
        return Some(made.expect("a communicator"));
    }
    let own = (numbers[1] == 0).then(|| domain.root_info(JOIN).expect("root information"));
    if let Some(own) = own {
        println!("{}", own.text());
    }
    std::io::stdin().read_line(&mut line).expect("a line");
    let info = RootInfo::read(line.trim_end().as_bytes()).expect("root information");
    let made = domain.join(&info, (numbers[0], numbers[1]), 0, options, JOIN);
    Some(made.expect("a communicator"))
}

/// Sums until it fails.
fn sum_until_failure(machine: &Machine, own: &Arc<Communicator>) -> jumar_types::Error {
    let mut count = 0;
    loop {
        match sum(machine, own, DataType::Int32, &[1; 40]) {
            Ok(_) => {
                count += 1;
                if count == 3 {
                    println!("ready");
                }
            }
            Err(error) => return error,
        }
    }
}

#[test]
fn a_slow_network_that_loses_packets_changes_no_bit() {
    if !wanted() {
        return;
    }
    let machine = Machine::new();
    let Some(own) = role(&machine) else {
        let cable = Cable::new(1, "delay 2ms 1ms loss 1%");
        let ranks = cable.start("a_slow_network_that_loses_packets_changes_no_bit", 4);
        ranks.into_iter().for_each(Rank::succeed);
        return;
    };
    for (of, count) in [
        (DataType::Float32, 1),
        (DataType::Float16, 10_003),
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
}

#[test]
fn a_cable_that_is_pulled_ends_the_waits_after_the_limit() {
    if !wanted() {
        return;
    }
    let machine = Machine::new();
    let Some(own) = role(&machine) else {
        let cable = Cable::new(2, "delay 1ms");
        let mut ranks = cable.start("a_cable_that_is_pulled_ends_the_waits_after_the_limit", 2);
        ranks
            .iter_mut()
            .for_each(|rank| drop(rank.wait_for("ready")));
        cable.pull();
        ranks.into_iter().for_each(Rank::succeed);
        return;
    };
    let error = sum_until_failure(&machine, &own);
    assert_eq!(error.kind(), ErrorKind::CommTimeout, "{error}");
    let other = format!("waited 3 s for rank {}", 1 - own.rank());
    assert!(error.sentence().contains(&other), "{error}");
}

#[test]
fn a_rank_of_another_machine_that_is_killed_ends_the_waits_within_a_second() {
    if !wanted() {
        return;
    }
    let machine = Machine::new();
    let Some(own) = role(&machine) else {
        let cable = Cable::new(3, "delay 1ms");
        let test = "a_rank_of_another_machine_that_is_killed_ends_the_waits_within_a_second";
        let mut ranks = cable.start(test, 2);
        ranks
            .iter_mut()
            .for_each(|rank| drop(rank.wait_for("ready")));
        let mut killed = ranks.pop().expect("rank 1");
        killed.child.kill().expect("it runs");
        let since = Instant::now();
        killed.child.wait().expect("it has ended");
        ranks.into_iter().for_each(Rank::succeed);
        // A second, and time for a machine that does other things to end a process. The limit of operations is longer.
        assert!(since.elapsed() < LIMIT, "{:?}", since.elapsed());
        return;
    };
    let error = sum_until_failure(&machine, &own);
    assert_eq!(error.kind(), ErrorKind::CommPeerLost, "{error}");
    assert!(error.sentence().contains("rank 1 (process"), "{error}");
}

#[test]
fn ranks_of_a_rank_table_find_rank_0_on_another_machine() {
    if !wanted() {
        return;
    }
    let machine = Machine::new();
    let Some(own) = role(&machine) else {
        let cable = Cable::new(4, "delay 1ms");
        let test = "ranks_of_a_rank_table_find_rank_0_on_another_machine";
        let name = format!("table-{}", std::process::id());
        let ranks = cable.start_with(test, 4, Some(&name));
        ranks.into_iter().for_each(Rank::succeed);
        return;
    };
    let got = sum(&machine, &own, DataType::Int32, &own.rank().to_le_bytes());
    assert_eq!(got.expect("all come"), 6u32.to_le_bytes());
}
