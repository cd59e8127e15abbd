//! Requests that may contain reports of several devices: stored in one transaction, or in several if they have much
//! content.

use perigee_core::gateways::gateway::Reporter;
use perigee_core::gateways::message_contents::{MessageContents, NewRequest, StoredContents};
use perigee_core::store::Result;

use crate::Database;
use crate::sql::locations::{Submission, submit_together};

/// Maximum number of locations of one transaction, so that others of the account do not wait long.
const LOCATIONS_MAX: usize = 5_000;
/// Alerts, steps, files and texts of one transaction: each alert may create messages to fifty recipients.
const ATTACHED_MAX: usize = 200;

/// Stores a request. Content beyond one transaction is stored before the message: if that fails, the message is not
/// stored either, and the stored content is recognised when the request is sent again.
pub(in crate::sql) async fn store(
    database: &Database,
    request: NewRequest,
) -> Result<Vec<Result<StoredContents>>> {
    let NewRequest { account, message, duplicate_rule, mut devices, is_past } = request;
    let mut message = message;
    let mut results: Vec<Result<StoredContents>> =
        devices.iter().map(|_| Ok(StoredContents::default())).collect();
    loop {
        let (indices, part) = take_part(&mut devices, results.iter().map(Result::is_ok));
        let is_last = devices.iter().all(|(_, contents)| contents.is_empty());
        let of_device =
            |(reporter, contents)| Submission::of(&reporter, contents, duplicate_rule).marked_past(is_past);
        let submissions = part.into_iter().map(of_device).collect();
        let message = if is_last { message.take() } else { None };
        let stored = submit_together(database, account, submissions, message).await?;
        for (index, stored) in indices.into_iter().zip(stored) {
            match (results.get_mut(index), stored) {
                (Some(Ok(before)), Ok(stored)) => before.append(stored),
                (Some(result), stored) => *result = stored,
                (None, _) => {}
            }
        }
        if is_last {
            return Ok(results);
        }
    }
}

/// Takes the content for one transaction: the indices of its devices, and their contents. Refused devices are left out,
/// and the rest of their content is dropped.
fn take_part(
    devices: &mut [(Reporter, MessageContents)],
    admitted: impl Iterator<Item = bool>,
) -> (Vec<usize>, Vec<(Reporter, MessageContents)>) {
    let (mut indices, mut part) = (Vec::new(), Vec::new());
    let (mut locations, mut attached) = (LOCATIONS_MAX, ATTACHED_MAX);
    for (index, ((reporter, contents), is_admitted)) in devices.iter_mut().zip(admitted).enumerate() {
        if !is_admitted {
            *contents = MessageContents::default();
            continue;
        }
        let taken = MessageContents {
            locations: take(&mut contents.locations, &mut locations),
            alerts: take(&mut contents.alerts, &mut attached),
            steps: take(&mut contents.steps, &mut attached),
            files: take(&mut contents.files, &mut attached),
            texts: take(&mut contents.texts, &mut attached),
            sos: contents.sos.take(),
        };
        indices.push(index);
        part.push((reporter.clone(), taken));
    }
    (indices, part)
}

/// Takes items from the beginning, as far as there is room.
fn take<T>(items: &mut Vec<T>, room: &mut usize) -> Vec<T> {
    let rest = items.split_off(items.len().min(*room));
    let taken = std::mem::replace(items, rest);
    *room -= taken.len();
    taken
}
