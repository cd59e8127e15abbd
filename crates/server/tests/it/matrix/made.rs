//! Makes one object of each kind.

use std::collections::BTreeMap;

use perigee_core::access::actor::{Actor, Reach, Scope};
use perigee_core::alerts::alert::Alert;
use perigee_core::alerts::severity::Severity;
use perigee_core::devices::command::{CommandFilter, CommandKind, CommandState, NewCommand};
use perigee_core::devices::conversation::{Carrier, NewOutgoing, TextKind, TextState};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::drivers::{AssignmentSettings, DriverSettings};
use perigee_core::gateways::account_gateway::NewGateway;
use perigee_core::gateways::gateway::{MessageFilter, NewMessage, Reporter};
use perigee_core::gateways::message_contents::MessageContents;
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::groups::group::GroupSettings;
use perigee_core::id::{AlertId, DeviceId, DriverId, GroupId, SessionId, UserId};
use perigee_core::locations::geofence::{GeofenceSettings, Position, Shape};
use perigee_core::locations::location::{DuplicateRule, Latitude, Longitude, TimeRange};
use perigee_core::maintenance::{
    CycleStart, MaintenanceFilter, MaintenanceLimits, MaintenanceSettings, MaintenanceWarning,
};
use perigee_core::notifications::contact::ContactGroupSettings;
use perigee_core::notifications::notification::NotificationFilter;
use perigee_core::notifications::push::{NewPushSubscription, PushEndpoint, PushSettings};
use perigee_core::notifications::routing::{
    AlertRouting, Destination, Preferences, Recipient, RoutingHolder,
};
use perigee_core::page::PageRequest;
use perigee_core::plans::{CheckInRules, Grace, PlanKind, PlanSettings, PlanWords};
use perigee_core::reports::SavedReportSettings;
use perigee_core::rules::rule::{Condition, RuleSettings, RuleTarget};
use perigee_core::shares::share::{NewShare, ShareTarget};
use perigee_core::store::{
    AccountGateways, Alerts, Assignments, Commands, ContactGroups, Conversations, Devices, Drivers,
    Geofences, Groups, MaintenancePlans, Notifications, Plans as _, PushSubscriptions, RawMessages, Routing,
    Rules, SavedReports as _, Shares, Timelines, Webhooks,
};
use perigee_core::time::Timestamp;
use perigee_core::timeline::EditKind;
use perigee_core::webhooks::webhook::{Webhook, WebhookSecret, WebhookSettings};
use perigee_server::auth::Secret;

use crate::support::{Tenant, TestApp};

/// An edit at a time at which nothing is known of the device.
pub(super) async fn make_edit(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let at = Timestamp::from_millis(rand::random::<u32>().into());
    let edit = (EditKind::Split, TimeRange { from: at, to: at });
    let actor = Actor::operator(tenant.account.id);
    let made = app.store.add_timeline_edit(&actor, device, edit, None).await.unwrap();
    made.into_inner().id.to_string()
}

pub(super) async fn make_gateway(app: &TestApp, tenant: &Tenant) -> String {
    let new = NewGateway {
        feed: "osmand".to_owned(),
        name: None,
        device: None,
        options: "{}".to_owned(),
        secret_hash: rand::random(),
        polled: false,
    };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_gateway(&actor, new, None).await.unwrap().into_inner().id.to_string()
}

pub(super) async fn make_command(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let actor = Actor::operator(tenant.account.id);
    let filter = CommandFilter { device: Some(device), state: Some(CommandState::Queued) };
    let queued = app.store.list_commands(actor.scope, filter, PageRequest::first(1)).await.unwrap();
    if let Some(command) = queued.items.first() {
        return command.id.to_string();
    }
    let deadline = app.app.clock.now().plus_seconds(86_400);
    let new = NewCommand { kind: CommandKind::RebootDevice, values: "{}".to_owned(), deadline };
    app.store.create_command(&actor, device, new, None).await.unwrap().into_inner().id.to_string()
}

/// A message that waits for its provider.
pub(super) async fn make_text(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let actor = Actor::operator(tenant.account.id);
    let messages = app.store.list_conversation(actor.scope, device, PageRequest::first(1)).await.unwrap();
    if let Some(queued) = messages.items.first().filter(|message| message.state == TextState::Queued) {
        return queued.id.to_string();
    }
    let carrier = Carrier::Gateway {
        gateway: perigee_core::id::GatewayId::from_i64(1),
        feed: "garmin".to_owned(),
        address: "300434030000000".to_owned(),
    };
    let deadline = app.app.clock.now().plus_seconds(86_400);
    let text = "hello".to_owned();
    let new = NewOutgoing { kind: TextKind::Text, text, interval_s: None, carrier, deadline };
    let sent = app.store.send_texts(&actor, device, vec![new], None).await.unwrap().into_inner();
    sent[0].id.to_string()
}

