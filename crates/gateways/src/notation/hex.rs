//! Hexadecimal digits as people paste them.

/// The bytes of hexadecimal digits; blanks between bytes are skipped. None if there are other characters.
pub(crate) fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut high = None;
    for digit in text.bytes() {
        if digit.is_ascii_whitespace() && high.is_none() {
            continue;
        }
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            b'A'..=b'F' => digit - b'A' + 10,
            _ => return None,
        };
        match high.take() {
            None => high = Some(value),
            Some(first) => bytes.push(first << 4 | value),
        }
    }
    high.is_none().then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_digits_in_pairs() {
        assert_eq!(parse_hex("78 78 0D"), Some(vec![0x78, 0x78, 0x0d]));
        assert_eq!(parse_hex("787"), None);
        assert_eq!(parse_hex("7 8"), None);
        assert_eq!(parse_hex("zz"), None);
        assert_eq!(parse_hex(""), Some(Vec::new()));
    }
}
