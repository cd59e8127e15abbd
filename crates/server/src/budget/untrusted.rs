//! Bytes from outside, received now or stored before. They keep their permit, and are read only by admitted work,
//! because their sender controls the cost.

use bytes::Bytes;

use super::exhausted::{Exhausted, RunError};
use super::pool::Permit;
use super::root::Budget;

/// Untrusted bytes. They can be read only by [`UntrustedBytes::read`], which waits for its turn and declares its
/// memory, and by [`UntrustedBytes::read_here`] for small ones. `tests/arrows.rs` lists which code may create and read
/// them.
#[derive(Debug)]
pub struct UntrustedBytes {
    bytes: Bytes,
    permit: Permit,
}

impl UntrustedBytes {
    /// Bytes whose memory was permitted.
    pub const fn new(bytes: Bytes, permit: Permit) -> Self {
        Self { bytes, permit }
    }

    /// How many bytes there are.
    pub const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Reads the bytes off the threads that serve connections, when it is the payer's turn. Reading may take this many bytes
    /// of memory.
    pub async fn read<T: Send + 'static>(
        &self,
        budget: &Budget,
        memory: usize,
        read: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<T, RunError> {
        let bytes = self.bytes.clone();
        budget.run(self.permit.payer(), memory, move || read(&bytes)).await
    }

    /// Reads the bytes on this thread, for work that takes less than a millisecond with any content.
    pub fn read_here<T>(&self, read: impl FnOnce(&[u8]) -> T) -> T {
        read(&self.bytes)
    }

    /// Accounts for values created from the bytes, until this is dropped.
    pub fn hold(&mut self, more: usize) -> Result<(), Exhausted> {
        self.permit.grow(more)
    }

    /// A separate permit for this many bytes of the same payer.
    pub fn permit_more(&self, bytes: usize) -> Result<Permit, Exhausted> {
        let mut permit = self.permit.sibling();
        permit.grow(bytes)?;
        Ok(permit)
    }

    /// The same permit with other bytes, such as the decompressed ones.
    pub fn replaced(mut self, bytes: Bytes) -> Result<Self, Exhausted> {
        self.permit.grow(bytes.len())?;
        Ok(Self { bytes, permit: self.permit })
    }

    /// The permit, once the bytes are no longer needed.
    pub fn into_permit(self) -> Permit {
        self.permit
    }
}
