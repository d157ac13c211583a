//! Devices, contexts, streams, events, callbacks, kernels and captured models: what runs work, in order.

pub mod callback;
pub mod capture;
pub mod context;
pub mod device;
pub mod event;
pub mod group;
pub mod kernel;
pub mod label;
pub mod notify;
pub mod peer;
pub mod platform;
pub mod random;
pub mod rtc;
pub mod rts;
pub mod snapshot;
pub mod stream;
pub mod value_sync;
