//! Accounts as operators see and set them.

use perigee_core::account::{AccountSettings, LICENSES_MAX};
use perigee_core::store::AccountOverview;
use perigee_core::text::{Email, NAME_MAX};
use perigee_core::zone::Zone;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::http::edit::ENVELOPE;
use crate::http::error::{ApiResult, invalid_body};
use crate::http::json::Fields;
use crate::http::routes::account::{LicensesInput, LicensesView};

/// What answers have and operators do not set here.
const READ_ONLY: &[&str] = &["id", "devices", "users", "lastActivity", "creation", "lastModified"];

/// A list of accounts.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatorAccountList {
    /// The accounts, oldest first.
    accounts: Vec<OperatorAccountView>,
    /// Where to go on, when there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// An account, as operators see it.
#[derive(Serialize, ToSchema)]
#[schema(as = OneOperatorAccount)]
pub struct OperatorAccountAnswer {
    /// The account.
    pub(super) account: OperatorAccountView,
}

/// An account that was made, and how its owner gets in.
#[derive(Serialize, ToSchema)]
#[schema(as = CreatedOperatorAccount)]
pub struct OperatorAccountMade {
    /// The account.
    pub(super) account: OperatorAccountView,
    /// How its owner gets in.
    pub(super) invitation: InvitationView,
}

/// A link that lets somebody set their password, once.
#[derive(Serialize, ToSchema)]
#[schema(as = Invitation)]
pub struct InvitationView {
    /// Whom it is for.
    #[schema(example = "ana@example.com")]
    pub(crate) email: String,
    /// The link. It is shown only now; whoever has it sets the password.
    #[schema(example = "https://track.example.com/password#token=q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e")]
    pub(crate) url: String,
    /// When the link stops working.
    #[schema(example = "2026-05-08T12:00:00Z", format = DateTime)]
    pub(crate) expires: String,
}

/// An account, as operators see it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorAccount)]
pub struct OperatorAccountView {
    /// The account's id; never changes.
    #[schema(example = "acc_01jc2m8k4n5p5")]
    id: String,
    /// The account's name, shown in the console and in mails.
    #[schema(example = "Castro Fishing", min_length = 1, max_length = 200)]
    name: String,
    /// Its time zone, by IANA id.
    #[schema(example = "Europe/Madrid")]
    time_zone: String,
    /// Licences of the account.
    licenses: LicensesView,
    /// Its devices, expired ones too.
    #[schema(example = 9)]
    devices: u32,
    /// How many users it has.
    #[schema(example = 3)]
    users: u32,
    /// When a device of it was last heard or a user last signed in, to a few minutes; null for never.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_activity: Option<String>,
    /// When it was made.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// When its settings were last changed.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

impl From<AccountOverview> for OperatorAccountView {
    fn from(overview: AccountOverview) -> Self {
        let AccountOverview { account, licenses, users, devices, last_activity } = overview;
        Self {
            id: account.id.to_string(),
            name: account.settings.name,
            time_zone: account.settings.time_zone.to_string(),
            licenses: LicensesView::from(licenses),
            devices,
            users,
            last_activity: last_activity.map(|instant| instant.to_string()),
            creation: account.creation.to_string(),
            last_modified: account.last_modified.to_string(),
        }
    }
}

/// What an operator sets of an account.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is read")]
pub struct OperatorAccountInput {
    /// The account's name, shown in the console and in mails.
    #[schema(example = "Castro Fishing", min_length = 1, max_length = 200)]
    name: String,
    /// Its time zone, by IANA id. A change takes effect when the present day ends.
    #[schema(example = "Europe/Madrid", min_length = 1, max_length = 100)]
    time_zone: String,
    /// Its licences; not fewer than are used.
    licenses: LicensesInput,
}

/// An account to be made.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is read")]
pub struct OperatorAccountNew {
    /// The account's name, shown in the console and in mails.
    #[schema(example = "Castro Fishing", min_length = 1, max_length = 200)]
    name: String,
    /// Its time zone, by IANA id.
    #[schema(example = "Europe/Madrid", min_length = 1, max_length = 100)]
    time_zone: String,
    /// Licences of the account.
    licenses: LicensesInput,
    /// The address of its owner, who gets an invitation. No other user of the server may have it.
    #[schema(example = "rosa@example.com", min_length = 3, max_length = 254)]
    owner_email: String,
}

/// What an operator wants an account to be.
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) time_zone: Zone,
    pub(super) licenses: u32,
}

impl Wanted {
    /// The settings of a new account.
    pub(super) fn first_settings(&self) -> AccountSettings {
        AccountSettings {
            name: self.name.clone(),
            time_zone: self.time_zone.clone(),
            expiry_notice_days: AccountSettings::EXPIRY_NOTICE_DAYS,
            retention_days: None,
        }
    }
}

/// Reads the account that shall be.
pub(super) fn read_account(body: &Value) -> ApiResult<Wanted> {
    let mut fields = Fields::of(body).map_err(invalid_body)?;
    fields.ignore(ENVELOPE);
    fields.ignore(READ_ONLY);
    let wanted = read_common(&mut fields);
    fields.finish(|| wanted).map_err(invalid_body)
}

/// Reads the account to be made, and the address of its owner.
pub(super) fn read_new(body: &Value) -> ApiResult<(Wanted, Email)> {
    let mut fields = Fields::of(body).map_err(invalid_body)?;
    let wanted = read_common(&mut fields);
    let owner = fields.parsed::<Email>("ownerEmail", "an e-mail address").required();
    fields.finish(|| Some((wanted?, owner?))).map_err(invalid_body)
}

fn read_common(fields: &mut Fields<'_>) -> Option<Wanted> {
    let name = fields.text("name").chars(1..=NAME_MAX).required();
    let time_zone = fields.get::<Zone>("timeZone").required();
    let total = |licenses: &mut Fields<'_>| {
        licenses.ignore(&["used", "free"]);
        licenses.integer("total", 0..=LICENSES_MAX).required()
    };
    let licenses = fields.object("licenses", total).required();
    Some(Wanted { name: name?, time_zone: time_zone?, licenses: licenses? })
}
