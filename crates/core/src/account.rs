//! The account: the tenant that owns devices, groups and users, and whose zone makes the day.

use serde::{Deserialize, Serialize};

use crate::day::{Day, day_of, end_of_date};
use crate::id::AccountId;
use crate::revision::Revision;
use crate::text::Email;
use crate::time::Timestamp;
use crate::zone::Zone;

/// Licences an account may have at the most.
pub const LICENSES_MAX: u32 = 10_000_000;

/// A tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its id.
    pub id: AccountId,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// What its people set.
    pub settings: AccountSettings,
    /// Devices that may be active at once; set by the operator alone.
    pub licenses: u32,
    /// The day that was under way when the zone was last changed; it holds until it ends.
    pub day_in_progress: Option<Day>,
    /// The zone that day was counted in.
    pub zone_in_progress: Option<Zone>,
    /// Calls made since the API was activated, as last saved.
    pub api_usage: ApiUsage,
    /// When it was made.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

/// What the people of an account set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountSettings {
    /// Its name.
    pub name: String,
    /// The zone whose midnight starts the day.
    pub time_zone: Zone,
    /// How many days before its expiry a device is announced as expiring; 0 for never.
    pub expiry_notice_days: u32,
    /// How many days locations are kept, unless their device says otherwise; none is for ever.
    pub retention_days: Option<u32>,
}

impl AccountSettings {
    /// Days ahead an expiry may be announced.
    pub const EXPIRY_NOTICE_DAYS_MAX: u32 = 365;
    /// Days ahead an expiry is announced unless set.
    pub const EXPIRY_NOTICE_DAYS: u32 = 7;

    /// The members in which it differs from what was before, by their names in the API.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 3] {
        [
            ("name", self.name != before.name),
            ("timeZone", self.time_zone != before.time_zone),
            (
                "settings",
                self.expiry_notice_days != before.expiry_notice_days
                    || self.retention_days != before.retention_days,
            ),
        ]
    }
}

/// Calls of the API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiUsage {
    /// Calls since the API was activated.
    pub total: u64,
    /// Calls on the account's day that ends then.
    pub today: u64,
    /// When that day ends, in milliseconds since 1970.
    pub day_ends: i64,
}

/// A new account and its first owner.
#[derive(Clone, Debug)]
pub struct NewAccount {
    /// Its settings.
    pub settings: AccountSettings,
    /// Its licences.
    pub licenses: u32,
    /// The owner's address, who signs in with it.
    pub owner_email: Email,
    /// The owner's password, hashed.
    pub owner_password_hash: String,
}

/// Licences and how many of them are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LicenseUse {
    /// Devices that may be active at once.
    pub total: u32,
    /// Devices that are.
    pub used: u32,
}

impl LicenseUse {
    /// Licences left.
    pub const fn free(self) -> u32 {
        self.total.saturating_sub(self.used)
    }
}

impl Account {
    /// The day that stays until it ends when the zone is changed to this one now, and the zone it is counted in. None
    /// when the day is counted in this zone: the change before is undone, and the day ends as if it had not been made.
    ///
    /// Where the new zone is behind, the day under way runs on until the next date begins there: otherwise its
    /// date would come a second time.
    pub fn day_through_change(&self, zone: &Zone, now: Timestamp) -> Option<(Day, &Zone)> {
        let (day, counted_in) = self.day_at(now);
        let ends = day.ends.max(end_of_date(day.date, zone));
        (counted_in != zone).then_some((Day { ends, ..day }, counted_in))
    }

