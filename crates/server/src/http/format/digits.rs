//! Converts numbers to digits, eight at a time, or by table for small numbers.

/// Numbers below this have at most eight digits.
pub(super) const EIGHT_DIGITS: u64 = 100_000_000;
const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);

/// The last eight digits of a number as text: split into lanes of four, two and one digits, all lanes at once
/// (SWAR).
pub(super) const fn eight_digits(number: u32) -> [u8; 8] {
    let number = number as u64 % EIGHT_DIGITS;
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    // Division by a hundred or ten as multiplication and shift, exact below ten thousand and below a hundred.
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - hundreds * 100) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    let ones = tens | ((twos - tens * 10) << 8);
    (ones | ZEROS).to_le_bytes()
}

/// The digits of a number below a thousand without leading zeros, and their count.
pub(super) static WHOLES: [([u8; 3], u8); 1000] = {
    let mut table = [([b'0'; 3], 1); 1000];
    let mut number = 0_u32;
    while number < 1000 {
        let digits = three_digits(number);
        table[number as usize] = match number {
            0..10 => ([digits[2], b'0', b'0'], 1),
            10..100 => ([digits[1], digits[2], b'0'], 2),
            _ => (digits, 3),
        };
        number += 1;
    }
    table
};

/// The digits of a number of thousandths without trailing zeros, and their count.
pub(super) static THOUSANDTHS: [([u8; 3], u8); 1000] = {
    let mut table = [([b'0'; 3], 0); 1000];
    let mut number = 1_u32;
    while number < 1000 {
        let length = if number.is_multiple_of(100) {
            1
        } else if number.is_multiple_of(10) {
            2
        } else {
            3
        };
        table[number as usize] = (three_digits(number), length);
        number += 1;
    }
    table
};

/// The digits of all numbers below a hundred.
pub(super) static PAIRS: [[u8; 2]; 100] = {
    let mut table = [[b'0'; 2]; 100];
    let mut number = 0_u32;
    while number < 100 {
        let [_, tens, ones] = three_digits(number);
        table[number as usize] = [tens, ones];
        number += 1;
    }
    table
};

const fn three_digits(number: u32) -> [u8; 3] {
    let [.., hundreds, tens, ones] = eight_digits(number);
    [hundreds, tens, ones]
}

/// The number of leading zeros among these digits.
fn leading(digits: [u8; 8]) -> usize {
    ((u64::from_le_bytes(digits) ^ ZEROS).trailing_zeros() / 8) as usize
}

/// The number of trailing zeros among these digits.
pub(super) fn trailing(digits: [u8; 8]) -> usize {
    ((u64::from_le_bytes(digits) ^ ZEROS).leading_zeros() / 8) as usize
}

/// Appends a template, lets `write` overwrite it in place, and truncates to the length that `write` gives: copying a
/// text of unknown length would take longer than making it.
#[inline]
pub(super) fn push_draft<const SIZE: usize>(
    out: &mut Vec<u8>,
    draft: &[u8; SIZE],
    write: impl FnOnce(&mut [u8; SIZE]) -> usize,
) {
    let start = out.len();
    out.extend_from_slice(draft);
    let length = out.last_chunk_mut().map_or(0, write);
    out.truncate(start + length);
}

/// Digits without leading zeros, at least one, and their count.
pub(super) fn without_leading(digits: [u8; 8]) -> ([u8; 8], usize) {
    let zeros = leading(digits).min(7);
    ((u64::from_le_bytes(digits) >> (8 * zeros)).to_le_bytes(), 8 - zeros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_come_in_order() {
        for number in [0, 1, 9, 10, 99, 100, 9_999, 10_000, 12_345_678, 90_807_060, 99_999_999] {
            assert_eq!(String::from_utf8_lossy(&eight_digits(number)), format!("{number:08}"));
        }
    }

    #[test]
    fn tables_have_the_digits_that_count() {
        let text = |(digits, length): ([u8; 3], u8)| {
            String::from_utf8_lossy(&digits[..usize::from(length)]).into_owned()
        };
        for number in 0..1000 {
            assert_eq!(text(WHOLES[number]), number.to_string());
            assert_eq!(text(THOUSANDTHS[number]), format!("{number:03}").trim_end_matches('0'));
        }
        for (number, pair) in PAIRS.iter().enumerate() {
            assert_eq!(pair, format!("{number:02}").as_bytes());
        }
    }
}
