//! Limits of a device: its expiry and its daily messages.

use serde::{Deserialize, Serialize};

use crate::day::Date;
use crate::time::Timestamp;
use crate::zone::Zone;

/// A device's own limits, as a client sets them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The last date on which the device is active; `None` for no end.
    pub expiration_date: Option<Date>,
    /// E-mails per day; `None` for no limit, 0 to send none.
    pub daily_emails: Option<u32>,
    /// SMS per day; `None` for no limit, 0 to send none.
    pub daily_sms: Option<u32>,
    /// How many of the day's e-mails, and of its SMS, are reserved for critical alerts.
    pub critical_reserve: u32,
}

impl Limits {
    /// The largest value of a daily limit and of the reserve.
    pub const DAILY_MAX: u32 = 1_000_000;
}

/// Messages that a device caused on the account's current day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// The date of the account's current day.
    pub date: Date,
    /// The time zone in which that day is counted.
    pub time_zone: Zone,
    /// E-mails sent or being sent.
    pub emails_sent: u32,
    /// SMS sent or being sent.
    pub sms_sent: u32,
    /// Segments of those SMS together.
    pub sms_segments: u32,
    /// When the counters start again at zero.
    pub resets_at: Timestamp,
}
