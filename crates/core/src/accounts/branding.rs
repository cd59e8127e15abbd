//! Branding of an account: the name, the logo and the colour that its users and recipients see.

use std::fmt;
use std::str::FromStr;

use crate::devices::device_file::MediaType;
use crate::devices::image::{self, ImageError};
use crate::id::FileId;

/// How an account presents itself in the console, in messages and on pages without sign-in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branding {
    /// Shown instead of the name of the account.
    pub name: Option<String>,
    /// The colour of buttons and of the bar at the top.
    pub colour: Option<Colour>,
    /// The logo, if there is one. A new logo has a new ID.
    pub logo: Option<FileId>,
}

/// A colour in sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

/// Why a text is not a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a colour such as #0b5cad")]
pub struct ParseColourError;

impl Colour {
    /// The colour of buttons of accounts that chose none.
    pub const DEFAULT: Self = Self(0x0b, 0x5c, 0xad);

    /// The colour of text on this colour: black or white, whichever has the higher contrast.
    #[must_use]
    pub fn text(self) -> Self {
        // Contrast to black is (l + 0.05) / 0.05, to white 1.05 / (l + 0.05); they are equal at this luminance.
        if self.luminance() > 0.179 { Self(0, 0, 0) } else { Self(255, 255, 255) }
    }

    /// Relative luminance as WCAG defines it, from 0 to 1.
    fn luminance(self) -> f64 {
        let linear = |value: u8| {
            let value = f64::from(value) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

impl FromStr for Colour {
    type Err = ParseColourError;

    fn from_str(text: &str) -> Result<Self, ParseColourError> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii());
        let digits = digits.ok_or(ParseColourError)?;
        let part = |at: usize| {
            let part =
                digits.get(at..at + 2).filter(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()));
            part.and_then(|part| u8::from_str_radix(part, 16).ok()).ok_or(ParseColourError)
        };
        Ok(Self(part(0)?, part(2)?, part(4)?))
    }
}

/// The logo of an account. It is part of every e-mail of the account, so it is small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logo {
    /// One of [`Logo::MEDIA_TYPES`].
    pub media_type: MediaType,
    /// From 1 to [`Logo::BYTES_MAX`].
    pub bytes: Vec<u8>,
}

impl Logo {
    /// Maximum number of bytes of a logo.
    pub const BYTES_MAX: usize = 64 * 1024;
    /// Maximum length of a side of a logo, in pixels.
    pub const SIDE_MAX: u32 = 1_024;
    /// The accepted formats: those that every mail program shows.
    pub const MEDIA_TYPES: [MediaType; 2] = [MediaType::Jpeg, MediaType::Png];

    /// The logo in these bytes, written anew with nothing but the picture.
    pub fn of(bytes: &[u8]) -> Result<Self, ImageError> {
        let media_type = MediaType::of(bytes);
        if !Self::MEDIA_TYPES.contains(&media_type) {
            return Err(ImageError::Unreadable);
        }
        Ok(Self { media_type, bytes: image::strip_within(bytes, Self::SIDE_MAX)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_and_written() {
        assert_eq!("#0B5cad".parse::<Colour>().unwrap().to_string(), "#0b5cad");
        for wrong in
            ["", "0b5cad", "#0b5ca", "#0b5cadf", "#+b5cad", "#0b5ca\u{e9}", "#\u{e9}\u{e9}\u{e9}", "red"]
        {
            assert_eq!(wrong.parse::<Colour>(), Err(ParseColourError), "{wrong}");
        }
    }

    #[test]
    fn text_on_a_colour_is_readable() {
        for red in (0..=255).step_by(15) {
            for green in (0..=255).step_by(15) {
                let colour = Colour(red, green, 128);
                let (one, other) = (colour.luminance(), colour.text().luminance());
                let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
                assert!(contrast >= 4.5, "{colour}: {contrast}");
            }
        }
        assert_eq!(Colour::DEFAULT.text(), Colour(255, 255, 255));
    }

    #[test]
    fn a_logo_is_a_picture_that_mail_programs_show() {
        assert_eq!(Logo::of(b"<svg/>"), Err(ImageError::Unreadable));
        assert_eq!(Logo::of(b"RIFF\x04\0\0\0WEBP"), Err(ImageError::Unreadable));
    }
}
