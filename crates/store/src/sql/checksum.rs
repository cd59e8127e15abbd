//! Checksums of rows, to detect damage.
//!
//! A checksum is the CRC-32 of the columns that are written together, plus the sum of the integer columns that other
//! statements update separately. Such a statement adjusts the checksum by the difference, without reading the row, and
//! a flipped bit in any of the columns still changes the checksum. NULL counts as 0.

use perigee_core::store::Result;

use crate::{Row, Value};

/// Ids are added modulo this prime, the largest below 2^32, so that a sum of several ids cannot overflow.
pub(crate) const ID_MODULUS: i64 = 4_294_967_291;

/// The CRC-32 of these values with their types; booleans count as 0 and 1, as SQLite stores them.
pub(crate) fn crc(values: &[Value]) -> i64 {
    let mut hasher = crc32fast::Hasher::new();
    for value in values {
        match value {
            Value::Null => hasher.update(&[0]),
            Value::Int(number) => add(&mut hasher, 1, &number.to_le_bytes()),
            Value::Bool(truth) => add(&mut hasher, 1, &i64::from(*truth).to_le_bytes()),
            Value::Real(number) => add(&mut hasher, 2, &number.to_le_bytes()),
            Value::Text(text) => add(&mut hasher, 3, text.as_bytes()),
            Value::Bytes(bytes) => add(&mut hasher, 4, bytes),
        }
    }
    i64::from(hasher.finalize())
}

/// Adds the type, the length and the bytes, so that a byte that moves between values changes the checksum.
fn add(hasher: &mut crc32fast::Hasher, kind: u8, bytes: &[u8]) {
    hasher.update(&[kind]);
    hasher.update(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
    hasher.update(bytes);
}

/// The wrapping sum of the integers and booleans; other values count as 0.
pub(crate) fn sum(values: &[Value]) -> i64 {
    values.iter().fold(0, |sum: i64, value| {
        sum.wrapping_add(match value {
            Value::Int(number) => *number,
            Value::Bool(truth) => i64::from(*truth),
            _ => 0,
        })
    })
}

/// The contribution of an id to a sum.
pub(crate) fn id_part(id: &Value) -> i64 {
    sum(std::slice::from_ref(id)) % ID_MODULUS
}

/// The values of these columns.
pub(crate) fn values(row: &Row, columns: &[&str]) -> Result<Vec<Value>> {
    columns.iter().map(|column| Ok(row.value(*column)?.clone())).collect()
}

/// Whether a row has a checksum that it does not match. A checksum that cannot be read or computed does not match.
pub(crate) fn differs(row: &Row, of_row: fn(&Row) -> Result<i64>) -> bool {
    match row.opt_i64("checksum") {
        Ok(None) => false,
        Ok(Some(kept)) => of_row(row).ok() != Some(kept),
        Err(_unreadable) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params;

    #[test]
    fn every_flipped_bit_gives_another_checksum() {
        let crc_of = |name: &[u8], number: i64| crc(params![1_i64, name, number, None::<i64>, true]);
        let right = crc_of(b"star", 42);
        assert_eq!(right, crc(params![1_i64, b"star".as_slice(), 42_i64, None::<i64>, 1_i64]));
        for bit in 0..32 {
            let mut name = *b"star";
            name[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(crc_of(&name, 42), right, "bit {bit} of the bytes");
        }
        for bit in 0..64 {
            let flipped = Value::Int(0x2a ^ (1 << bit));
            assert_ne!(crc(std::slice::from_ref(&flipped)), crc(params![42_i64]), "bit {bit} of the number");
            assert_ne!(id_part(&flipped), id_part(&Value::Int(42)), "bit {bit} of the id");
        }
        assert_eq!(sum(params![1_i64, None::<i64>, true, "text"]), 2);
    }
}
