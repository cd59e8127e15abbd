//! The account: the tenant that owns devices, groups and users. Its time zone decides when a day begins.

use serde::{Deserialize, Serialize};

use crate::access::preference::ConsoleLanguage;
use crate::accounts::branding::Branding;
use crate::accounts::country::Country;
use crate::accounts::standing::Standing;
use crate::day::{Day, day_of, end_of_date};
use crate::id::AccountId;
use crate::revision::Revision;
use crate::text::Email;
use crate::time::Timestamp;
use crate::zone::Zone;

/// The largest number of licences the operator can give an account.
pub const LICENSES_MAX: u32 = 10_000_000;

/// One tenant of the service, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Assigned by the service; never changes.
    pub id: AccountId,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// Settings that users of the account can change.
    pub settings: AccountSettings,
    /// Devices that may be active at the same time; only the operator can change it.
    pub licenses: u32,
    /// Whether it is suspended or about to be deleted; only the operator can change it.
    pub standing: Standing,
    /// How it presents itself; only the operator can change it.
    pub branding: Branding,
    /// The day in progress when the time zone was last changed. It stays the current day until it ends.
    pub day_in_progress: Option<Day>,
    /// The time zone of `day_in_progress`.
    pub zone_in_progress: Option<Zone>,
    /// API calls, as last saved; up to two seconds old.
    pub api_usage: ApiUsage,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

/// Settings that users of an account can change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountSettings {
    /// Shown in the console and in messages; need not be unique.
    pub name: String,
    /// The time zone whose midnight starts the account's day.
    pub time_zone: Zone,
    /// Days before its expiry on which a device is announced as expiring; 0 turns the announcement off.
    pub expiry_notice_days: u32,
    /// Days that locations are kept, unless the device sets its own number; `None` keeps them forever.
    pub retention_days: Option<u32>,
    /// Telephone numbers and instructions for users who handle a critical alert.
    pub emergency_procedure: Option<String>,
    /// Texts that users send to devices with one tap; `None` for those of the console.
    #[serde(default)]
    pub quick_replies: Option<Vec<String>>,
}

impl AccountSettings {
    /// The largest value of `expiry_notice_days`.
    pub const EXPIRY_NOTICE_DAYS_MAX: u32 = 365;
    /// The default of `expiry_notice_days`.
    pub const EXPIRY_NOTICE_DAYS: u32 = 7;
    /// Maximum number of quick replies.
    pub const QUICK_REPLIES_MAX: usize = 12;
    /// Maximum number of characters of a quick reply: every network carries as many.
    pub const QUICK_REPLY_MAX: usize = 160;

    /// The fields that differ from `before`, by their names in the API; written to the audit log.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 3] {
        [
            ("name", self.name != before.name),
            ("timeZone", self.time_zone != before.time_zone),
            (
                "settings",
                self.expiry_notice_days != before.expiry_notice_days
                    || self.retention_days != before.retention_days
                    || self.emergency_procedure != before.emergency_procedure
                    || self.quick_replies != before.quick_replies,
            ),
        ]
    }
}

/// Counts of API calls of one account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiUsage {
    /// Calls since the API was activated.
    pub total: u64,
    /// Calls on the account's day that ends at `day_ends`.
    pub today: u64,
    /// When that day ends, in milliseconds since 1970.
    pub day_ends: i64,
}

/// A new account and its first owner.
#[derive(Clone, Debug)]
pub struct NewAccount {
    /// Settings that its owner can change later.
    pub settings: AccountSettings,
    /// Devices that may be active at the same time.
    pub licenses: u32,
    /// The address with which the first owner signs in.
    pub owner_email: Email,
    /// Language of the first owner, if it was chosen for them.
    pub owner_language: Option<ConsoleLanguage>,
    /// Country of the first owner, if it is known.
    pub owner_country: Option<Country>,
    /// Argon2 hash of the first owner's password.
    pub owner_password_hash: String,
}

/// Licences and how many of them are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LicenseUse {
    /// Devices that may be active at once.
    pub total: u32,
    /// Devices that are active now.
    pub used: u32,
}

impl LicenseUse {
    /// Devices that could still become active.
    pub const fn free(self) -> u32 {
        self.total.saturating_sub(self.used)
    }
}

impl Account {
    /// The name that users and recipients see.
    pub fn shown_name(&self) -> &str {
        self.branding.name.as_deref().unwrap_or(&self.settings.name)
    }

    /// The day that stays current if the time zone is changed to `zone` now, with the zone it is counted in. `None`
    /// if the day is already counted in that zone: the change undoes an earlier one, and the day ends as if neither
    /// had been made.
    ///
    /// If the new zone is behind, the day is extended until the next date begins there: otherwise its date would occur
    /// twice.
    pub fn day_through_change(&self, zone: &Zone, now: Timestamp) -> Option<(Day, &Zone)> {
        let (day, counted_in) = self.day_at(now);
        let ends = day.ends.max(end_of_date(day.date, zone));
        (counted_in != zone).then_some((Day { ends, ..day }, counted_in))
    }

    /// The account's day at this instant, and the time zone it is counted in.
    ///
    /// A new time zone takes effect when the current day ends. Otherwise moving midnight would reset daily counters
    /// early.
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

    /// An account in this zone, with arbitrary other values.
    pub(crate) fn account(zone: Zone) -> Account {
        Account {
            id: AccountId::from_i64(1),
            revision: Revision::FIRST,
            settings: AccountSettings {
                name: String::new(),
                time_zone: zone,
                expiry_notice_days: 0,
                retention_days: None,
                emergency_procedure: None,
                quick_replies: None,
            },
            licenses: 0,
            standing: Standing::default(),
            branding: Branding::default(),
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
