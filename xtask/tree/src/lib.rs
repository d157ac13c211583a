//! The install tree and the wheel around it.

pub mod dist;
pub mod wheel;

use xtask_base::{progress, python_env, root};
