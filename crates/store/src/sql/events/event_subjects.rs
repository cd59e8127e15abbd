//! Reading the subjects of many events at once.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::str::FromStr;

use perigee_core::access::actor::Scope;
use perigee_core::events::event::{Event, EventObject, Subject};
use perigee_core::id::{
    AlertId, CommandId, ConversationMessageId, DeviceId, DriverId, GroupId, SegmentId, UserId,
};
use perigee_core::store::Result;

use crate::Tx;
use crate::sql::conversations;
use crate::sql::devices::{self, commands};
use crate::sql::{access::user_rows, accounts, alerts, drivers, groups, timeline};

/// Attaches to each event its subject, in its current state and as this scope sees it.
pub(in crate::sql) async fn attach(tx: &Tx, scope: Scope, events: &mut [Event]) -> Result<()> {
    let (mut alert_ids, mut device_ids) = (BTreeSet::new(), BTreeSet::new());
    let (mut group_ids, mut user_ids) = (BTreeSet::new(), BTreeSet::new());
    let (mut command_ids, mut trip_ids) = (BTreeSet::new(), BTreeSet::new());
    let mut text_ids = BTreeSet::new();
    let mut driver_ids = BTreeSet::new();
    for event in &*events {
        match event.kind.subject() {
            Subject::Alert => alert_ids.extend(event.subject.parse::<AlertId>().ok()),
            Subject::Command => command_ids.extend(event.subject.parse::<CommandId>().ok()),
            Subject::ConversationMessage => {
                text_ids.extend(event.subject.parse::<ConversationMessageId>().ok());
            }
            Subject::Trip => trip_ids.extend(event.subject.parse::<SegmentId>().ok()),
            Subject::Driver => driver_ids.extend(event.subject.parse::<DriverId>().ok()),
            Subject::Device => device_ids.extend(event.device),
            Subject::Group => group_ids.extend(event.subject.parse::<GroupId>().ok()),
            Subject::User => user_ids.extend(event.subject.parse::<UserId>().ok()),
            Subject::Location
            | Subject::Account
            | Subject::Webhook
            | Subject::Gateway
            | Subject::Maintenance
            | Subject::Plan => {}
        }
    }
    let ids = |ids: BTreeSet<AlertId>| ids.into_iter().map(AlertId::as_i64).collect::<Vec<_>>();
    let alerts = by_id(alerts::find_many(tx, scope, &ids(alert_ids)).await?, |alert| alert.id);
    let mut devices = HashMap::new();
    if !device_ids.is_empty()
        && let Some(account) = accounts::find(tx, scope.account).await?
    {
        let ids: Vec<i64> = device_ids.into_iter().map(DeviceId::as_i64).collect();
        devices = by_id(devices::read::find_many(tx, &account, scope, &ids).await?, |device| device.id);
    }
    let mut commands = HashMap::new();
    if !command_ids.is_empty() {
        let ids: Vec<i64> = command_ids.into_iter().map(CommandId::as_i64).collect();
        commands = by_id(commands::find_many(tx, scope, &ids).await?, |command| command.id);
    }
    let ids: Vec<i64> = text_ids.into_iter().map(ConversationMessageId::as_i64).collect();
    let texts = by_id(conversations::find_many(tx, scope, &ids).await?, |text| text.id);
    let ids: Vec<i64> = trip_ids.into_iter().map(SegmentId::as_i64).collect();
    let trips = by_id(timeline::find_many(tx, scope, &ids).await?, |trip| trip.id);
    let ids: Vec<i64> = driver_ids.into_iter().map(DriverId::as_i64).collect();
    let drivers = by_id(drivers::find_many(tx, scope, &ids).await?, |driver| driver.id);
    let ids: Vec<i64> = group_ids.into_iter().map(GroupId::as_i64).collect();
    let groups = by_id(groups::find_many(tx, scope, &ids).await?, |group| group.id);
    let ids: Vec<i64> = user_ids.into_iter().map(UserId::as_i64).collect();
    let users = by_id(user_rows::find_many(tx, scope.account, &ids).await?, |user| user.id);
    for event in events {
        let object = match event.kind.subject() {
            Subject::Alert => of(&alerts, &event.subject).map(EventObject::Alert),
            Subject::Command => of(&commands, &event.subject).map(EventObject::Command),
            Subject::ConversationMessage => of(&texts, &event.subject).map(EventObject::ConversationMessage),
            Subject::Trip => of(&trips, &event.subject).map(EventObject::Trip),
            Subject::Driver => of(&drivers, &event.subject).map(EventObject::Driver),
            Subject::Device => {
                event.device.and_then(|id| devices.get(&id)).cloned().map(Box::new).map(EventObject::Device)
            }
            Subject::Group => of(&groups, &event.subject).map(EventObject::Group),
            Subject::User => of(&users, &event.subject).map(EventObject::User),
            Subject::Location
            | Subject::Account
            | Subject::Webhook
            | Subject::Gateway
            | Subject::Maintenance
            | Subject::Plan => None,
        };
        if let Some(object) = object {
            event.object = object;
        }
    }
    Ok(())
}

fn by_id<I: Eq + Hash, T>(subjects: Vec<T>, id: impl Fn(&T) -> I) -> HashMap<I, T> {
    subjects.into_iter().map(|subject| (id(&subject), subject)).collect()
}

fn of<I: Eq + Hash + FromStr, T: Clone>(subjects: &HashMap<I, T>, subject: &str) -> Option<Box<T>> {
    subjects.get(&subject.parse().ok()?).cloned().map(Box::new)
}
