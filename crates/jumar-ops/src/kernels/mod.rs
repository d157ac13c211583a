//! What kernels of several operators share. All of it is safe Rust over views.

pub(crate) mod arg;
pub(crate) mod blocked;
pub(crate) mod compute_types;
pub(crate) mod conv;
pub(crate) mod data_movement;
pub(crate) mod elementwise;
mod evaluate;
pub(crate) mod filter_gradient;
pub(crate) mod fourier;
pub(crate) mod generic;
pub(crate) mod int8;
pub(crate) mod linear;
pub(crate) mod loops;
pub(crate) mod lowp;
pub(crate) mod matmul;
pub(crate) mod norm;
pub(crate) mod number;
pub(crate) mod pool;
pub(crate) mod recurrent;
mod recurrent_activation;
mod recurrent_quantised;
pub(crate) mod recurrent_steps;
pub(crate) mod reduce;
mod reduce_direct;
pub(crate) mod softmax;
pub(crate) mod space;
pub(crate) mod widened;
pub(crate) mod window;

pub use evaluate::{compute, compute_known};
pub use linear::pack_matrix;
pub use recurrent::pack_weights;
