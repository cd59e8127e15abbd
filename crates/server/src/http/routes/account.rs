//! The account: its name, its time zone, its licences.

use axum::extract::State;
use perigee_core::account::{Account, AccountSettings, LICENSES_MAX, LicenseUse};
use perigee_core::error::Kind;
use perigee_core::privilege::Privilege;
use perigee_core::retention::RETENTION_DAYS_MAX;
use perigee_core::text::Name;
use perigee_core::zone::Zone;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::app::App;
use crate::http::edit::{ENVELOPE, retry_changed};
use crate::http::error::{ApiResult, forbidden, not_found};
use crate::http::extract::{Caller, Change, Params};
use crate::http::input::{Object, Part, Whole, input, read_body};
use crate::http::json::Fields;
use crate::http::reply::Reply;

/// What answers have and clients do not set.
const READ_ONLY: &[&str] = &["id", "creation", "lastModified"];

/// The account, as it is answered.
#[derive(Serialize, ToSchema)]
#[schema(as = OneAccount)]
pub struct AccountAnswer {
    /// The account that the caller belongs to.
    account: AccountView,
}

/// The tenant that devices, groups and users belong to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Account)]
pub struct AccountView {
    /// The account's id; never changes.
    #[schema(example = "acc_01jc2m8k4n5p5")]
    id: String,
    /// The account's name, shown in the console and in mails.
    #[schema(example = "Castro Fishing")]
    name: String,
    /// Its time zone, by IANA id: its midnight starts the day.
    #[schema(example = "Europe/Madrid")]
    time_zone: String,
    /// Its licences, set by an operator of the server.
    licenses: LicensesView,
    /// Settings that admins of the account choose.
    settings: AccountSettingsView,
    /// When it was made.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// When a client last changed it.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

/// Licences and how many of them are used.
#[derive(Serialize, ToSchema)]
#[schema(as = Licenses)]
pub struct LicensesView {
    /// Devices that may be active at once.
    #[schema(example = 10)]
    total: u32,
    /// Licences that active devices take.
    #[schema(example = 7)]
    used: u32,
    /// Licences that no device takes.
    #[schema(example = 3)]
    free: u32,
}

impl From<LicenseUse> for LicensesView {
    fn from(licenses: LicenseUse) -> Self {
        Self { total: licenses.total, used: licenses.used, free: licenses.free() }
    }
}

/// Settings of an account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccountSettings)]
pub struct AccountSettingsView {
    /// Days before its expiry that a device is announced as expiring; 0 for never.
    #[schema(example = 7)]
    expiry_notice_days: u32,
    /// Days that locations are kept, unless their device says otherwise; null for ever.
    #[schema(example = 365)]
    retention_days: Option<u32>,
}

input! {
    /// What a client sets of an account.
    #[example({
        "name": "Castro Fishing", "timeZone": "Europe/Madrid", "settings": {"expiryNoticeDays": 7, "retentionDays": 365}
    })]
    struct AccountInput {
        /// The account's name, shown in the console and in mails.
        name: Name, required, example "Castro Fishing";
        /// Its time zone, by IANA id. A change takes effect when the present day ends, in a zone further west not before
        /// the next date begins there.
        time_zone as "timeZone": Zone, required, example "Europe/Madrid";
        /// Settings that admins of the account choose.
        settings: Object<AccountSettingsInput>, required;
        /// Its licences: set by operators of the server; another total from anybody else is refused.
        licenses: Object<LicensesInput>, optional;
    }
}

input! {
    /// What a client sets of an account's settings.
    struct AccountSettingsInput {
        /// Days before its expiry that a device is announced as expiring; 0 for never.
        expiry_notice_days as "expiryNoticeDays":
            Whole<0, { AccountSettings::EXPIRY_NOTICE_DAYS_MAX }>, required, example 7;
        /// Days that locations are kept, unless their device says otherwise; null for ever. What is older is deleted within
        /// a day and cannot be brought back.
        retention_days as "retentionDays": Whole<1, RETENTION_DAYS_MAX>, nullable, example 365;
    }
}

input! {
    /// What an operator sets of an account's licences.
    pub(super) struct LicensesInput {
        /// Devices that may be active at once; not fewer than are.
        total: Whole<0, LICENSES_MAX>, required, example 10;
    }
}

