//! Tensors in memory: the only module in which addresses become elements.
//!
//! Device memory is shared with the program under test, which may race with a kernel, and operators may write over
//! their own input. So no Rust reference to an element ever exists: every access is a copy in or out through a raw
//! pointer, any alignment will do, and element types are those for which every bit pattern is a value.
//!
//! - [`Region`]: a range of bytes that its creator guarantees (an arena, the weights, a caller's buffer).
//! - [`View`], [`ViewMut`]: a typed tensor in a region: shape, strides, bounds proven when it is made.
//! - [`Row`], [`RowMut`]: a run of elements at a constant step, bounds proven when it is cut; the bulk operations
//!   (`map1`, `map2`, `fold`, `copy_from`) check once a row and then run unchecked.
//!
//! Rows and views may go to other threads, which compute other parts of a result (`Workers`).

mod block;
mod element;
mod region;
mod row;
mod tensor;
mod turn;

/// The bytes that a processor fetches together.
#[cfg(target_arch = "x86_64")]
const CACHE_LINE: usize = 64;

pub use block::Block;
pub use element::{BF16, Bool8, Element, F16};
pub use region::Region;
pub(crate) use row::{GROUP, separate_groups};
pub use row::{PastCaches, Row, RowMut};
pub use tensor::{Layout, MAX_RANK, View, ViewMut};
pub use turn::{Part, turn};
