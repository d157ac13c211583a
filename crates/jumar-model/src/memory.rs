//! Device memory that is freed when its owner is dropped.

use std::fmt;
use std::sync::Arc;

use jumar_core::{Block, Call, Caller, Context, Lookups, Span};
use jumar_types::Result;

/// The name under which the runtime knows the release of memory.
static FREE: Call = Call {
    name: "the release of memory of a model",
    number: u16::MAX,
};

/// Device memory that is freed when this is dropped, unless the device was reset and took it away.
///
/// # Ownership
/// Tasks that use the memory have to end before it is dropped.
pub struct DeviceMemory {
    context: Arc<Context>,
    block: Option<Block>,
}

impl DeviceMemory {
    /// Allocates at least one byte.
    ///
    /// # Errors
    /// `NoContext`, `OutOfMemory`.
    pub fn allocate(
        context: &Arc<Context>,
        bytes: usize,
        caller: &Caller<'_>,
    ) -> Result<DeviceMemory> {
        let bytes = bytes.max(1);
        let block = context.allocate(bytes, bytes, caller)?;
        Ok(DeviceMemory {
            context: context.clone(),
            block: Some(block),
        })
    }

    /// Returns the memory.
    pub fn span(&self) -> Span {
        self.block.map_or(Span::EMPTY, |block| block.span)
    }

    /// Returns the memory without freeing it.
    ///
    /// # Ownership
    /// The caller frees it.
    #[must_use]
    pub fn leak(mut self) -> Span {
        self.block.take().map_or(Span::EMPTY, |block| block.span)
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        let Some(block) = self.block.take() else {
            return;
        };
        // After a reset the address may belong to another allocation.
        if self.context.device().epoch() != self.context.epoch() {
            return;
        }
        let lookups = Lookups::default();
        let caller = Caller::new(&FREE, &lookups);
        // A program may have freed it by mistake; the runtime has reported that.
        drop(self.context.free(block.span.address(), &caller));
    }
}

impl fmt::Debug for DeviceMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DeviceMemory").field(&self.span()).finish()
    }
}
