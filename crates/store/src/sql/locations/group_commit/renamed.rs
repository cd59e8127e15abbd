//! Submissions whose identifier no longer names their device: the device is looked up, and they are queued again.

use futures_util::FutureExt as _;
use perigee_core::devices::device::DeviceRef;
use perigee_core::store::Result;

use super::super::named;
use super::super::submission_queue::{Caller, Submission, Waiting};
use super::{answer, submit};
use crate::Database;

/// Looks up the devices of these submissions and submits them again, in the background. Each further attempt needs
/// another change of the identifier.
pub(super) fn submit_again(database: &Database, renamed: Waiting) {
    for (submission, caller) in renamed {
        let again = look_up_and_answer(database.clone(), submission, caller);
        // Boxed, because a submission can start a committer.
        database.submission_queue().spawn(again.boxed());
    }
}

async fn look_up_and_answer(database: Database, submission: Submission, caller: Caller) {
    let result = match look_up(&database, submission).await {
        Ok(submission) => submit(&database, submission).await,
        Err(error) => Err(error),
    };
    answer(std::iter::once((caller, result)));
}

async fn look_up(database: &Database, submission: Submission) -> Result<Submission> {
    let identifier = submission.identifier.as_deref().unwrap_or_default().to_owned();
    let device = named::look_up(database, submission.scope, &DeviceRef::Identifier(identifier)).await?;
    Ok(Submission { device, ..submission })
}
