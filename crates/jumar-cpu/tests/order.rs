//! Random work on several queues, ordered by signals, ends in the memory that sequential execution produces.
//!
//! The generator keeps vector clocks: before an operation touches a cell that another queue touched without an order
//! between the two, it records on that queue and waits on this one. So there is exactly one right result.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use jumar_cpu::{CpuBackend, CpuConfig, CpuDeviceConfig};
use jumar_hal::{
    Backend, Call, Cost, Device, Program, Queue, QueueConfig, QueueObserver, Signal, Span, Tag,
    Task, Transfer, Verdict, WaitThen,
};
use jumar_types::{Error, Result};

const QUEUES: usize = 5;
const CELLS: usize = 6;
const CELL: usize = 256;

static CALL: Call = Call {
    name: "test",
    number: 0,
};

struct Strict;

impl QueueObserver for Strict {
    fn started(&self, _tag: Tag) {}
    fn finished(&self, _tag: Tag) {}
    fn failed(&self, _tag: Tag, error: Error) -> Verdict {
        panic!("{error}");
    }
}

/// Copies a cell onto another through the backend, as a program of unknown length.
struct Move {
    backend: Arc<CpuBackend>,
    to: Span,
    from: Span,
    cost: Cost,
}

impl Program for Move {
    fn run(&self) -> Result<()> {
        let copy = Transfer::new(self.to, self.from).expect("of one length");
        self.backend.copy_now(copy);
        Ok(())
    }
    fn cost(&self) -> Cost {
        self.cost
    }
    fn name(&self) -> &str {
        "move"
    }
}

/// Which operation of each queue a queue has seen the end of.
type Clock = [u64; QUEUES];

struct Round {
    backend: Arc<CpuBackend>,
    queues: Vec<Arc<dyn Queue>>,
    cells: Vec<Span>,
    expected: Vec<[u8; CELL]>,
    clocks: [Clock; QUEUES],
    touched: [[u64; QUEUES]; CELLS],
    dice: Rng,
}

impl Round {
    fn tag(&mut self) -> Tag {
        Tag {
            ticket: self.dice.usize(..2) as u64,
            call: &CALL,
        }
    }

    fn submit(&mut self, queue: usize, task: Task) {
        self.clocks[queue][queue] += 1;
        let tag = self.tag();
        let position = self.queues[queue].submit(task, tag);
        assert_eq!(position, self.clocks[queue][queue]);
    }

    /// Orders `queue` after whatever touched `cell`, and notes that it touches it next.
    fn touch(&mut self, queue: usize, cell: usize) {
        for other in 0..QUEUES {
            let at = self.touched[cell][other];
            if self.clocks[queue][other] < at {
                let signal = Arc::new(Signal::new());
                self.submit(other, Task::Set(signal.clone()));
                let then = if self.dice.usize(..2) == 0 {
                    WaitThen::Keep
                } else {
                    WaitThen::Clear
                };
                let limit = (self.dice.usize(..3) == 0).then_some(Duration::from_secs(3600));
                let seen = self.clocks[other];
                self.submit(
                    queue,
                    Task::Wait {
                        signal,
                        then,
                        limit,
                    },
                );
                for (mine, theirs) in self.clocks[queue].iter_mut().zip(seen) {
                    *mine = (*mine).max(theirs);
                }
            }
        }
        self.touched[cell][queue] = self.clocks[queue][queue] + 1;
    }

