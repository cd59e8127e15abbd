//! The ids in the path of each request: of objects that are made for it.

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::devices::device_file::NewDeviceFile;
use perigee_core::gateways::message_contents::MessageContents;
use perigee_core::id::{AlertId, AlertNoteId, DeliveryId, DeviceId, FileId, PlanId, PlanLinkId, WebhookId};
use perigee_core::locations::location::{Latitude, Location, Longitude, Readings, TimeRange};
use perigee_core::page::PageRequest;
use perigee_core::plans::NewPlanLink;
use perigee_core::store::{Alerts, DeviceFiles, Locations, PlanLinks as _, RawMessages, Timelines, Webhooks};
use perigee_core::time::{Clock as _, Timestamp};
use perigee_core::webhooks::webhook::NewDelivery;
use perigee_server::auth::Secret;

use super::made::*;
use super::object::{Object, missing};
use super::rows::Kind;
use super::world::World;
use crate::support::Tenant;
use crate::support::people::Traits;

impl World {
    pub(super) fn device_of(&self, object: Object) -> DeviceId {
        match object {
            Object::Own => self.device,
            Object::OtherGroup => self.other_device,
            _ => self.foreign_device,
        }
    }

    /// The id of a note about the alert in this path; of none if there is no such alert.
    pub(super) async fn note_of(&self, path: &str) -> AlertNoteId {
        let alert = path.split('/').nth(3).and_then(|text| text.parse::<AlertId>().ok());
        for tenant in [&self.first, &self.second] {
            let Some(alert) = alert else { break };
            let actor = Actor::operator(tenant.account.id);
            let made = self.app.store.add_alert_note(&actor, alert, "Seen".to_owned(), None).await;
            if let Ok(made) = made {
                return made.into_inner().id;
            }
        }
        AlertNoteId::from_i64(1)
    }

    /// A traveller's link to the plan of a path.
    pub(super) async fn link_of(&self, path: &str) -> PlanLinkId {
        let plan = path.split('/').nth(3).and_then(|text| text.parse::<PlanId>().ok());
        for tenant in [&self.first, &self.second] {
            let Some(plan) = plan else { break };
            let actor = Actor::operator(tenant.account.id);
            let secret = Secret::generate().expose().to_owned();
            let new = NewPlanLink { name: None, until: None, secret };
            if let Ok(made) = self.app.store.create_plan_link(&actor, plan, new, None).await {
                return made.into_inner().id;
            }
        }
        PlanLinkId::from_i64(1)
    }

    /// A file of the device a path names, if there is that device.
    pub(super) async fn file_of(&self, path: &str) -> String {
        let device = path.split('/').find_map(|part| part.parse::<DeviceId>().ok());
        for tenant in [&self.first, &self.second] {
            let Some(device) = device else { break };
            let reporter = reporter(Scope::for_operator(tenant.account.id), device);
            let (name, bytes) = ("a.jpg".to_owned(), b"\xff\xd8\xff".to_vec());
            let new = NewDeviceFile { captured_at: None, name, source: "jt808", bytes };
            let contents = MessageContents { files: vec![new], ..MessageContents::default() };
            if self.app.store.store_message(&reporter, raw_message(), contents).await.is_ok() {
                let page = PageRequest::first(1);
                let files = self.app.store.list_files(reporter.scope, device, page).await.unwrap();
                return files.items[0].id.to_string();
            }
        }
        FileId::from_i64(1).to_string()
    }

    /// A delivery of the webhook a path names, if there is that webhook.
    pub(super) async fn delivery_of(&self, path: &str) -> String {
        let webhook = path.split('/').find_map(|part| part.parse::<WebhookId>().ok());
        for tenant in [&self.first, &self.second] {
            let new = NewDelivery {
                message: "m".into(),
                kind: "webhook.test".into(),
                device: None,
                body: "{}".into(),
            };
            if let Some(webhook) = webhook
                && let Ok(made) =
                    self.app.store.add_delivery(&Actor::operator(tenant.account.id), webhook, new).await
            {
                return made.id.to_string();
            }
        }
        DeliveryId::from_i64(1).to_string()
    }

