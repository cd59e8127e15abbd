//! The audience of an alert: all recipients of routings, the rule and watch lists, with the source of each.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::alerts::severity::Severity;
use crate::devices::watch_list::WatchList;
use crate::id::{ContactGroupId, UserId, WebhookId};
use crate::notifications::contact::Contact;
use crate::notifications::escalation::{Escalation, EscalationStep};
use crate::notifications::push::{Browser, QuietHours};
use crate::notifications::routing::{
    AlertRouting, Recipient, RoutedContacts, RoutedUser, RoutedWebhook, RoutingHolder,
};
use crate::rules::schedule::Schedule;
use crate::time::Timestamp;
use crate::zone::Zone;

/// The users and contact groups that routings name by id. Those that are missing here are not notified: users who are
/// deleted or not active, and deleted groups.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    /// Active users, each with their address.
    pub users: HashMap<UserId, Contact>,
    /// The browsers that these users subscribed.
    pub browsers: HashMap<UserId, Vec<Browser>>,
    /// The contacts of each group.
    pub contact_groups: HashMap<ContactGroupId, Vec<Contact>>,
}

/// The source that names a recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The rule that raised the alert.
    Rule,
    /// The routing of the device.
    Device,
    /// The routing of a group of the device.
    Group,
    /// The routing of the account.
    Account,
    /// The recipient's own watch list.
    WatchList,
}

impl Source {
    /// Every source, in the order of the API's description.
    pub const ALL: [Self; 5] = [Self::Rule, Self::Device, Self::Group, Self::Account, Self::WatchList];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Device => "device",
            Self::Group => "group",
            Self::Account => "account",
            Self::WatchList => "watchList",
        }
    }
}

impl From<RoutingHolder> for Source {
    fn from(holder: RoutingHolder) -> Self {
        match holder {
            RoutingHolder::Device(_) => Self::Device,
            RoutingHolder::Group(_) => Self::Group,
            RoutingHolder::Account => Self::Account,
        }
    }
}

/// Everybody who may be notified of an alert. One address may be in it several times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audience {
    /// Recipients with their sources.
    pub recipients: Vec<(Source, Recipient)>,
    /// Webhooks that get the alert.
    pub webhooks: Vec<RoutedWebhook>,
    /// Escalations of a critical alert that nobody acknowledges. Each runs on its own.
    pub escalations: Vec<Escalation>,
    /// Quiet hours of browsers among the recipients, by address.
    pub quiet: BTreeMap<String, QuietHours>,
}

impl Audience {
    /// Adds everybody whom a routing names.
    pub fn add(&mut self, source: Source, routing: &AlertRouting, directory: &Directory) {
        let AlertRouting { recipients, users, contact_groups, webhooks, escalation } = routing;
        self.add_named(source, (recipients, users, contact_groups), directory);
        self.webhooks.extend(webhooks.iter().cloned());
        self.escalations.extend(escalation.clone());
    }

    /// Adds a user whose watch list covers the device, with the browsers that the user subscribed.
    pub fn add_watcher(&mut self, contact: Contact, browsers: &[Browser], list: &WatchList) {
        let recipient = to_recipient(contact, list.minimum_severity, list.schedule.as_ref());
        self.recipients.push((Source::WatchList, recipient));
        self.add_browsers(Source::WatchList, browsers, list.minimum_severity, list.schedule.as_ref());
    }

    /// Adds browsers of a user. Both the severity of whatever names the user and that of the browser must be reached.
    fn add_browsers(
        &mut self,
        source: Source,
        browsers: &[Browser],
        minimum_severity: Severity,
        schedule: Option<&Schedule>,
    ) {
        for Browser { contact, minimum_severity: own, quiet } in browsers {
            self.quiet.insert(contact.destination.as_str().to_owned(), quiet.clone());
            let recipient = to_recipient(contact.clone(), minimum_severity.max(*own), schedule);
            self.recipients.push((source, recipient));
        }
    }

