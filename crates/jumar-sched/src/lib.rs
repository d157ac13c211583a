//! The executor: streams of tasks, run by a free thread.
//!
//! Each queue is a ring ([`ring`]) that has one owner at a time: a worker, or a thread that waits for the queue and
//! runs it itself ([`stream`]). Workers share one run queue and wake as rarely as they can ([`pool`]). How a copy is
//! done is the device's business ([`Runner`]); the choice of the next task can be external ([`Schedule`]).
#![deny(unsafe_code)]

mod executor;
#[cfg(all(test, loom))]
#[expect(
    unsafe_code,
    reason = "a cell that only the ring's owner touches, which is what is checked"
)]
mod model;
mod park;
mod pool;
#[expect(
    unsafe_code,
    reason = "module for unsafe code: slots are shared by the word's protocol"
)]
mod ring;
mod runnable;
mod runner;
mod schedule;
mod stream;
#[expect(
    unsafe_code,
    reason = "shared work is only lent; it is not called after its owner has left"
)]
mod team;
#[cfg(test)]
mod testing;
mod value_poller;

pub use executor::{Executor, ExecutorConfig};
pub use runner::Runner;
pub use schedule::Schedule;
pub use team::Team;
