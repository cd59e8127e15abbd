//! Privileges: the closed list of rights of a user, and who may grant which.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One privilege. Responses list privileges in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Privilege {
    /// Everything in the account.
    Owner,
    /// Everything except changing an owner.
    Admin,
    /// Create, change and delete devices.
    DevicesWrite,
    /// Create, change and delete groups.
    GroupsWrite,
    /// Create, change and delete users.
    UsersWrite,
    /// Submit locations of devices.
    LocationsWrite,
    /// Submit, acknowledge and end alerts.
    AlertsWrite,
    /// Send commands to devices.
    CommandsSend,
    /// Create, change and delete rules.
    RulesWrite,
    /// Hold an API key.
    Api,
}

impl Privilege {
    /// Every privilege there is.
    pub const ALL: [Self; 10] = [
        Self::Owner,
        Self::Admin,
        Self::DevicesWrite,
        Self::GroupsWrite,
        Self::UsersWrite,
        Self::LocationsWrite,
        Self::AlertsWrite,
        Self::CommandsSend,
        Self::RulesWrite,
        Self::Api,
    ];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Admin => "admin",
            Self::DevicesWrite => "devices.write",
            Self::GroupsWrite => "groups.write",
            Self::UsersWrite => "users.write",
            Self::LocationsWrite => "locations.write",
            Self::AlertsWrite => "alerts.write",
            Self::CommandsSend => "commands.send",
            Self::RulesWrite => "rules.write",
            Self::Api => "api",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for Privilege {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a text that is not a privilege.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be one of owner, admin, devices.write, groups.write, users.write, locations.write, alerts.write, commands.send, rules.write, api"
)]
pub struct ParsePrivilegeError;

impl FromStr for Privilege {
    type Err = ParsePrivilegeError;

    fn from_str(text: &str) -> Result<Self, ParsePrivilegeError> {
        Self::ALL.into_iter().find(|privilege| privilege.name() == text).ok_or(ParsePrivilegeError)
    }
}

/// A set of privileges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Privileges(u16);

impl Privileges {
    /// No privilege: the user can only read.
    pub const NONE: Self = Self(0);
    /// The privileges of an account's first user.
    pub const OWNER: Self = Self(Privilege::Owner.bit());

    /// The privileges that a word in a request stands for, in any letter case: the name of a privilege, or a word of
    /// older systems: `read` (none), `write` (every `.write` privilege except `users.write`), `execute`
    /// (`commands.send`).
    pub fn named(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        match word.as_str() {
            "read" => Some(Self::NONE),
            "write" => Some(
                [
                    Privilege::DevicesWrite,
                    Privilege::GroupsWrite,
                    Privilege::LocationsWrite,
                    Privilege::AlertsWrite,
                    Privilege::RulesWrite,
                ]
                .into_iter()
                .collect(),
            ),
            "execute" => Some([Privilege::CommandsSend].into_iter().collect()),
            name => name.parse::<Privilege>().ok().map(|privilege| [privilege].into_iter().collect()),
        }
    }

    /// The set as the number that a store keeps.
    pub const fn as_bits(self) -> u16 {
        self.0
    }

    /// The set from the number that a store keeps. Unknown bits are dropped.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & ((1 << Privilege::ALL.len()) - 1))
    }

    /// Whether the set contains this privilege itself.
    pub const fn holds(self, privilege: Privilege) -> bool {
        self.0 & privilege.bit() != 0
    }

    /// Whether the set includes this privilege. Owners and admins have it implicitly.
    pub const fn allows(self, privilege: Privilege) -> bool {
        self.is_owner()
            || (self.is_admin() && !matches!(privilege, Privilege::Owner))
            || self.holds(privilege)
    }

    /// Whether the set contains `owner`.
    pub const fn is_owner(self) -> bool {
        self.holds(Privilege::Owner)
    }

    /// Whether the set contains `admin` or `owner`.
    pub const fn is_admin(self) -> bool {
        self.is_owner() || self.holds(Privilege::Admin)
    }

    /// Whether a user with this set may grant `other`, or change a user who has it.
    pub fn covers(self, other: Self) -> bool {
        other.iter().all(|privilege| self.allows(privilege))
    }

    /// The privileges, in the order of responses.
    pub fn iter(self) -> impl Iterator<Item = Privilege> {
        Privilege::ALL.into_iter().filter(move |privilege| self.holds(*privilege))
    }
}

impl FromIterator<Privilege> for Privileges {
    fn from_iter<I: IntoIterator<Item = Privilege>>(privileges: I) -> Self {
        Self(privileges.into_iter().fold(0, |bits, privilege| bits | privilege.bit()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &str) -> Privileges {
        names.split_whitespace().map(|name| name.parse::<Privilege>().unwrap()).collect()
    }

    #[test]
    fn words_stand_for_privileges_in_any_letter_case() {
        let write = "devices.write groups.write locations.write alerts.write rules.write";
        for (word, expect) in [
            ("read", Some("")),
            ("Read", Some("")),
            ("WRITE", Some(write)),
            ("execute", Some("commands.send")),
            ("Users.Write", Some("users.write")),
            ("OWNER", Some("owner")),
            ("delete", None),
            ("", None),
        ] {
            assert_eq!(Privileges::named(word), expect.map(set), "{word}");
        }
    }

    #[test]
    fn nobody_grants_what_they_do_not_hold() {
        let check = |holder: &str, given: &str, expect: bool| {
            assert_eq!(set(holder).covers(set(given)), expect, "{holder} gives {given}");
        };
        check("owner", "owner admin api devices.write", true);
        check("admin", "admin users.write rules.write api", true);
        check("admin", "owner", false);
        check("users.write", "users.write", true);
        check("users.write", "devices.write", false);
        check("users.write", "", true);
    }
}
