//! What a body that may submit something is let through to, and the limit it counts against: a submission's when it
//! brings items for a device in sight, else the account's.

use perigee_core::device::{Device, DeviceRef};
use perigee_core::error::StoreError;
use perigee_core::id::DeviceId;
use perigee_core::privilege::Privilege;
use serde_json::{Map, Value};

use super::devices::{find_device, find_device_id};
use crate::app::App;
use crate::http::error::{ApiError, ApiResult};
use crate::http::extract::{Caller, Submission, Submitter};
use crate::http::submission::{Asked, Batch, Forms};

/// A body that was let through.
#[derive(Debug)]
pub(super) struct AdmittedBody<T> {
    /// Who sent it.
    pub(super) caller: Caller,
    /// What is to be done.
    pub(super) admitted: Admitted<T>,
}

/// What is to be done for a body.
#[derive(Debug)]
pub(super) enum Admitted<T> {
    /// Store these. The store is the first to look for the device; [`refused`] says so if it is not in sight.
    Store(DeviceId, Batch<T>),
    /// Store these of this device, then answer the span of time told by these members.
    StoreAndRange(Box<Device>, Batch<T>, Map<String, Value>),
    /// Answer a span of time of this device, told by these members.
    Range(Box<Device>, Map<String, Value>),
}

/// Reads a body about a device, held to the limits on use and to the privilege that storing needs.
///
/// What stores nothing, such as a span of time to answer, a body that cannot be read or a device that is not there,
/// is a call like any other.
pub(super) async fn admit_body<T: Send + 'static>(
    app: &App,
    Submitter(caller): Submitter,
    device: Option<&DeviceRef>,
    submission: ApiResult<Submission>,
    forms: &'static Forms<T>,
    privilege: Privilege,
) -> ApiResult<AdmittedBody<T>> {
    let asked = match submission {
        Ok(submission) => submission.read(forms, caller.zone()).await,
        Err(unread) => Err(unread),
    };
    let submits = matches!(asked, Ok(Asked::Store(_) | Asked::StoreAndRange(..)));
    let limited = if submits { caller.limit_submission(app) } else { caller.limit_request(app) };
    limited?;
    let missing = |missing| match caller.limit_request(app) {
        Err(limited) if submits => limited,
        _ => missing,
    };
    let asked = match (asked, device) {
        // Nothing can be wrong but the device, which the store checks when it stores: looking for all of it here
        // would cost as much as all the rest.
        (Ok(Asked::Store(Ok(batch))), Some(device)) if caller.privileges().allows(privilege) => {
            let id = match device {
                DeviceRef::Id(id) => *id,
                DeviceRef::Identifier(_) => {
                    find_device_id(app, &caller, Some(device)).await.map_err(missing)?
                }
            };
            return Ok(AdmittedBody { caller, admitted: Admitted::Store(id, batch) });
        }
        (asked, _) => asked,
    };
    let device = find_device(app, &caller, device).await.map_err(missing)?;
    let admitted = match asked? {
        Asked::Range(body) => Admitted::Range(Box::new(device), body),
        Asked::Store(judged) => {
            caller.require(privilege)?;
            Admitted::Store(device.id, judged?)
        }
        Asked::StoreAndRange(judged, range) => {
            caller.require(privilege)?;
            Admitted::StoreAndRange(Box::new(device), judged?, range)
        }
    };
    Ok(AdmittedBody { caller, admitted })
}

/// Why the store took nothing. What was sent for a device that is not in sight is a call like any other, after all.
pub(super) fn refused(app: &App, caller: &Caller, error: StoreError) -> ApiError {
    match error {
        StoreError::NotFound(_) => caller.limit_request(app).err().unwrap_or_else(|| error.into()),
        error => error.into(),
    }
}
