//! Memory of incomplete files.

use std::net::IpAddr;
use std::sync::Arc;

use perigee_core::id::AccountId;

use crate::budget::{Payer, Permit, Pool};

const MIB: usize = 1024 * 1024;
/// Bytes of unfinished files in memory: in total, of one address (which the devices of a network may share), and of one
/// account.
const BYTES: usize = 64 * MIB;
const BYTES_PER_ADDRESS: usize = 32 * MIB;
const BYTES_PER_ACCOUNT: usize = 32 * MIB;

/// The memory that all connections of trackers share for unfinished files.
#[derive(Clone, Debug)]
pub struct Uploads(Arc<Pool>);

impl Default for Uploads {
    fn default() -> Self {
        Self(Pool::new("uploads", BYTES, BYTES_PER_ADDRESS, BYTES_PER_ACCOUNT))
    }
}

impl Uploads {
    /// Adjusts the memory of a connection to this many bytes. False if there is not enough memory: the connection then
    /// drops its incomplete files.
    pub fn hold(
        &self,
        held: &mut Option<Permit>,
        bytes: usize,
        (address, account): (IpAddr, AccountId),
    ) -> bool {
        let before = held.as_ref().map_or(0, Permit::bytes);
        if bytes < before {
            *held = None;
        }
        if bytes == 0 || bytes == before {
            return true;
        }
        let permit = held.get_or_insert_with(|| self.0.empty(Payer::client(address, Some(account))));
        let is_held = permit.grow(bytes.saturating_sub(permit.bytes())).is_ok();
        if !is_held {
            *held = None;
        }
        is_held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_cannot_take_the_memory_of_others() {
        let uploads = Uploads::default();
        let client = |account| ([192, 0, 2, 1].into(), AccountId::from_i64(account));
        let (mut first, mut second) = (None, None);
        assert!(uploads.hold(&mut first, BYTES_PER_ACCOUNT, client(1)));
        assert!(!uploads.hold(&mut second, MIB, client(1)));
        assert!(second.is_none() && first.is_some());
        // The memory of complete files is returned.
        assert!(uploads.hold(&mut first, MIB, client(1)));
        assert!(uploads.hold(&mut second, MIB, client(1)));
        assert!(uploads.hold(&mut first, 0, client(1)) && uploads.hold(&mut second, 0, client(1)));
        assert!(first.is_none() && second.is_none());
        assert_eq!(uploads.0.used(), 0);
    }
}
