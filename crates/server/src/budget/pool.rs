//! A pool of bytes for bodies in memory, of requests or of answers. A body that does not fit is refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

use super::exhausted::{Bound, Exhausted};
use super::payer::Payer;
use super::shares::Shares;

/// Permits up to this many bytes may use the whole pool, larger ones three quarters of it: if large bodies have filled
/// it, single locations are still accepted.
const SMALL: usize = 16 * 1024;

/// Bytes that may be held at once: in total, by one address and by one account.
#[derive(Debug)]
pub struct Pool {
    name: &'static str,
    most: usize,
    used: AtomicUsize,
    shares: Shares,
}

/// Permits some bytes, until it is dropped.
#[derive(Debug)]
pub struct Permit {
    pool: Arc<Pool>,
    payer: Payer,
    bytes: usize,
    /// Whether the bytes are counted in the payer's shares, too.
    shared: bool,
}

impl Pool {
    /// A pool of this many bytes, of which an address and an account may hold this many.
    pub fn new(name: &'static str, most: usize, per_address: usize, per_account: usize) -> Arc<Self> {
        Arc::new(Self {
            name,
            most,
            used: AtomicUsize::new(0),
            shares: Shares::new(per_address, per_account),
        })
    }

    /// Takes bytes from the pool and from the payer's shares.
    pub fn try_acquire(self: &Arc<Self>, payer: Payer, bytes: usize) -> Result<Permit, Exhausted> {
        let mut permit = self.empty(payer);
        permit.grow(bytes)?;
        Ok(permit)
    }

    /// Takes bytes for a body that was received completely. The client cannot make the permit last longer by sending
    /// slowly, so a small body is counted only in the total: one atomic operation and no lock, on the path of every
    /// single location.
    pub fn try_acquire_whole(self: &Arc<Self>, payer: Payer, bytes: usize) -> Result<Permit, Exhausted> {
        if bytes > SMALL {
            return self.try_acquire(payer, bytes);
        }
        self.add(bytes, self.most)?;
        let mut permit = self.empty(payer);
        permit.bytes = bytes;
        Ok(permit)
    }

    /// A permit for nothing yet.
    pub fn empty(self: &Arc<Self>, payer: Payer) -> Permit {
        Permit { pool: Arc::clone(self), payer, bytes: 0, shared: false }
    }

    /// Bytes held at present.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    fn add(&self, bytes: usize, most: usize) -> Result<(), Exhausted> {
        let before = self.used.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) <= most {
            return Ok(());
        }
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        Err(Exhausted::counted(self.name, Bound::Total))
    }
}

impl Permit {
    /// Takes more bytes. On refusal the permit stays as it was.
    pub fn grow(&mut self, more: usize) -> Result<(), Exhausted> {
        let pool = &self.pool;
        let total = self.bytes.saturating_add(more);
        pool.add(more, if total > SMALL { pool.most - pool.most / 4 } else { pool.most })?;
        // A small permit was not counted in the shares; a grown one is.
        let unshared = if self.shared { more } else { total };
        if let Err(bound) = pool.shares.take(self.payer, unshared) {
            pool.used.fetch_sub(more, Ordering::Relaxed);
            return Err(Exhausted::counted(pool.name, bound));
        }
        self.bytes = total;
        self.shared = true;
        Ok(())
    }

    /// Returns some of its bytes.
    pub fn give_back(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.pool.used.fetch_sub(bytes, Ordering::Relaxed);
        if self.shared {
            self.pool.shares.give_back(self.payer, bytes);
        }
    }

    /// The payer of the permit.
    pub const fn payer(&self) -> Payer {
        self.payer
    }

    /// An empty permit of the same pool and payer.
    #[must_use]
    pub fn sibling(&self) -> Self {
        self.pool.empty(self.payer)
    }

    /// Bytes of the permit.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes that keep the permit until the last reference to them is dropped.
    pub fn attach(self, bytes: Vec<u8>) -> Bytes {
        Bytes::from_owner(Held { bytes, _permit: self })
    }
}

