//! Unknown devices that were heard since the last save: bounded in number and in bytes.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;

use parking_lot::Mutex;
use perigee_core::gateways::gateway::{HeardDevice, HeardMessage, HeardReport};
use perigee_core::id::AccountId;
use perigee_core::time::Timestamp;

/// Maximum number of devices between two saves; further ones are not remembered.
const DEVICES_MAX: usize = 1_000;
/// Maximum bytes of kept messages between two saves.
const BYTES_MAX: usize = 4 * 1024 * 1024;
/// Maximum characters of an identifier; a longer one cannot belong to a device.
const IDENTIFIER_MAX: usize = 100;

/// A message of an unknown device.
#[derive(Clone, Copy, Debug)]
pub struct UnknownDevice<'a> {
    /// The account whose gateway heard it; `None` for a listener that all accounts share.
    pub account: Option<AccountId>,
    /// The identifier under which it reported.
    pub identifier: &'a str,
    /// The protocol or the feed of the message.
    pub source: &'static str,
    /// IP address and port of the sender.
    pub peer: SocketAddr,
    /// Whether it was received by UDP.
    pub datagram: bool,
    /// The frame, as the decoder reads it.
    pub bytes: &'a [u8],
}

/// The unknown devices heard since the last save.
#[derive(Debug, Default)]
pub(super) struct HeardDevices(Mutex<Heard>);

#[derive(Debug, Default)]
struct Heard {
    devices: HashMap<(Option<AccountId>, String), HeardReport>,
    bytes: usize,
    /// Devices of shared listeners whose SOS is recorded; each is one of `devices`.
    recorded_sos: HashSet<String>,
}

/// Whether a text can be the identifier of a device.
pub(super) fn is_plausible(identifier: &str) -> bool {
    !identifier.trim().is_empty()
        && identifier.chars().count() <= IDENTIFIER_MAX
        && !identifier.chars().any(char::is_control)
}

impl HeardDevices {
    /// Whether this device was heard since the last save.
    pub(super) fn knows(&self, account: Option<AccountId>, identifier: &str) -> bool {
        self.0.lock().devices.contains_key(&(account, identifier.to_owned()))
    }

    /// Remembers a message within the limits: beyond them a new device is not remembered, and the oldest message of a
    /// device is dropped.
    pub(super) fn note(&self, unknown: UnknownDevice<'_>, now: Timestamp) {
        if !is_plausible(unknown.identifier) {
            return;
        }
        let mut heard = self.0.lock();
        let heard = &mut *heard;
        let key = (unknown.account, unknown.identifier.to_owned());
        if heard.devices.len() >= DEVICES_MAX && !heard.devices.contains_key(&key) {
            return;
        }
        let report = heard.devices.entry(key).or_insert_with(|| HeardReport {
            account: unknown.account,
            identifier: unknown.identifier.to_owned(),
            source: unknown.source,
            peer: String::new(),
            last_heard: now,
            messages: 0,
            kept: Vec::new(),
        });
        report.source = unknown.source;
        report.peer = unknown.peer.to_string();
        report.last_heard = now;
        report.messages += 1;
        let size = unknown.bytes.len();
        if size > HeardDevice::KEPT_BYTES_MAX || heard.bytes + size > BYTES_MAX {
            return;
        }
        if report.kept.len() >= HeardDevice::KEPT_MAX {
            heard.bytes -= report.kept.remove(0).bytes.len();
        }
        heard.bytes += size;
        report.kept.push(HeardMessage {
            received_at: now,
            source: unknown.source.to_owned(),
            peer: report.peer.clone(),
            datagram: unknown.datagram,
            bytes: unknown.bytes.to_vec(),
        });
    }

    /// Whether an SOS of this device on a shared listener must be recorded: the device is remembered, and no SOS of it
    /// was recorded since the last save.
    pub(super) fn awaits_sos(&self, identifier: &str) -> bool {
        let heard = self.0.lock();
        heard.devices.contains_key(&(None, identifier.to_owned())) && !heard.recorded_sos.contains(identifier)
    }

    /// Marks the SOS of this device as recorded.
    pub(super) fn sos_recorded(&self, identifier: &str) {
        let mut heard = self.0.lock();
        if heard.devices.contains_key(&(None, identifier.to_owned())) {
            heard.recorded_sos.insert(identifier.to_owned());
        }
    }

    /// Returns and clears everything since the last call.
    pub(super) fn take(&self) -> Vec<HeardReport> {
        std::mem::take(&mut *self.0.lock()).devices.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown<'a>(identifier: &'a str, bytes: &'a [u8]) -> UnknownDevice<'a> {
        let peer = SocketAddr::from(([192, 0, 2, 1], 5));
        UnknownDevice { account: None, identifier, source: "gt06", peer, datagram: false, bytes }
    }

    #[test]
    fn the_list_of_unknown_devices_is_bounded() {
        let (heard, now) = (HeardDevices::default(), Timestamp::from_millis(5));
        for number in 0..2 * DEVICES_MAX {
            heard.note(unknown(&number.to_string(), b"x"), now);
        }
        for number in 0..100_u8 {
            heard.note(unknown("7", &[number]), now);
        }
        heard.note(unknown("7", &[0; HeardDevice::KEPT_BYTES_MAX + 1]), now);
        for identifier in ["", " ", "a\nb", &"x".repeat(IDENTIFIER_MAX + 1)] {
            heard.note(unknown(identifier, b"x"), now);
        }
        assert!(heard.knows(None, "7") && !heard.knows(None, ""));
        let reports = heard.take();
        assert_eq!(reports.len(), DEVICES_MAX);
        let seven = reports.iter().find(|report| report.identifier == "7").unwrap();
        assert_eq!((seven.messages, seven.kept.len()), (102, HeardDevice::KEPT_MAX));
        assert_eq!(seven.kept[0].bytes, [80]);
        assert_eq!(heard.take(), []);
        assert!(!heard.awaits_sos("7"), "not remembered");
        for _ in 0..2 {
            heard.note(unknown("7", b"x"), now);
            assert!(heard.awaits_sos("7"));
            heard.sos_recorded("7");
            assert!(!heard.awaits_sos("7"), "once until the next save");
            heard.take();
        }

        for number in 0..DEVICES_MAX {
            for _ in 0..4 {
                heard.note(unknown(&number.to_string(), &[0; HeardDevice::KEPT_BYTES_MAX]), now);
            }
        }
        let kept: usize =
            heard.take().iter().flat_map(|report| &report.kept).map(|each| each.bytes.len()).sum();
        assert_eq!(kept, BYTES_MAX);
    }
}
