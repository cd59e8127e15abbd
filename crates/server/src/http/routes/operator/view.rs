//! Accounts as operators see and set them.

use perigee_core::account::AccountSettings;
use perigee_core::country::Country;
use perigee_core::notification::MessagingSettings;
use perigee_core::preference::ConsoleLanguage;
use perigee_core::store::AccountOverview;
use perigee_core::text::{Email, Name};
use perigee_core::zone::Zone;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::http::edit::ENVELOPE;
use crate::http::error::ApiResult;
use crate::http::input::{EmailAddress, Object, Whole, Word, input, parsed_kinds, read_body};
use crate::http::routes::account::{LicensesInput, LicensesView};

/// What answers have and operators do not set here.
const READ_ONLY: &[&str] = &["id", "devices", "users", "lastActivity", "creation", "lastModified"];

/// A list of accounts.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatorAccountList {
    /// The accounts, oldest first.
    accounts: Vec<OperatorAccountView>,
    /// Where to continue, when there is more.
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
    #[schema(example = "owner@example.com")]
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
    #[schema(example = "Castro Fishing")]
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
    /// E-mails per day that the account may send in all, critical alerts too; null for the ceiling of the server's settings.
    #[schema(example = json!(null), minimum = 0)]
    email_ceiling: Option<u32>,
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
        let AccountOverview { account, licenses, users, devices, email_ceiling, last_activity } = overview;
        Self {
            id: account.id.to_string(),
            name: account.settings.name,
            time_zone: account.settings.time_zone.to_string(),
            licenses: LicensesView::from(licenses),
            devices,
            users,
            email_ceiling,
            last_activity: last_activity.map(|instant| instant.to_string()),
            creation: account.creation.to_string(),
            last_modified: account.last_modified.to_string(),
        }
    }
}

input! {
    /// What an operator sets of an account.
    pub(super) struct OperatorAccountInput {
        /// The account's name, shown in the console and in mails.
        name: Name, required, example "Castro Fishing";
        /// Its time zone, by IANA id. A change takes effect when the present day ends.
        time_zone as "timeZone": Zone, required, example "Europe/Madrid";
        /// Its licences; not fewer than are used.
        licenses: Object<LicensesInput>, required;
        /// E-mails per day that the account may send in all, critical alerts too. Default: the ceiling of the server's
        /// settings.
        email_ceiling as "emailCeiling": Whole<0, { MessagingSettings::EMAILS_MAX }>, nullable, example 10000;
    }
}

input! {
    /// An account to be made.
    pub(super) struct OperatorAccountNew {
        /// The account's name, shown in the console and in mails.
        name: Name, required, example "Castro Fishing";
        /// Its time zone, by IANA id.
        time_zone as "timeZone": Zone, required, example "Europe/Madrid";
        /// Licences of the account.
        licenses: Object<LicensesInput>, required;
        /// The address of its owner, who gets an invitation. No other user of the server may have it.
        owner_email as "ownerEmail": OwnerEmail, required, example "owner@example.com";
        /// Language of their invitation, mails and console, which they can change; that of their browser unless given.
        owner_language as "ownerLanguage": Word<ConsoleLanguage>, nullable, example "es";
        /// Country of the owner: an ISO 3166-1 code or an English name. Default: not known.
        owner_country as "ownerCountry": Country, nullable, example "ES";
    }
}

parsed_kinds! {
    /// The address of an owner.
    pub(super) OwnerEmail => Email, "an e-mail address", EmailAddress::schema();
}

/// What an operator wants an account to be.
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) time_zone: Zone,
    pub(super) licenses: u32,
    pub(super) email_ceiling: Option<u32>,
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
    read_body(body, &[ENVELOPE, READ_ONLY], |input: OperatorAccountInput, _| {
        let (name, time_zone, licenses) = (input.name?, input.time_zone?, input.licenses?);
        Some(Wanted { name, time_zone, licenses, email_ceiling: input.email_ceiling })
    })
}

/// The first owner of a new account.
pub(super) struct NewOwner {
    pub(super) email: Email,
    pub(super) language: Option<ConsoleLanguage>,
    pub(super) country: Option<Country>,
}

/// Reads the account to be made, and its owner.
pub(super) fn read_new(body: &Value) -> ApiResult<(Wanted, NewOwner)> {
    read_body(body, &[], |input: OperatorAccountNew, _| {
        let (name, time_zone, licenses) = (input.name?, input.time_zone?, input.licenses?);
        let owner = NewOwner {
            email: input.owner_email?,
            language: input.owner_language,
            country: input.owner_country,
        };
        Some((Wanted { name, time_zone, licenses, email_ceiling: None }, owner))
    })
}
