//! Reads only times, or times and coordinates: enough to look for duplicates, for maps and for simplifying tracks.

use perigee_core::locations::location::{Latitude, Longitude, TimeRange};
use perigee_core::time::Timestamp;

use super::field::narrow;
use super::numbers::Numbers;
use crate::codec::bytes::CodecError;

/// The fix time and coordinates of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// When the fix was taken.
    pub time: Timestamp,
    /// Degrees north, WGS 84.
    pub latitude: Latitude,
    /// Degrees east, WGS 84.
    pub longitude: Longitude,
}

/// The positions of a chunk within a range, oldest first. After an error nothing follows.
pub struct Positions<'a> {
    pub(super) range: TimeRange,
    pub(super) left: usize,
    pub(super) times: Numbers<'a>,
    pub(super) latitudes: Numbers<'a>,
    pub(super) longitudes: Numbers<'a>,
}

impl Positions<'_> {
    #[inline]
    pub(super) fn read(&mut self) -> Result<Position, CodecError> {
        Ok(Position {
            time: Timestamp::from_millis(self.times.next()?),
            latitude: Latitude::from_e7(narrow(self.latitudes.next()?)?),
            longitude: Longitude::from_e7(narrow(self.longitudes.next()?)?),
        })
    }

    /// An error unless all columns were read to their end.
    pub(super) fn end(&self) -> Result<(), CodecError> {
        self.times.end()?;
        self.latitudes.end()?;
        self.longitudes.end()
    }
}

impl Iterator for Positions<'_> {
    type Item = Result<Position, CodecError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 {
            self.left -= 1;
            let position = self.read();
            match &position {
                Ok(position) if position.time < self.range.from => continue,
                Ok(position) if position.time <= self.range.to => {}
                Ok(_) => {
                    self.left = 0;
                    return None;
                }
                Err(_) => self.left = 0,
            }
            return Some(position);
        }
        None
    }
}

/// The fix times of a chunk, oldest first. After an error nothing follows.
pub(crate) struct Times<'a> {
    pub(super) left: usize,
    pub(super) times: Numbers<'a>,
}

impl Iterator for Times<'_> {
    type Item = Result<Timestamp, CodecError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let time = self.times.next();
        if time.is_err() {
            self.left = 0;
        }
        Some(time.map(Timestamp::from_millis))
    }
}
