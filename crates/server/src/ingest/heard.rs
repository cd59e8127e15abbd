//! Unknown devices that were heard since the last save: bounded in number and in bytes.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use perigee_core::alerts::sos_notice::{SosNotice, SosReason};
use perigee_core::gateways::gateway::{HeardDevice, HeardMessage, HeardReport};
use perigee_core::id::AccountId;
use perigee_core::time::Timestamp;

use super::sos::SosSign;

/// Devices between two saves; further ones are not remembered.
const DEVICES_MAX: usize = 1_000;
/// Bytes of kept messages between two saves.
const BYTES_MAX: usize = 4 * 1024 * 1024;
/// Characters of an identifier; a longer one is no device's.
const IDENTIFIER_MAX: usize = 100;

/// A message of a device that nobody knows.
#[derive(Clone, Copy, Debug)]
pub struct UnknownDevice<'a> {
    /// The account whose gateway heard it; `None` for a listener that all accounts share.
    pub account: Option<AccountId>,
    /// The name under which it reported.
    pub identifier: &'a str,
    /// The protocol or the feed that it came by.
    pub source: &'static str,
    /// Address and port that it came from.
    pub peer: SocketAddr,
    /// Whether it came by UDP.
    pub datagram: bool,
    /// The frame, as the decoder reads it.
    pub bytes: &'a [u8],
    /// When and where it asked for help, if the message is an SOS.
    pub sos: Option<SosSign>,
}

/// What was heard since the last save.
#[derive(Debug, Default)]
pub(super) struct HeardDevices(Mutex<Heard>);

#[derive(Debug, Default)]
struct Heard {
    devices: HashMap<(Option<AccountId>, String), HeardReport>,
    bytes: usize,
}

/// Whether a text can be the identifier of a device.
fn is_plausible(identifier: &str) -> bool {
    !identifier.trim().is_empty()
        && identifier.chars().count() <= IDENTIFIER_MAX
        && !identifier.chars().any(char::is_control)
}

impl HeardDevices {
    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this device was heard since the last save.
    pub(super) fn knows(&self, account: Option<AccountId>, identifier: &str) -> bool {
        self.lock().devices.contains_key(&(account, identifier.to_owned()))
    }

    /// Remembers a message, in bounds: beyond them a new device is not remembered, and a device's oldest message is dropped.
    pub(super) fn note(&self, unknown: UnknownDevice<'_>, now: Timestamp) {
        if !is_plausible(unknown.identifier) {
            return;
        }
        let mut heard = self.lock();
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
            sos: None,
        });
        report.source = unknown.source;
        report.peer = unknown.peer.to_string();
        report.last_heard = now;
        report.messages += 1;
        if let Some(SosSign { time, position }) = unknown.sos {
            report.sos = Some(SosNotice {
                reason: SosReason::UnknownDevice,
                identifier: unknown.identifier.to_owned(),
                source: unknown.source.to_owned(),
                peer: report.peer.clone(),
                time,
                position,
            });
        }
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

    /// Everything since the last call.
    pub(super) fn take(&self) -> Vec<HeardReport> {
        std::mem::take(&mut *self.lock()).devices.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown<'a>(identifier: &'a str, bytes: &'a [u8]) -> UnknownDevice<'a> {
        let peer = SocketAddr::from(([192, 0, 2, 1], 5));
        UnknownDevice { account: None, identifier, source: "gt06", peer, datagram: false, bytes, sos: None }
    }

    #[test]
    fn what_is_remembered_is_bounded() {
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