    fn step(&mut self) {
        let queue = self.dice.usize(..QUEUES);
        let (to, from) = (self.dice.usize(..CELLS), self.dice.usize(..CELLS));
        match self.dice.usize(..8) {
            0..=2 => {
                self.touch(queue, from);
                self.touch(queue, to);
                // The second touch may have queued more: what the first said is the later of the two.
                self.touched[from][queue] = self.clocks[queue][queue] + 1;
                self.expected[to] = self.expected[from];
                let copy = Transfer::new(self.cells[to], self.cells[from]);
                self.submit(queue, Task::Copy(copy.expect("of one length")));
            }
            3..=4 => {
                self.touch(queue, to);
                let value = self.dice.usize(..256) as u8;
                let part = 1 + self.dice.usize(..CELL);
                self.expected[to][..part].fill(value);
                let to = self.cells[to].part(0, part).expect("inside");
                self.submit(queue, Task::Fill { to, value });
            }
            5..=6 => {
                self.touch(queue, from);
                self.touch(queue, to);
                self.touched[from][queue] = self.clocks[queue][queue] + 1;
                self.expected[to] = self.expected[from];
                let cost = [Cost::Bounded, Cost::Unbounded, Cost::Large][self.dice.usize(..3)];
                let program = Move {
                    backend: self.backend.clone(),
                    to: self.cells[to],
                    from: self.cells[from],
                    cost,
                };
                self.submit(queue, Task::Run(Arc::new(program)));
            }
            _ => {
                let position = self.clocks[queue][queue];
                match self.dice.usize(..4) {
                    0 => assert!(self.queues[queue].wait(position, None)),
                    1 => {
                        let until = Instant::now() + Duration::from_micros(30);
                        self.queues[queue].wait(position, Some(until));
                    }
                    2 => {
                        let signal = Arc::new(Signal::new());
                        self.submit(queue, Task::Set(signal.clone()));
                        assert!(self.queues[queue].wait_signal(&signal, None));
                    }
                    _ => assert!(self.queues[queue].completed() <= position),
                }
            }
        }
    }
}

fn play(config: CpuConfig, seeds: std::ops::Range<u64>, steps: usize) {
    let backend = Arc::new(CpuBackend::new(config).expect("address space"));
    let device: Arc<dyn Device> = backend.open(0).expect("a device");
    for seed in seeds {
        let queues: Vec<_> = (0..QUEUES)
            .map(|i| {
                let config = QueueConfig {
                    priority: i as u8,
                    number: i as u32,
                };
                device.queue(config, Arc::new(Strict)).expect("a queue")
            })
            .collect();
        let cells: Vec<_> = (0..CELLS)
            .map(|_| device.allocate(CELL, 64).expect("space"))
            .collect();
        for (i, cell) in cells.iter().enumerate() {
            backend.fill_now(*cell, i as u8);
        }
        let mut round = Round {
            backend: backend.clone(),
            queues,
            cells,
            expected: (0..CELLS).map(|i| [i as u8; CELL]).collect(),
            clocks: [[0; QUEUES]; QUEUES],
            touched: [[0; QUEUES]; CELLS],
            dice: Rng::with_seed(seed),
        };
        for _ in 0..steps {
            round.step();
        }
        for queue in &round.queues {
            assert!(queue.wait(queue.submitted(), None));
        }
        for (cell, expected) in round.cells.iter().zip(&round.expected) {
            let mut found = [0u8; CELL];
            backend.read_now(*cell, &mut found);
            assert_eq!(&found, expected, "seed {seed}");
            device.free(*cell);
        }
    }
}

fn config() -> CpuConfig {
    CpuConfig {
        devices: vec![CpuDeviceConfig {
            memory_bytes: 1 << 24,
        }],
        ..CpuConfig::default()
    }
}

#[test]
fn random_work_ends_as_if_done_one_by_one() {
    play(config(), 1..60, 300);
}

#[test]
fn random_work_on_one_worker_and_one_processor() {
    let config = CpuConfig {
        workers: 1,
        cpus: 1,
        ..config()
    };
    play(config, 100..140, 300);
}

#[test]
fn random_work_on_many_workers() {
    let config = CpuConfig {
        workers: 8,
        cpus: 8,
        ..config()
    };
    play(config, 200..240, 300);
}

/// Runs whichever queue comes last.
struct Last;

impl jumar_sched::Schedule for Last {
    fn next(&self, runnable: &[u32], _waited: &[u32]) -> Option<usize> {
        runnable.len().checked_sub(1)
    }
}

#[test]
fn random_work_by_a_schedule() {
    let config = CpuConfig {
        schedule: Some(Arc::new(Last)),
        ..config()
    };
    play(config, 300..310, 100);
}