    /// The account's day at this instant, and the zone it is counted in.
    ///
    /// A change of zone takes effect when the day that was under way ends, so that no day's counters
    /// can be had twice by moving the midnight.
    pub fn day_at(&self, now: Timestamp) -> (Day, &Zone) {
        match (&self.day_in_progress, &self.zone_in_progress) {
            (Some(day), Some(zone)) if now < day.ends => (*day, zone),
            _ => (day_of(now, &self.settings.time_zone), &self.settings.time_zone),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn zone(id: &str) -> Zone {
        id.parse().unwrap()
    }

    /// An account in a zone, of which nothing else matters.
    pub(crate) fn account(zone: Zone) -> Account {
        Account {
            id: AccountId::from_i64(1),
            revision: Revision::FIRST,
            settings: AccountSettings {
                name: String::new(),
                time_zone: zone,
                expiry_notice_days: 0,
                retention_days: None,
            },
            licenses: 0,
            day_in_progress: None,
            zone_in_progress: None,
            api_usage: ApiUsage::default(),
            creation: Timestamp::MIN,
            last_modified: Timestamp::MIN,
        }
    }

    fn change(account: &mut Account, to: &Zone, now: Timestamp) {
        let through = account.day_through_change(to, now).map(|(day, zone)| (day, zone.clone()));
        (account.day_in_progress, account.zone_in_progress) = through.unzip();
        account.settings.time_zone = to.clone();
    }

    #[test]
    fn no_date_comes_twice_whatever_the_change() {
        let zones =
            ["Pacific/Kiritimati", "Asia/Tokyo", "Europe/Madrid", "America/Lima", "Pacific/Pago_Pago"];
        let start: Timestamp = "2026-03-28T00:30:00Z".parse().unwrap();
        for (from, to) in zones.iter().flat_map(|from| zones.map(|to| (from, to))) {
            for hours in 0..48 {
                let now = start.plus_seconds(hours * 3_600);
                let mut account = account(zone(from));
                let (before, _) = account.day_at(now);
                change(&mut account, &zone(to), now);
                let (under_way, counted_in) = account.day_at(now);
                assert_eq!((under_way.date, counted_in), (before.date, &zone(from)), "{from} to {to}");
                let (next, counted_in) = account.day_at(under_way.ends);
                assert!(next.date > under_way.date, "{from} to {to} at {now}: {under_way:?} {next:?}");
                assert_eq!(counted_in, &zone(to));
                assert_eq!(account.day_at(under_way.ends.plus_millis(-1)).0, under_way);
            }
        }
    }

    #[test]
    fn to_and_fro_gives_no_day_back() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        let mut account = account(zone("Europe/Madrid"));
        for (to, ends) in [
            ("America/Lima", "2026-03-11T05:00:00Z"),
            ("Asia/Tokyo", "2026-03-11T05:00:00Z"),
            ("Europe/Madrid", "2026-03-10T23:00:00Z"),
            ("America/Lima", "2026-03-11T05:00:00Z"),
        ] {
            change(&mut account, &zone(to), now);
            let (day, _) = account.day_at(now);
            assert_eq!(
                (day.date.to_string(), day.ends.to_string()),
                ("2026-03-10".into(), ends.into()),
                "{to}"
            );
        }
    }

    #[test]
    fn undoing_a_change_brings_no_date_twice() {
        let zones =
            ["Pacific/Kiritimati", "Asia/Tokyo", "Europe/Madrid", "America/Lima", "Pacific/Pago_Pago"];
        let start: Timestamp = "2026-03-28T00:30:00Z".parse().unwrap();
        for (from, to) in zones.iter().flat_map(|from| zones.map(|to| (from, to))) {
            for hours in 0..48 {
                let changed_at = start.plus_seconds(hours * 3_600);
                let mut account = account(zone(from));
                change(&mut account, &zone(to), changed_at);
                let (long, _) = account.day_at(changed_at);
                for later in 0..48 {
                    let undone_at = changed_at.plus_seconds(later * 3_600);
                    if undone_at >= long.ends {
                        break;
                    }
                    let mut undone = account.clone();
                    change(&mut undone, &zone(from), undone_at);
                    let (day, counted_in) = undone.day_at(undone_at);
                    assert_eq!(
                        (day, counted_in),
                        (day_of(undone_at, &zone(from)), &zone(from)),
                        "{from} {to}"
                    );
                    assert!(day.date >= long.date, "{from} to {to}: {long:?} {day:?}");
                }
            }
        }
    }
}
