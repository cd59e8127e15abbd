//! The decoded content of a message. It is stored in one transaction with the message: all of it or nothing.

use std::collections::BTreeSet;

use crate::alerts::alert::Alert;
use crate::alerts::emergency::EmergencyStep;
use crate::alerts::sos_notice::SosNotice;
use crate::devices::conversation::NewText;
use crate::devices::device_file::NewDeviceFile;
use crate::gateways::gateway::{MessageResult, NewMessage, RawMessage, Reporter};
use crate::id::{AccountId, DeviceId};
use crate::locations::location::{DuplicateRule, Location, Outcome};

/// The content of a message about one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageContents {
    /// Locations, with the alarms of reports that have a position. The rule engine raises these alarms as alerts.
    pub locations: Vec<Location>,
    /// Alarms of reports without a position.
    pub alerts: Vec<Alert>,
    /// Steps of emergencies, in the order of the message.
    pub steps: Vec<EmergencyStep>,
    /// Files that the message completed.
    pub files: Vec<NewDeviceFile>,
    /// Texts that people wrote, for the conversation with the device.
    pub texts: Vec<NewText>,
    /// The notice that people get if the device is expired; set if the message is an SOS.
    pub sos: Option<SosNotice>,
}

impl MessageContents {
    /// Adds the content of a later message.
    pub fn append(&mut self, mut later: Self) {
        self.locations.append(&mut later.locations);
        self.alerts.append(&mut later.alerts);
        self.steps.append(&mut later.steps);
        self.files.append(&mut later.files);
        self.texts.append(&mut later.texts);
        self.sos = later.sos.or(self.sos.take());
    }

    /// How many alerts, steps, files and texts it has.
    pub fn attachments(&self) -> usize {
        self.alerts.len() + self.steps.len() + self.files.len() + self.texts.len()
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
    /// The outcome of each text.
    pub texts: Vec<Outcome>,
}

impl StoredContents {
    fn outcomes(&self) -> impl Iterator<Item = Outcome> + '_ {
        [&self.locations, &self.alerts, &self.steps, &self.files, &self.texts].into_iter().flatten().copied()
    }

    /// Whether something is new.
    pub fn is_new(&self) -> bool {
        self.outcomes().any(|outcome| outcome == Outcome::Accepted)
    }

    /// The result of a decoded message: a duplicate if it has content, and all of it was stored before.
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
        self.texts.append(&mut later.texts);
    }
}

/// A message that was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessage {
    /// The result of processing it.
    pub result: MessageResult,
    /// Which of its contents are new; none are if the device is expired.
    pub contents: StoredContents,
}

/// The devices whose reports a message contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MessageDevices {
    /// No device of the account.
    #[default]
    Unknown,
    /// This device alone. Users who may see the device may see the message.
    One(DeviceId),
    /// Several devices, or one device and unknown ones. The bytes show all of them, so only users who may see the whole
    /// account may see the message.
    Several(Vec<DeviceId>),
}

impl MessageDevices {
    /// The devices of a message, given the device of each report; `None` stands for an unknown one.
    pub fn of(reporting: impl IntoIterator<Item = Option<DeviceId>>) -> Self {
        let reporting: BTreeSet<Option<DeviceId>> = reporting.into_iter().collect();
        let known: Vec<DeviceId> = reporting.iter().copied().flatten().collect();
        match known.as_slice() {
            [] => Self::Unknown,
            [only] if reporting.len() == 1 => Self::One(*only),
            _ => Self::Several(known),
        }
    }

    /// The device, if all reports are from this device.
    pub const fn only(&self) -> Option<DeviceId> {
        match self {
            Self::One(device) => Some(*device),
            Self::Unknown | Self::Several(_) => None,
        }
    }

    /// The devices, if not all reports are from one device.
    pub fn several(&self) -> &[DeviceId] {
        match self {
            Self::Several(devices) => devices,
            Self::Unknown | Self::One(_) => &[],
        }
    }
}

/// A request as a raw message, whose result is known before it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestMessage {
    /// The request as received.
    pub message: NewMessage,
    /// The result of decoding it.
    pub result: MessageResult,
    /// The devices that report in it.
    pub devices: MessageDevices,
    /// SOS of unknown devices in it. They are recorded even if the message is not kept.
    pub sos: Vec<SosNotice>,
}

/// A request that may contain reports of several devices, with its contents.
#[derive(Clone, Debug)]
pub struct NewRequest {
    /// The account of the gateway that received it.
    pub account: AccountId,
    /// The request as a raw message; `None` if it is stored separately.
    pub message: Option<RequestMessage>,
    /// When locations count as already stored.
    pub duplicate_rule: DuplicateRule,
    /// The content, each device once.
    pub devices: Vec<(Reporter, MessageContents)>,
    /// Whether alerts are stored as ended and nobody is notified, because they are long past.
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

    #[test]
    fn a_message_is_of_one_device_if_all_its_reports_are() {
        let [a, b] = [1, 2].map(DeviceId::from_i64);
        let check = |reporting: &[Option<DeviceId>], expect: MessageDevices| {
            assert_eq!(MessageDevices::of(reporting.iter().copied()), expect, "{reporting:?}");
        };
        check(&[], MessageDevices::Unknown);
        check(&[None, None], MessageDevices::Unknown);
        check(&[Some(a), Some(a)], MessageDevices::One(a));
        check(&[Some(a), None], MessageDevices::Several(vec![a]));
        check(&[Some(b), Some(a), Some(b)], MessageDevices::Several(vec![a, b]));
    }
}
