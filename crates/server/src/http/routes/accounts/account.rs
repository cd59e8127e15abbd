//! The account of the caller: name, time zone, licences and settings.

use perigee_core::accounts::account::{Account, AccountSettings, LICENSES_MAX, LicenseUse};
use perigee_core::accounts::retention::RETENTION_DAYS_MAX;
use perigee_core::text::{Description, Name};
use perigee_core::zone::Zone;

use crate::http::input::{List, Object, Part, Whole};
use crate::http::json::Fields;
use crate::http::prelude::*;

/// Members of responses that clients do not set.
const READ_ONLY: &[&str] = &["id", "creation", "lastModified"];

/// A response with the account of the caller.
#[derive(Serialize, ToSchema)]
#[schema(as = OneAccount)]
pub struct AccountAnswer {
    /// The account that the caller belongs to.
    account: AccountView,
}

/// An account: the tenant that devices, groups, users and rules belong to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Account)]
pub struct AccountView {
    /// Unique identifier of the account, assigned by the server. Never changes.
    #[schema(example = "acc_01jc2m8k4n5p5")]
    id: String,
    /// Name of the account, shown in the console and in e-mails.
    #[schema(example = "Castro Fishing")]
    name: String,
    /// Time zone of the account, as an IANA identifier. Daily limits and counts reset at midnight of this zone.
    #[schema(example = "Europe/Madrid")]
    time_zone: String,
    /// Licences of the account, set by an operator of the server.
    licenses: LicensesView,
    /// Settings of the account, chosen by its admins.
    settings: AccountSettingsView,
    /// Time at which the account was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// Time at which a client last changed the account.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

/// Licences of an account, and how many of them are in use.
#[derive(Serialize, ToSchema)]
#[schema(as = Licenses)]
pub struct LicensesView {
    /// Maximum number of devices of the account that are active at the same time.
    #[schema(example = 10)]
    total: u32,
    /// Number of licences that active devices use.
    #[schema(example = 7)]
    used: u32,
    /// Number of licences that no device uses.
    #[schema(example = 3)]
    free: u32,
}

impl From<LicenseUse> for LicensesView {
    fn from(licenses: LicenseUse) -> Self {
        Self { total: licenses.total, used: licenses.used, free: licenses.free() }
    }
}

/// Settings of an account, chosen by its admins.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccountSettings)]
pub struct AccountSettingsView {
    /// Number of days before a device expires at which a `device.expiring` event is recorded. 0 for no such event.
    #[schema(example = 7)]
    expiry_notice_days: u32,
    /// Retention of locations in days, for devices without a retention of their own. Null if locations are kept without
    /// limit.
    #[schema(example = 365)]
    retention_days: Option<u32>,
    /// Telephone numbers and instructions, shown to users who handle a critical alert. Null for none.
    #[schema(example = "MRCC Finisterre: +34 900 202 202")]
    emergency_procedure: Option<String>,
    /// Texts that the console offers as quick replies to devices. Null for those of the console, in the language of the
    /// user.
    #[schema(example = json!(["Received, thank you.", "Help is on its way."]))]
    quick_replies: Option<Vec<String>>,
}

input! {
    /// Members of an account that a client sets.
    #[example({
        "name": "Castro Fishing", "timeZone": "Europe/Madrid", "settings": {"expiryNoticeDays": 7, "retentionDays": 365}
    })]
    struct AccountInput {
        /// Name of the account, shown in the console and in e-mails.
        name: Name, required, example "Castro Fishing";
        /// Time zone of the account, as an IANA identifier. Daily limits and counts reset at midnight of this zone. A
        /// change takes effect when the current day ends; for a zone further west, not before the next date begins there.
        time_zone as "timeZone": Zone, required, example "Europe/Madrid";
        /// Settings of the account, chosen by its admins.
        settings: Object<AccountSettingsInput>, required;
        /// Licences of the account. Only operators of the server can change `total`; from other callers a different value
        /// is refused.
        licenses: Object<LicensesInput>, optional;
    }
}

input! {
    /// Settings of an account that a client sets.
    struct AccountSettingsInput {
        /// Number of days before a device expires at which a `device.expiring` event is recorded. 0 for no such event.
        expiry_notice_days as "expiryNoticeDays":
            Whole<0, { AccountSettings::EXPIRY_NOTICE_DAYS_MAX }>, required, example 7;
        /// Retention of locations in days, for devices without a retention of their own. Null to keep locations without
        /// limit. Older locations are deleted within a day and cannot be restored.
        retention_days as "retentionDays": Whole<1, RETENTION_DAYS_MAX>, nullable, example 365;
        /// Telephone numbers and instructions, shown to users who handle a critical alert. Every user of the account can
        /// read them. Null for none.
        emergency_procedure as "emergencyProcedure":
            Description, nullable, example "MRCC Finisterre: +34 900 202 202";
        /// Texts that the console offers as quick replies to devices: at most 12, each of 1 to 160 characters on one line.
        /// Every user of the account can read them. An empty array offers none. Null for those of the console, in the
        /// language of the user.
        quick_replies as "quickReplies":
            List<String, 0, { AccountSettings::QUICK_REPLIES_MAX }>, nullable, example ["Received, thank you."];
    }
}

