//! Data between threads, models and devices: channels, queues, buffers with a header, collective communication.

pub mod hccl;
pub mod mbuf;
pub mod tdt_channel;
pub mod tdt_queue;
