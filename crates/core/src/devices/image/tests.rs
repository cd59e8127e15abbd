//! Images with metadata, images of too many pixels and damaged images.

use super::*;

fn segment(marker: u8, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len() + 2).unwrap().to_be_bytes();
    [&[0xff, marker], &length[..], body].concat()
}

/// An Exif body with an orientation and a text that stands for the position.
fn exif(orientation: u8) -> Vec<u8> {
    let mut body = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    body.extend_from_slice(&[orientation, 0, 0, 0, 0, 0, 0, 0]);
    body.extend_from_slice(b"GPS 42.24 N 8.72 W");
    body
}

fn jpeg(exif: &[u8], (width, height): (u16, u16)) -> Vec<u8> {
    let frame = [&[8], &height.to_be_bytes()[..], &width.to_be_bytes(), b"\x01\x01\x11\0"].concat();
    [
        b"\xff\xd8".to_vec(),
        segment(0xe0, b"JFIF\0\x01\x02\0\0\x01\0\x01\0\0"),
        segment(0xe1, exif),
        segment(0xe1, b"http://ns.adobe.com/xap/1.0/\0<GPS/>"),
        segment(0xe2, b"ICC_PROFILE\0\x01\x01colours"),
        segment(0xe2, b"MPF\0GPS"),
        segment(0xfe, b"GPS comment"),
        segment(0xc2, &frame),
        segment(0xc4, b"table"),
        segment(0xda, b"\x01\x01\0\0\x3f\0"),
        b"scan\xff\x00\xff\xd0more".to_vec(),
        segment(0xda, b"\x01\x01\0\0\x3f\0"),
        b"second".to_vec(),
        b"\xff\xd9".to_vec(),
        b"GPS of a second picture behind the first".to_vec(),
    ]
    .concat()
}

fn chunk(name: &[u8], data: &[u8]) -> Vec<u8> {
    [&u32::try_from(data.len()).unwrap().to_be_bytes()[..], name, data, b"sums"].concat()
}

fn png((width, height): (u32, u32)) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), b"\x08\x02\0\0\0"].concat();
    [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        chunk(b"IHDR", &header),
        chunk(b"eXIf", b"GPS"),
        chunk(b"tEXt", b"Comment\0GPS"),
        chunk(b"pHYs", b"123456789"),
        chunk(b"IDAT", b"pixels"),
        chunk(b"iTXt", b"GPS"),
        chunk(b"IEND", b""),
        b"GPS behind".to_vec(),
    ]
    .concat()
}

fn riff(chunks: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
    let mut body = b"WEBP".to_vec();
    for (name, data) in chunks {
        body.extend_from_slice(*name);
        body.extend_from_slice(&u32::try_from(data.len()).unwrap().to_le_bytes());
        body.extend_from_slice(data);
        body.extend_from_slice(&[0][..data.len() % 2]);
    }
    [b"RIFF", &u32::try_from(body.len()).unwrap().to_le_bytes()[..], &body].concat()
}

fn web_p((width, height): (u32, u32)) -> Vec<u8> {
    let canvas =
        [&[0x2c, 0, 0, 0], &(width - 1).to_le_bytes()[..3], &(height - 1).to_le_bytes()[..3]].concat();
    let size = (width & 0x3fff) | (height & 0x3fff) << 16;
    let image = [b"\0\0\0\x9d\x01\x2a", &size.to_le_bytes()[..], b"pixel"].concat();
    riff(&[
        (b"VP8X", canvas),
        (b"ICCP", b"colours".to_vec()),
        (b"VP8 ", image),
        (b"EXIF", b"GPS".to_vec()),
        (b"XMP ", b"<GPS/>".to_vec()),
    ])
}

