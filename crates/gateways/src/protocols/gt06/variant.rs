//! Chooses the layout of a message: a number may stand for several layouts, which differ by length or by the model of
//! the device.

use crate::decoded::Context;

use super::message::{Message, kind};

/// The minimum length that message 0xA3 states if it is a geofence with position and cell; a shorter one is a status.
const FENCE_MIN: usize = 31;

/// Makers' own layouts of standard messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Standard,
    /// VXT01: status after the cell.
    Vxt01,
    /// Wanway S20: counted cells.
    WanwayS20,
    /// SR411 Mini: position, ignition and voltages in a message of cells.
    Sr411,
    /// GT06E with a card reader.
    Gt06eCard,
    Benway,
    S5,
    /// Space10x: several cells in a message of one.
    Space10x,
    /// OBD6: status with satellites, level and voltage.
    Obd6,
    WeTrust,
    /// JC400 camera alarms.
    Jc400,
    Sl4x,
    Seeworld,
    /// A driver's card in message 0x17.
    Card,
    /// LW4G: status in message 0xA2.
    Lw4g,
    /// `TRX16i`: a card after positions and alarms.
    Trx16i,
}

impl Layout {
    /// The layout of a message.
    pub(super) fn of(message: &Message<'_>) -> Self {
        if message.long {
            return Self::Standard;
        }
        match (message.kind, message.stated) {
            (kind::GPS_CELL | kind::ALARM, 0x24) => Self::Vxt01,
            (kind::CELLS_C, 0x31) => Self::WanwayS20,
            (kind::CELLS_C, 0x2e) => Self::Sr411,
            (kind::GPS_CELL, 0x71..) => Self::Gt06eCard,
            (kind::GPS_CELL, 0x21) => Self::Benway,
            (kind::GPS_CELL, 0x2b) => Self::S5,
            (kind::GPS_CELL, 0x29) => Self::WeTrust,
            (kind::CELL_STATUS, 0x17..) => Self::Space10x,
            (kind::STATUS, 0x13) => Self::Obd6,
            (kind::CAMERA_ALARM, _) if message.content.peek_u16(0) == Some(0xffff) => Self::Jc400,
            (kind::X1_GPS_OR_CELLS, 0x37) | (kind::GPS_REASON_D, 0x2a) | (kind::ALARM_C, 0x27 | 0x29) => {
                Self::Sl4x
            }
            // The last is shorter than a position and a cell: a status.
            (kind::GPS_REASON, 0x2f) | (kind::ALARM, 0x26) | (kind::FENCE_OR_STATUS, ..FENCE_MIN) => {
                Self::Seeworld
            }
            (kind::WIFI_OR_CARD, 0x28) => Self::Card,
            (kind::WIFI_4G_OR_STATUS, 0x40) => Self::Lw4g,
            (kind::STATUS_OR_PHOTO, 0x35) | (kind::ALARM, 0x2d) => Self::Trx16i,
            _ => Self::Standard,
        }
    }
}

/// Families of models with their own meaning of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Usual,
    /// LW3G, LW4G: power as tenths of a volt.
    Lw,
    /// Power in the status.
    Seeworld,
    /// NT and XT: an identifier and status in positions.
    Nt,
    /// VL and LL: their own alarms.
    Vl,
    /// An identifier before positions.
    Qh302r,
    /// Power instead of the battery's level.
    R11,
}

impl Family {
    /// The family of a device's model.
    pub(super) fn of(context: &Context<'_>) -> Self {
        const NT: [&str; 7] = ["NT11", "NT20", "NT26", "NT40", "NT46", "VL100", "XT40"];
        const VL: [&str; 4] = ["VL103", "LL303", "VL512", "G18"];
        let Some(model) = context.model else { return Self::Usual };
        let is = |name: &str| model.eq_ignore_ascii_case(name);
        if NT.iter().any(|name| is(name)) {
            Self::Nt
        } else if VL.iter().any(|name| is(name)) {
            Self::Vl
        } else if is("SEEWORLD") {
            Self::Seeworld
        } else if is("QH302R") {
            Self::Qh302r
        } else if is("R11") {
            Self::R11
        } else if model.get(..2).is_some_and(|prefix| prefix.eq_ignore_ascii_case("LW")) {
            Self::Lw
        } else {
            Self::Usual
        }
    }
}
