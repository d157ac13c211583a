//! Plays the behaviour table (`tests/behaviour/*.toml`) through Rust: against the safe functions of jumar-acl.
//!
//! The testkit reads the table. [`generated::calls`] has a function over 64 bit words for each function of the interface
//! whose arguments the conventions express, [`manual`] those that take functions of the program. [`case_runner`] plays the steps
//! of one case in a process of its own, and [`run`] starts the processes and reads what they say.

#![deny(unsafe_code)]

pub mod callbacks;
pub mod case_runner;
pub mod generated;
pub mod himpi;
pub mod images;
pub mod kernels;
pub mod manual;
pub mod raw;
pub mod raw_args;
pub mod row;
pub mod run;
pub mod shared_forms;
pub mod structures;
