//! Interprets the status of an answer from a message centre.

use rusmpp::CommandStatus;

/// The class of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The message was accepted.
    Taken,
    /// The centre is busy or throttles; the same message may pass later.
    Later,
    /// The centre will never accept this message.
    Refused,
}

/// The class of this status.
pub(super) fn classify(status: CommandStatus) -> Verdict {
    match status {
        CommandStatus::EsmeRok => Verdict::Taken,
        // The centre is busy, out of order or does not accept the bind: the message itself was not refused.
        CommandStatus::EsmeRthrottled
        | CommandStatus::EsmeRmsgqful
        | CommandStatus::EsmeRsyserr
        | CommandStatus::EsmeRxTAppn
        | CommandStatus::EsmeRinvbndsts
        | CommandStatus::EsmeRbindfail
        | CommandStatus::EsmeRinvpaswd
        | CommandStatus::EsmeRinvsysid => Verdict::Later,
        _ => Verdict::Refused,
    }
}

/// The status for people, without the common prefix of all names.
pub(super) fn name(status: CommandStatus) -> String {
    let number = u32::from(status);
    format!("{status:?} (0x{number:08X})").replace("EsmeR", "")
}