    /// Adds recipients by address, users with their browsers, and the contacts of contact groups.
    fn add_named(
        &mut self,
        source: Source,
        (recipients, users, contact_groups): (&[Recipient], &[RoutedUser], &[RoutedContacts]),
        directory: &Directory,
    ) {
        self.recipients.extend(recipients.iter().map(|recipient| (source, recipient.clone())));
        for routed in users {
            let (severity, schedule) = (routed.minimum_severity, routed.schedule.as_ref());
            let Some(contact) = directory.users.get(&routed.user).cloned() else { continue };
            self.recipients.push((source, to_recipient(contact, severity, schedule)));
            let browsers = directory.browsers.get(&routed.user).map(Vec::as_slice).unwrap_or_default();
            self.add_browsers(source, browsers, severity, schedule);
        }
        for routed in contact_groups {
            let contacts = directory.contact_groups.get(&routed.group).into_iter().flatten().cloned();
            let recipient =
                |contact| to_recipient(contact, routed.minimum_severity, routed.schedule.as_ref());
            self.recipients.extend(contacts.map(|contact| (source, recipient(contact))));
        }
    }

    /// Adds everybody whom a step of an escalation names. The severities and schedules of routings do not apply to
    /// them.
    pub fn add_step(&mut self, source: Source, step: &EscalationStep, directory: &Directory) {
        let EscalationStep { recipients, users, contact_groups, .. } = step;
        self.add_named(source, (recipients, users, contact_groups), directory);
    }

    /// Whether nobody is in it: no message is sent now, and no escalation sends one later.
    pub fn is_nobody(&self) -> bool {
        self.recipients.is_empty() && self.escalations.is_empty()
    }

    /// The webhooks that get an alert of this severity at this instant, each once.
    pub fn webhooks_at(&self, severity: Severity, now: Timestamp, zone: &Zone) -> BTreeSet<WebhookId> {
        let wants = |routed: &&RoutedWebhook| {
            severity >= routed.minimum_severity
                && routed.schedule.as_ref().is_none_or(|schedule| schedule.contains(now, zone))
        };
        self.webhooks.iter().filter(wants).map(|routed| routed.webhook).collect()
    }
}

fn to_recipient(contact: Contact, minimum_severity: Severity, schedule: Option<&Schedule>) -> Recipient {
    let Contact { destination, preferences } = contact;
    Recipient { destination, preferences, minimum_severity, schedule: schedule.cloned() }
}

#[cfg(test)]
mod tests {
    use super::super::Channel;
    use super::*;
    use crate::notifications::routing::{Destination, Preferences};

    #[test]
    fn users_and_groups_get_the_severity_of_the_routing_that_names_them() {
        let contact = |address: &str| Contact {
            destination: Destination::Email(address.parse().unwrap()),
            preferences: Preferences::default(),
        };
        let phone = Browser {
            contact: Contact {
                destination: Destination::parse(Channel::PUSH, "psb_01jc2m8k4n5p7").unwrap(),
                preferences: Preferences::default(),
            },
            minimum_severity: Severity::Info,
            quiet: QuietHours::default(),
        };
        let (ana, deleted, watch) = (UserId::from_i64(1), UserId::from_i64(2), ContactGroupId::from_i64(3));
        let directory = Directory {
            users: HashMap::from([(ana, contact("ana@example.com"))]),
            contact_groups: HashMap::from([(
                watch,
                vec![contact("a@example.com"), contact("b@example.com")],
            )]),
            browsers: HashMap::from([(ana, vec![phone])]),
        };
        let user = |user| RoutedUser { user, minimum_severity: Severity::Critical, schedule: None };
        let routing = AlertRouting {
            users: vec![user(ana), user(deleted)],
            contact_groups: vec![RoutedContacts {
                group: watch,
                minimum_severity: Severity::Info,
                schedule: None,
            }],
            ..AlertRouting::default()
        };
        let mut audience = Audience::default();
        audience.add(Source::Rule, &routing, &directory);
        let notified: Vec<(&str, Severity)> = audience
            .recipients
            .iter()
            .map(|(_, one)| (one.destination.as_str(), one.minimum_severity))
            .collect();
        assert_eq!(
            notified,
            [
                ("ana@example.com", Severity::Critical),
                ("psb_01jc2m8k4n5p7", Severity::Critical),
                ("a@example.com", Severity::Info),
                ("b@example.com", Severity::Info)
            ]
        );
    }
}
