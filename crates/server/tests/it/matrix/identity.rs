//! Who asks, and what each of them may do.

use super::Verdict;
use super::object::Object;
use super::rows::{Access, Kind};

/// The identity of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    NoToken,
    Malformed,
    Expired,
    WrongAudience,
    OldKey,
    Disabled,
    ReadOnly,
    GroupScoped,
    DeviceScoped,
    Normal,
    Admin,
    Owner,
    /// An admin with a console session instead of a token.
    SignedIn,
    OtherOwner,
}

impl Identity {
    pub(super) const ALL: &[Self] = &[
        Self::NoToken,
        Self::Malformed,
        Self::Expired,
        Self::WrongAudience,
        Self::OldKey,
        Self::Disabled,
        Self::ReadOnly,
        Self::GroupScoped,
        Self::DeviceScoped,
        Self::Normal,
        Self::Admin,
        Self::Owner,
        Self::SignedIn,
        Self::OtherOwner,
    ];

    /// Why they are refused in any case.
    pub(super) fn refusal(self) -> Option<Verdict> {
        match self {
            Self::NoToken => Some(Verdict::Unknown("unauthenticated")),
            Self::Expired => Some(Verdict::Unknown("token-expired")),
            Self::Malformed | Self::WrongAudience | Self::OldKey => Some(Verdict::Unknown("invalid-token")),
            Self::Disabled => Some(Verdict::Forbidden("user-disabled")),
            _ => None,
        }
    }

    /// Whether the object is visible to them.
    pub(super) fn sees(self, kind: Kind, object: Object) -> bool {
        match (kind, object) {
            (Kind::None, _) => true,
            // Push subscriptions are those of the user.
            (Kind::Template | Kind::PushSubscription, object) => object == Object::Own,
            (_, Object::Missing | Object::Malformed) => false,
            (_, object) if (self == Self::OtherOwner) != (object == Object::OtherAccount) => false,
            (_, Object::OtherAccount) => true,
            (
                Kind::User
                | Kind::Gateway
                | Kind::ContactGroup
                | Kind::Webhook
                | Kind::SavedReport
                | Kind::Driver
                | Kind::Assignment,
                _,
            ) => !matches!(self, Self::GroupScoped | Self::DeviceScoped),
            (Kind::Group | Kind::Geofence, Object::Own) => self != Self::DeviceScoped,
            (_, Object::Own) => true,
            (_, Object::OtherGroup) => !matches!(self, Self::GroupScoped | Self::DeviceScoped),
        }
    }

    /// Whether they may do this to what they see.
    pub(super) fn may(self, access: Access) -> bool {
        let whole = !matches!(self, Self::GroupScoped | Self::DeviceScoped);
        match access {
            Access::Open | Access::Read => true,
            Access::Session => self == Self::SignedIn,
            // Nobody here is one.
            Access::Operator => false,
            Access::Whole => whole,
            Access::With(_) => self != Self::ReadOnly,
            Access::Wholly(_) => self != Self::ReadOnly && whole,
            Access::Widely(_) => !matches!(self, Self::ReadOnly | Self::DeviceScoped),
            Access::Admin => {
                matches!(self, Self::Admin | Self::Owner | Self::SignedIn | Self::OtherOwner)
            }
        }
    }
}
