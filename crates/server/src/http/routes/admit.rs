//! Admits bodies that may be submissions, and applies the right rate limit: that of submissions if the body has items
//! for a visible device, and otherwise that of the account.

use perigee_core::devices::device::{Device, DeviceRef};
use perigee_core::id::DeviceId;
use serde_json::Map;

use super::devices::find_device;
use crate::budget::Permit;
use crate::http::extract::{Packed, Read, SUBMISSION_MAX, Submission, Submitter};
use crate::http::prelude::*;
use crate::http::submission::{Batch, BodyContent, ItemKind};

/// The most bytes of a body that requests a time range.
const RANGE_MAX: usize = 16 * 1024;

/// A body that was admitted.
#[derive(Debug)]
pub(super) struct AdmittedBody<T> {
    /// The caller who sent the body.
    pub(super) caller: Caller,
    /// The action for the body.
    pub(super) admitted: Admitted<T>,
    /// The permit for the memory of the body and of its items, held until the request is done.
    pub(super) permit: Permit,
}

/// The action for a body.
#[derive(Debug)]
pub(super) enum Admitted<T> {
    /// Store these items. The store looks up the device; [`refused`] makes the error if it is not visible.
    Store(DeviceRef, Batch<T>),
    /// Store these items of this device, then answer the time range in these members.
    StoreAndRange(Box<Device>, Batch<T>, Map<String, Value>),
    /// Answer the time range in these members for this device.
    Range(Box<Device>, Map<String, Value>),
}

/// Reads a body about a device, within the rate limits and with the privilege that storing requires.
///
/// A caller who may not store can only request a time range, in a few kilobytes, and is charged one API call before the
/// body is received. A caller who may store is charged one submission before a costly body is parsed. A body that
/// stores nothing, because it is invalid or the device is not visible, is charged as an API call.
pub(super) async fn admit_body<T: Send + 'static>(
    app: &App,
    Submitter(caller): Submitter,
    device: Option<&DeviceRef>,
    submission: ApiResult<Submission>,
    kind: &'static ItemKind<T>,
    privilege: Privilege,
) -> ApiResult<AdmittedBody<T>> {
    let may_store = caller.privileges().allows(privilege);
    if !may_store {
        caller.limit_request(app)?;
    }
    let limit = if may_store { SUBMISSION_MAX } else { RANGE_MAX };
    let received = match submission {
        Ok(submission) => submission.receive(app, limit).await,
        Err(refused) => Err(refused),
    };
    let is_costly = received.as_ref().is_ok_and(Packed::is_costly);
    if may_store && is_costly {
        caller.limit_submission(app)?;
    }
    let read = match received {
        Ok(packed) => packed.read(app, kind, caller.zone()).await,
        Err(refused) => Err(refused),
    };
    let stores =
        |read: &Read<T>| matches!(read.content, BodyContent::Store(_) | BodyContent::StoreAndRange(..));
    let submits = may_store && read.as_ref().is_ok_and(stores);
    if submits && !is_costly {
        caller.limit_submission(app)?;
    } else if may_store && !submits {
        caller.limit_request(app)?;
    }
    let missing = |missing| match caller.limit_request(app) {
        Err(limited) if submits => limited,
        _ => missing,
    };
    let read = match (read, device) {
        // Only the device can be wrong, and the store checks it when it stores: reading the device here would double
        // the cost.
        (Ok(Read { content: BodyContent::Store(Ok(batch)), permit }), Some(device)) if may_store => {
            return Ok(AdmittedBody { caller, admitted: Admitted::Store(device.clone(), batch), permit });
        }
        (read, _) => read,
    };
    let device = find_device(app, &caller, device).await.map_err(missing)?;
    let Read { content, permit } = match read {
        // Too large for a time range, so it must be a submission.
        Err(error) if error.code == ErrorCode::BodyTooLarge => {
            caller.require(privilege)?;
            return Err(error);
        }
        read => read?,
    };
    let admitted = match content {
        BodyContent::Range(body) => Admitted::Range(Box::new(device), body),
        BodyContent::Store(batch) => {
            caller.require(privilege)?;
            Admitted::Store(DeviceRef::Id(device.id), batch?)
        }
        BodyContent::StoreAndRange(batch, range) => {
            caller.require(privilege)?;
            Admitted::StoreAndRange(Box::new(device), batch?, range)
        }
    };
    Ok(AdmittedBody { caller, admitted, permit })
}

/// The id of the device of items that are stored by it.
pub(super) async fn device_of_items(app: &App, caller: &Caller, device: &DeviceRef) -> ApiResult<DeviceId> {
    if let DeviceRef::Id(id) = device {
        return Ok(*id);
    }
    let found = app.store.find_device_id(caller.scope(), device).await?;
    found.ok_or_else(|| refused(app, caller, StoreError::NotFound(Kind::Device)))
}

/// The error if the store refused the items. A submission to a device that is not visible is charged as an API call.
pub(super) fn refused(app: &App, caller: &Caller, error: StoreError) -> ApiError {
    match error {
        StoreError::NotFound(_) => caller.limit_request(app).err().unwrap_or_else(|| error.into()),
        error => error.into(),
    }
}
