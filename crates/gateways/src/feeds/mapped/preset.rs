//! Presets: built-in mappings. A user can copy and change one.

use std::sync::LazyLock;

use serde_json::Value as Json;

use crate::decoded::DecodeError;
use crate::feed::{Feed, FeedContext, FeedDecoded, FeedRequest};
use crate::feed_option::{BASIC, MODEL, PAYLOAD};
use crate::mapping::Mapping;

use super::{BASE, decode_by};

macro_rules! presets {
    ($($feed:ident $mapping:ident $name:literal $title:literal $(with $options:expr)?;)+) => {
        $(
            #[doc = concat!("The preset for ", $title, ".")]
            pub const $feed: Feed = Feed {
                name: $name,
                title: $title,
                $(options: $options,)?
                decode: |request, context| decode($mapping.as_ref(), request, context),
                ..BASE
            };
            static $mapping: LazyLock<Option<Mapping>> = LazyLock::new(|| Mapping::parse(&preset($name)?).ok());
        )+

        /// The mapping of a preset, to be shown and copied.
        pub fn preset(name: &str) -> Option<Json> {
            let text = match name {
                $($name => include_str!(concat!("presets/", $name, ".json")),)+
                _ => return None,
            };
            serde_json::from_str(text).ok()
        }
    };
}

presets! {
    SOMEWEAR SOMEWEAR_MAPPING "somewear" "Somewear";
    BULLITT BULLITT_MAPPING "bullitt" "Bullitt Satellite Connect";
    TTN TTN_MAPPING "ttn" "The Things Stack (TTN v3)";
    CHIRPSTACK CHIRPSTACK_MAPPING "chirpstack" "ChirpStack";
    MYRIOTA MYRIOTA_MAPPING "myriota" "Myriota" with &[BASIC, MODEL, PAYLOAD];
    FLESPI FLESPI_MAPPING "flespi" "flespi";
    GPSLOGGER GPSLOGGER_MAPPING "gpslogger" "GPSLogger";
}

fn decode(mapping: Option<&Mapping>, request: &FeedRequest<'_>, context: &FeedContext<'_>) -> FeedDecoded {
    let mapping = mapping.ok_or(DecodeError::Malformed("the built-in mapping of this feed is invalid"));
    mapping.and_then(|mapping| decode_by(mapping, request, context)).into()
}
