//! Data between threads and between models: channels, queues, buffers with a header.

pub mod mbuf;
pub mod tdt_channel;
pub mod tdt_queue;
