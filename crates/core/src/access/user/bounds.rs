//! The bounds of a user (validity, allowed devices) limit what they may grant to others and whose password they may
//! set.

use super::UserProfile;
use crate::access::privilege::Privilege;
use crate::time::Timestamp;

/// A bound of a user that another profile exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The other profile is valid earlier than this.
    From(Timestamp),
    /// The other profile is valid longer than this.
    Expires(Timestamp),
    /// The other profile could create devices, which would not count towards this user's allowance.
    AdminDevices(u32),
}

impl Bound {
    /// The name of its field in the API.
    pub const fn member(self) -> &'static str {
        match self {
            Self::From(_) => "from",
            Self::Expires(_) => "expires",
            Self::AdminDevices(_) => "adminDevices",
        }
    }
}

impl UserProfile {
    /// The first bound of this user that `other` exceeds. A lasting owner has no bounds: nobody else could lift them.
    pub fn bound_exceeded_by(&self, other: &Self, now: Timestamp) -> Option<Bound> {
        if self.is_lasting_owner(now) {
            return None;
        }
        let from = self.from.filter(|from| other.from.is_none_or(|other| other < *from)).map(Bound::From);
        let expires = self
            .expires
            .filter(|expires| other.expires.is_none_or(|other| other > *expires))
            .map(Bound::Expires);
        let creates = other.privileges.allows(Privilege::DevicesWrite) && other.admin_devices != Some(0);
        let devices = self.admin_devices.filter(|_| creates).map(Bound::AdminDevices);
        from.or(expires).or(devices)
    }

    /// The first bound of this user that a change of another profile from `before` to `after` exceeds. Unchanged
    /// fields do not count.
    pub fn bound_exceeded_by_change(&self, before: &Self, after: &Self, now: Timestamp) -> Option<Bound> {
        // Unchanged fields are replaced by values within the bounds.
        let creates = |profile: &Self| profile.privileges.allows(Privilege::DevicesWrite);
        let devices_stay = before.admin_devices == after.admin_devices && creates(before) == creates(after);
        let changed_only = Self {
            from: if before.from == after.from { self.from } else { after.from },
            expires: if before.expires == after.expires { self.expires } else { after.expires },
            admin_devices: if devices_stay { Some(0) } else { after.admin_devices },
            ..after.clone()
        };
        self.bound_exceeded_by(&changed_only, now)
    }

    /// The first of their own bounds that the user would lift by changing to `after`.
    pub fn bound_lifted_by(&self, after: &Self, now: Timestamp) -> Option<Bound> {
        if self.is_lasting_owner(now) {
            return None;
        }
        let lifted = |most: &u32| after.admin_devices.is_none_or(|wanted| wanted > *most);
        let devices = self.admin_devices.filter(lifted).map(Bound::AdminDevices);
        let within = Self { admin_devices: Some(0), ..after.clone() };
        self.bound_exceeded_by(&within, now).or(devices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::privilege::Privileges;
    use crate::text::Tags;
    use crate::zone::Zone;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    fn user(
        privileges: &[Privilege],
        from: Option<i64>,
        expires: Option<i64>,
        devices: Option<u32>,
    ) -> UserProfile {
        UserProfile {
            name: String::new(),
            email: "a@example.com".parse().unwrap(),
            country: None,
            time_zone: Zone::utc(),
            language: None,
            description: None,
            message: None,
            disabled: false,
            disabled_message: None,
            tags: Tags::new(),
            privileges: privileges.iter().copied().collect::<Privileges>(),
            group: None,
            device: None,
            admin_devices: devices,
            from: from.map(Timestamp::from_millis),
            expires: expires.map(Timestamp::from_millis),
        }
    }

    #[test]
    fn granted_values_stay_within_the_bounds_of_the_granter() {
        use Privilege::{Admin, DevicesWrite, Owner, UsersWrite};
        let check = |giver: &UserProfile, other: &UserProfile, expect: Option<&str>| {
            let found = giver.bound_exceeded_by(other, NOW).map(Bound::member);
            assert_eq!(found, expect, "{giver:?} gives {other:?}");
        };
        let free = user(&[UsersWrite], None, None, None);
        check(&free, &user(&[UsersWrite], None, None, None), None);
        for role in [UsersWrite, Admin, Owner] {
            let until = user(&[role], None, Some(2_000_000), None);
            check(&until, &user(&[], None, None, None), Some("expires"));
            check(&until, &user(&[], None, Some(2_000_001), None), Some("expires"));
            check(&until, &user(&[], None, Some(2_000_000), None), None);
        }
        let since = user(&[UsersWrite], Some(500_000), None, None);
        check(&since, &user(&[], None, None, None), Some("from"));
        check(&since, &user(&[], Some(499_999), None, None), Some("from"));
        check(&since, &user(&[], Some(500_000), None, None), None);
        let few = user(&[UsersWrite, DevicesWrite], None, None, Some(5));
        check(&few, &user(&[UsersWrite], None, None, None), None);
        check(&few, &user(&[DevicesWrite], None, None, None), Some("adminDevices"));
        check(&few, &user(&[DevicesWrite], None, None, Some(1)), Some("adminDevices"));
        check(&few, &user(&[DevicesWrite], None, None, Some(0)), None);
        // Nobody else could remove limits that a permanent owner set for themselves.
        check(&user(&[Owner], None, None, Some(5)), &user(&[DevicesWrite], None, None, None), None);
    }

    #[test]
    fn unchanged_fields_exceed_no_bound() {
        let giver = user(&[Privilege::Admin], None, Some(2_000_000), Some(5));
        let far = user(&[Privilege::DevicesWrite], None, Some(9_000_000), Some(3));
        let check = |after: &UserProfile, expect: Option<&str>| {
            let found = giver.bound_exceeded_by_change(&far, after, NOW).map(Bound::member);
            assert_eq!(found, expect, "{after:?}");
        };
        check(&UserProfile { name: "New".to_owned(), ..far.clone() }, None);
        check(&UserProfile { expires: None, ..far.clone() }, Some("expires"));
        check(
            &UserProfile { expires: Some(Timestamp::from_millis(9_000_001)), ..far.clone() },
            Some("expires"),
        );
        check(&UserProfile { expires: Some(Timestamp::from_millis(2_000_000)), ..far.clone() }, None);
        check(&UserProfile { admin_devices: Some(4), ..far.clone() }, Some("adminDevices"));
        check(&UserProfile { privileges: Privileges::NONE, ..far.clone() }, None);
    }

    #[test]
    fn own_bounds_are_narrowed_and_not_lifted() {
        let own = user(&[Privilege::Admin], None, Some(2_000_000), Some(5));
        let check = |after: UserProfile, expect: Option<&str>| {
            assert_eq!(own.bound_lifted_by(&after, NOW).map(Bound::member), expect, "{after:?}");
        };
        check(own.clone(), None);
        check(UserProfile { expires: None, ..own.clone() }, Some("expires"));
        check(UserProfile { expires: Some(Timestamp::from_millis(1_500_000)), ..own.clone() }, None);
        check(UserProfile { admin_devices: None, ..own.clone() }, Some("adminDevices"));
        check(UserProfile { admin_devices: Some(4), ..own.clone() }, None);
    }
}
