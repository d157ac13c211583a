//! The process's own thread: it steps operations that no thread of the program polls for, and watches the other processes.

use std::sync::{Arc, Weak};
use std::time::Duration;

use jumar_hal::sync::{Instant, Mutex};

use super::mesh::Mesh;
use super::wake::WakePage;

/// The meshes of a process, and the page on which its thread sleeps.
pub(super) struct Progress {
    pub(super) wake: Arc<WakePage>,
    pub(super) meshes: Mutex<Vec<Weak<Mesh>>>,
}

/// How often the thread looks whether other processes run, while operations wait for them.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long it sleeps where nothing runs.
const REST: Duration = Duration::from_secs(10);
/// How long it sleeps at a time, without being woken, where the program waits for operations itself; how long it does so after the last
/// sign of one.
const BRIEF_SLEEP: Duration = Duration::from_micros(250);
const SLEEPS_BRIEFLY: Duration = Duration::from_millis(5);
impl Progress {
    /// Steps operations whenever another process has done something. Never returns.
    pub(super) fn run(&self) {
        let mut looked = Instant::now();
        let mut last = (self.wake.arrivals(), looked);
        loop {
            let arrivals = self.wake.arrivals();
            let meshes: Vec<Arc<Mesh>> = {
                let mut all = self.meshes.lock();
                all.retain(|mesh| mesh.strong_count() > 0);
                all.iter().filter_map(Weak::upgrade).collect()
            };
            let polled = meshes.iter().any(|mesh| mesh.is_polled());
            let progressed = advance(&meshes);
            if looked.elapsed() >= POLL_INTERVAL {
                meshes.iter().for_each(|mesh| mesh.check_processes());
                looked = Instant::now();
            }
            if progressed {
                continue;
            }
            let busy = meshes.iter().any(|mesh| mesh.is_busy());
            // The program most often waits for an operation right after it has queued it.
            let lately = last.1.elapsed() < SLEEPS_BRIEFLY
                && !meshes.iter().any(|mesh| mesh.waits_longer(BRIEF_SLEEP));
            if polled || arrivals != last.0 {
                last = (arrivals, Instant::now());
            }
            // References are released before the sleep: the last one may be here.
            if polled || lately {
                drop(meshes);
                self.wake.sleep_briefly(BRIEF_SLEEP);
                continue;
            }
            let is_over = move || advance(&meshes);
            self.wake
                .sleep(is_over, if busy { POLL_INTERVAL } else { REST });
        }
    }
}

/// Steps what runs and no other thread polls for. Reports whether anything was done.
fn advance(meshes: &[Arc<Mesh>]) -> bool {
    let mut progressed = false;
    for mesh in meshes {
        // Two threads that step the same operations only stop each other.
        if !mesh.is_polled() {
            progressed |= mesh.advance();
        }
    }
    progressed
}
