//! Reserving, settling and listing messages: implements the store's `Outbox` and `Notifications` traits by SQL.

use std::collections::BTreeMap;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::access::actor::{Actor, Scope};
use perigee_core::id::{AccountId, DeviceId, NotificationId};
use perigee_core::notifications::notification::{
    Candidate, Channel, Content, MessageCounts, Notification, NotificationFilter, Receipt, Reservation,
    SendOutcome, SendingPolicy,
};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::{Notifications, Outbox, Reserved, Result};
use perigee_core::time::Timestamp;

use super::{count, due, record, reserve, settle, trim};
use crate::Database;
use crate::forward::forward;

#[async_trait]
impl Outbox for Database {
    async fn due_notifications(&self, channel: Channel, limit: u32) -> Result<Vec<Content>> {
        self.read(move |tx| due::list(tx, channel, limit).boxed()).await
    }

    async fn reserve(&self, candidates: Vec<Candidate>, policy: &SendingPolicy) -> Result<Reserved> {
        let mut by_account: BTreeMap<AccountId, Vec<Candidate>> = BTreeMap::new();
        for candidate in candidates {
            by_account.entry(candidate.account).or_default().push(candidate);
        }
        let mut all = Reserved::default();
        for (account, candidates) in by_account {
            let policy = policy.clone();
            let reserved =
                self.write(move |tx| reserve::reserve(tx, account, candidates, policy).boxed()).await;
            match reserved {
                Ok(reserved) => {
                    all.granted.extend(reserved.granted);
                    all.suppressed += reserved.suppressed;
                }
                // Reserved messages must be sent; the others stay due.
                Err(error) if !all.granted.is_empty() => {
                    tracing::warn!(%account, error = &error as &dyn std::error::Error, "could not reserve");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    async fn settle(&self, reservation: Reservation, delivery: SendOutcome) -> Result<bool> {
        self.write(move |tx| settle::settle(tx, reservation, delivery).boxed()).await
    }

    async fn renew(&self, reservation: Reservation, lease_ms: i64) -> Result<bool> {
        self.write(move |tx| settle::renew(tx, reservation, lease_ms).boxed()).await
    }

    async fn trim_notifications(&self, keep_ms: i64) -> Result<u64> {
        trim::delete_messages(self, keep_ms).await
    }

    async fn next_due(&self, channel: Channel) -> Result<Option<Timestamp>> {
        self.read(move |tx| due::next(tx, channel).boxed()).await
    }

    async fn record_receipt(&self, channel: Channel, receipt: Receipt) -> Result<bool> {
        self.write(move |tx| settle::record_receipt(tx, channel, receipt).boxed()).await
    }
}

forward! {
    impl Notifications for Database {
        read list_notifications(&self, scope: Scope, &filter: NotificationFilter, page: PageRequest)
            -> Page<Notification> = record::list;
        read find_notification(&self, scope: Scope, id: NotificationId)
            -> Option<Notification> = record::find;
        read count_messages(
            &self, scope: Scope, devices: Option<Vec<DeviceId>>, from: Timestamp, to: Timestamp
        ) -> Vec<MessageCounts> = count::count;
        write resend_notification(&self, &actor: Actor, id: NotificationId) -> Notification = record::resend;
    }
}
