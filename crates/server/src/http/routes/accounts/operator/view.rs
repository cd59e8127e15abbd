//! Accounts as operators see and set them.

use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::accounts::account::AccountSettings;
use perigee_core::accounts::branding::{Branding, Colour};
use perigee_core::accounts::country::Country;
use perigee_core::notifications::notification::MessagingSettings;
use perigee_core::store::AccountOverview;
use perigee_core::text::{Email, Name};
use perigee_core::zone::Zone;

use crate::http::input::{EmailAddress, Object, Part, Whole, Word, parsed_kinds, text};
use crate::http::json::Fields;
use crate::http::prelude::*;
use crate::http::routes::accounts::account::{LicensesInput, LicensesView};

/// Members of answers that are ignored in requests.
const READ_ONLY: &[&str] = &[
    "id",
    "state",
    "suspension",
    "deletion",
    "devices",
    "users",
    "lastActivity",
    "creation",
    "lastModified",
];

list! {
    /// A list of accounts.
    pub struct OperatorAccountList;
    /// The accounts, sorted by creation.
    accounts: OperatorAccountView,
}

/// An account, as shown to operators.
#[derive(Serialize, ToSchema)]
#[schema(as = OneOperatorAccount)]
pub struct OperatorAccountAnswer {
    /// The requested account.
    pub(super) account: OperatorAccountView,
}

/// A new account, and the invitation of its owner.
#[derive(Serialize, ToSchema)]
#[schema(as = CreatedOperatorAccount)]
pub struct OperatorAccountMade {
    /// The new account.
    pub(super) account: OperatorAccountView,
    /// Link with which the owner of the account sets a password.
    pub(super) invitation: OwnerInvitationView,
}

/// The invitation of the owner of a new account.
#[derive(Serialize, ToSchema)]
#[schema(as = OwnerInvitation)]
pub struct OwnerInvitationView {
    /// E-mail address of the owner.
    #[schema(example = "owner@example.com")]
    pub(super) email: String,
    /// Whether an e-mail with the link was queued.
    #[schema(example = false)]
    pub(super) mailed: bool,
    /// URL of the page on which the owner sets a password. It is returned only once. Anyone who has the URL can set the
    /// password. Null if the link was mailed.
    #[schema(example = "https://track.example.com/password#token=q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e")]
    pub(super) url: Option<String>,
    /// Time at which the link expires. Null if the link was mailed.
    #[schema(example = "2026-05-08T12:00:00Z", format = DateTime)]
    pub(super) expires: Option<String>,
}

/// A link with which a user sets a password. It works once.
#[derive(Serialize, ToSchema)]
#[schema(as = Invitation)]
pub struct InvitationView {
    /// E-mail address of the user who is invited.
    #[schema(example = "owner@example.com")]
    pub(crate) email: String,
    /// URL of the page on which the user sets a password. It is returned only once. Anyone who has the URL can set
    /// the password.
    #[schema(example = "https://track.example.com/password#token=q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e")]
    pub(crate) url: String,
    /// Time at which the link expires.
    #[schema(example = "2026-05-08T12:00:00Z", format = DateTime)]
    pub(crate) expires: String,
}