/// Bytes with their permit.
struct Held {
    bytes: Vec<u8>,
    _permit: Permit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        self.pool.used.fetch_sub(self.bytes, Ordering::Relaxed);
        if self.shared {
            self.pool.shares.give_back(self.payer, self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use perigee_core::id::AccountId;

    use super::*;

    const KIB: usize = 1024;

    fn client(last: u8, account: Option<i64>) -> Payer {
        Payer::client([192, 0, 2, last].into(), account.map(AccountId::from_i64))
    }

    fn refused(permit: Result<Permit, Exhausted>) -> Option<Bound> {
        permit.err().map(|exhausted| exhausted.bound)
    }

    #[test]
    fn bytes_keep_their_permit_until_the_last_reference_is_dropped() {
        let pool = Pool::new("test", 400 * KIB, 200 * KIB, 200 * KIB);
        let permit = pool.try_acquire(client(1, None), 100 * KIB).unwrap();
        let bytes = permit.attach(vec![0; 100 * KIB]);
        let rest = bytes.slice(50 * KIB..);
        drop(bytes);
        assert_eq!(pool.used(), 100 * KIB);
        drop(rest);
        assert_eq!(pool.used(), 0);
    }

    #[test]
    fn each_bound_refuses_and_dropping_gives_back() {
        let pool = Pool::new("test", 400 * KIB, 200 * KIB, 100 * KIB);
        let first = pool.try_acquire(client(1, Some(1)), 100 * KIB).unwrap();
        assert_eq!(refused(pool.try_acquire(client(2, Some(1)), 1)), Some(Bound::Account));
        let second = pool.try_acquire(client(1, None), 100 * KIB).unwrap();
        assert_eq!(refused(pool.try_acquire(client(1, Some(2)), 1)), Some(Bound::Address));
        let third = pool.try_acquire(client(3, None), 100 * KIB).unwrap();
        assert_eq!(refused(pool.try_acquire(client(4, None), 20 * KIB)), Some(Bound::Total));
        assert_eq!(pool.used(), 300 * KIB, "a refusal takes nothing");
        drop((first, second, third));
        assert_eq!(pool.used(), 0);
        assert!(pool.try_acquire(client(1, Some(1)), 100 * KIB).is_ok());
    }

    #[test]
    fn small_bodies_get_in_when_large_ones_have_filled_their_part() {
        let pool = Pool::new("test", 400 * KIB, 400 * KIB, 400 * KIB);
        let large = pool.try_acquire(client(1, None), 300 * KIB).unwrap();
        assert_eq!(refused(pool.try_acquire(client(2, None), 17 * KIB)), Some(Bound::Total));
        let small: Vec<_> =
            (0..6).filter_map(|_| pool.try_acquire_whole(client(2, None), 16 * KIB).ok()).collect();
        assert_eq!(small.len(), 6);
        drop((large, small));
        assert_eq!(pool.used(), 0);
    }

    #[test]
    fn a_whole_body_counts_in_the_shares_once_it_grows() {
        let pool = Pool::new("test", 400 * KIB, 20 * KIB, 400 * KIB);
        let mut permit = pool.try_acquire_whole(client(1, None), 10 * KIB).unwrap();
        let other = pool.try_acquire(client(1, None), 20 * KIB).unwrap();
        assert_eq!(permit.grow(1).unwrap_err().bound, Bound::Address);
        assert_eq!((permit.bytes(), pool.used()), (10 * KIB, 30 * KIB));
        drop(other);
        permit.grow(10 * KIB).unwrap();
        assert_eq!(refused(pool.try_acquire(client(1, None), 1)), Some(Bound::Address));
        drop(permit);
        assert_eq!(pool.used(), 0);
        assert!(pool.try_acquire(client(1, None), 20 * KIB).is_ok());
    }
}