pub(super) async fn make_contact_group(app: &TestApp, tenant: &Tenant) -> String {
    // One that is there already, or the account would soon have enough of them.
    let scope = Scope::for_operator(tenant.account.id);
    let there = app.store.list_contact_groups(scope, PageRequest::first(1)).await.unwrap().items.pop();
    if let Some(group) = there {
        return group.id.to_string();
    }
    let settings = ContactGroupSettings { name: "Night watch".to_owned(), contacts: Vec::new() };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_contact_group(&actor, settings, None).await.unwrap().into_inner().id.to_string()
}

/// A browser of the user, the same for each user.
pub(super) async fn make_push_subscription(app: &TestApp, tenant: &Tenant, user: UserId) -> String {
    let new = NewPushSubscription {
        session: SessionId::from_i64(1),
        endpoint: PushEndpoint {
            url: format!("https://push.example.com/{user}"),
            p256dh: vec![4; 65],
            auth: vec![7; 16],
            key_id: "key".to_owned(),
        },
        endpoint_hash: user.to_string(),
        settings: PushSettings {
            name: "Firefox on Linux".to_owned(),
            minimum_severity: Severity::Warning,
            quiet_hours: None,
            critical_in_quiet_hours: true,
        },
    };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_push_subscription(&actor, user, new, None).await.unwrap().into_inner().id.to_string()
}

pub(super) async fn make_saved_report(app: &TestApp, tenant: &Tenant) -> String {
    // One that is there already, or the account would soon have enough of them. Those of users are visible to their owners.
    let scope = Scope::for_operator(tenant.account.id);
    let listed = app.store.list_saved_reports(scope, tenant.owner.id, PageRequest::first(200)).await;
    if let Some(saved) = listed.unwrap().items.into_iter().find(|saved| saved.owner.is_none()) {
        return saved.id.to_string();
    }
    let report = serde_json::json!({ "kind": "trips", "period": "yesterday" });
    let settings = SavedReportSettings { name: "Trips".to_owned(), report, schedule: None };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_saved_report(&actor, settings, None).await.unwrap().into_inner().id.to_string()
}

pub(super) async fn make_driver(app: &TestApp, tenant: &Tenant) -> DriverId {
    let settings = DriverSettings { name: "Ana".to_owned(), ..DriverSettings::default() };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_driver(&actor, settings, None).await.unwrap().into_inner().id
}

/// An assignment at a time at which the device has no other.
pub(super) async fn make_assignment(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let driver = make_driver(app, tenant).await;
    let from = Timestamp::from_millis(i64::from(rand::random::<u32>()) * 1_000);
    let settings = AssignmentSettings { device, from, to: Some(from.plus_millis(1)) };
    let actor = Actor::operator(tenant.account.id);
    let made = app.store.create_assignment(&actor, driver, settings, None).await.unwrap();
    made.into_inner().id.to_string()
}

pub(super) fn reporter(scope: Scope, device: DeviceId) -> Reporter {
    Reporter {
        scope,
        device,
        identifier: "imei".to_owned(),
        model: None,
        reported_model: None,
        decoding: perigee_core::gateways::decoding::Decoding::new(),
        proposed_zone_minutes: None,
        proof: None,
    }
}

pub(super) fn raw_message() -> NewMessage {
    NewMessage {
        source: "gt06",
        peer: "192.0.2.1:5".to_owned(),
        identifier: None,
        bytes: vec![1],
        error: None,
        gateway: None,
        duplicate_rule: DuplicateRule::Content,
        keep: Keep::Always,
    }
}

/// A plan of a voyage of a device.
pub(super) async fn make_float_plan(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let settings = PlanSettings {
        name: "Vigo to Horta".to_owned(),
        kind: PlanKind::Voyage,
        description: None,
        is_template: false,
        devices: vec![device],
        travellers: Vec::new(),
        notify: None,
        craft: None,
        waypoints: Vec::new(),
        start: None,
        starts_itself: false,
        expected_arrival: None,
        ends_at_destination: false,
        time_zone: None,
        check_ins: CheckInRules::default(),
        grace: Grace::default(),
        words: PlanWords::default(),
    };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_plan(&actor, settings, None).await.unwrap().into_inner().id.to_string()
}

/// A plan of a device: the one that is there already, because a device has few.
pub(super) async fn make_plan(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let actor = Actor::operator(tenant.account.id);
    let filter = MaintenanceFilter { device: Some(device), group: None };
    let page = PageRequest::first(1);
    let there = app.store.list_maintenance_plans(actor.scope, &filter, page).await.unwrap().items.pop();
    if let Some(status) = there {
        return status.plan.id.to_string();
    }
    let at = app.app.clock.now().plus_seconds(-60);
    let settings = MaintenanceSettings {
        name: "Oil change".to_owned(),
        limits: MaintenanceLimits { distance_m: Some(15_000_000), ..MaintenanceLimits::default() },
        warning: MaintenanceWarning::default(),
        start: CycleStart { at, odometer_m: None, hour_meter_s: None },
        notes: None,
    };
    let made = app.store.create_maintenance_plan(&actor, device, settings, None).await.unwrap();
    made.into_inner().plan.id.to_string()
}

