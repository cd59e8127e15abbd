//! Files of devices: stored once, bounded, seen and deleted with their device.

use perigee_core::access::actor::Reach;
use perigee_core::accounts::retention::RecordRetention;
use perigee_core::devices::device::DeviceSettings;
use perigee_core::devices::device_file::{DeviceFile, MediaType, NewDeviceFile};
use perigee_core::devices::device_photo::NewPhoto;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::gateways::gateway::Reporter;
use perigee_core::gateways::message_contents::MessageContents;
use perigee_core::locations::location::Outcome;
use perigee_core::page::PageRequest;
use perigee_core::revision::Revision;
use perigee_core::store::{
    DeviceFiles as _, Devices as _, Maintenance as _, RawMessages as _, Reporters as _,
};

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::{message, named};

async fn tracker(on: &Fixture, tenant: &Tenant, name: &str) -> Reporter {
    let settings = DeviceSettings { identifier: Some(name.into()), ..named(name) };
    on.add(tenant, settings).await;
    on.store.find_claimed_device(&[name.to_owned()], CountedClaims::All).await.unwrap().unwrap()
}

fn file(name: &str, bytes: Vec<u8>) -> NewDeviceFile {
    NewDeviceFile { captured_at: None, name: name.to_owned(), source: "jt808", bytes }
}

fn photo(name: &str, size: usize) -> NewDeviceFile {
    let mut bytes = vec![0; size.max(3)];
    bytes[..3].copy_from_slice(b"\xff\xd8\xff");
    file(name, bytes)
}

impl Fixture {
    /// Stores a message that completes a file; returns whether the file is new.
    async fn store_file(&self, tracker: &Reporter, file: NewDeviceFile) -> perigee_core::store::Result<bool> {
        let contents = MessageContents { files: vec![file], ..MessageContents::default() };
        let stored = self.store.store_message(tracker, message(b"last part"), contents).await?;
        Ok(stored.contents.files == [Outcome::Accepted])
    }
}

async fn list(on: &Fixture, tracker: &Reporter) -> Vec<DeviceFile> {
    on.store.list_files(tracker.scope, tracker.device, PageRequest::first(1_000)).await.unwrap().items
}

pub(crate) async fn a_file_is_stored_once_and_read_back(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let tracker = tracker(&on, &tenant, "imei").await;
    let first = NewDeviceFile { captured_at: Some(on.now()), ..photo("a\0\r\n.jpg", 5) };
    assert!(on.store_file(&tracker, first.clone()).await.unwrap());
    on.clock().advance_seconds(1);
    assert!(!on.store_file(&tracker, first.clone()).await.unwrap(), "sent again");
    let other_time = NewDeviceFile { captured_at: None, ..first.clone() };
    assert!(on.store_file(&tracker, other_time).await.unwrap());
    assert!(on.store_file(&tracker, file("b.bin", b"<html>".to_vec())).await.unwrap());

    let files = list(&on, &tracker).await;
    let names: Vec<_> = files.iter().map(|file| (file.name.as_str(), file.media_type, file.size)).collect();
    let expect =
        [("b.bin", MediaType::Other, 6), ("a.jpg", MediaType::Jpeg, 5), ("a.jpg", MediaType::Jpeg, 5)];
    assert_eq!(names, expect, "newest first");
    let (found, bytes) =
        on.store.find_file(tracker.scope, tracker.device, files[2].id).await.unwrap().unwrap();
    assert_eq!((&found, &bytes), (&files[2], &first.bytes));
    assert_eq!((found.captured_at, found.source.as_str()), (first.captured_at, "jt808"));

    let page = on.store.list_files(tracker.scope, tracker.device, PageRequest::first(2)).await.unwrap();
    assert_eq!(page.items, files[..2]);
    let rest = PageRequest { after: page.next, ..PageRequest::first(2) };
    let page = on.store.list_files(tracker.scope, tracker.device, rest).await.unwrap();
    assert_eq!((page.items.as_slice(), page.next), (&files[2..], None));
}

pub(crate) async fn the_oldest_files_of_a_device_are_deleted_for_newer_ones(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (tracker, other) = (tracker(&on, &tenant, "imei").await, tracker(&on, &tenant, "other").await);
    on.store_file(&other, photo("other", 3)).await.unwrap();
    let many = DeviceFile::COUNT_MAX + 3;
    for number in 0..many {
        on.clock().advance_seconds(1);
        on.store_file(&tracker, photo(&format!("{number}"), 10)).await.unwrap();
    }
    let names: Vec<_> = list(&on, &tracker).await.into_iter().map(|file| file.name).collect();
    let expect: Vec<_> = (3..many).rev().map(|number| number.to_string()).collect();
    assert_eq!(names, expect);

    let size = DeviceFile::BYTES_MAX;
    let fitting = usize::try_from(DeviceFile::TOTAL_BYTES_MAX).unwrap() / size;
    for number in 0..=fitting {
        on.clock().advance_seconds(1);
        on.store_file(&tracker, photo(&format!("large {number}"), size)).await.unwrap();
    }
    let names: Vec<_> = list(&on, &tracker).await.into_iter().map(|file| file.name).collect();
    let expect: Vec<_> = (1..=fitting).rev().map(|number| format!("large {number}")).collect();
    assert_eq!(names, expect);
    assert_eq!(list(&on, &other).await.len(), 1, "another device has its own bounds");
}