    /// The path segment that names the object; a fresh one where the operation may spoil it for others.
    pub(super) async fn name_of(&self, kind: Kind, object: Object, fresh: bool) -> String {
        let (tenant, group) = match object {
            Object::Own => (&self.first, Some(self.group)),
            Object::OtherGroup => (&self.first, Some(self.other_group)),
            Object::OtherAccount => (&self.second, None),
            Object::Missing => return missing(kind),
            Object::Malformed => return "not-an-id".to_owned(),
        };
        match kind {
            Kind::None => String::new(),
            Kind::Template => "alert-sms".to_owned(),
            // The own one is somebody's scope and outlives every attempt to delete it.
            Kind::Device if fresh && object != Object::Own => {
                make_device(&self.app, tenant, group).await.to_string()
            }
            Kind::Device => self.device_of(object).to_string(),
            Kind::Group => match group {
                Some(group) if object == Object::Own || !fresh => group.to_string(),
                _ => make_group(&self.app, tenant).await.to_string(),
            },
            Kind::User => {
                let name = format!("u{}", rand::random::<u64>());
                self.app.person(tenant, &name, Traits { group, ..Traits::default() }).await.id.to_string()
            }
            Kind::Alert => make_alert(&self.app, tenant, self.device_of(object)).await.to_string(),
            Kind::Notification => make_notification(&self.app, tenant, self.device_of(object)).await,
            Kind::Share | Kind::Secret => {
                let device = self.device_of(object);
                let (id, secret) = make_share(&self.app, tenant, device).await;
                if kind == Kind::Secret { secret } else { id }
            }
            Kind::Webhook => {
                // One for each request, or the account would soon have enough of them.
                let page = PageRequest::first(1);
                let scope = Scope::for_operator(tenant.account.id);
                match self.app.store.list_webhooks(scope, page).await.unwrap().items.first() {
                    Some(webhook) if !fresh => webhook.id.to_string(),
                    _ => make_webhook(&self.app, tenant).await.id.to_string(),
                }
            }
            Kind::Rule => {
                let device = match object {
                    Object::Own => self.device,
                    Object::OtherGroup => self.other_device,
                    _ => self.foreign_device,
                };
                make_rule(&self.app, tenant, device).await
            }
            Kind::Geofence => make_fence(&self.app, tenant, group).await,
            Kind::Gateway => make_gateway(&self.app, tenant).await,
            Kind::Command => make_command(&self.app, tenant, self.device_of(object)).await,
            Kind::ConversationMessage => make_text(&self.app, tenant, self.device_of(object)).await,
            Kind::ContactGroup => make_contact_group(&self.app, tenant).await,
            Kind::PushSubscription => make_push_subscription(&self.app, tenant, tenant.owner.id).await,
            Kind::SavedReport => make_saved_report(&self.app, tenant).await,
            Kind::Driver => make_driver(&self.app, tenant).await.to_string(),
            Kind::Assignment => make_assignment(&self.app, tenant, self.device_of(object)).await,
            Kind::Segment => self.make_segment(tenant, self.device_of(object)).await,
            Kind::TimelineEdit => make_edit(&self.app, tenant, self.device_of(object)).await,
            Kind::Maintenance => make_plan(&self.app, tenant, self.device_of(object)).await,
            Kind::Plan => make_float_plan(&self.app, tenant, self.device_of(object)).await,
            Kind::RawMessage => make_raw_message(&self.app, tenant, self.device_of(object)).await,
        }
    }

    /// The first segment of a device, which stood for an hour.
    pub(super) async fn make_segment(&self, tenant: &Tenant, device: DeviceId) -> String {
        let app = &self.app;
        let actor = Actor::operator(tenant.account.id);
        let always = TimeRange { from: Timestamp::MIN, to: Timestamp::MAX };
        let find = || app.store.list_segments(actor.scope, device, always, None, 1);
        if find().await.unwrap().segments.is_empty() {
            let at = |minutes: i64| Location {
                time: app.clock().now().plus_seconds(-60 * minutes),
                latitude: Latitude::from_degrees(42.0).unwrap(),
                longitude: Longitude::from_degrees(-8.0).unwrap(),
                readings: Readings::default(),
            };
            app.store.store_locations(&actor, device, vec![at(60), at(30), at(1)]).await.unwrap();
            self.timelines.run_to_end().await;
        }
        find().await.unwrap().segments[0].id.to_string()
    }
}