pub(super) async fn make_raw_message(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let scope = Scope::for_operator(tenant.account.id);
    let reporter = reporter(scope, device);
    app.store.store_message(&reporter, raw_message(), MessageContents::default()).await.unwrap();
    let filter = MessageFilter { device: Some(device), ..MessageFilter::default() };
    let messages = app.store.list_messages(scope, &filter, PageRequest::first(1)).await.unwrap();
    messages.items[0].id.to_string()
}

pub(super) async fn make_rule(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let settings = RuleSettings {
        name: "Rule".to_owned(),
        description: None,
        enabled: true,
        target: RuleTarget { devices: vec![device], ..RuleTarget::default() },
        conditions: vec![Condition::Sos],
        for_s: 0,
        cool_down_s: 0,
        max_accuracy_m: RuleSettings::MAX_ACCURACY_M,
        schedule: None,
        alert_name: None,
        text: None,
        critical: false,
        routing: AlertRouting::default(),
    };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_rule(&actor, settings, None).await.unwrap().into_inner().id.to_string()
}

/// A geofence made by somebody who sees this group.
pub(super) async fn make_fence(app: &TestApp, tenant: &Tenant, group: Option<GroupId>) -> String {
    let centre = Position { latitude: Latitude::from_e7(0), longitude: Longitude::from_e7(0) };
    let shape = Shape::Circle { centre, radius_m: 1.0 };
    let settings = GeofenceSettings { name: "Fence".to_owned(), description: None, shape };
    let reach = group.map_or(Reach::Account, Reach::Group);
    let actor = Actor::operator(tenant.account.id).limited_to(reach);
    app.store.create_geofence(&actor, settings, None).await.unwrap().into_inner().id.to_string()
}

pub(super) fn unused_key(app: &TestApp) -> perigee_core::access::credential::SigningKey {
    perigee_core::access::credential::SigningKey {
        kid: "unused".to_owned(),
        pkcs8: Vec::new(),
        creation: app.app.clock.now(),
        expires: None,
    }
}

pub(super) async fn make_group(app: &TestApp, tenant: &Tenant) -> GroupId {
    let settings = GroupSettings { name: "Group".to_owned(), ..GroupSettings::default() };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_group(&actor, settings, None).await.unwrap().into_inner().id
}

pub(super) async fn make_device(app: &TestApp, tenant: &Tenant, group: Option<GroupId>) -> DeviceId {
    let groups = group.into_iter().collect();
    let settings = DeviceSettings { name: "Device".to_owned(), groups, ..DeviceSettings::default() };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_device(&actor, settings, None).await.unwrap().into_inner().id
}

pub(super) async fn make_alert(app: &TestApp, tenant: &Tenant, device: DeviceId) -> AlertId {
    let alert = Alert {
        time: app.app.clock.now(),
        name: rand::random::<u64>().to_string(),
        text: None,
        position: None,
        critical: false,
        attributes: BTreeMap::new(),
    };
    let actor = Actor::operator(tenant.account.id);
    app.store.store_alerts(&actor, device, vec![alert]).await.unwrap()[0].1
}

/// The id of a message about this device, which is sent to somebody for the purpose.
pub(super) async fn make_notification(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let (actor, holder) = (Actor::operator(tenant.account.id), RoutingHolder::Device(device));
    let seen = app.store.get_routing(actor.scope, holder).await.unwrap().revision;
    let ana = Recipient {
        destination: Destination::Email("ana@example.com".parse().unwrap()),
        preferences: Preferences::default(),
        minimum_severity: Severity::Info,
        schedule: None,
    };
    let routing = Some(AlertRouting { recipients: vec![ana], ..AlertRouting::default() });
    app.store.replace_routing(&actor, holder, seen, routing).await.unwrap();
    let filter = NotificationFilter {
        alert: Some(make_alert(app, tenant, device).await),
        ..NotificationFilter::default()
    };
    let found = app.store.list_notifications(actor.scope, &filter, PageRequest::first(1)).await.unwrap();
    found.items[0].id.to_string()
}

pub(super) async fn make_webhook(app: &TestApp, tenant: &Tenant) -> Webhook {
    let settings = WebhookSettings {
        name: None,
        url: "https://example.com/hook".to_owned(),
        filter: perigee_core::events::event::EventFilter::default(),
        enabled: true,
    };
    let (actor, secret) = (Actor::operator(tenant.account.id), WebhookSecret(vec![1; 32]));
    app.store.create_webhook(&actor, settings, secret, None).await.unwrap().into_inner()
}

pub(super) async fn make_share(app: &TestApp, tenant: &Tenant, device: DeviceId) -> (String, String) {
    let now = app.app.clock.now();
    let secret = Secret::generate().expose().to_owned();
    let new = NewShare {
        target: ShareTarget::Device(device),
        name: None,
        from: now,
        until: now.plus_seconds(3_600),
        show_account: true,
        show_trips: false,
        conversation_delay_min: None,
        secret: secret.clone(),
    };
    let actor = Actor::operator(tenant.account.id);
    let share = app.store.create_share(&actor, new, None).await.unwrap().into_inner();
    (share.id.to_string(), secret)
}
