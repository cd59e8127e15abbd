//! The JSON of users.

use std::collections::BTreeMap;

use perigee_core::country::Country;
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::privilege::{ParsePrivilegeError, Privilege, Privileges};
use perigee_core::text::{DESCRIPTION_MAX, NAME_MAX, TAG_KEY_MAX, TAG_VALUE_MAX, TAGS_MAX};
use perigee_core::user::{User, UserProfile};
use perigee_core::zone::Zone;
use secrecy::SecretString;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::session_password::check_new_password;
use crate::http::edit::ENVELOPE;
use crate::http::error::{ApiResult, invalid_body};
use crate::http::json::{Fields, InstantOrNever, MapLimits};

const TAGS: MapLimits = MapLimits { entries: TAGS_MAX, key_chars: TAG_KEY_MAX, value_chars: TAG_VALUE_MAX };
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
    #[schema(example = "Ana Castro", min_length = 1, max_length = 200)]
    name: String,
    /// Their e-mail address: the `userName` of the API.
    #[schema(example = "ana@example.com", max_length = 254)]
    email: String,
    /// Their country, ISO 3166-1 alpha-2. Null only for an owner made by command.
    #[schema(example = "ES", min_length = 2, max_length = 2)]
    country: Option<&'static str>,
    /// Their time zone, by IANA id.
    #[schema(example = "Europe/Madrid")]
    time_zone: String,
    /// A note about them.
    #[schema(example = "Night shift", max_length = 2000)]
    description: Option<String>,
    /// A message shown to them.
    #[schema(example = "Welcome aboard", max_length = 2000)]
    message: Option<String>,
    /// Whether they are shut out.
    #[schema(example = false)]
    disabled: bool,
    /// What they are told when they are.
    #[schema(example = "Call the office", max_length = 2000)]
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
    #[schema(example = 10, maximum = 1_000_000)]
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

/// What a client sets of a user.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is read")]
pub struct UserInput {
    /// The user's name, shown in lists and the audit log.
    #[schema(example = "Ana Castro", min_length = 1, max_length = 200)]
    name: String,
    /// Their e-mail address, unique on the server in any letter case.
    #[schema(example = "ana@example.com", format = Email, max_length = 254)]
    email: String,
    /// Their country: an ISO 3166-1 code or an English name.
    #[schema(example = "ES", min_length = 2, max_length = 200)]
    country: String,
    /// Their time zone, by IANA id.
    #[schema(example = "Europe/Madrid", min_length = 1, max_length = 100)]
    time_zone: String,
    /// A note about them.
    #[schema(example = "Night shift", max_length = 2000)]
    description: Option<String>,
    /// A message shown to them.
    #[schema(example = "Welcome aboard", max_length = 2000)]
    message: Option<String>,
    /// Whether they are shut out.
    #[schema(value_type = bool, required = false, default = false, example = false)]
    disabled: bool,
    /// What they are told when they are.
    #[schema(example = "Call the office", max_length = 2000)]
    disabled_message: Option<String>,
    /// Free labels: at most 64, keys of at most 64 characters, values of at most 256.
    #[schema(example = json!({ "team": "north" }))]
    tags: Option<BTreeMap<String, String>>,
    /// What they may do, by the names of privileges in any letter case, or by `read` (nothing more), `write` (every
    /// `.write` privilege but `users.write`) and `execute` (`commands.send`). Nobody can give what they do not have.
    #[schema(example = json!(["devices.write", "api"]), max_items = 13)]
    privileges: Option<Vec<String>>,
    /// The only group they see, by id or by a name that only one has; null or empty for none.
    #[schema(example = json!(null))]
    group: Option<String>,
    /// The only device they see, by id, identifier or a name that only one has; null or empty for none.
    #[schema(example = json!(null))]
    device_id: Option<String>,
    /// How many devices made by them may exist.
    #[schema(example = 10, maximum = 1_000_000)]
    admin_devices: Option<u32>,
    /// The user cannot sign in before this instant.
    #[schema(example = "2026-05-01T00:00:00Z", format = DateTime)]
    from: Option<String>,
    /// Not valid from then on; later than `from`. Null or `9999-12-31T23:59:59Z` for never.
    #[schema(example = "2027-05-01T00:00:00Z", format = DateTime)]
    expires: Option<String>,
    /// A new password, which ends their sessions. Left out or null, the present one stays. One's own is changed with
    /// `PUT /api/session/password`.
    #[schema(example = "correct horse battery staple", min_length = 10, max_length = 128, write_only)]
    password: Option<String>,
}

