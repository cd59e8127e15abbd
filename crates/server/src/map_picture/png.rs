//! Writes a picture with a palette as PNG.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::canvas::Canvas;

/// The bytes of a PNG; `None` if the picture is larger than the format allows.
pub(super) fn encode(canvas: &Canvas, palette: &[[u8; 3]]) -> Option<Vec<u8>> {
    let (width, height) = canvas.size();
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::new();
    header.extend_from_slice(&u32::try_from(width).ok()?.to_be_bytes());
    header.extend_from_slice(&u32::try_from(height).ok()?.to_be_bytes());
    // Eight bits, a palette, and the only methods that exist.
    header.extend_from_slice(&[8, 3, 0, 0, 0]);
    chunk(&mut png, *b"IHDR", &header)?;
    chunk(&mut png, *b"PLTE", palette.as_flattened())?;
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    for row in canvas.pixels().chunks(width.max(1)) {
        // Each row begins with its filter; palette colours need none.
        packed.write_all(&[0]).and_then(|()| packed.write_all(row)).ok()?;
    }
    chunk(&mut png, *b"IDAT", &packed.finish().ok()?)?;
    chunk(&mut png, *b"IEND", &[])?;
    Some(png)
}

fn chunk(png: &mut Vec<u8>, name: [u8; 4], bytes: &[u8]) -> Option<()> {
    png.extend_from_slice(&u32::try_from(bytes.len()).ok()?.to_be_bytes());
    let mut crc = flate2::Crc::new();
    for part in [&name, bytes] {
        crc.update(part);
        png.extend_from_slice(part);
    }
    png.extend_from_slice(&crc.sum().to_be_bytes());
    Some(())
}
