//! The JSON of users.

use std::collections::BTreeMap;

use perigee_core::country::Country;
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::preference::ConsoleLanguage;
use perigee_core::privilege::{ParsePrivilegeError, Privilege, Privileges};
use perigee_core::text::{Description, Name};
use perigee_core::user::{User, UserProfile};
use perigee_core::zone::Zone;
use secrecy::SecretString;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use super::session_password::{NewPasswordText, check_new_password};
use super::session_preferences::ConsoleLanguageName;
use crate::http::edit::ENVELOPE;
use crate::http::error::{ApiResult, invalid_body};
use crate::http::input::{
    ByName, EmailAddress, Instant, Member, Set, TagMap, Whole, Word, array, input, one_of, read_fields, words,
};
use crate::http::json::{Field, Fields, InstantOrNever};

/// What answers have and clients do not set.
const READ_ONLY: &[&str] = &["id", "creation", "modification", "lastLogin"];
/// Words one user's privileges may have: every name, and `read`, `write` and `execute`.
const PRIVILEGES_MAX: usize = Privilege::ALL.len() + 3;

/// Somebody who signs in.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = User)]
pub struct UserView {
    /// The user's id; never changes.
    #[schema(example = "usr_01jc2m8k4n5p8")]
    id: String,
    /// The user's name, shown in lists and the audit log.
    #[schema(example = "Ana Castro")]
    name: String,
    /// Their e-mail address: the `userName` of the API.
    #[schema(example = "ana@example.com")]
    email: String,
    /// Their country, ISO 3166-1 alpha-2. Null only for an owner made by command.
    #[schema(example = "ES", max_length = 2)]
    country: Option<&'static str>,
    /// Their time zone, by IANA id.
    #[schema(example = "Europe/Madrid")]
    time_zone: String,
    /// Language of their mails and console; null until somebody chose one: mails are then in the language of their country,
    /// the console in that of the browser.
    #[schema(value_type = Option<ConsoleLanguageName>, example = "es")]
    language: Option<&'static str>,
    /// A note about them.
    #[schema(example = "Night shift")]
    description: Option<String>,
    /// A message shown to them.
    #[schema(example = "Welcome aboard")]
    message: Option<String>,
    /// Whether they are shut out.
    #[schema(example = false)]
    disabled: bool,
    /// What they are told when they are.
    #[schema(example = "Call the office")]
    disabled_message: Option<String>,
    /// Labels by key, chosen by the account.
    #[schema(example = json!({ "team": "north" }))]
    tags: BTreeMap<String, String>,
    /// What they may do; none means reading alone.
    #[schema(value_type = Vec<PrivilegeName>, example = json!(["devices.write", "api"]), max_items = 10)]
    privileges: Vec<&'static str>,
    /// The only group they see.
    #[schema(example = "grp_01jc2m8k4n5p6")]
    group: Option<String>,
    /// The only device they see.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: Option<String>,
    /// How many devices made by them may exist.
    #[schema(example = 10)]
    admin_devices: Option<u32>,
    /// The user cannot sign in before this instant.
    #[schema(example = "2026-05-01T00:00:00Z", format = DateTime)]
    from: Option<String>,
    /// Not valid from then on.
    #[schema(example = "2027-05-01T00:00:00Z", format = DateTime)]
    expires: Option<String>,
    /// Always null: passwords are never told.
    #[schema(example = json!(null))]
    password: Option<String>,
    /// When they were added.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// When a client last changed them.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    modification: String,
    /// When they last signed in.
    #[schema(example = "2026-05-02T07:30:00Z", format = DateTime)]
    last_login: Option<String>,
}

input! {
    /// What a client sets of a user.
    pub(super) struct UserInput {
        /// The user's name, shown in lists and the audit log.
        name: Name, required, example "Ana Castro";
        /// Their e-mail address, unique on the server in any letter case.
        email: EmailAddress, required, example "ana@example.com";
        /// Their country: an ISO 3166-1 code or an English name.
        country: Country, required, example "ES";
        /// Their time zone, by IANA id.
        time_zone as "timeZone": Zone, required, example "Europe/Madrid";
        /// Language of their invitation, mails and console, which they can change. Left out or null, it stays as it is; nobody
        /// has chosen one for a new user.
        language: Word<ConsoleLanguage>, nullable, example "es";
        /// A note about them.
        description: Description, nullable, example "Night shift";
        /// A message shown to them.
        message: Description, nullable, example "Welcome aboard";
        /// Whether they are shut out.
        disabled: bool, or(false), example false;
        /// What they are told when they are.
        disabled_message as "disabledMessage": Description, nullable, example "Call the office";
        /// Free labels: at most 64, keys of at most 64 characters, values of at most 256.
        tags: TagMap, nullable, example {"team": "north"};
        /// What they may do, by the names of privileges in any letter case, or by `read` (nothing more), `write` (every
        /// `.write` privilege but `users.write`) and `execute` (`commands.send`). Nobody can give what they do not have.
        privileges: PrivilegeWords, nullable, example ["devices.write", "api"];
        /// The only group whose devices they see, by ID or by a name that only one has. Null, empty, or `Administrators` if no
        /// group has this name: the whole account.
        group: ByName<GroupId>, nullable, example null;
        /// The only device they see, by id, identifier or a name that only one has; null or empty for none.
        device as "deviceId": ByName<DeviceId>, nullable, example null;
        /// How many devices made by them may exist.
        admin_devices as "adminDevices": Whole<0, { UserProfile::ADMIN_DEVICES_MAX }>, nullable, example 10;
        /// The user cannot sign in before this instant.
        from: Instant, nullable, example "2026-05-01T00:00:00Z";
        /// Not valid from then on; later than `from`. Null or `9999-12-31T23:59:59Z` for never.
        expires: InstantOrNever, nullable, example "2027-05-01T00:00:00Z";
        /// A new password, which ends their sessions. Left out or null, the present one stays. One's own is changed with
        /// `PUT /api/session/password`.
        password: NewPasswordText, nullable, example "correct horse battery staple";
    }
}

words! {
    "Privilege", "One right." => Privilege;
}

/// A right as the document names it.
type PrivilegeName = Word<Privilege>;

/// Privileges by their names or the words of older systems, in any letter case.
pub(super) enum PrivilegeWords {}

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

/// What a client wants a user to be.
pub(super) struct Wanted {
    /// All but the password.
    pub(super) profile: UserProfile,
    /// The new password, if it shall change.
    pub(super) password: Option<SecretString>,
}

/// Reads a user to be made, or one that shall take the place of `present`. Times without an offset are in the zone.
pub(super) fn read_user(body: &Value, present: Option<&User>, zone: &Zone) -> ApiResult<Wanted> {
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
