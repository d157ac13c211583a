//! The install tree, the wheel around it, and the files of a release.

pub mod dist;
mod platform;
pub mod release;
pub mod wheel;

use xtask_base::{progress, python_env, root};
