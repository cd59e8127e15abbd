//! Who fills the disk with raw messages, for operators.

use axum::extract::State;
use perigee_core::raw_usage::RawUsage;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::http::error::ApiResult;
use crate::http::extract::{OperatorCaller, Params};
use crate::http::reply::Reply;

/// Raw messages of one gateway or device in the last 30 days.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RawMessageUsage)]
pub struct RawUsageView {
    /// The account that the messages belong to.
    #[schema(example = "acc_01jc2m8k4n5p6")]
    account_id: String,
    /// The gateway that the messages came by; null for a listener.
    #[schema(example = "gtw_01jc2m8k4n5p6")]
    gateway_id: Option<String>,
    /// The device that sent the messages; null if they came by a gateway.
    #[schema(example = json!(null))]
    device_id: Option<String>,
    /// Messages that were stored as they came.
    #[schema(example = 86_400)]
    messages: u64,
    /// Bytes of these messages. Those that were deleted since are included.
    #[schema(example = 8_640_000)]
    bytes: u64,
    /// Bytes of messages that stored nothing new: duplicates, tests, and those that cannot be read or whose device is unknown
    /// or expired.
    #[schema(example = 1_200)]
    unused_bytes: u64,
    /// Messages that were not stored as they came, because of a quota or a full disk. What they say was stored.
    #[schema(example = 0)]
    dropped_messages: u64,
    /// Bytes of the dropped messages.
    #[schema(example = 0)]
    dropped_bytes: u64,
}

/// Raw messages by who sent them.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RawUsageList {
    /// The 100 gateways and devices with the most bytes, dropped ones included; most first.
    raw_messages: Vec<RawUsageView>,
}

impl From<RawUsage> for RawUsageView {
    fn from(usage: RawUsage) -> Self {
        Self {
            account_id: usage.account.to_string(),
            gateway_id: usage.gateway.map(|id| id.to_string()),
            device_id: usage.device.map(|id| id.to_string()),
            messages: usage.kept,
            bytes: usage.kept_bytes,
            unused_bytes: usage.unused_bytes,
            dropped_messages: usage.dropped,
            dropped_bytes: usage.dropped_bytes,
        }
    }
}

/// List who fills the disk with raw messages.
///
/// The gateways and devices of all accounts whose messages took the most room in the last 30 days. Counts of the last seconds
/// may be missing.
#[utoipa::path(get, path = "/api/operator/storage", tag = "operator", security(("session" = [])),
    responses((status = 200, description = "Gateways and devices, those with the most bytes first.", body = RawUsageList)))]
pub async fn get_operator_storage(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    params: Params,
) -> ApiResult<Reply<RawUsageList>> {
    params.finish()?;
    let usage = app.store.list_raw_usage().await?;
    Ok(caller.reply(RawUsageList { raw_messages: usage.into_iter().map(RawUsageView::from).collect() }))
}
