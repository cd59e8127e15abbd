//! The body of each request.

use perigee_core::access::actor::Origin;
use perigee_core::access::credential::{LinkPurpose as KeptPurpose, NewLink};
use perigee_core::store::{Credentials, PushSubscriptions};
use perigee_server::auth::Secret;
use perigee_server::auth::link::LinkPurpose;
use serde_json::{Value, json};

use super::identity::Identity;
use super::rows::Row;
use super::world::World;
use crate::support::people::{PASSWORD, Traits};

/// A password that somebody changes theirs to.
pub(super) const NEW_PASSWORD: &str = "nine lives of a harbour cat";

impl World {
    pub(super) async fn body_of(&self, row: &Row, identity: Identity) -> Value {
        let (owner, is_foreign) = (&self.first.owner, identity == Identity::OtherOwner);
        match row.operation {
            "POST /api/Auth/Token" => json!({ "userName": owner.email, "apiKey": owner.api_key }),
            "POST /api/session" => json!({ "email": owner.email, "password": PASSWORD }),
            "POST /api/session/passwordReset" => {
                json!({ "token": self.make_link().await, "newPassword": NEW_PASSWORD })
            }
            "POST /api/account/pushSubscriptions" => {
                let keys = self.app.store.list_push_keys().await.unwrap();
                let key = perigee_notify::push::PushKey::from_pkcs8(&keys[0].pkcs8).unwrap();
                json!({
                    "endpoint": format!("https://push.example.com/{}", rand::random::<u64>()),
                    "p256dh": key.public(),
                    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
                    "applicationServerKey": key.public(),
                })
            }
            "POST /api/users" | "PUT /api/users/{userId}" => {
                let email = format!("u{}@new.test", rand::random::<u64>());
                json!({ "name": "New", "email": email, "country": "ES", "timeZone": "UTC" })
            }
            // A PUT without them would take the device out of its group.
            "PUT /api/groups/{groupId}" if !is_foreign => {
                json!({ "name": "Changed", "devices": [self.device] })
            }
            // Who sees one device only sees none of its groups, and moves it out of none.
            "PUT /api/devices/{deviceId}" if !is_foreign && identity != Identity::DeviceScoped => {
                json!({ "name": "Changed", "groups": [self.group] })
            }
            "POST /api/shares" => {
                let device = if is_foreign { self.foreign_device } else { self.device };
                json!({ "deviceId": device, "until": "2026-02-01T00:00:00Z" })
            }
            "POST /api/rules" | "POST /api/rules/test" | "PUT /api/rules/{ruleId}" => {
                let device = if is_foreign { self.foreign_device } else { self.device };
                json!({ "name": "New", "devices": [device], "conditions": [{ "type": "sos" }] })
            }
            "POST /api/plans" | "PUT /api/plans/{planId}" => {
                let device = if is_foreign { self.foreign_device } else { self.device };
                json!({ "name": "Vigo to Horta", "devices": [device] })
            }
            "POST /api/maintenance" | "PUT /api/maintenance/{maintenanceId}" => {
                let device = if is_foreign { self.foreign_device } else { self.device };
                let mut body = (row.body)();
                body["deviceId"] = json!(device);
                body
            }
            _ => (row.body)(),
        }
    }

    /// The secret of a link that sets somebody's password.
    pub(super) async fn make_link(&self) -> String {
        let name = format!("l{}", rand::random::<u64>());
        let person = self.app.person(&self.first, &name, Traits::default()).await;
        let secret = Secret::generate();
        let new = NewLink {
            user: person.id,
            purpose: KeptPurpose::Reset,
            hash: *LinkPurpose::PasswordReset.hash(&secret).as_bytes(),
            expires: self.app.app.clock.now().plus_seconds(3_600),
        };
        self.app.store.create_link(&Origin::command(), new).await.unwrap();
        secret.expose().to_owned()
    }
}
