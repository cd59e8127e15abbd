//! The resource that a request asks for.

use perigee_core::id::{DeviceId, DriverId, GeofenceId, GroupId, PlanId, RuleId, UserId, WebhookId};
use perigee_server::auth::Secret;

use super::rows::Kind;

/// The requested resource, by whether the caller may see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    /// In the first group of the first account.
    Own,
    /// In its other group.
    OtherGroup,
    /// In the other account.
    OtherAccount,
    /// Well formed, but nowhere.
    Missing,
    Malformed,
}

impl Object {
    /// The objects that make sense for a kind of resource.
    pub(super) fn of(kind: Kind) -> &'static [Self] {
        match kind {
            Kind::None => &[Self::Own],
            Kind::Webhook
            | Kind::Gateway
            | Kind::ContactGroup
            | Kind::SavedReport
            | Kind::Driver
            | Kind::Assignment => &[Self::Own, Self::OtherAccount, Self::Missing, Self::Malformed],
            Kind::Secret => &[Self::Own, Self::Missing, Self::Malformed],
            Kind::Template => &[Self::Own, Self::Malformed],
            _ => &[Self::Own, Self::OtherGroup, Self::OtherAccount, Self::Missing, Self::Malformed],
        }
    }
}

pub(super) fn missing(kind: Kind) -> String {
    match kind {
        Kind::Device => DeviceId::from_i64(1).to_string(),
        Kind::Group => GroupId::from_i64(1).to_string(),
        Kind::User => UserId::from_i64(1).to_string(),
        Kind::Share => perigee_core::id::ShareId::from_i64(1).to_string(),
        Kind::Webhook => WebhookId::from_i64(1).to_string(),
        Kind::Secret => Secret::generate().expose().to_owned(),
        Kind::Alert => perigee_core::id::AlertId::from_i64(1).to_string(),
        Kind::Notification => perigee_core::id::NotificationId::from_i64(1).to_string(),
        Kind::Rule => RuleId::from_i64(1).to_string(),
        Kind::Geofence => GeofenceId::from_i64(1).to_string(),
        Kind::Gateway => perigee_core::id::GatewayId::from_i64(1).to_string(),
        Kind::Command => perigee_core::id::CommandId::from_i64(1).to_string(),
        Kind::ConversationMessage => perigee_core::id::ConversationMessageId::from_i64(1).to_string(),
        Kind::ContactGroup => perigee_core::id::ContactGroupId::from_i64(1).to_string(),
        Kind::PushSubscription => perigee_core::id::PushSubscriptionId::from_i64(1).to_string(),
        Kind::SavedReport => perigee_core::id::SavedReportId::from_i64(1).to_string(),
        Kind::Driver => DriverId::from_i64(1).to_string(),
        Kind::Assignment => perigee_core::id::AssignmentId::from_i64(1).to_string(),
        Kind::RawMessage => perigee_core::id::MessageId::from_i64(1).to_string(),
        Kind::Segment => perigee_core::id::SegmentId::from_i64(1).to_string(),
        Kind::TimelineEdit => perigee_core::id::EditId::from_i64(1).to_string(),
        Kind::Plan => PlanId::from_i64(1).to_string(),
        Kind::Maintenance => perigee_core::id::MaintenancePlanId::from_i64(1).to_string(),
        Kind::None | Kind::Template => String::new(),
    }
}
