//! Cursors of paged lists: opaque to clients, and valid only for the list that issued them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::error::{ApiError, ApiResult};
use super::error_code::ErrorCode;

/// The position after an item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The number of the last item seen.
    pub number: i64,
    /// Its time in milliseconds, in lists ordered by time; zero in others.
    pub time: i64,
}

impl Cursor {
    /// The position in a list ordered by number.
    pub const fn at(number: i64) -> Self {
        Self { number, time: 0 }
    }

    /// Encodes the position for a client.
    pub fn write(self, list: &str) -> String {
        let mut bytes = Vec::with_capacity(20);
        bytes.extend(self.number.to_be_bytes());
        bytes.extend(self.time.to_be_bytes());
        bytes.extend(check(list, &bytes));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Decodes a cursor; refuses one that this list did not issue.
    pub fn read(list: &str, text: &str) -> ApiResult<Self> {
        Self::decode(list, text).ok_or_else(|| {
            ApiError::new(
                ErrorCode::InvalidCursor,
                "The cursor does not belong to this list. Start without a cursor, and send \"nextCursor\" back unchanged.",
            )
        })
    }

    fn decode(list: &str, text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (content, sum) = bytes.split_at_checked(16)?;
        if sum != check(list, content) {
            return None;
        }
        let (number, time) = content.split_at_checked(8)?;
        Some(Self {
            number: i64::from_be_bytes(number.try_into().ok()?),
            time: i64::from_be_bytes(time.try_into().ok()?),
        })
    }
}

/// Four check bytes that depend on the list, so that cursors of other lists and invented ones are refused.
fn check(list: &str, content: &[u8]) -> [u8; 4] {
    let digest: [u8; 32] = Sha256::new().chain_update(list).chain_update(content).finalize().into();
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
