//! The limit a body counts against: a submission's when it brings items for a device in sight, else the account's.

use perigee_core::device::{Device, DeviceRef};

use super::devices::find_device;
use crate::app::App;
use crate::http::error::ApiResult;
use crate::http::extract::{Caller, Submission, Submitter};
use crate::http::submission::{Asked, Forms};

/// A body that was let through.
#[derive(Debug)]
pub(super) struct AdmittedBody {
    /// Who sent it.
    pub(super) caller: Caller,
    /// The device it is about.
    pub(super) device: Device,
    /// What it asks for.
    pub(super) asked: Asked,
}

/// Reads a body and finds the device it is about, held to the limits on use.
///
/// What stores nothing, such as a span of time to answer, a body that cannot be read or a device that is not there,
/// is a call like any other.
pub(super) async fn admit_body(
    app: &App,
    Submitter(caller): Submitter,
    device: Option<&DeviceRef>,
    submission: ApiResult<Submission>,
    forms: &Forms,
) -> ApiResult<AdmittedBody> {
    let asked = submission.and_then(|submission| forms.read(submission));
    let submits = matches!(asked, Ok(Asked::Store(_)));
    let limited = if submits { caller.limit_submission(app) } else { caller.limit_request(app) };
    limited?;
    match find_device(app, &caller, device).await {
        Ok(device) => Ok(AdmittedBody { asked: asked?, caller, device }),
        Err(missing) => {
            if submits {
                caller.limit_request(app)?;
            }
            Err(missing)
        }
    }
}
