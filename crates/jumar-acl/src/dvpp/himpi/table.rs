//! A table of the channels of one kind, indexed by the channel numbers that the program chooses.

use std::collections::BTreeMap;
use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar_types::{Error, ErrorKind, Result};

/// The number of channels of one kind. Valid channel numbers are 0 to `CHANNELS - 1`.
const CHANNELS: i32 = 256;

/// The channels of one kind.
pub(super) struct Table<T> {
    channels: Mutex<BTreeMap<i32, Arc<T>>>,
    /// What messages call a channel of this kind.
    name: &'static str,
    /// The prefix of the names of the functions for this kind.
    prefix: &'static str,
}

/// Checks the number of a channel.
///
/// # Errors
/// `InvalidValue`: it is out of range.
pub(super) fn check_number(number: i32) -> Result<()> {
    if !(0..CHANNELS).contains(&number) {
        return Err(Error::new(
            ErrorKind::InvalidValue,
            format!(
                "the channel number is {number}; it must be between 0 and {}",
                CHANNELS - 1
            ),
        )
        .fix("Pass the number that the channel was created with."));
    }
    Ok(())
}

impl<T> Table<T> {
    pub(super) fn new(name: &'static str, prefix: &'static str) -> Table<T> {
        Table {
            channels: Mutex::default(),
            name,
            prefix,
        }
    }

    /// Returns the channel of a number.
    ///
    /// # Errors
    /// `InvalidValue`: the number is out of range; `InvalidHandle`: the channel does not exist.
    pub(super) fn find(&self, number: i32) -> Result<Arc<T>> {
        check_number(number)?;
        let found = self.channels.lock().get(&number).cloned();
        found.ok_or_else(|| self.missing(number))
    }

    /// Returns all channels.
    pub(super) fn all(&self) -> Vec<Arc<T>> {
        self.channels.lock().values().cloned().collect()
    }

    /// Calls `act` while no channel exists, and no other thread creates one.
    ///
    /// # Errors
    /// Returns the lowest number of an existing channel.
    pub(super) fn while_empty<R>(&self, act: impl FnOnce() -> R) -> std::result::Result<R, i32> {
        let channels = self.channels.lock();
        match channels.keys().next() {
            Some(&number) => Err(number),
            None => Ok(act()),
        }
    }

    /// Opens a channel with a number.
    ///
    /// # Errors
    /// `InvalidValue`: the number is out of range; `RepeatInitialize`: the channel exists; those of `open`.
    pub(super) fn create(&self, number: i32, open: impl FnOnce() -> Result<T>) -> Result<()> {
        check_number(number)?;
        let (name, prefix) = (self.name, self.prefix);
        let mut channels = self.channels.lock();
        if channels.contains_key(&number) {
            return Err(Error::new(
                ErrorKind::RepeatInitialize,
                format!("{name} {number} exists already"),
            )
            .fix(format!(
                "Destroy it with {prefix}_destroy_chn first, or use another number."
            )));
        }
        channels.insert(number, Arc::new(open()?));
        Ok(())
    }

    /// Opens a channel with the lowest free number, and returns this number.
    ///
    /// # Errors
    /// `NoStreamResource`: all numbers are in use; those of `open`.
    pub(super) fn create_next(&self, open: impl FnOnce() -> Result<T>) -> Result<i32> {
        let (name, prefix) = (self.name, self.prefix);
        let mut channels = self.channels.lock();
        let free = (0..CHANNELS).find(|number| !channels.contains_key(number));
        let Some(number) = free else {
            return Err(Error::new(
                ErrorKind::NoStreamResource,
                format!("all {CHANNELS} {name}s are in use"),
            )
            .fix(format!(
                "Destroy a channel with {prefix}_destroy_chn first."
            )));
        };
        channels.insert(number, Arc::new(open()?));
        Ok(number)
    }

    /// Removes a channel. Threads that have found it may still use it.
    ///
    /// # Errors
    /// As [`Table::find`].
    pub(super) fn remove(&self, number: i32) -> Result<Arc<T>> {
        check_number(number)?;
        let gone = self.channels.lock().remove(&number);
        gone.ok_or_else(|| self.missing(number))
    }

    fn missing(&self, number: i32) -> Error {
        let (name, prefix) = (self.name, self.prefix);
        Error::new(
            ErrorKind::InvalidHandle,
            format!("{name} {number} does not exist"),
        )
        .fix(format!(
            "Create it with {prefix}_create_chn; it exists until {prefix}_destroy_chn."
        ))
    }
}
