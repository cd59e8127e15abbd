//! The JSON of users in requests and responses.

use std::collections::BTreeMap;

use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::access::privilege::{ParsePrivilegeError, Privileges};
use perigee_core::access::user::{User, UserProfile};
use perigee_core::accounts::country::Country;
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::text::{Description, Name};
use perigee_core::zone::Zone;
use secrecy::SecretString;
use utoipa::openapi::{RefOr, Schema};

use crate::http::input::{
    ByName, EmailAddress, Instant, Member, Set, TagMap, Whole, Word, array, one_of, read_fields, words,
};
use crate::http::json::{Field, Fields, InstantOrNever};
use crate::http::prelude::*;
use crate::http::routes::access::session_password::{NewPasswordText, check_new_password};
use crate::http::routes::access::session_preferences::ConsoleLanguageName;

/// Members of responses that clients do not set.
const READ_ONLY: &[&str] = &["id", "creation", "modification", "lastLogin"];
/// Number of words in `privileges` at most: every name, and `read`, `write` and `execute`.
const PRIVILEGES_MAX: usize = Privilege::ALL.len() + 3;

/// A person or program that signs in to one account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = User)]
pub struct UserView {
    /// Unique identifier of the user, assigned by the server. Never changes.
    #[schema(example = "usr_01jc2m8k4n5p8")]
    id: String,
    /// Name of the user, shown in lists and in the audit log.
    #[schema(example = "Ana Castro")]
    name: String,
    /// E-mail address of the user, with which they sign in. It is also the `userName` of `POST /api/Auth/Token`.
    #[schema(example = "ana@example.com")]
    email: String,
    /// Country of the user, as an ISO 3166-1 alpha-2 code. Null only for an owner created on the command line.
    #[schema(example = "ES", max_length = 2)]
    country: Option<&'static str>,
    /// Time zone of the user, as an IANA identifier.
    #[schema(example = "Europe/Madrid")]
    time_zone: String,
    /// Language of the user's e-mails and console. Null until one is chosen: e-mails are then in the language of the user's
    /// country and the console in the language of the browser.
    #[schema(value_type = Option<ConsoleLanguageName>, example = "es")]
    language: Option<&'static str>,
    /// Note about the user. Null if there is none.
    #[schema(example = "Night shift")]
    description: Option<String>,
    /// Message to the user, shown in the settings of the console. Null if there is none.
    #[schema(example = "Welcome aboard")]
    message: Option<String>,
    /// Whether the user is disabled. Requests of a disabled user are refused with `user-disabled`.
    #[schema(example = false)]
    disabled: bool,
    /// Error text that a disabled user receives instead of the default one. Null if there is none.
    #[schema(example = "Call the office")]
    disabled_message: Option<String>,
    /// Labels of the user as keys and values, chosen by clients.
    #[schema(example = json!({ "team": "north" }))]
    tags: BTreeMap<String, String>,
    /// Privileges of the user. Empty if the user may only read.
    #[schema(value_type = Vec<PrivilegeName>, example = json!(["devices.write", "api"]), max_items = 10)]
    privileges: Vec<&'static str>,
    /// ID of the only group whose devices the user sees. Null if the user is not limited to a group.
    #[schema(example = "grp_01jc2m8k4n5p6")]
    group: Option<String>,
    /// ID of the only device that the user sees, whatever `group` is. Null if the user is not limited to a device.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: Option<String>,
    /// Maximum number of devices that the user may create. Devices that were deleted are not counted. Null for no limit.
    #[schema(example = 10)]
    admin_devices: Option<u32>,
    /// Time before which the user cannot sign in. Null for no such limit.
    #[schema(example = "2026-05-01T00:00:00Z", format = DateTime)]
    from: Option<String>,
    /// Time from which the user can no longer sign in. Null if the user does not expire.
    #[schema(example = "2027-05-01T00:00:00Z", format = DateTime)]
    expires: Option<String>,
    /// Always null: passwords are never returned.
    #[schema(example = json!(null))]
    password: Option<String>,
    /// Time at which the user was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// Time at which a client last changed the user.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    modification: String,
    /// Time of the user's last sign-in. Null if the user has never signed in.
    #[schema(example = "2026-05-02T07:30:00Z", format = DateTime)]
    last_login: Option<String>,
}

input! {
    /// Members of a user that a client sets.
    pub(in crate::http::routes) struct UserInput {
        /// Name of the user, shown in lists and in the audit log.
        name: Name, required, example "Ana Castro";
        /// E-mail address of the user, with which they sign in. Unique on the server, whatever the letter case.
        email: EmailAddress, required, example "ana@example.com";
        /// Country of the user, as an ISO 3166-1 code or an English name.
        country: Country, required, example "ES";
        /// Time zone of the user, as an IANA identifier.
        time_zone as "timeZone": Zone, required, example "Europe/Madrid";
        /// Language of the user's invitation, e-mails and console. The user can change it. If left out or null, it stays
        /// as it is; a new user then has none.
        language: Word<ConsoleLanguage>, nullable, example "es";
        /// Note about the user.
        description: Description, nullable, example "Night shift";
        /// Message to the user, shown in the settings of the console.
        message: Description, nullable, example "Welcome aboard";
        /// Whether the user is disabled. Requests of a disabled user are refused with `user-disabled`.
        disabled: bool, or(false), example false;
        /// Error text that a disabled user receives instead of the default one.
        disabled_message as "disabledMessage": Description, nullable, example "Call the office";
        /// Labels of the user as keys and values: at most 64, keys of at most 64 characters, values of at most 256.
        tags: TagMap, nullable, example {"team": "north"};
        /// Privileges of the user, in any letter case. Also accepted: `read` (no privilege), `write` (every `.write`
        /// privilege except `users.write`) and `execute` (`commands.send`). Callers can grant only privileges that they
        /// hold.
        privileges: PrivilegeWords, nullable, example ["devices.write", "api"];
        /// Only group whose devices the user sees, by ID or by a unique name. Null or empty for the whole account;
        /// `Administrators` means the same if no group has this name.
        group: ByName<GroupId>, nullable, example null;
        /// Only device that the user sees, by ID, identifier or a unique name. Null or empty for no such limit.
        device as "deviceId": ByName<DeviceId>, nullable, example null;
        /// Maximum number of devices that the user may create. Devices that were deleted are not counted. Null for no limit.
        admin_devices as "adminDevices": Whole<0, { UserProfile::ADMIN_DEVICES_MAX }>, nullable, example 10;
        /// Time before which the user cannot sign in. Null for no such limit.
        from: Instant, nullable, example "2026-05-01T00:00:00Z";
        /// Time from which the user can no longer sign in; later than `from`. Null or `9999-12-31T23:59:59Z` if the user
        /// does not expire.
        expires: InstantOrNever, nullable, example "2027-05-01T00:00:00Z";
        /// New password of the user; setting it ends the user's sessions. If left out or null, the current password
        /// stays. Callers change their own password with `PUT /api/session/password`.
        password: NewPasswordText, nullable, example "correct horse battery staple";
    }
}

