//! What a centre's answer to a message means.

use rusmpp::CommandStatus;

/// What an answer decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Taken.
    Taken,
    /// Not now.
    Later,
    /// Not so.
    Refused,
}

/// What this status decides.
pub(super) fn judge(status: CommandStatus) -> Verdict {
    match status {
        CommandStatus::EsmeRok => Verdict::Taken,
        // It is too busy, out of order, or does not know us any more: nothing against the message.
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

/// The status for people: its name without the prefix every one has.
pub(super) fn name(status: CommandStatus) -> String {
    let number = u32::from(status);
    format!("{status:?} (0x{number:08X})").replace("EsmeR", "")
}
