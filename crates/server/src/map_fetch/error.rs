//! Why a map could not be copied, as sentences for the operator.

use std::io;

/// Why a map could not be copied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The address may not be called.
    #[error("the address of the source {0}")]
    Address(String),
    /// The area cannot be copied.
    #[error("{0}")]
    Area(String),
    /// The source does not answer, or not with the bytes that were requested. Trying again later may help.
    #[error("{0}")]
    Unreachable(String),
    /// The file of the source was replaced, so that its parts do not fit together.
    #[error("the file of the source was replaced while it was read; start again to copy the new one")]
    Changed,
    /// The source is not a file of tiles that can be copied.
    #[error("the source {0}")]
    NotTiles(String),
    /// The disk has no room.
    #[error(
        "the disk has too little room: {needed} bytes are needed beside a reserve of {reserve}, {free} are free"
    )]
    NoSpace {
        /// Bytes that are still to be written.
        needed: u64,
        /// Bytes that stay free.
        reserve: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// A file cannot be written or read.
    #[error("a file of the map cannot be used: {0}")]
    Disk(String),
    /// Another map is being copied, by the service or by a command.
    #[error("another map is being copied at the moment; wait until it is finished, or stop it")]
    Busy,
    /// Another layer has the name.
    #[error("there is a map with this name already; choose another name, or remove it first")]
    Taken,
    /// There are this many copied maps.
    #[error("there are {0} copied maps already; remove one first")]
    TooMany(usize),
    /// The operator or a shutdown stopped it.
    #[error("it was stopped")]
    Stopped,
}

impl FetchError {
    /// A stable name for the reason.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Address(_) => "address",
            Self::Area(_) => "area",
            Self::Unreachable(_) => "unreachable",
            Self::Changed => "changed",
            Self::NotTiles(_) => "not-tiles",
            Self::NoSpace { .. } => "no-space",
            Self::Disk(_) => "disk",
            Self::Busy => "busy",
            Self::Taken => "taken",
            Self::TooMany(_) => "too-many",
            Self::Stopped => "stopped",
        }
    }
}

impl From<io::Error> for FetchError {
    fn from(error: io::Error) -> Self {
        Self::Disk(error.to_string())
    }
}

/// The result of a step.
pub(super) type Result<T> = std::result::Result<T, FetchError>;

/// A file that is not one of tiles, with the end of the sentence about it.
pub(super) fn not_tiles(why: impl Into<String>) -> FetchError {
    FetchError::NotTiles(why.into())
}
