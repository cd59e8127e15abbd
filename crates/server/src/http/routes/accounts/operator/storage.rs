//! Storage that raw messages use, by gateway and device, for operators.

use perigee_core::gateways::raw_usage::ListedUsage;

use crate::http::extract::OperatorCaller;
use crate::http::prelude::*;

/// Raw messages of one gateway or device in the last 30 days.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RawMessageUsage)]
pub struct RawUsageView {
    /// ID of the account that the messages belong to.
    #[schema(example = "acc_01jc2m8k4n5p6")]
    account_id: String,
    /// Name of the account that the messages belong to.
    #[schema(example = "Castro Fishing")]
    account_name: String,
    /// ID of the gateway that received the messages. Null if they came by a listener.
    #[schema(example = "gtw_01jc2m8k4n5p6")]
    gateway_id: Option<String>,
    /// ID of the device that sent the messages. Null if it is unknown, or if a gateway received the messages.
    #[schema(example = json!(null))]
    device_id: Option<String>,
    /// Number of raw messages that were stored.
    #[schema(example = 86_400)]
    messages: u64,
    /// Size of the stored raw messages, in bytes. Messages that were deleted since are included.
    #[schema(example = 8_640_000)]
    bytes: u64,
    /// Size of the raw messages that stored nothing new, in bytes: duplicates, tests, unreadable messages, and
    /// messages whose device is unknown or expired.
    #[schema(example = 1_200)]
    unused_bytes: u64,
    /// Number of raw messages that were not stored because of a quota or a full disk. Their locations were stored.
    #[schema(example = 0)]
    dropped_messages: u64,
    /// Size of the raw messages that were not stored, in bytes.
    #[schema(example = 0)]
    dropped_bytes: u64,
}

/// Storage used by raw messages, by gateway and device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RawUsageList {
    /// The 100 gateways and devices with the most bytes, stored and dropped together, most first.
    raw_messages: Vec<RawUsageView>,
}

impl From<ListedUsage> for RawUsageView {
    fn from(ListedUsage { account_name, usage }: ListedUsage) -> Self {
        Self {
            account_id: usage.account.to_string(),
            account_name,
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

/// List the storage used by raw messages
///
/// Returns the gateways and devices of all accounts whose raw messages used the most storage in the last 30 days.
/// Counts of the last few seconds may be missing. Requires an operator of the server with a console session.
#[utoipa::path(get, path = "/api/operator/storage", tag = "operator", security(("session" = [])),
    responses((status = 200, description = "Gateways and devices, those with the most bytes first.", body = RawUsageList)))]
pub async fn get_operator_storage(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    params: Params,
) -> ApiReply<RawUsageList> {
    params.finish()?;
    let usage = app.store.list_raw_usage().await?;
    Ok(caller.reply(RawUsageList { raw_messages: usage.into_iter().map(RawUsageView::from).collect() }))
}
