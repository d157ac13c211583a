//! Ranks as threads of this process, and their memory.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use jumar_cpu::{CpuBackend, CpuConfig, CpuDeviceConfig};
use jumar_hal::{Backend, Device, Joint, Program, Signal, Span, Waiter};
use jumar_hccl::{
    Collective, Communicator, DataType, Domain, Kind, Operation, Options, Pieces, QueuedOperation,
    Signature,
};
use jumar_types::Result;

/// Which transport carries the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Threads,
    SharedMemory,
    Network,
}

/// Lists the transports. The network needs the plug-in, so it takes part where the environment says that it is there.
pub fn ways() -> Vec<Way> {
    let mut all = vec![Way::Threads, Way::SharedMemory];
    if std::env::var_os("JUMAR_TEST_GLOO").is_some() {
        assert_eq!(jumar_hccl::why_not(), None);
        all.push(Way::Network);
    }
    all
}

/// A device whose memory all ranks use.
pub struct Machine {
    pub backend: Arc<dyn Backend>,
    device: Arc<dyn Device>,
    has_pinned_buffers: bool,
}

impl Machine {
    pub fn new() -> Machine {
        Machine::with_memory(512 << 20)
    }

    /// Creates a machine whose device has so many bytes, or fewer where the process may not have as many addresses.
    pub fn with_memory(memory_bytes: usize) -> Machine {
        let config = CpuConfig {
            devices: vec![CpuDeviceConfig { memory_bytes }],
            pinned_bytes: 256 << 20,
            workers: 2,
            cpus: 2,
            schedule: None,
            guarded: false,
        };
        let backend: Arc<dyn Backend> = Arc::new(CpuBackend::new(config).expect("a backend"));
        let device = backend.open(0).expect("a device");
        Machine {
            backend,
            device,
            has_pinned_buffers: false,
        }
    }

    /// Creates a machine whose buffers are host memory, which no other process reads.
    pub fn with_pinned_buffers() -> Machine {
        Machine {
            has_pinned_buffers: true,
            ..Machine::new()
        }
    }

    pub fn buffer(&self, bytes: &[u8]) -> Span {
        let length = bytes.len().max(1);
        let span = match self.has_pinned_buffers {
            true => self.backend.allocate_pinned(length),
            false => self.device.allocate(length, 64),
        };
        let span = span.expect("memory");
        let span = span.part(0, bytes.len()).expect("as long");
        jumar_cpu::write(span, bytes);
        span
    }

    pub fn read(&self, span: Span) -> Vec<u8> {
        let mut bytes = vec![0; span.bytes()];
        jumar_cpu::read(span, &mut bytes);
        bytes
    }

    /// Waits until the first bytes of a large message have come, which are not zero. The last ones have not.
    pub fn wait_for_the_middle(&self, span: Span) {
        let byte = |at| span.part(at, 1).map(|part| self.read(part)[0]);
        while byte(0) == Some(0) {
            thread::yield_now();
        }
        assert_eq!(byte(span.bytes() - 1), Some(0), "the message was too short");
    }

    pub fn free(&self, span: Span) {
        match self.has_pinned_buffers {
            true => self.backend.free_pinned(span),
            false => self.device.free(span),
        }
    }

    /// Creates a communicator of so many ranks.
    pub fn ranks(&self, way: Way, size: u32) -> Vec<Arc<Communicator>> {
        self.ranks_with(way, size, &Options::default())
    }

    pub fn ranks_with(&self, way: Way, size: u32, options: &Options) -> Vec<Arc<Communicator>> {
        let backend = self.backend.clone();
        let domain = match way {
            Way::Threads => Domain::new(backend),
            Way::SharedMemory => Domain::with_shared_memory_only(backend),
            Way::Network => Domain::with_network_only(backend),
        };
        let limit = Duration::from_secs(30);
        let info = domain.root_info(limit).expect("root information");
        let domain = &domain;
        thread::scope(|scope| {
            let joining: Vec<_> = (0..size)
                .map(|rank| {
                    let options = options.clone();
                    scope.spawn(move || domain.join(&info, (size, rank), 0, options, limit))
                })
                .collect();
            joining
                .into_iter()
                .map(|rank| rank.join().expect("no panic").expect("a communicator"))
                .collect()
        })
    }
}

