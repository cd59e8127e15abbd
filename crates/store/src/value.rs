//! Values as statements take them and rows give them, the same on both engines.

use perigee_core::id::{
    AccountId, AlertId, AssignmentId, AuditId, CommandId, ContactGroupId, ConversationMessageId, DeliveryId,
    DeviceId, DriverId, EditId, FileId, GatewayId, GeofenceId, GroupId, KeyId, MaintenancePlanId,
    MaintenanceRecordId, MessageId, NoticeId, NotificationId, PlanEventId, PlanId, PlanLinkId,
    PushSubscriptionId, RuleId, SavedReportId, SegmentId, SessionId, ShareId, UserId, WebhookId,
};
use perigee_core::time::Timestamp;

use crate::error::DbError;

/// One value of a statement or a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// NULL of any type.
    Null,
    /// An integer of 64 bits.
    Int(i64),
    /// A finite floating-point number.
    Real(f64),
    /// A boolean; 0 or 1 on SQLite.
    Bool(bool),
    /// Text without NUL characters.
    Text(String),
    /// Bytes, such as packed readings.
    Bytes(Vec<u8>),
}

impl Value {
    /// The name of its type, for error messages.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Int(_) => "integer",
            Self::Real(_) => "real",
            Self::Bool(_) => "boolean",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytes",
        }
    }
}

/// Rejects values that the engines treat differently: SQLite stores NaN as NULL, PostgreSQL rejects NUL in text.
pub(crate) fn check(values: &[Value]) -> Result<(), DbError> {
    for (index, value) in values.iter().enumerate() {
        let number = index + 1;
        match value {
            Value::Real(real) if !real.is_finite() => {
                return Err(DbError::internal(format!("parameter ?{number} is {real}, not a finite number")));
            }
            Value::Text(text) if text.contains('\0') => {
                return Err(DbError::internal(format!("parameter ?{number} is text with a NUL in it")));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The parameters of a statement: `params![id, name, parent]` for `?1`, `?2`, `?3`.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$($crate::Value::from($value)),*] as &[$crate::Value]
    };
}

macro_rules! from {
    ($($type:ty, $value:ident => $into:expr;)+) => {$(
        impl From<$type> for Value {
            fn from($value: $type) -> Self {
                $into
            }
        }
    )+};
}

from! {
    i64, value => Self::Int(value);
    i32, value => Self::Int(value.into());
    u32, value => Self::Int(value.into());
    u16, value => Self::Int(value.into());
    u8, value => Self::Int(value.into());
    f64, value => Self::Real(value);
    bool, value => Self::Bool(value);
    &str, value => Self::Text(value.to_owned());
    &String, value => Self::Text(value.clone());
    String, value => Self::Text(value);
    &[u8], value => Self::Bytes(value.to_vec());
    &Vec<u8>, value => Self::Bytes(value.clone());
    Vec<u8>, value => Self::Bytes(value);
    Timestamp, value => Self::Int(value.as_millis());
    AccountId, value => Self::Int(value.as_i64());
    UserId, value => Self::Int(value.as_i64());
    DeviceId, value => Self::Int(value.as_i64());
    GroupId, value => Self::Int(value.as_i64());
    AlertId, value => Self::Int(value.as_i64());
    ShareId, value => Self::Int(value.as_i64());
    SessionId, value => Self::Int(value.as_i64());
    KeyId, value => Self::Int(value.as_i64());
    AuditId, value => Self::Int(value.as_i64());
    NotificationId, value => Self::Int(value.as_i64());
    ContactGroupId, value => Self::Int(value.as_i64());
    PushSubscriptionId, value => Self::Int(value.as_i64());
    WebhookId, value => Self::Int(value.as_i64());
    DeliveryId, value => Self::Int(value.as_i64());
    RuleId, value => Self::Int(value.as_i64());
    GeofenceId, value => Self::Int(value.as_i64());
    CommandId, value => Self::Int(value.as_i64());
    ConversationMessageId, value => Self::Int(value.as_i64());
    FileId, value => Self::Int(value.as_i64());
    MessageId, value => Self::Int(value.as_i64());
    NoticeId, value => Self::Int(value.as_i64());
    GatewayId, value => Self::Int(value.as_i64());
    SegmentId, value => Self::Int(value.as_i64());
    EditId, value => Self::Int(value.as_i64());
    SavedReportId, value => Self::Int(value.as_i64());
    MaintenancePlanId, value => Self::Int(value.as_i64());
    MaintenanceRecordId, value => Self::Int(value.as_i64());
    PlanId, value => Self::Int(value.as_i64());
    PlanEventId, value => Self::Int(value.as_i64());
    PlanLinkId, value => Self::Int(value.as_i64());
    DriverId, value => Self::Int(value.as_i64());
    AssignmentId, value => Self::Int(value.as_i64());
}

impl<const N: usize> From<[u8; N]> for Value {
    fn from(value: [u8; N]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

impl<T> From<Option<T>> for Value
where
    Self: From<T>,
{
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::from)
    }
}
