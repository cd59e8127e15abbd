//! Values that are told alike wherever a location is packed.

use std::collections::BTreeMap;

use perigee_core::location::FixSource;

use super::bytes::{CodecError, Reader, Writer};

/// The number that stands for a source. It never changes its meaning.
pub(super) const fn source_code(source: FixSource) -> u8 {
    match source {
        FixSource::Gnss => 0,
        FixSource::Network => 1,
        FixSource::Doppler => 2,
        FixSource::Manual => 3,
    }
}

/// The source a number stands for.
pub(super) fn source_of(code: u8) -> Result<FixSource, CodecError> {
    FixSource::ALL.into_iter().find(|source| source_code(*source) == code).ok_or(CodecError::Malformed)
}

pub(super) fn write_accessories(out: &mut Writer, accessories: &[BTreeMap<String, String>]) {
    out.length(accessories.len());
    for accessory in accessories {
        out.length(accessory.len());
        for (key, value) in accessory {
            out.text(key);
            out.text(value);
        }
    }
}

pub(super) fn read_accessories(input: &mut Reader<'_>) -> Result<Vec<BTreeMap<String, String>>, CodecError> {
    (0..input.length()?).map(|_| input.map(Reader::text)).collect()
}
