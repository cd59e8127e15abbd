//! What a device may cost: its expiry and its daily messages.

use serde::{Deserialize, Serialize};

use crate::day::Date;
use crate::time::Timestamp;
use crate::zone::Zone;

/// A device's own limits, as a client sets them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The last date the device is active on; none for ever.
    pub expiration_date: Option<Date>,
    /// E-mails a day; none for no limit, 0 for none at all.
    pub daily_emails: Option<u32>,
    /// SMS a day; none for no limit, 0 for none at all.
    pub daily_sms: Option<u32>,
    /// How many of the day's e-mails, and of its SMS, are kept for critical alerts.
    pub critical_reserve: u32,
}

impl Limits {
    /// The largest daily limit and reserve.
    pub const DAILY_MAX: u32 = 1_000_000;
}

/// What a device sent on its account's present day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// The day.
    pub date: Date,
    /// The zone it is counted in.
    pub time_zone: Zone,
    /// E-mails sent or under way.
    pub emails_sent: u32,
    /// SMS sent or under way.
    pub sms_sent: u32,
    /// Their segments.
    pub sms_segments: u32,
    /// When the next day begins.
    pub resets_at: Timestamp,
}
