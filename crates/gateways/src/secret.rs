//! Comparison of secrets, and short hashes of texts.

use ring::digest::{SHA256, digest};

use crate::notation::reader::hex_digits;

/// Whether two secrets are the same. Digests are compared, so that the duration reveals nothing about the secret.
pub(crate) fn same(one: &str, other: &str) -> bool {
    digest(&SHA256, one.as_bytes()).as_ref() == digest(&SHA256, other.as_bytes()).as_ref()
}

/// The first bytes of a text's SHA-256 as hexadecimal digits, at most 64.
pub(crate) fn short_hash(text: &str, digits: usize) -> String {
    let mut hash = hex_digits(digest(&SHA256, text.as_bytes()).as_ref());
    hash.truncate(digits);
    hash
}