pub(crate) async fn files_are_seen_and_deleted_with_their_device(on: Fixture) {
    let (tenant, foreign) = (on.tenant("acme").await, on.tenant("foreign").await);
    let (tracker, other) = (tracker(&on, &tenant, "imei").await, tracker(&on, &tenant, "other").await);
    on.store_file(&tracker, photo("a", 3)).await.unwrap();
    let id = list(&on, &tracker).await[0].id;
    let only_other = tenant.scope().limited_to(Reach::Device(other.device));
    for scope in [foreign.scope(), only_other] {
        let page = PageRequest::first(10);
        assert_eq!(on.store.list_files(scope, tracker.device, page).await.unwrap().items, []);
        assert_eq!(on.store.find_file(scope, tracker.device, id).await.unwrap(), None);
    }
    assert_eq!(on.store.find_file(tracker.scope, other.device, id).await.unwrap(), None, "of another device");

    on.store.delete_device(&tenant.actor(), tracker.device, None).await.unwrap();
    assert_eq!(list(&on, &tracker).await, []);
    assert_fails!(on.store_file(&tracker, photo("b", 3)).await, StoreError::NotFound(Kind::Device));
}

pub(crate) async fn files_are_kept_as_long_as_raw_messages(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let tracker = tracker(&on, &tenant, "imei").await;
    on.store_file(&tracker, photo("old", 3)).await.unwrap();
    on.clock().advance_seconds(2 * 86_400);
    on.store_file(&tracker, photo("new", 3)).await.unwrap();
    let retention = RecordRetention { messages_ms: Some(86_400_000), ..RecordRetention::default() };
    assert_eq!(on.store.delete_old_records(retention).await.unwrap().files, 1);
    let names: Vec<_> = list(&on, &tracker).await.into_iter().map(|file| file.name).collect();
    assert_eq!(names, ["new"]);
}

pub(crate) async fn a_photo_is_set_replaced_and_removed(on: Fixture) {
    let (tenant, foreign) = (on.tenant("acme").await, on.tenant("foreign").await);
    let (tracker, other) = (tracker(&on, &tenant, "imei").await, tracker(&on, &tenant, "other").await);
    let (scope, id) = (tenant.scope(), tracker.device);
    let new = |last: u8| NewPhoto { media_type: MediaType::Jpeg, bytes: vec![0xff, 0xd8, 0xff, last] };
    let set = async |photo| on.store.set_photo(&tenant.actor(), id, None, photo).await;
    let before = set(None).await.unwrap();
    assert_eq!((before.photo, before.revision.0), (None, 1), "nothing to remove");

    on.clock().advance_seconds(1);
    let first = set(Some(new(1))).await.unwrap();
    assert_eq!((first.revision.0, first.last_modified), (2, on.now()));
    for photo in [Some(new(9)), None] {
        let outdated = on.store.set_photo(&tenant.actor(), id, Some(Revision::FIRST), photo).await;
        assert_fails!(outdated, StoreError::RevisionMismatch(Kind::Device));
    }
    let event = on.events(&tenant).await.pop().unwrap();
    assert_eq!((event.kind, event.device), (EventKind::DeviceUpdated, Some(id)));
    let entry = on.audits(&tenant).await.swap_remove(0);
    assert_eq!((&*entry.action, entry.detail.as_deref()), ("device.update", Some("changed photo")));
    let photo = first.photo.unwrap();
    let (file, bytes) = on.store.find_file(scope, id, photo).await.unwrap().unwrap();
    assert_eq!((file.media_type, file.size, bytes), (MediaType::Jpeg, 4, new(1).bytes));
    assert_eq!(list(&on, &tracker).await, [], "it is none of the files that the device sent");
    for scope in [foreign.scope(), tenant.scope().limited_to(Reach::Device(other.device))] {
        assert_eq!(on.store.find_file(scope, id, photo).await.unwrap(), None);
    }
    let denied = on.store.set_photo(&foreign.actor(), id, None, Some(new(9))).await;
    assert_fails!(denied, StoreError::NotFound(Kind::Device));

    let second = set(Some(new(2))).await.unwrap().photo.unwrap();
    assert_ne!(second, photo, "another photo has another address");
    assert_eq!(on.store.find_file(scope, id, photo).await.unwrap(), None);
    assert_eq!(on.store.find_file(scope, id, second).await.unwrap().unwrap().1, new(2).bytes);
    on.clock().advance_seconds(9_000 * 86_400);
    let retention = RecordRetention { messages_ms: Some(86_400_000), ..RecordRetention::default() };
    on.store.delete_old_records(retention).await.unwrap();
    assert!(on.store.find_file(scope, id, second).await.unwrap().is_some(), "it does not get too old");
    assert_eq!(set(None).await.unwrap().photo, None);
    assert_eq!(on.store.find_file(scope, id, second).await.unwrap(), None);

    let third = set(Some(new(3))).await.unwrap().photo.unwrap();
    on.store.delete_device(&tenant.actor(), id, None).await.unwrap();
    assert_eq!(on.store.find_file(scope, id, third).await.unwrap(), None);
    assert_fails!(set(Some(new(4))).await, StoreError::NotFound(Kind::Device));
}
