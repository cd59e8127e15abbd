//! What an account uses, beside its limits.

use perigee_core::id::AccountId;
use perigee_core::store::{AccountOverview, AccountUsage};

use super::accounts::find;
use crate::http::extract::OperatorCaller;
use crate::http::prelude::*;

/// Usage of an account, and its limits.
#[derive(Serialize, ToSchema)]
#[schema(as = OneOperatorUsage)]
pub struct OperatorUsageAnswer {
    /// Usage of the account, and its limits.
    usage: OperatorUsageView,
}

/// Usage of an account, and its limits.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorUsage)]
pub struct OperatorUsageView {
    /// Number of API calls on the current day of the account. Up to two seconds old.
    #[schema(example = 1_440)]
    api_calls_today: u64,
    /// Number of API calls since the account was created.
    #[schema(example = 86_400)]
    api_calls: u64,
    /// API calls per second that the account may make on average.
    #[schema(example = 50)]
    requests_per_second: u32,
    /// API calls that the account may make at once.
    #[schema(example = 500)]
    request_burst: u32,
    /// Messages that were sent on the current day of the account, by channel. Channels without any are left out.
    messages_today: Vec<SentView>,
    /// Maximum e-mails per day, critical alerts included. Null if there is no limit.
    #[schema(example = 10_000)]
    email_ceiling: Option<u32>,
    /// Size of raw messages stored in the last 30 days, in bytes.
    #[schema(example = 8_640_000)]
    raw_message_bytes: u64,
    /// Size of photos and other files of devices, in bytes.
    #[schema(example = 1_048_576)]
    file_bytes: u64,
}

/// Messages of one channel.
#[derive(Serialize, ToSchema)]
#[schema(as = SentMessages)]
pub struct SentView {
    /// Channel, such as `email` or `sms`.
    #[schema(example = "email")]
    channel: &'static str,
    /// Number of messages; segments of SMS.
    #[schema(example = 12)]
    count: u64,
}

impl OperatorUsageView {
    fn new(app: &App, overview: &AccountOverview, usage: &AccountUsage) -> Self {
        let limits = &app.config.limits;
        let own = limits.accounts.get(&overview.account.id);
        let ceiling = app.config.notifications.email_ceiling_daily;
        Self {
            api_calls_today: if usage.api.day_ends > app.clock.now().as_millis() {
                usage.api.today
            } else {
                0
            },
            api_calls: usage.api.total,
            requests_per_second: own.map_or(limits.requests_per_second, |own| own.requests_per_second),
            request_burst: own.map_or(limits.burst, |own| own.burst),
            messages_today: usage
                .messages_today
                .iter()
                .map(|(channel, count)| SentView { channel: channel.name(), count: *count })
                .collect(),
            email_ceiling: overview.email_ceiling.or((ceiling > 0).then_some(ceiling)),
            raw_message_bytes: usage.raw_bytes,
            file_bytes: usage.file_bytes,
        }
    }
}

/// Retrieve the usage of an account
///
/// Returns what an account uses, beside its limits. Its licences, devices and users are members of the account itself.
/// Requires an operator of the server with a console session.
#[utoipa::path(get, path = "/api/operator/accounts/{accountId}/usage", tag = "operator", security(("session" = [])),
    responses((status = 200, description = "The usage of the account.", body = OperatorUsageAnswer)))]
pub async fn get_operator_usage(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    IdPath(id): IdPath<AccountId>,
    params: Params,
) -> ApiReply<OperatorUsageAnswer> {
    params.finish()?;
    let overview = find(&app, id).await?;
    let usage = app.store.account_usage(overview.account.id).await?;
    Ok(caller.reply(OperatorUsageAnswer { usage: OperatorUsageView::new(&app, &overview, &usage) }))
}