words! {
    "Privilege", "A privilege of a user. `owner`: everything in the account. `admin`: everything except changing an \
        owner. `devices.write`: create, change and delete devices. `groups.write`: create, change and delete groups. \
        `users.write`: create, change and delete users. `locations.write`: submit locations. `alerts.write`: submit, \
        acknowledge and end alerts. `commands.send`: send commands to devices. `rules.write`: create, change and \
        delete rules. `api`: hold an API key." => Privilege;
}

/// The schema of one privilege in the OpenAPI document.
type PrivilegeName = Word<Privilege>;

/// Privileges by their names or by the words of older clients, in any letter case.
pub(in crate::http::routes) enum PrivilegeWords {}

impl Member for PrivilegeWords {
    type Value = Privileges;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Privileges> {
        let words = Set::<String, 0, PRIVILEGES_MAX>::read(fields, name).each(|word| {
            let known = Privileges::named(word);
            known.map(drop).ok_or_else(|| ParsePrivilegeError.to_string().into())
        });
        words.convert(|words| {
            let named = words.iter().filter_map(|word| Privileges::named(word));
            Ok(named.flat_map(|set| set.iter().collect::<Vec<_>>()).collect())
        })
    }

    fn schema() -> RefOr<Schema> {
        let names = Privilege::ALL.iter().map(|privilege| privilege.name());
        array(one_of(names.chain(["read", "write", "execute"])), 0, PRIVILEGES_MAX, true)
    }
}

impl From<User> for UserView {
    fn from(user: User) -> Self {
        let profile = user.profile;
        Self {
            id: user.id.to_string(),
            name: profile.name,
            email: profile.email.into(),
            country: profile.country.map(Country::code),
            time_zone: profile.time_zone.to_string(),
            language: profile.language.map(ConsoleLanguage::name),
            description: profile.description,
            message: profile.message,
            disabled: profile.disabled,
            disabled_message: profile.disabled_message,
            tags: profile.tags,
            privileges: profile.privileges.iter().map(Privilege::name).collect(),
            group: profile.group.map(|group| group.to_string()),
            device_id: profile.device.map(|device| device.to_string()),
            admin_devices: profile.admin_devices,
            from: profile.from.map(|from| from.to_string()),
            expires: profile.expires.map(|expires| expires.to_string()),
            password: None,
            creation: user.creation.to_string(),
            modification: user.modification.to_string(),
            last_login: user.last_login.map(|at| at.to_string()),
        }
    }
}

/// A user as a client requests it.
pub(in crate::http::routes) struct Wanted {
    pub(in crate::http::routes) profile: UserProfile,
    /// The new password; `None` to keep the current one.
    pub(in crate::http::routes) password: Option<SecretString>,
}

/// Reads a new user, or one that replaces `present`. Times without an offset are in `zone`.
pub(in crate::http::routes) fn read_user(
    body: &Value,
    present: Option<&User>,
    zone: &Zone,
) -> ApiResult<Wanted> {
    let mut fields = Fields::of(body).map_err(invalid_body)?.in_zone(zone);
    // An owner created on the command line has no country, and a later change must not require one.
    let may_lack_country = present.is_some_and(|user| user.profile.country.is_none());
    if may_lack_country {
        fields.excuse("country");
    }
    let (profile, password) = read_fields(fields, &[ENVELOPE, READ_ONLY], |input: UserInput, fields| {
        let expires = input.expires.and_then(InstantOrNever::instant);
        if let (Some(from), Some(expires)) = (input.from, expires)
            && expires <= from
        {
            fields.refuse("expires", "must be later than \"from\"");
        }
        let country = if may_lack_country { input.country } else { Some(input.country?) };
        let profile = UserProfile {
            name: input.name?,
            email: input.email?,
            country,
            time_zone: input.time_zone?,
            language: input.language.or_else(|| present.and_then(|user| user.profile.language)),
            description: input.description,
            message: input.message,
            disabled: input.disabled,
            disabled_message: input.disabled_message,
            tags: input.tags.unwrap_or_default(),
            privileges: input.privileges.unwrap_or_default(),
            group: input.group,
            device: input.device,
            admin_devices: input.admin_devices,
            from: input.from,
            expires,
        };
        Some((profile, input.password))
    })?;
    if let Some(password) = &password {
        check_new_password("password", password, profile.email.as_str())?;
    }
    Ok(Wanted { profile, password: password.map(SecretString::from) })
}
