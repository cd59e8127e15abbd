//! Dates as trackers send them.

use perigee_core::time::Timestamp;

use crate::decoded::DecodeError;
use crate::notation::reader::Reader;

/// A date and time of day, in UTC unless it is converted afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    /// Four digits, or two that mean 2000 to 2099.
    pub year: u16,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59; 60 is read as the following second.
    pub second: u8,
}

impl Civil {
    /// The instant, or none if the date does not exist.
    pub fn instant(self) -> Option<Timestamp> {
        let year = i64::from(if self.year < 100 { self.year + 2000 } else { self.year });
        let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        let month_days = match self.month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            _ => return None,
        };
        let on_calendar = (1..=9999).contains(&year) && (1..=month_days).contains(&self.day);
        if !on_calendar || self.hour > 23 || self.minute > 59 || self.second > 60 {
            return None;
        }
        let time_of_day = i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second);
        let days = days_since_1970(year, i64::from(self.month), i64::from(self.day));
        Some(Timestamp::from_millis((days * 86_400 + time_of_day) * 1000))
    }

    /// Reads year, month, day, hour, minute and second, a byte each.
    pub fn read_bytes(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let [year, month, day, hour, minute, second] = reader.array()?;
        Ok(Self { year: year.into(), month, day, hour, minute, second })
    }

    /// Reads year, month, day, hour, minute and second, two digits of packed BCD each. An invalid digit gives a date
    /// that does not exist instead of an error, because the rest of the frame may be valid.
    pub fn read_bcd(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let [year, month, day, hour, minute, second] = reader.array()?.map(|byte: u8| {
            let (tens, ones) = (byte >> 4, byte & 0x0f);
            if tens > 9 || ones > 9 { u8::MAX } else { tens * 10 + ones }
        });
        Ok(Self { year: year.into(), month, day, hour, minute, second })
    }

    /// The date of 10 (`yyMMddHHmm`), 12 (`yyMMddHHmmss`) or 14 digits (`yyyyMMddHHmmss`).
    pub fn parse(digits: &str) -> Option<Self> {
        let year_digits = match digits.len() {
            10 | 12 => 2,
            14 => 4,
            _ => return None,
        };
        let part = |from: usize, to: usize| digits.get(from..to)?.parse::<u8>().ok();
        let second = if digits.len() == 10 { 0 } else { part(year_digits + 8, year_digits + 10)? };
        Some(Self {
            year: digits.get(..year_digits)?.parse().ok()?,
            month: part(year_digits, year_digits + 2)?,
            day: part(year_digits + 2, year_digits + 4)?,
            hour: part(year_digits + 4, year_digits + 6)?,
            minute: part(year_digits + 6, year_digits + 8)?,
            second,
        })
    }

    /// The date and time of day in UTC of an instant.
    pub fn of(instant: Timestamp) -> Self {
        let seconds = instant.as_seconds();
        let (days, time_of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = date_of(days);
        let small = |number: i64| u8::try_from(number).unwrap_or(0);
        Self {
            year: u16::try_from(year).unwrap_or(0),
            month: small(month),
            day: small(day),
            hour: small(time_of_day / 3600),
            minute: small(time_of_day / 60 % 60),
            second: small(time_of_day % 60),
        }
    }

    /// `yyyyMMddHHmmss`.
    pub fn digits(self) -> String {
        format!(
            "{:04}{:02}{:02}{:02}{:02}{:02}",
            self.year, self.month, self.day, self.hour, self.minute, self.second
        )
    }
}

/// Days from 1970-01-01 in the Gregorian calendar, counting years from March so that the leap day is the last.
const fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The year, month and day of a day counted from 1970-01-01; the inverse of [`days_since_1970`].
const fn date_of(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400;
    (if month <= 2 { year + 1 } else { year }, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(digits: &str, expect: Option<&str>) {
        let read = Civil::parse(digits).and_then(Civil::instant).map(|instant| instant.to_string());
        assert_eq!(read.as_deref(), expect, "{digits}");
    }

    #[test]
    fn dates_become_instants_and_back() {
        check("241004155644", Some("2024-10-04T15:56:44Z"));
        check("20240229235959", Some("2024-02-29T23:59:59Z"));
        check("2410041556", Some("2024-10-04T15:56:00Z"));
        check("250229000000", None);
        check("241304155644", None);
        check("240004155644", None);
        check("240104245644", None);
        check("garbage", None);
        for instant in ["1970-01-01T00:00:00Z", "2000-02-29T12:00:00Z", "2026-12-31T23:59:59Z"] {
            let instant: Timestamp = instant.parse().unwrap();
            assert_eq!(Civil::of(instant).instant(), Some(instant));
        }
        assert_eq!(Civil::of("2026-05-01T02:03:04Z".parse().unwrap()).digits(), "20260501020304");
    }
}
