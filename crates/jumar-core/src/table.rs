//! Objects by handle: a number is looked up, and it is ours, alive and of the right kind, or the call is refused.
//!
//! A slot's generation moves on each time the slot is used again, so that a handle of the former user is stale. A slot
//! that has been through all generations is retired. Generations start at random, so that handles of another process
//! or of an earlier runtime are refused too. A table's lock is never held while other code is called.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use jumar_hal::SpinLock;
use jumar_hal::sync::{AtomicU64, Ordering};
use jumar_types::id::{GENERATIONS, MAX_SLOTS};
use jumar_types::{Error, ErrorKind, Id, IdKind, IdProblem, Result};

/// The objects of one kind.
pub struct Table<T> {
    kind: IdKind,
    first_generation: u32,
    inner: SpinLock<Inner<T>>,
    epoch: Option<Arc<Epoch>>,
}

struct Inner<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    live: usize,
}

struct Slot<T> {
    uses: u32,
    entry: Option<Arc<T>>,
    destroyed_by: &'static str,
}

/// A count that moves on whenever any object of a runtime goes away. What a thread remembers from a lookup
/// is valid while it stands still.
#[derive(Default)]
pub struct Epoch(AtomicU64);

impl Epoch {
    /// Reads the count.
    #[inline]
    pub fn now(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Moves the count on.
    pub fn advance(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

impl<T> Table<T> {
    /// Makes an empty table that moves `epoch` on at each removal.
    pub fn new(kind: IdKind, epoch: Arc<Epoch>) -> Self {
        Table::made(kind, Some(epoch))
    }

    /// Makes an empty table of objects that no thread remembers from a lookup.
    pub fn without_epoch(kind: IdKind) -> Self {
        Table::made(kind, None)
    }

    fn made(kind: IdKind, epoch: Option<Arc<Epoch>>) -> Self {
        let random = RandomState::new().build_hasher().finish() as u32;
        Table {
            kind,
            first_generation: random % GENERATIONS,
            inner: SpinLock::new(Inner {
                slots: Vec::new(),
                free: Vec::new(),
                live: 0,
            }),
            epoch,
        }
    }

    /// Makes an object that knows its own handle, and keeps it.
    ///
    /// # Errors
    /// `OutOfMemory`: 16 million objects of the kind are alive, or that many slots are worn out.
    pub fn insert(&self, make: impl FnOnce(u64) -> Arc<T>) -> Result<Arc<T>> {
        // The lock is released in between: making the object may take other locks.
        let (slot, number) = self.reserve(&mut self.inner.lock())?;
        let object = make(number);
        let mut inner = self.inner.lock();
        inner.slots[slot].entry = Some(object.clone());
        inner.live += 1;
        Ok(object)
    }

    /// Keeps an object that need not know its handle. Returns the handle.
    ///
    /// # Errors
    /// As [`Table::insert`].
    pub fn keep(&self, object: Arc<T>) -> Result<u64> {
        let mut inner = self.inner.lock();
        let (slot, number) = self.reserve(&mut inner)?;
        inner.slots[slot].entry = Some(object);
        inner.live += 1;
        Ok(number)
    }

    /// Takes a slot that no object uses. Returns it, and the handle of its next object.
    fn reserve(&self, inner: &mut Inner<T>) -> Result<(usize, u64)> {
        let slot = match inner.free.pop() {
            Some(slot) => slot,
            None => {
                let slot = inner.slots.len() as u32;
                if slot >= MAX_SLOTS {
                    return Err(Error::new(
                        ErrorKind::OutOfMemory,
                        format!("{MAX_SLOTS} {} handles are in use", self.kind.noun()),
                    ));
                }
                inner.slots.push(Slot {
                    uses: 0,
                    entry: None,
                    destroyed_by: "",
                });
                slot
            }
        };
        let id = Id {
            kind: self.kind,
            generation: self.generation(inner.slots[slot as usize].uses),
            slot,
        };
        Ok((slot as usize, id.pack()))
    }

    /// Finds an object.
    ///
    /// # Errors
    /// `NullPointer` for 0, `InvalidHandle` for anything that is not a live object of this kind; the message states which.
    pub fn get(&self, number: u64) -> Result<Arc<T>> {
        self.find(number, |inner, slot| inner.slots[slot].entry.clone())
    }

    /// Takes an object out. Work in flight keeps its own reference.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn remove(&self, number: u64, by: &'static str) -> Result<Arc<T>> {
        let entry = self.find(number, |inner, index| {
            let slot = &mut inner.slots[index];
            let entry = slot.entry.take()?;
            slot.destroyed_by = by;
            slot.uses += 1;
            let worn_out = slot.uses >= GENERATIONS;
            inner.live -= 1;
            if !worn_out {
                inner.free.push(index as u32);
            }
            Some(entry)
        })?;
        if let Some(epoch) = &self.epoch {
            epoch.advance();
        }
        Ok(entry)
    }

    /// Returns what `read` finds in the slot of a handle; it finds nothing where the object was destroyed.
    ///
    /// # Errors
    /// As [`Table::get`].
    #[inline]
    fn find(
        &self,
        number: u64,
        read: impl FnOnce(&mut Inner<T>, usize) -> Option<Arc<T>>,
    ) -> Result<Arc<T>> {
        let id =
            Id::unpack(number, self.kind).map_err(|problem| self.refuse(number, problem, ""))?;
        let index = id.slot as usize;
        let mut inner = self.inner.lock();
        let (problem, destroyed_by) = match inner.slots.get(index) {
            None => (IdProblem::NoSuchSlot, ""),
            Some(slot) => {
                let destroyed_by = slot.destroyed_by;
                if self.generation(slot.uses) == id.generation
                    && let Some(entry) = read(&mut inner, index)
                {
                    return Ok(entry);
                }
                (IdProblem::Stale, destroyed_by)
            }
        };
        drop(inner);
        Err(self.refuse(number, problem, destroyed_by))
    }

    /// Lists every live object.
    pub fn all(&self) -> Vec<Arc<T>> {
        self.inner
            .lock()
            .slots
            .iter()
            .filter_map(|slot| slot.entry.clone())
            .collect()
    }

    /// Counts the live objects.
    pub fn len(&self) -> usize {
        self.inner.lock().live
    }

    /// Returns whether there are no live objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn generation(&self, uses: u32) -> u32 {
        (self.first_generation + uses) % GENERATIONS
    }

    #[cold]
    fn refuse(&self, number: u64, problem: IdProblem, destroyed_by: &str) -> Error {
        let wanted = self.kind.noun();
        let object = format!("{wanted} {number:#x}");
        let error = match problem {
            IdProblem::Null => Error::new(ErrorKind::NullPointer, format!("the {wanted} is null")),
            IdProblem::NotAHandle => Error::new(
                ErrorKind::InvalidHandle,
                format!("{number:#x} is not a handle of this runtime, so it names no {wanted}"),
            ),
            IdProblem::WrongKind { found, wanted } => Error::new(
                ErrorKind::InvalidHandle,
                format!(
                    "the call wants {}, but {number:#x} names {}",
                    with_article(wanted),
                    with_article(found)
                ),
            ),
            IdProblem::NoSuchSlot => Error::new(
                ErrorKind::InvalidHandle,
                format!(
                    "{number:#x} looks like {}, but this runtime never created it",
                    with_article(self.kind)
                ),
            ),
            IdProblem::Stale if destroyed_by.is_empty() => Error::new(
                ErrorKind::InvalidHandle,
                format!(
                    "{number:#x} named {} that is not alive in this runtime",
                    with_article(self.kind)
                ),
            ),
            IdProblem::Stale => Error::new(
                ErrorKind::InvalidHandle,
                format!(
                    "{number:#x} named {} that was destroyed by {destroyed_by}",
                    with_article(self.kind)
                ),
            ),
        };
        error.object(object)
    }
}

fn with_article(kind: IdKind) -> String {
    let noun = kind.noun();
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table<u32> {
        Table::new(IdKind::Stream, Arc::default())
    }

    fn kind_of<T>(result: Result<T>) -> ErrorKind {
        result.err().expect("refused").kind()
    }

    #[test]
    fn an_object_is_found_until_it_is_removed() {
        let table = table();
        let mut handle = 0;
        table
            .insert(|id| {
                handle = id;
                Arc::new(7)
            })
            .unwrap();
        assert_eq!(*table.get(handle).unwrap(), 7);
        table.remove(handle, "test").unwrap();
        assert_eq!(kind_of(table.get(handle)), ErrorKind::InvalidHandle);
        assert_eq!(
            kind_of(table.remove(handle, "test")),
            ErrorKind::InvalidHandle
        );
    }

    #[test]
    fn an_object_that_does_not_know_its_handle_is_found_as_well() {
        let table = table();
        let handles = [1, 2].map(|value| table.keep(Arc::new(value)).unwrap());
        assert_eq!(*table.get(handles[0]).unwrap(), 1);
        assert_eq!(*table.remove(handles[1], "test").unwrap(), 2);
        assert_eq!(table.len(), 1);
        let third = table.keep(Arc::new(3)).unwrap();
        assert_eq!(kind_of(table.get(handles[1])), ErrorKind::InvalidHandle);
        assert_eq!(*table.get(third).unwrap(), 3);
    }

    #[test]
    fn a_slot_used_again_refuses_the_old_handle() {
        let table = table();
        let mut handles = Vec::new();
        for _ in 0..3 {
            table
                .insert(|id| {
                    handles.push(id);
                    Arc::new(0)
                })
                .unwrap();
            table.remove(*handles.last().unwrap(), "test").unwrap();
        }
        assert!(handles.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(handles.iter().all(|&handle| table.get(handle).is_err()));
    }

    #[test]
    fn removal_moves_the_epoch_on() {
        let epoch = Arc::new(Epoch::default());
        let table = Table::new(IdKind::Event, epoch.clone());
        let before = epoch.now();
        let mut handle = 0;
        table
            .insert(|id| {
                handle = id;
                Arc::new(())
            })
            .unwrap();
        assert_eq!(epoch.now(), before);
        table.remove(handle, "test").unwrap();
        assert_ne!(epoch.now(), before);
    }

    #[test]
    fn another_runtimes_handles_are_refused() {
        let (a, b) = (table(), table());
        let mut handle = 0;
        a.insert(|id| {
            handle = id;
            Arc::new(1)
        })
        .unwrap();
        // Both tables use slot 0; only the random start of the generations distinguishes them, so a second pair is
        // tried in the one case in 16 million where the starts agree.
        b.insert(|_| Arc::new(2)).unwrap();
        if a.first_generation != b.first_generation {
            assert_eq!(kind_of(b.get(handle)), ErrorKind::InvalidHandle);
        }
    }
}
