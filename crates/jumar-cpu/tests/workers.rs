//! The workers that a process can see. A test of its own program: other tests' workers would be counted too.

use std::sync::{Arc, Mutex};

use jumar_cpu::{CpuBackend, CpuConfig, CpuDeviceConfig};
use jumar_hal::{Backend, Call, Cost, Program, QueueConfig, QueueObserver, Tag, Task, Verdict};
use jumar_types::{Error, Result};

static CALL: Call = Call {
    name: "test",
    number: 0,
};
const TAG: Tag = Tag {
    ticket: 0,
    call: &CALL,
};

struct NoObserver;

impl QueueObserver for NoObserver {
    fn started(&self, _tag: Tag) {}
    fn finished(&self, _tag: Tag) {}
    fn failed(&self, _tag: Tag, _error: Error) -> Verdict {
        Verdict::Continue
    }
}

struct FnProgram<F>(F);

impl<F: Fn() + Send + Sync + 'static> Program for FnProgram<F> {
    fn run(&self) -> Result<()> {
        (self.0)();
        Ok(())
    }
    fn cost(&self) -> Cost {
        Cost::Large
    }
    fn name(&self) -> &str {
        "closure"
    }
}

fn threads() -> usize {
    let own = std::fs::read_dir("/proc/self/task").expect("proc");
    own.filter(|task| {
        let name = task.as_ref().map(|task| task.path().join("comm"));
        name.is_ok_and(|name| {
            std::fs::read_to_string(name).is_ok_and(|name| name.starts_with("jumar-worker"))
        })
    })
    .count()
}

#[test]
fn workers_start_late_have_a_name_take_no_signals_and_end() {
    let backend = CpuBackend::new(CpuConfig {
        devices: vec![CpuDeviceConfig {
            memory_bytes: 1 << 24,
        }],
        ..CpuConfig::default()
    })
    .expect("address space");
    let queue = backend
        .open(0)
        .expect("the device exists")
        .queue(QueueConfig::default(), Arc::new(NoObserver))
        .expect("a queue");
    assert_eq!(threads(), 0);
    let seen = Arc::new(Mutex::new(None));
    let kept = seen.clone();
    let (sender, receiver) = std::sync::mpsc::channel();
    let task = FnProgram(move || {
        let status = std::fs::read_to_string("/proc/thread-self/status").expect("proc");
        let blocked = status
            .lines()
            .find_map(|line| line.strip_prefix("SigBlk:"))
            .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        let name = std::thread::current().name().map(str::to_owned);
        *kept.lock().expect("no panic") = Some((name, blocked));
        sender.send(()).expect("the receiver exists");
    });
    queue.submit(Task::Run(Arc::new(task)), TAG);
    receiver
        .recv_timeout(std::time::Duration::from_secs(30))
        .expect("work is done without a waiting call");
    let seen = seen.lock().expect("no panic").take();
    let (name, blocked) = seen.expect("the task ran");
    assert_eq!(name.as_deref(), Some("jumar-worker-0"));
    // Everything but SIGKILL (9), SIGSTOP (19) and what the C library keeps for itself (32, 33); and but what a thread brings on
    // itself: SIGILL (4), SIGTRAP (5), SIGBUS (7), SIGFPE (8), SIGSEGV (11).
    let own: u64 = 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 10;
    let must: u64 = !(1 << 8 | 1 << 18 | 1 << 31 | 1 << 32 | own);
    assert_eq!(blocked.map(|mask| mask & own), Some(0));
    assert_eq!(blocked.map(|mask| mask & must), Some(must));
    drop(queue);
    drop(backend);
    assert_eq!(threads(), 0);
}
