//! What a message says of its device. It is stored in one transaction with the message: all of it or nothing.

use crate::alerts::alert::Alert;
use crate::alerts::emergency::EmergencyStep;
use crate::alerts::sos_notice::SosNotice;
use crate::devices::device_file::NewDeviceFile;
use crate::gateways::gateway::{MessageResult, NewMessage, RawMessage, Reporter};
use crate::id::AccountId;
use crate::locations::location::{DuplicateRule, Location, Outcome};

/// What a message says of one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageContents {
    /// Alarms of a report with a position are part of its location, from which the rule engine raises them.
    pub locations: Vec<Location>,
    /// Alarms of reports without a position.
    pub alerts: Vec<Alert>,
    /// Steps of emergencies, in the order of the message.
    pub steps: Vec<EmergencyStep>,
    /// Files that the message completed.
    pub files: Vec<NewDeviceFile>,
    /// Of whom people are notified if the device is expired; set if the message is an SOS.
    pub sos: Option<SosNotice>,
}

impl MessageContents {
    /// Adds what a later message says.
    pub fn append(&mut self, mut later: Self) {
        self.locations.append(&mut later.locations);
        self.alerts.append(&mut later.alerts);
        self.steps.append(&mut later.steps);
        self.files.append(&mut later.files);
        self.sos = later.sos.or(self.sos.take());
    }

    /// How many alerts, steps and files it has.
    pub fn attachments(&self) -> usize {
        self.alerts.len() + self.steps.len() + self.files.len()
    }

    /// Whether it has nothing.
    pub fn is_empty(&self) -> bool {
        self.locations.is_empty() && self.attachments() == 0
    }
}

impl From<Vec<Location>> for MessageContents {
    fn from(locations: Vec<Location>) -> Self {
        Self { locations, ..Self::default() }
    }
}

/// Which of the contents of a message are new.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredContents {
    /// The outcome of each location.
    pub locations: Vec<Outcome>,
    /// The outcome of each alert.
    pub alerts: Vec<Outcome>,
    /// The outcome of each step of an emergency.
    pub steps: Vec<Outcome>,
    /// The outcome of each file.
    pub files: Vec<Outcome>,
}

impl StoredContents {
    fn outcomes(&self) -> impl Iterator<Item = Outcome> + '_ {
        [&self.locations, &self.alerts, &self.steps, &self.files].into_iter().flatten().copied()
    }

    /// Whether something is new.
    pub fn is_new(&self) -> bool {
        self.outcomes().any(|outcome| outcome == Outcome::Accepted)
    }

    /// The result of a message that was read: a duplicate if it says something, and all of it was stored before.
    pub fn result(&self) -> MessageResult {
        let is_something = self.outcomes().next().is_some();
        if is_something && !self.is_new() { MessageResult::Duplicate } else { MessageResult::Decoded }
    }

    /// Adds the outcomes of a further part of the same contents.
    pub fn append(&mut self, mut later: Self) {
        self.locations.append(&mut later.locations);
        self.alerts.append(&mut later.alerts);
        self.steps.append(&mut later.steps);
        self.files.append(&mut later.files);
    }
}

/// A message that was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessage {
    /// What became of it.
    pub result: MessageResult,
    /// Which of its contents are new; none are if the device is expired.
    pub contents: StoredContents,
}

/// A request that may tell of several devices, with what it says.
#[derive(Clone, Debug)]
pub struct NewRequest {
    /// The account of the gateway that it came by.
    pub account: AccountId,
    /// The request as a raw message, and its result; `None` if somebody else stores it.
    pub message: Option<(NewMessage, MessageResult)>,
    /// When locations count as stored.
    pub duplicate_rule: DuplicateRule,
    /// What it says, each device once.
    pub devices: Vec<(Reporter, MessageContents)>,
    /// Whether alerts are stored as ended and nobody is notified: what they tell is long past.
    pub is_past: bool,
}

/// Messages that an earlier version stored, to be searched for alerts that were not stored with them.
#[derive(Clone, Debug)]
pub struct SearchedMessages {
    /// The account of the messages.
    pub account: AccountId,
    /// The id after which they were read.
    pub after: i64,
    /// The last id that was examined; `None` if there are no more messages.
    pub to: Option<i64>,
    /// Those that were decoded, oldest first.
    pub messages: Vec<RawMessage>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_a_duplicate_if_all_it_says_was_stored_before() {
        use Outcome::{Accepted, Duplicate};
        let check = |locations: &[Outcome], alerts: &[Outcome], expect| {
            let stored = StoredContents {
                locations: locations.to_vec(),
                alerts: alerts.to_vec(),
                ..StoredContents::default()
            };
            assert_eq!(stored.result(), expect, "{stored:?}");
        };
        check(&[], &[], MessageResult::Decoded);
        check(&[Duplicate], &[], MessageResult::Duplicate);
        check(&[], &[Duplicate], MessageResult::Duplicate);
        check(&[Duplicate, Accepted], &[], MessageResult::Decoded);
        check(&[Duplicate], &[Accepted], MessageResult::Decoded);
    }
}
