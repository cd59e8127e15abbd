//! The content of messages besides locations: alerts, steps of emergencies, files and texts. They are stored in the
//! transaction of the message, together with what follows from them, so that no failure leaves a message without its
//! alert.

use std::collections::{BTreeMap, BTreeSet};

use perigee_core::error::StoreError;
use perigee_core::gateways::message_contents::StoredContents;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::Outcome;
use perigee_core::store::Result;

use crate::Tx;
use crate::sql::alerts::{self, NewAlert};
use crate::sql::alerts::{emergencies, sos_notices, sos_outbox};
use crate::sql::conversations;
use crate::sql::devices::device_files;
use crate::sql::locations::{Attached, Ingested, LastPositions, Submission};
use crate::sql::rules::rule_engine;

/// Stores the content besides locations of the submissions that are not refused. On PostgreSQL their accounts are
/// locked.
pub(in crate::sql) async fn store(
    tx: &Tx,
    batch: &[Submission],
    Ingested { results, last }: Ingested,
) -> Result<Vec<Result<StoredContents>>> {
    let mut stored: Vec<Result<StoredContents>> = Vec::with_capacity(results.len());
    let mut accounts: BTreeMap<AccountId, Vec<OfSubmission<'_>>> = BTreeMap::new();
    for (index, (submission, result)) in batch.iter().zip(results).enumerate() {
        if let (Some(attached), Ok(_)) = (&submission.attached, &result) {
            let one = OfSubmission { index, device: submission.device, attached };
            accounts.entry(submission.scope.account).or_default().push(one);
        }
        stored.push(result.map(|locations| StoredContents { locations, ..StoredContents::default() }));
    }
    for (submission, result) in batch.iter().zip(&stored) {
        let sos = submission.attached.as_ref().and_then(|attached| attached.sos.as_ref());
        let (Some(notice), Err(error)) = (sos, result) else { continue };
        let account = submission.scope.account;
        match error {
            StoreError::DeviceExpired(device) => {
                sos_notices::announce(tx, account, Some(*device), notice).await?;
                sos_outbox::record(tx, None, [notice.clone()]).await?;
            }
            StoreError::NotFound(_) => sos_outbox::record_of_deleted(tx, account, notice).await?,
            _ => {}
        }
    }
    for (account, submissions) in accounts {
        tx.lock_account_beside(account).await?;
        store_of_account(tx, account, &submissions, &last, &mut stored).await?;
    }
    Ok(stored)
}

/// The content of one submission, and its index in the batch.
struct OfSubmission<'b> {
    index: usize,
    device: DeviceId,
    attached: &'b Attached,
}

async fn store_of_account(
    tx: &Tx,
    account: AccountId,
    submissions: &[OfSubmission<'_>],
    last: &LastPositions,
    stored: &mut [Result<StoredContents>],
) -> Result<()> {
    let devices: BTreeSet<DeviceId> = submissions.iter().map(|one| one.device).collect();
    for device in devices {
        rule_engine::wake(tx, account, device).await?;
    }
    raise(tx, account, submissions, last, stored).await?;
    for OfSubmission { index, device, attached } in submissions {
        let Some(Ok(stored)) = stored.get_mut(*index) else { continue };
        let last_known = last.get(&(account, *device)).copied();
        for step in &attached.steps {
            let (kind, is_past) = (step.kind, attached.is_past);
            let alert = NewAlert { last_known, is_past, ..NewAlert::of_device(step.alert.clone()) };
            let is_new = emergencies::follow(tx, (account, *device), kind, &alert).await?;
            stored.steps.push(outcome(is_new));
        }
        for file in &attached.files {
            let is_new = device_files::add(tx, account, *device, file).await?;
            stored.files.push(outcome(is_new));
        }
        for text in &attached.texts {
            let is_new = conversations::receive(tx, account, *device, text).await?;
            stored.texts.push(outcome(is_new));
        }
    }
    Ok(())
}

fn outcome(is_new: bool) -> Outcome {
    if is_new { Outcome::Accepted } else { Outcome::Duplicate }
}

/// Raises the alerts of all submissions together: it takes few statements for many devices.
async fn raise(
    tx: &Tx,
    account: AccountId,
    submissions: &[OfSubmission<'_>],
    last: &LastPositions,
    stored: &mut [Result<StoredContents>],
) -> Result<()> {
    let mut devices: BTreeMap<DeviceId, (Vec<usize>, Vec<NewAlert>)> = BTreeMap::new();
    for OfSubmission { index, device, attached } in submissions {
        let last_known = last.get(&(account, *device)).copied();
        let (indexes, alerts) = devices.entry(*device).or_default();
        for alert in &attached.alerts {
            indexes.push(*index);
            let is_past = attached.is_past;
            alerts.push(NewAlert { last_known, is_past, ..NewAlert::of_device(alert.clone()) });
        }
    }
    let mut owners: BTreeMap<DeviceId, Vec<usize>> = BTreeMap::new();
    let mut all = Vec::with_capacity(devices.len());
    for (device, (indexes, alerts)) in devices {
        owners.insert(device, indexes);
        all.push((device, alerts));
    }
    for (device, submitted) in alerts::raise_all(tx, account, all).await? {
        let owners = owners.remove(&device).unwrap_or_default();
        for (index, (outcome, _)) in owners.into_iter().zip(submitted) {
            if let Some(Ok(stored)) = stored.get_mut(index) {
                stored.alerts.push(outcome);
            }
        }
    }
    Ok(())
}