/// The bytes of a message whose middle can be observed.
pub const LARGE: usize = 96 << 20;

/// Returns the part of a rank in the broadcast of a root.
pub fn broadcast(rank: usize, root: usize, span: Span) -> Operation {
    let to_others = (0..2).map(|to| (to != rank).then_some(span)).collect();
    let from_root = (0..2).map(|from| (from == root).then_some(span)).collect();
    let (send, receive) = match rank == root {
        true => (Pieces::Each(to_others), Pieces::None),
        false => (Pieces::None, Pieces::Each(from_root)),
    };
    Operation::Collective(Collective {
        signature: Signature {
            kind: Kind::Broadcast,
            data_type: DataType::Int8,
            reduction: None,
            root: Some(root as u32),
            count: span.bytes() as u64,
            digest: 0,
        },
        send,
        receive,
    })
}

/// Something to sleep on until a signal is set.
#[derive(Default)]
struct WakeUp {
    woken: Mutex<bool>,
    wakes: Condvar,
}

impl Waiter for WakeUp {
    fn signalled(self: Arc<Self>) {
        *self.woken.lock().expect("no panic") = true;
        self.wakes.notify_all();
    }
}

pub fn wait(signal: &Signal) {
    let wake_up = Arc::new(WakeUp::default());
    if signal.register(wake_up.clone()) {
        let woken = wake_up.woken.lock().expect("no panic");
        let (_woken, timeout) = wake_up
            .wakes
            .wait_timeout_while(woken, Duration::from_secs(60), |woken| !*woken)
            .expect("no panic");
        assert!(!timeout.timed_out(), "an operation did not end");
    }
    assert!(signal.take());
}

/// Returns what begins an operation, the signal to wait for and clear, and what returns how the operation ended.
pub fn tasks(queued: &Arc<QueuedOperation>) -> (Arc<dyn Program>, Arc<Signal>, Arc<dyn Program>) {
    let (begin, end) = queued.clone().parts();
    (begin, queued.signal().clone(), end)
}

/// Runs an operation as a stream does.
pub fn run(queued: &Arc<QueuedOperation>) -> Result<()> {
    let (begin, signal, end) = tasks(queued);
    begin.run()?;
    wait(&signal);
    end.run()
}

/// Queues an operation and runs it.
pub fn call(rank: &Arc<Communicator>, operation: Operation) -> Result<()> {
    run(&rank.prepare(operation, false)?)
}

/// Queues one operation of each rank, and then runs all at the same time.
pub fn all(ranks: &[Arc<Communicator>], operations: Vec<Operation>) -> Vec<Result<()>> {
    let queued: Vec<_> = ranks
        .iter()
        .zip(operations)
        .map(|(rank, operation)| rank.prepare(operation, false).expect("accepted"))
        .collect();
    thread::scope(|scope| {
        let running: Vec<_> = queued
            .iter()
            .map(|queued| scope.spawn(move || run(queued)))
            .collect();
        running
            .into_iter()
            .map(|rank| rank.join().expect("no panic"))
            .collect()
    })
}

/// As [`all`], but each rank begins after the ranks before it.
pub fn one_by_one(queued: Vec<(&Arc<Communicator>, Operation)>) -> Vec<Result<()>> {
    let tasks: Vec<_> = queued
        .into_iter()
        .map(|(rank, operation)| {
            let queued = rank.prepare(operation, false).expect("accepted");
            let (begin, signal, end) = tasks(&queued);
            (queued, begin.run(), signal, end)
        })
        .collect();
    tasks
        .into_iter()
        .map(|(_queued, begun, signal, end)| {
            begun?;
            wait(&signal);
            end.run()
        })
        .collect()
}

/// Numbers that look random and are the same each time.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
