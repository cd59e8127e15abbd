//! The timeline of a device: trips, stops and gaps that tile its time.
//!
//! The timeline is a pure function of the locations that count, sorted by fix time, and of the settings. The order and
//! the batches in which locations arrived do not matter. Periods select and [`clip`] segments; they never detect.
//!
//! [`Derivation`] reads the points in order and closes segments. At an [`Anchor`] everything that follows is a function
//! of the anchor and of the points from its instant on; nothing else of the past is read. Two rules follow for a store
//! that keeps the segments:
//!
//! - To consider a point of the instant `t`, resume from the newest anchor with `settled < t` (or from the beginning) and
//!   pass the stored points from [`Anchor::at`] on.
//! - Stop as soon as the derivation emits an anchor that is equal to a stored one and whose `at` is later than every new
//!   or deleted point. Stored segments from [`Anchor::stop_from`] of that anchor on stay valid. The emitted segments
//!   replace those between `stop_from` of the resumed anchor and that instant.
//!
//! What people [corrected](Edits) is a further input: trips are divided while they are measured, and joined afterwards. A
//! derivation neither begins nor ends at an anchor inside of a joined trip.
//!
//! Segments that [`Derivation::finish`] returns are those of the open tail. New points may change them, so the next
//! derivation resumes from the last anchor and replaces them.

mod anchor;
mod clip;
mod derivation;
mod edit;
mod interval;
mod levels;
mod outliers;
mod piece;
mod plane;
mod point;
mod rows;
mod segment;
mod settings;
mod split;
mod stays;
mod stored;
#[cfg(test)]
mod tests;
mod totals;
mod trip;
mod visits;
mod walk;

pub use anchor::{Anchor, OpenStop};
pub use clip::clip;
pub use derivation::{Closed, Derivation, derive, derive_edited};
pub use edit::{EditKind, Edits, TimelineEdit};
pub use interval::{Interval, NamedPeriod};
pub use levels::{
    Recomputing, SettingsHolder, SettingsInForce, SettingsState, StoredOverrides, TimelineOverrides,
};
pub use point::TimelinePoint;
pub use segment::{DistanceSource, Position, Segment, SegmentKind};
pub use settings::{SettingError, TimelineSettings};
pub use stored::{SegmentLabels, StoredSegment};
pub use totals::{SegmentFigures, Totals};
pub use visits::{Visit, VisitStart, VisitWalk};
pub use walk::{Walk, WalkEnd, WalkPlan};
