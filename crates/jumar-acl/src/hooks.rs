//! Functions of the program that are called for events: creation and end of devices and streams, aborted tasks,
//! initialisation and its end, snapshots.
//!
//! Lists are copied before a function of them is called, so that no lock is held and a function may register others.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar_types::{Error, ErrorKind, Result};

use crate::error::null;

/// Called for a device: its id and an `aclrtDeviceState`.
pub type DeviceStateHook = Arc<dyn Fn(i32, u32) + Send + Sync>;
/// Called for a stream: its handle and an `aclrtStreamState`.
pub type StreamStateHook = Arc<dyn Fn(u64, u32) + Send + Sync>;
/// Called when a device's tasks are aborted: its id, an `aclrtDeviceTaskAbortStage` and the time limit. Anything but 0 is
/// a failure.
pub type AbortHook = Arc<dyn Fn(i32, u32, u32) -> i32 + Send + Sync>;
/// Called with the configuration; anything but 0 is a failure.
pub type InitHook = Arc<dyn Fn(&CStr) -> i32 + Send + Sync>;
/// Called at the finalisation; anything but 0 is a failure.
pub type FinalizeHook = Arc<dyn Fn() -> i32 + Send + Sync>;
/// Called at a stage of a snapshot, for each device that is open; anything but 0 is a failure.
pub type SnapshotHook = Arc<dyn Fn(i32) -> u32 + Send + Sync>;

/// What the process has registered.
#[derive(Default)]
pub struct Hooks {
    pub(crate) devices: NamedFunctions<DeviceStateHook>,
    pub(crate) streams: NamedFunctions<StreamStateHook>,
    pub(crate) aborts: NamedFunctions<AbortHook>,
    pub(crate) init: TypedFunctions<InitHook>,
    pub(crate) finalize: TypedFunctions<FinalizeHook>,
    pub(crate) snapshot: TypedFunctions<SnapshotHook>,
}

/// Functions by a name that the program chose; a name stands for one function.
pub(crate) struct NamedFunctions<F>(Mutex<Vec<(CString, F)>>);

impl<F> Default for NamedFunctions<F> {
    fn default() -> Self {
        NamedFunctions(Mutex::new(Vec::new()))
    }
}

impl<F: Clone> NamedFunctions<F> {
    /// Adds a function; none takes the one of that name away, and a name that is not known is fine then.
    ///
    /// # Errors
    /// `NullPointer`: no name; `InvalidValue`: the name is taken.
    pub(crate) fn set(&self, name: Option<&CStr>, function: Option<F>) -> Result<()> {
        let name = name.ok_or_else(|| null("regName"))?;
        let mut entries = self.0.lock();
        let known = entries
            .iter()
            .position(|(other, _)| other.as_c_str() == name);
        match (function, known) {
            (Some(_), Some(_)) => {
                return Err(Error::new(
                    ErrorKind::InvalidValue,
                    format!(
                        "a function is registered as \"{}\" already",
                        name.to_string_lossy()
                    ),
                )
                .fix("Take the earlier one away first, by registering null under its name."));
            }
            (Some(function), None) => entries.push((name.to_owned(), function)),
            (None, Some(at)) => drop(entries.remove(at)),
            (None, None) => {}
        }
        Ok(())
    }

    /// Lists the functions in the order in which they were added.
    pub(crate) fn all(&self) -> Vec<F> {
        self.0
            .lock()
            .iter()
            .map(|(_, function)| function.clone())
            .collect()
    }
}

/// Functions by a number (a type, a stage) and by themselves.
pub(crate) struct TypedFunctions<F>(Mutex<Vec<Entry<F>>>);

struct Entry<F> {
    /// Counts up from 1.
    serial: u64,
    number: u32,
    /// The function's address, by which it is taken away again.
    address: usize,
    function: F,
}

impl<F> Default for TypedFunctions<F> {
    fn default() -> Self {
        TypedFunctions(Mutex::new(Vec::new()))
    }
}

impl<F: Clone> TypedFunctions<F> {
    /// Adds a function unless `taken` says that an entry (its number, its address) is in the way. Returns whether it did.
    pub(crate) fn add(
        &self,
        number: u32,
        address: usize,
        function: F,
        taken: impl Fn(u32, usize) -> bool,
    ) -> bool {
        let mut entries = self.0.lock();
        if entries
            .iter()
            .any(|entry| taken(entry.number, entry.address))
        {
            return false;
        }
        let serial = entries.last().map_or(0, |entry| entry.serial) + 1;
        entries.push(Entry {
            serial,
            number,
            address,
            function,
        });
        true
    }

    /// Takes a function away. Returns whether it was there.
    pub(crate) fn remove(&self, number: u32, address: usize) -> bool {
        let mut entries = self.0.lock();
        let at = entries
            .iter()
            .position(|entry| entry.number == number && entry.address == address);
        at.map(|at| entries.remove(at)).is_some()
    }

    /// Returns the first function that was added after the one with a serial number, and its own.
    pub(crate) fn after(&self, serial: u64) -> Option<(u64, F)> {
        let entries = self.0.lock();
        let next = entries.iter().find(|entry| entry.serial > serial)?;
        Some((next.serial, next.function.clone()))
    }

    /// Lists all functions, in the order in which they were added.
    pub(crate) fn all(&self) -> Vec<F> {
        self.0
            .lock()
            .iter()
            .map(|entry| entry.function.clone())
            .collect()
    }

    /// Lists the functions of a number, in the order in which they were added.
    pub(crate) fn of(&self, number: u32) -> Vec<F> {
        let entries = self.0.lock();
        let those = entries.iter().filter(|entry| entry.number == number);
        those.map(|entry| entry.function.clone()).collect()
    }
}