/// An account, as shown to operators.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorAccount)]
pub struct OperatorAccountView {
    /// Unique identifier of the account, assigned by the server. It never changes.
    #[schema(example = "acc_01jc2m8k4n5p5")]
    id: String,
    /// Name of the account, shown in the console and in e-mails.
    #[schema(example = "Castro Fishing")]
    name: String,
    /// Time zone of the account, as an IANA identifier. Days of the account begin at midnight of this zone.
    #[schema(example = "Europe/Madrid")]
    time_zone: String,
    /// State of the account. `active`: in use. `suspended`: its users are refused. `deleting`: its users are refused, and
    /// its data will be deleted at `deletion.purgeAt`. `purging`: its data are being deleted.
    #[schema(example = "active", pattern = "^(active|suspended|deleting|purging)$")]
    state: &'static str,
    /// Suspension of the account. Null if it is not suspended.
    suspension: Option<SuspensionView>,
    /// Deletion of the account. Null if it was not requested.
    deletion: Option<DeletionView>,
    /// How the account presents itself to its users and to recipients of its messages.
    branding: BrandingView,
    /// Licences of the account.
    licenses: LicensesView,
    /// Number of devices of the account, expired ones included.
    #[schema(example = 9)]
    devices: u32,
    /// Number of users of the account.
    #[schema(example = 3)]
    users: u32,
    /// Maximum e-mails of the account per day, critical alerts included. Null if the ceiling of the server's settings
    /// applies.
    #[schema(example = json!(null), minimum = 0)]
    email_ceiling: Option<u32>,
    /// Time at which a device of the account last reported or a user last signed in, accurate to a few minutes. Null
    /// if never.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_activity: Option<String>,
    /// Time at which the account was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// Time at which the settings of the account were last changed.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

/// Suspension of an account.
#[derive(Serialize, ToSchema)]
#[schema(as = Suspension)]
pub struct SuspensionView {
    /// Time at which the account was suspended.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    since: String,
    /// Text for users who are refused. Null for none.
    #[schema(example = "Your subscription has ended. Call +34 900 000 000.")]
    message: Option<String>,
}

/// Deletion of an account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccountDeletion)]
pub struct DeletionView {
    /// Time at which an operator requested the deletion.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    requested_at: String,
    /// Time from which on the data are deleted. The deletion can be undone until then.
    #[schema(example = "2026-05-31T12:00:00Z", format = DateTime)]
    purge_at: String,
}

/// How an account presents itself.
#[derive(Serialize, ToSchema)]
#[schema(as = Branding)]
pub struct BrandingView {
    /// Name shown instead of the name of the account. Null for the name of the account.
    #[schema(example = "Castro Safety")]
    name: Option<String>,
    /// Colour of buttons in e-mails and on pages without sign-in. Null for the default.
    #[schema(example = "#0b5cad", pattern = "^#[0-9a-f]{6}$")]
    colour: Option<String>,
    /// ID of the logo. A new logo has a new ID. Null if there is none.
    #[schema(example = "fil_01jc2m8k4n5p6")]
    logo: Option<String>,
}

impl From<Branding> for BrandingView {
    fn from(Branding { name, colour, logo }: Branding) -> Self {
        let (colour, logo) = (colour.map(|colour| colour.to_string()), logo.map(|id| id.to_string()));
        Self { name, colour, logo }
    }
}

impl From<AccountOverview> for OperatorAccountView {
    fn from(overview: AccountOverview) -> Self {
        let AccountOverview { account, licenses, users, devices, email_ceiling, last_activity } = overview;
        Self {
            id: account.id.to_string(),
            name: account.settings.name,
            time_zone: account.settings.time_zone.to_string(),
            state: account.standing.state().name(),
            suspension: account.standing.suspension.map(|suspension| SuspensionView {
                since: suspension.since.to_string(),
                message: suspension.message,
            }),
            deletion: account.standing.deletion.map(|deletion| DeletionView {
                requested_at: deletion.requested_at.to_string(),
                purge_at: deletion.purge_at.to_string(),
            }),
            branding: account.branding.into(),
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
    /// Settings of an account that an operator can change.
    pub(super) struct OperatorAccountInput {
        /// Name of the account, shown in the console and in e-mails.
        name: Name, required, example "Castro Fishing";
        /// Time zone of the account, as an IANA name. A change takes effect when the current day of the account ends.
        time_zone as "timeZone": Zone, required, example "Europe/Madrid";
        /// Licences of the account. The total must not be lower than the number in use.
        licenses: Object<LicensesInput>, required;
        /// Maximum e-mails of the account per day, critical alerts included. Default: the ceiling of the server's
        /// settings.
        email_ceiling as "emailCeiling": Whole<0, { MessagingSettings::EMAILS_MAX }>, nullable, example 10000;
        /// How the account presents itself to its users and to recipients of its messages.
        branding: Object<BrandingInput>, optional;
    }
}

input! {
    /// How an account presents itself, as an operator sets it.
    pub(super) struct BrandingInput {
        /// Name shown instead of the name of the account. Null for the name of the account.
        name: Name, nullable, example "Castro Safety";
        /// Colour of buttons in e-mails and on pages without sign-in. Null for the default.
        colour: BrandColour, nullable, example "#0b5cad";
    }
}

impl Part for BrandingInput {
    type Value = (Option<String>, Option<Colour>);

    fn make(self, fields: &mut Fields<'_>) -> Option<Self::Value> {
        fields.ignore(&["logo"]);
        Some((self.name, self.colour))
    }
}

input! {
    /// Settings of a new account and its owner.
    pub(super) struct OperatorAccountNew {
        /// Name of the account, shown in the console and in e-mails.
        name: Name, required, example "Castro Fishing";
        /// Time zone of the account, as an IANA name.
        time_zone as "timeZone": Zone, required, example "Europe/Madrid";
        /// Licences of the account.
        licenses: Object<LicensesInput>, required;
        /// E-mail address of the owner, for signing in. No other user of the server may have it.
        owner_email as "ownerEmail": OwnerEmail, required, example "owner@example.com";
        /// Language of the owner's invitation, e-mails and console. The owner can change it. Default: the language of
        /// the owner's browser.
        owner_language as "ownerLanguage": Word<ConsoleLanguage>, nullable, example "es";
        /// Country of the owner, as an ISO 3166-1 code or an English name. Default: unknown.
        owner_country as "ownerCountry": Country, nullable, example "ES";
        /// Whether to mail the invitation to the owner. The link is then not in the response. If the server sends no
        /// e-mail, the link is in the response in any case.
        mail_owner as "mailOwner": bool, or(false), example true;
    }
}

parsed_kinds! {
    /// The address of an owner.
    pub(super) OwnerEmail => Email, "an e-mail address", EmailAddress::schema();
    /// A colour in sRGB.
    pub(super) BrandColour => Colour, "a colour such as #0b5cad", text(7, 7, |text| text.pattern(Some("^#[0-9a-fA-F]{6}$")));
}

/// Settings of an account that a request asks for.
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) time_zone: Zone,
    pub(super) licenses: u32,
    pub(super) email_ceiling: Option<u32>,
    pub(super) branding: (Option<String>, Option<Colour>),
}

impl Wanted {
    /// The settings of a new account.
    pub(super) fn first_settings(&self) -> AccountSettings {
        AccountSettings {
            name: self.name.clone(),
            time_zone: self.time_zone.clone(),
            expiry_notice_days: AccountSettings::EXPIRY_NOTICE_DAYS,
            retention_days: None,
            emergency_procedure: None,
            quick_replies: None,
        }
    }
}

/// Reads the settings of an account from a request.
pub(super) fn read_account(body: &Value) -> ApiResult<Wanted> {
    read_body(body, &[ENVELOPE, READ_ONLY], |input: OperatorAccountInput, _| {
        let (name, time_zone, licenses) = (input.name?, input.time_zone?, input.licenses?);
        let (email_ceiling, branding) = (input.email_ceiling, input.branding.unwrap_or_default());
        Some(Wanted { name, time_zone, licenses, email_ceiling, branding })
    })
}

/// The first owner of a new account.
pub(super) struct NewOwner {
    pub(super) email: Email,
    pub(super) language: Option<ConsoleLanguage>,
    pub(super) country: Option<Country>,
    /// Whether the invitation is to be mailed.
    pub(super) mail: bool,
}

/// Reads a new account and its owner from a request.
pub(super) fn read_new(body: &Value) -> ApiResult<(Wanted, NewOwner)> {
    read_body(body, &[], |input: OperatorAccountNew, _| {
        let (name, time_zone, licenses) = (input.name?, input.time_zone?, input.licenses?);
        let owner = NewOwner {
            email: input.owner_email?,
            language: input.owner_language,
            country: input.owner_country,
            mail: input.mail_owner,
        };
        Some((Wanted { name, time_zone, licenses, email_ceiling: None, branding: (None, None) }, owner))
    })
}