impl Part for AccountSettingsInput {
    type Value = (u32, Option<u32>);

    fn make(self, _fields: &mut Fields<'_>) -> Option<(u32, Option<u32>)> {
        Some((self.expiry_notice_days?, self.retention_days))
    }
}

impl Part for LicensesInput {
    type Value = u32;

    fn make(self, fields: &mut Fields<'_>) -> Option<u32> {
        fields.ignore(&["used", "free"]);
        self.total
    }
}

/// What a client wants an account to be.
struct Wanted {
    settings: AccountSettings,
    /// The number of licences, if an operator asks.
    licenses: Option<u32>,
}

impl AccountView {
    fn new(account: Account, licenses: LicenseUse) -> Self {
        Self {
            id: account.id.to_string(),
            name: account.settings.name,
            time_zone: account.settings.time_zone.to_string(),
            licenses: LicensesView::from(licenses),
            settings: AccountSettingsView {
                expiry_notice_days: account.settings.expiry_notice_days,
                retention_days: account.settings.retention_days,
            },
            creation: account.creation.to_string(),
            last_modified: account.last_modified.to_string(),
        }
    }
}

fn read_account(mut body: Value, by_operator: bool) -> ApiResult<Wanted> {
    if !by_operator && let Some(members) = body.as_object_mut() {
        members.remove("licenses");
    }
    read_body(&body, &[ENVELOPE, READ_ONLY], |input: AccountInput, _| {
        let (expiry_notice_days, retention_days) = input.settings?;
        let (name, time_zone) = (input.name?, input.time_zone?);
        let settings = AccountSettings { name, time_zone, expiry_notice_days, retention_days };
        Some(Wanted { settings, licenses: input.licenses })
    })
}

async fn find(app: &App, caller: &Caller) -> ApiResult<Account> {
    caller.require_whole_account()?;
    app.store.find_account(caller.account().id).await?.ok_or_else(|| not_found(Kind::Account))
}

async fn answer(app: &App, caller: &Caller, account: Account) -> ApiResult<Reply<AccountAnswer>> {
    let licenses = app.store.license_use(account.id).await?;
    let revision = account.revision;
    let body = AccountAnswer { account: AccountView::new(account, licenses) };
    Ok(caller.reply(body).revision(revision))
}

/// Read the account.
#[utoipa::path(get, path = "/api/account", tag = "account",
    responses((status = 200, description = "The account.", body = AccountAnswer)))]
pub async fn get_account(
    State(app): State<App>,
    caller: Caller,
    params: Params,
) -> ApiResult<Reply<AccountAnswer>> {
    params.finish()?;
    let account = find(&app, &caller).await?;
    answer(&app, &caller, account).await
}

/// Change part of the account.
///
/// Takes the members of `account`, or what was read as it is. `licenses.total` is changed by operators of the server
/// alone.
#[utoipa::path(patch, path = "/api/account", tag = "account", request_body = AccountInput,
    responses((status = 200, description = "The account as it is now.", body = AccountAnswer)))]
pub async fn update_account(
    State(app): State<App>,
    caller: Caller,
    change: Change,
) -> ApiResult<Reply<AccountAnswer>> {
    let change = change.nested("account");
    let account = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller).await?;
        caller.require(Privilege::Admin)?;
        change.preconditions.check(Kind::Account, present.revision)?;
        let seen = present.revision;
        let view = AccountView::new(present, app.store.license_use(caller.account().id).await?);
        let wanted = change.apply(&view).await?;
        let is_operator = caller.user().operator;
        if !is_operator && wanted.pointer("/licenses/total") != Some(&view.licenses.total.into()) {
            return Err(forbidden(
                "Only operators of the server can set licences. Leave \"licenses\" out, or ask an operator.",
            ));
        }
        let wanted = read_account(wanted, is_operator).map_err(|error| change.place(error))?;
        let (store, actor) = (&app.store, caller.actor());
        Ok(match wanted.licenses {
            Some(licenses) => {
                store.replace_account_and_licenses(&actor, seen, wanted.settings, licenses).await
            }
            None => store.replace_account(&actor, seen, wanted.settings).await,
        })
    })
    .await?;
    app.identities.forget_account(account.id);
    answer(&app, &caller, account).await
}