input! {
    /// Licences of an account, as an operator of the server sets them.
    pub(in crate::http::routes) struct LicensesInput {
        /// Maximum number of devices of the account that are active at the same time. Cannot be less than the number of
        /// active devices.
        total: Whole<0, LICENSES_MAX>, required, example 10;
    }
}

impl Part for AccountSettingsInput {
    type Value = (u32, Option<u32>, Option<String>, Option<Vec<String>>);

    fn make(self, fields: &mut Fields<'_>) -> Option<Self::Value> {
        let quick_replies: Option<Vec<String>> =
            self.quick_replies.map(|texts| texts.iter().map(|text| text.trim().to_owned()).collect());
        let is_wrong = |text: &String| {
            text.is_empty()
                || text.chars().count() > AccountSettings::QUICK_REPLY_MAX
                || text.contains(char::is_control)
        };
        if quick_replies.iter().flatten().any(is_wrong) {
            fields.refuse(
                "quickReplies",
                "must have texts of 1 to 160 characters each, on one line and without control characters",
            );
        }
        Some((self.expiry_notice_days?, self.retention_days, self.emergency_procedure, quick_replies))
    }
}

impl Part for LicensesInput {
    type Value = u32;

    fn make(self, fields: &mut Fields<'_>) -> Option<u32> {
        fields.ignore(&["used", "free"]);
        self.total
    }
}

/// An account as a client requests it.
struct Wanted {
    settings: AccountSettings,
    /// The number of licences, if an operator of the server sets it.
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
                emergency_procedure: account.settings.emergency_procedure,
                quick_replies: account.settings.quick_replies,
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
        let (expiry_notice_days, retention_days, emergency_procedure, quick_replies) = input.settings?;
        let (name, time_zone) = (input.name?, input.time_zone?);
        let settings = AccountSettings {
            name,
            time_zone,
            expiry_notice_days,
            retention_days,
            emergency_procedure,
            quick_replies,
        };
        Some(Wanted { settings, licenses: input.licenses })
    })
}

async fn find(app: &App, caller: &Caller) -> ApiResult<Account> {
    caller.require_whole_account()?;
    app.store.find_account(caller.account().id).await?.ok_or_else(|| not_found(Kind::Account))
}

async fn answer(app: &App, caller: &Caller, account: Account) -> ApiReply<AccountAnswer> {
    let licenses = app.store.license_use(account.id).await?;
    let revision = account.revision;
    let body = AccountAnswer { account: AccountView::new(account, licenses) };
    Ok(caller.reply(body).revision(revision))
}

/// Retrieve the account
///
/// Returns the account of the caller. Requires a caller who sees the whole account.
#[utoipa::path(get, path = "/api/account", tag = "account",
    responses((status = 200, description = "The account of the caller.", body = AccountAnswer)))]
pub async fn get_account(Call(app, caller): Call, params: Params) -> ApiReply<AccountAnswer> {
    params.finish()?;
    let account = find(&app, &caller).await?;
    answer(&app, &caller, account).await
}

/// Update the account
///
/// Changes the name, the time zone and the settings of the account. Requires the privilege `admin` and a caller who
/// sees the whole account. The body has the members of `account`, with or without the object `account` around them.
/// Only operators of the server can change `licenses.total`. Fails with `licenses-in-use` if more devices are active
/// than licences are set.
#[utoipa::path(patch, path = "/api/account", tag = "account", request_body = AccountInput,
    responses((status = 200, description = "The updated account.", body = AccountAnswer)))]
pub async fn update_account(Call(app, caller): Call, change: Change) -> ApiReply<AccountAnswer> {
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
                "Only operators of the server can set licences. Leave out \"licenses\", or ask an operator.",
            ));
        }
        let wanted = read_account(wanted, is_operator).map_err(|error| change.rebase(error))?;
        let (store, actor) = (&app.store, caller.actor());
        Ok(match wanted.licenses {
            Some(licenses) => {
                store.replace_account_and_licenses(&actor, seen, wanted.settings, licenses).await
            }
            None => store.replace_account(&actor, seen, wanted.settings).await,
        })
    })
    .await?;
    app.access.identities.invalidate_account(account.id);
    answer(&app, &caller, account).await
}
