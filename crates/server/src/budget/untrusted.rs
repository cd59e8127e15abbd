//! Bytes that somebody outside sent, now or before they were stored. They keep their permit, and are read only by work that
//! was admitted: what they cost is chosen by their sender.

use bytes::Bytes;

use super::exhausted::{Exhausted, RunError};
use super::pool::Permit;
use super::root::Budget;

/// Bytes of a stranger. There is no way to them but [`UntrustedBytes::read`], which waits for its turn and states its
/// memory, and [`UntrustedBytes::read_here`] for small ones. `tests/arrows.rs` lists who may make one and who reads one here.
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

    /// Reads the bytes off the threads that serve connections, when it is the payer's turn. Reading may take so many bytes
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

    /// Reads the bytes on this thread, for work that takes less than a millisecond whatever they are.
    pub fn read_here<T>(&self, read: impl FnOnce(&[u8]) -> T) -> T {
        read(&self.bytes)
    }

    /// Accounts for what was made of the bytes, until this is dropped.
    pub fn hold(&mut self, more: usize) -> Result<(), Exhausted> {
        self.permit.grow(more)
    }

    /// A separate permit for so many bytes at the expense of the same payer.
    pub fn permit_more(&self, bytes: usize) -> Result<Permit, Exhausted> {
        let mut permit = self.permit.sibling();
        permit.grow(bytes)?;
        Ok(permit)
    }

    /// The same with other bytes, such as the unpacked ones.
    pub fn replaced(mut self, bytes: Bytes) -> Result<Self, Exhausted> {
        self.permit.grow(bytes.len())?;
        Ok(Self { bytes, permit: self.permit })
    }

    /// The permit, once the bytes are not needed.
    pub fn into_permit(self) -> Permit {
        self.permit
    }
}
