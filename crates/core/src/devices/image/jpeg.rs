//! JPEG: a sequence of segments, each with a marker and a length; picture data follows the start of a scan.

use super::{Stripped, u16_be};

const END: u8 = 0xd9;
const SCAN: u8 = 0xda;
const APP0: u8 = 0xe0;
const APP1: u8 = 0xe1;
const APP2: u8 = 0xe2;
const APP14: u8 = 0xee;
const APP15: u8 = 0xef;
const COMMENT: u8 = 0xfe;

/// Copies the segments that draw the picture. The orientation is kept in an Exif segment without other data, because
/// browsers rotate the picture by it.
pub(super) fn strip(bytes: &[u8]) -> Stripped {
    let mut picture = Vec::with_capacity(bytes.len());
    picture.extend_from_slice(bytes.get(..2)?);
    let (mut at, mut size, mut has_scan, mut orientation) = (2, None, false, None);
    while let Some(marker) = marker_at(bytes, &mut at) {
        if marker == END {
            picture.extend_from_slice(&[0xff, END]);
            break;
        }
        let length = usize::from(u16_be(bytes, at)?);
        let body = bytes.get(at.checked_add(2)?..at.checked_add(length)?)?;
        if marker == APP1 && orientation.is_none() {
            orientation = read_orientation(body);
            picture.extend(orientation.into_iter().flat_map(exif_of));
        }
        if is_frame(marker) {
            size = Some((u32::from(u16_be(body, 3)?), u32::from(u16_be(body, 1)?)));
        }
        if is_kept(marker, body) {
            picture.extend_from_slice(&[0xff, marker]);
            picture.extend_from_slice(bytes.get(at..at + length)?);
        }
        at += length;
        if marker == SCAN {
            has_scan = true;
            let end = scan_end(bytes, at);
            picture.extend_from_slice(bytes.get(at..end)?);
            at = end;
        }
    }
    size.filter(|_| has_scan).map(|size| (picture, size))
}

/// The marker at this offset; the offset moves behind it. Bytes of 0xff may fill the space before it.
fn marker_at(bytes: &[u8], at: &mut usize) -> Option<u8> {
    (*bytes.get(*at)? == 0xff).then_some(())?;
    while *bytes.get(*at)? == 0xff {
        *at += 1;
    }
    let marker = *bytes.get(*at)?;
    *at += 1;
    Some(marker)
}

/// Frames state the size. Three markers of their range mean something else.
fn is_frame(marker: u8) -> bool {
    (0xc0..=0xcf).contains(&marker) && !matches!(marker, 0xc4 | 0xc8 | 0xcc)
}

fn is_kept(marker: u8, body: &[u8]) -> bool {
    match marker {
        APP0 => body.starts_with(b"JFIF\0"),
        APP2 => body.starts_with(b"ICC_PROFILE\0"),
        APP14 => body.starts_with(b"Adobe"),
        APP1..=APP15 | COMMENT => false,
        _ => true,
    }
}

/// Where the data of a scan ends: at the next marker that is not part of it.
fn scan_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let (Some(&first), Some(&second)) = (bytes.get(at), bytes.get(at + 1)) {
        if first == 0xff && !matches!(second, 0 | 0xd0..=0xd7 | 0xff) {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

/// The orientation, from 2 to 8, of an Exif segment; `None` if it has none or the picture is upright.
fn read_orientation(body: &[u8]) -> Option<u8> {
    let tiff = body.strip_prefix(b"Exif\0\0")?;
    let is_little = match tiff.get(..2)? {
        b"II" => true,
        b"MM" => false,
        _ => return None,
    };
    let short = |at: usize| u16_be(tiff, at).map(|value| if is_little { value.swap_bytes() } else { value });
    let long =
        |at: usize| super::u32_be(tiff, at).map(|value| if is_little { value.swap_bytes() } else { value });
    let first = usize::try_from(long(4)?).ok()?;
    for entry in 0..usize::from(short(first)?) {
        let at = first.checked_add(2 + entry * 12)?;
        if short(at)? == 0x0112 {
            return u8::try_from(short(at.checked_add(8)?)?).ok().filter(|turn| (2..=8).contains(turn));
        }
    }
    None
}

/// An Exif segment with the orientation alone.
fn exif_of(orientation: u8) -> Vec<u8> {
    let mut segment = vec![0xff, APP1, 0, 34];
    segment.extend_from_slice(b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0");
    segment.extend_from_slice(&[orientation, 0, 0, 0, 0, 0, 0]);
    segment
}