/// One right.
#[derive(ToSchema)]
#[schema(as = Privilege)]
#[expect(dead_code, reason = "describes what is read and answered")]
enum PrivilegeName {
    #[schema(rename = "owner")]
    Owner,
    #[schema(rename = "admin")]
    Admin,
    #[schema(rename = "devices.write")]
    DevicesWrite,
    #[schema(rename = "groups.write")]
    GroupsWrite,
    #[schema(rename = "users.write")]
    UsersWrite,
    #[schema(rename = "locations.write")]
    LocationsWrite,
    #[schema(rename = "alerts.write")]
    AlertsWrite,
    #[schema(rename = "commands.send")]
    CommandsSend,
    #[schema(rename = "rules.write")]
    RulesWrite,
    #[schema(rename = "api")]
    Api,
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
    fields.ignore(ENVELOPE);
    fields.ignore(READ_ONLY);
    let name = fields.text("name").chars(1..=NAME_MAX).required();
    let email = fields.parsed("email", "an e-mail address such as ana@example.com").required();
    // An owner created on the command line has no country, and a later change must not require one.
    let may_lack_country = present.is_some_and(|user| user.profile.country.is_none());
    let country = fields.get::<Country>("country");
    let country = if may_lack_country { Some(country.nullable()) } else { country.required().map(Some) };
    let time_zone = fields.get("timeZone").required();
    let description = fields.multiline_text("description").chars(0..=DESCRIPTION_MAX).nullable();
    let message = fields.multiline_text("message").chars(0..=DESCRIPTION_MAX).nullable();
    let disabled = fields.boolean("disabled").or(false);
    let disabled_message = fields.multiline_text("disabledMessage").chars(0..=DESCRIPTION_MAX).nullable();
    let tags = fields.string_map("tags", TAGS).nullable();
    let privileges = read_privileges(&mut fields);
    let group = fields.get::<GroupId>("group").nullable();
    let device = fields.get::<DeviceId>("deviceId").nullable();
    let admin_devices = fields.integer("adminDevices", 0..=UserProfile::ADMIN_DEVICES_MAX).nullable();
    let from = fields.instant("from").nullable();
    let expires = fields.when("expires").nullable().and_then(InstantOrNever::instant);
    if let (Some(from), Some(expires)) = (from, expires)
        && expires <= from
    {
        fields.refuse("expires", "must be later than \"from\"");
    }
    let password = fields.text("password").nullable();
    let profile = fields.finish(|| {
        Some(UserProfile {
            name: name?,
            email: email?,
            country: country?,
            time_zone: time_zone?,
            description,
            message,
            disabled,
            disabled_message,
            tags: tags.unwrap_or_default(),
            privileges,
            group,
            device,
            admin_devices,
            from,
            expires,
        })
    });
    let profile = profile.map_err(invalid_body)?;
    if let Some(password) = &password {
        check_new_password("password", password, profile.email.as_str())?;
    }
    Ok(Wanted { profile, password: password.map(SecretString::from) })
}

/// Reads privileges by their names or the words of older systems, in any letter case.
fn read_privileges(fields: &mut Fields<'_>) -> Privileges {
    let words = fields.array::<String>("privileges", 0..=PRIVILEGES_MAX).unique().each(|word| {
        let known = Privileges::named(word);
        known.map(drop).ok_or_else(|| ParsePrivilegeError.to_string().into())
    });
    let words = words.nullable().unwrap_or_default();
    words
        .iter()
        .filter_map(|word| Privileges::named(word))
        .flat_map(|set| set.iter().collect::<Vec<_>>())
        .collect()
}

#[cfg(test)]
mod tests {
    use utoipa::PartialSchema as _;

    use super::*;

    #[test]
    fn the_document_names_every_privilege() {
        let schema = serde_json::to_value(PrivilegeName::schema()).unwrap();
        let names: Vec<&str> = Privilege::ALL.into_iter().map(Privilege::name).collect();
        assert_eq!(schema["enum"], serde_json::json!(names));
    }
}
