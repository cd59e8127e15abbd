//! Checksums of tracker protocols.

/// The table of 256 remainders of a 16-bit cyclic redundancy check that processes the lowest bit first.
const fn table(reflected_polynomial: u16) -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte: u16 = 0;
    while byte < 256 {
        let mut remainder = byte;
        let mut bit = 0;
        while bit < 8 {
            remainder =
                if remainder & 1 == 1 { remainder >> 1 ^ reflected_polynomial } else { remainder >> 1 };
            bit += 1;
        }
        #[expect(
            clippy::as_conversions,
            clippy::indexing_slicing,
            reason = "the index is below 256; runs when compiled"
        )]
        {
            table[byte as usize] = remainder;
        }
        byte += 1;
    }
    table
}

static CCITT: [u16; 256] = table(0x8408);
static IBM: [u16; 256] = table(0xa001);

fn reflected(table: &[u16; 256], start: u16, bytes: &[u8]) -> u16 {
    bytes.iter().fold(start, |crc, byte| {
        let [_, low] = crc.to_be_bytes();
        crc >> 8 ^ table.get(usize::from(low ^ byte)).copied().unwrap_or(0)
    })
}

/// CRC-16/X-25: GT06 and its relatives.
pub fn crc16_x25(bytes: &[u8]) -> u16 {
    !reflected(&CCITT, 0xffff, bytes)
}

/// CRC-16/KERMIT: Ruptela.
pub fn crc16_kermit(bytes: &[u8]) -> u16 {
    reflected(&CCITT, 0, bytes)
}

/// CRC-16/ARC, also called IBM: Teltonika, Wialon IPS.
pub fn crc16_arc(bytes: &[u8]) -> u16 {
    reflected(&IBM, 0, bytes)
}

/// CRC-16/CCITT-FALSE: Queclink's binary frames.
pub fn crc16_ccitt_false(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xffff, |crc: u16, byte| {
        (0..8).fold(crc ^ u16::from_be_bytes([*byte, 0]), |crc, _bit| {
            if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 }
        })
    })
}

/// All bytes combined by exclusive or: JT/T 808, NMEA.
pub fn xor(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum ^ byte)
}

/// The sum of all bytes modulo 256: Meitrack.
pub fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agree_with_the_published_check_values() {
        let digits = b"123456789";
        assert_eq!(crc16_x25(digits), 0x906e);
        assert_eq!(crc16_kermit(digits), 0x2189);
        assert_eq!(crc16_arc(digits), 0xbb3d);
        assert_eq!(crc16_ccitt_false(digits), 0x29b1);
        assert_eq!(xor(digits), 0x31);
        assert_eq!(sum(digits), 0xdd);
    }
}
