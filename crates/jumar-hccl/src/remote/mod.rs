//! Ranks in several processes of one machine.

pub(crate) mod layout;
mod meeting;
mod mesh;
mod wake;
mod work;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jumar_hal::Backend;
use jumar_hal::sync::{Instant, Mutex, thread};
use jumar_types::Result;

use crate::communicator::{Options, Transport};
use crate::local::LocalGroup;
use crate::os;
use crate::words::Label;
pub use meeting::RootInfo;
use meeting::{Joiner, Meeting, system};
use mesh::Progress;
pub(crate) use mesh::RemoteGroup;
use wake::WakePage;

/// What a process needs to meet other processes.
pub(crate) struct Meetings {
    backend: Arc<dyn Backend>,
    /// The meetings that this process has made, until a rank of it has met the others there, or until they expire.
    made: Mutex<Vec<(u128, Meeting, Instant)>>,
    /// Groups of ranks that are all in this process, by key, with the number of ranks that have taken them.
    groups: Mutex<HashMap<u128, (Arc<LocalGroup>, u32)>>,
    progress: Mutex<Option<Arc<Progress>>>,
    /// Ranks of one process use shared memory too.
    always_shared: bool,
}

impl Meetings {
    pub(crate) fn new(backend: Arc<dyn Backend>, always_shared: bool) -> Meetings {
        Meetings {
            backend,
            always_shared,
            made: Mutex::default(),
            groups: Mutex::default(),
            progress: Mutex::default(),
        }
    }

    /// Makes root information, which is valid for `limit`.
    pub(crate) fn root_info(&self, limit: Duration) -> Result<RootInfo> {
        let (meeting, info) = Meeting::create()?;
        let mut made = self.made.lock();
        let now = Instant::now();
        made.retain(|(_, _, until)| *until > now);
        made.push((info.key, meeting, now + limit));
        Ok(info)
    }

    /// Meets the other ranks, and returns what carries operations between them, with the name that they share.
    pub(crate) fn join(
        &self,
        info: &RootInfo,
        (size, rank): (u32, u32),
        options: &Options,
        limit: Duration,
    ) -> Result<(Transport, Label)> {
        let meeting = Meeting::open(info)?;
        let progress = self.progress()?;
        let joiner = Joiner {
            size,
            rank,
            name: &options.name,
            digest: options.digest,
            until: Instant::now() + limit,
            limit,
        };
        let met = meeting.join(&joiner, progress.wake.descriptor())?;
        let label = Label {
            name: met.name,
            size,
        };
        let transport = match met.local && !self.always_shared {
            true => Transport::Local(self.local_group(info.key, &label)),
            false => {
                let mesh = meeting.connect(&joiner, &progress.wake, self.backend.clone())?;
                let mesh = Arc::new(mesh);
                progress.meshes.lock().push(Arc::downgrade(&mesh));
                Transport::Remote(Arc::new(RemoteGroup::everyone(mesh, label.clone())))
            }
        };
        // All ranks have the file by now.
        self.made.lock().retain(|(key, ..)| *key != info.key);
        Ok((transport, label))
    }

    fn local_group(&self, key: u128, label: &Label) -> Arc<LocalGroup> {
        let mut groups = self.groups.lock();
        let entry = groups
            .entry(key)
            .or_insert_with(|| (LocalGroup::new(label.clone(), self.backend.clone()), 0));
        entry.1 += 1;
        let (group, takers) = (entry.0.clone(), entry.1);
        if takers == label.size {
            groups.remove(&key);
        }
        group
    }

    /// Returns the thread that steps operations, started when it is first needed.
    fn progress(&self) -> Result<Arc<Progress>> {
        let mut progress = self.progress.lock();
        if let Some(running) = &*progress {
            return Ok(running.clone());
        }
        let wake = WakePage::create()
            .map_err(|error| system("the page that other processes wake was refused", error))?;
        let made = Arc::new(Progress {
            wake: Arc::new(wake),
            meshes: Mutex::default(),
        });
        let own = made.clone();
        thread::Builder::new()
            .name("jumar-hccl".to_owned())
            .spawn(move || {
                os::block_signals();
                own.run();
            })
            .map_err(|error| system("the thread for collective operations was refused", error))?;
        *progress = Some(made.clone());
        Ok(made)
    }
}
