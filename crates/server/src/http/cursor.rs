//! Cursors: where a list goes on, opaque to clients and bound to the list they came from.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::code::Code;
use super::error::{ApiError, ApiResult};

/// A place in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The number of the last item seen.
    pub number: i64,
    /// Its time, in lists ordered by time; zero elsewhere.
    pub time: i64,
}

impl Cursor {
    /// A place in a list ordered by number.
    pub const fn at(number: i64) -> Self {
        Self { number, time: 0 }
    }

    /// The cursor as clients get it.
    pub fn write(self, list: &str) -> String {
        let mut bytes = Vec::with_capacity(20);
        bytes.extend(self.number.to_be_bytes());
        bytes.extend(self.time.to_be_bytes());
        bytes.extend(check(list, &bytes));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads a cursor this list has given.
    pub fn read(list: &str, text: &str) -> ApiResult<Self> {
        Self::decode(list, text).ok_or_else(|| {
            ApiError::new(
                Code::InvalidCursor,
                "The cursor is not one this list gave. Start without a cursor and use \"nextCursor\" as it is.",
            )
        })
    }

    fn decode(list: &str, text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (place, sum) = bytes.split_at_checked(16)?;
        if sum != check(list, place) {
            return None;
        }
        let (number, time) = place.split_at_checked(8)?;
        Some(Self {
            number: i64::from_be_bytes(number.try_into().ok()?),
            time: i64::from_be_bytes(time.try_into().ok()?),
        })
    }
}

/// Four bytes that a cursor of another list, or one made up, does not have.
fn check(list: &str, place: &[u8]) -> [u8; 4] {
    let digest: [u8; 32] = Sha256::new().chain_update(list).chain_update(place).finalize().into();
    [digest[0], digest[1], digest[2], digest[3]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_list_reads_it() {
        let cursor = Cursor { number: -7, time: 1_700_000_000_000 };
        let text = cursor.write("devices");
        assert_eq!(Cursor::decode("devices", &text), Some(cursor));
        assert_eq!(Cursor::decode("groups", &text), None);
        for text in ["", "x", "AAAA", "zzzzzzzzzzzzzzzzzzzzzzzzzzz", &text[1..], "é"] {
            assert_eq!(Cursor::decode("devices", text), None, "{text}");
        }
    }
}
