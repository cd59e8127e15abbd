//! `RockBLOCK` MT: a form in, a line out.

use super::http::{Answer, Request};
use super::{Taken, unhex};

/// Maximum number of bytes of a message.
const BYTES: usize = 270;

pub(super) fn refusal(code: u32, text: &str) -> Answer {
    (200, String::new(), format!("FAILED,{code},{text}"))
}

pub(super) fn take(password: &str, request: &Request<'_>) -> Result<(Taken, Answer), Answer> {
    if request.field("password") != password {
        return Err(refusal(10, "Invalid login credentials"));
    }
    let data = request.field("data");
    if data.is_empty() {
        return Err(refusal(16, "No data"));
    }
    let Some(bytes) = unhex(&data) else { return Err(refusal(14, "Could not decode hex data")) };
    if bytes.len() > BYTES {
        return Err(refusal(15, "Data too long"));
    }
    let taken = Taken {
        path: request.bare_path().to_owned(),
        to: request.field("imei"),
        text: Some(String::from_utf8_lossy(&bytes).into_owned()),
        sender: request.field("username"),
        ..Taken::default()
    };
    Ok((taken, (200, String::new(), "OK,4114651".to_owned())))
}