fn has(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

#[test]
fn positions_and_texts_are_removed_and_the_picture_stays() {
    for image in [jpeg(&exif(6), (640, 480)), png((640, 480)), web_p((640, 480))] {
        assert!(has(&image, b"GPS"));
        let picture = strip(&image).unwrap();
        assert!(!has(&picture, b"GPS"), "{}", String::from_utf8_lossy(&picture));
        assert_eq!(MediaType::of(&picture), MediaType::of(&image));
        assert_eq!(strip(&picture).unwrap(), picture, "stripping again changes nothing");
    }
    let picture = strip(&jpeg(&exif(6), (640, 480))).unwrap();
    for kept in [&b"JFIF"[..], b"ICC_PROFILE", b"table", b"scan\xff\x00\xff\xd0more", b"second\xff\xd9"] {
        assert!(has(&picture, kept), "{}", String::from_utf8_lossy(kept));
    }
    assert!(has(&strip(&png((1, 1))).unwrap(), b"pHYs123456789"));
    let picture = strip(&web_p((640, 480))).unwrap();
    assert!(has(&picture, b"VP8X\x0a\0\0\0\x20\0\0\0"), "the flags of Exif, XMP and animation are cleared");
    assert_eq!(u32_le(&picture, 4), u32::try_from(picture.len() - 8).ok());
}

#[test]
fn the_orientation_of_a_photo_stays() {
    let turned = |orientation: u8| has(&strip(&jpeg(&exif(orientation), (4, 4))).unwrap(), b"Exif\0\0MM");
    assert!(turned(6) && turned(8));
    assert!(!turned(1) && !turned(0) && !turned(9), "an upright picture needs none");
    let picture = strip(&jpeg(&exif(6), (4, 4))).unwrap();
    assert!(has(
        &picture,
        b"\xff\xe1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    ));
}

#[test]
fn a_picture_of_too_many_pixels_is_refused() {
    let check = |image: Vec<u8>, expect| assert_eq!(strip(&image).map(drop), expect);
    check(png((50_000, 50_000)), Err(ImageError::TooLarge(50_000, 50_000)));
    check(png((8_192, 3_906)), Ok(()));
    check(png((8_192, 3_907)), Err(ImageError::TooLarge(8_192, 3_907)));
    check(png((8_193, 1)), Err(ImageError::TooLarge(8_193, 1)));
    check(png((0, 10)), Err(ImageError::Unreadable));
    check(jpeg(&exif(1), (65_535, 65_535)), Err(ImageError::TooLarge(65_535, 65_535)));
    check(web_p((1 << 24, 1 << 24)), Err(ImageError::TooLarge(1 << 24, 1 << 24)));
    let lossless = |bits: u32| riff(&[(b"VP8L", [&[0x2f][..], &bits.to_le_bytes(), b"data"].concat())]);
    check(lossless(9 | 4 << 14), Ok(()));
    check(lossless(0x3fff | 0x3fff << 14), Err(ImageError::TooLarge(16_384, 16_384)));
}

#[test]
fn damaged_images_and_other_bytes_are_refused() {
    for image in [jpeg(&exif(6), (640, 480)), png((640, 480)), web_p((640, 480))] {
        for end in 0..image.len() {
            // However the file is truncated, nothing panics, and no metadata is kept.
            if let Ok(picture) = strip(&image[..end]) {
                assert!(!has(&picture, b"GPS"));
            }
        }
        let mut at = 0;
        while at < image.len() {
            let mut damaged = image.clone();
            damaged[at] ^= 0xff;
            let _any = strip(&damaged);
            at += 1;
        }
    }
    assert_eq!(strip(b"GIF89a"), Err(ImageError::Unreadable));
    assert_eq!(strip(b"\xff\xd8\xff"), Err(ImageError::Unreadable));
    assert_eq!(strip(b""), Err(ImageError::Unreadable));
    let animation = riff(&[(b"VP8X", vec![2, 0, 0, 0, 1, 0, 0, 1, 0, 0]), (b"ANMF", vec![0; 24])]);
    assert_eq!(strip(&animation), Err(ImageError::Unreadable));
}
