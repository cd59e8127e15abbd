//! Files that arrive in parts, kept until they are complete.

use std::collections::BTreeMap;

use perigee_core::time::Timestamp;

use crate::decoded::{DecodeError, Decoded, FILE_MAX, UploadedFile};
use crate::report::Report;

/// Maximum number of files in transfer by offset on one connection.
const IN_TRANSFER_MAX: usize = 4;

/// The parts of one file that have arrived, numbered from 0.
#[derive(Debug, Default)]
pub(crate) struct NumberedParts {
    bytes: Vec<u8>,
    next: u32,
}

impl NumberedParts {
    /// Bytes of the parts that have arrived.
    pub(crate) const fn held_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The number of the first part that is missing.
    pub(crate) const fn next(&self) -> u32 {
        self.next
    }

    /// Adds a part; the first part begins a new file. A repeated part, or one after a gap, is dropped.
    pub(crate) fn add(&mut self, number: u32, part: &[u8]) -> Result<(), DecodeError> {
        if number == 0 {
            *self = Self::default();
        }
        if number == self.next {
            if self.bytes.len() + part.len() > FILE_MAX {
                *self = Self::default();
                return Err(DecodeError::Malformed("the file is too large"));
            }
            self.bytes.extend_from_slice(part);
            self.next = number.saturating_add(1);
        }
        Ok(())
    }

    /// Ends the file: adds it together with a report that contains its name.
    pub(crate) fn finish(&mut self, name: &str, captured_at: Option<Timestamp>, decoded: &mut Decoded) {
        let bytes = std::mem::take(self).bytes;
        let mut report = Report { time: captured_at, ..Report::default() };
        report.set_text("image", name);
        decoded.reports.push(report);
        decoded.files.push(UploadedFile { name: name.to_owned(), captured_at, bytes });
    }
}

/// Photos in transfer, by their ID. The server requests them by offset, at most `PART` bytes at a time.
#[derive(Debug, Default)]
pub(crate) struct PhotoTransfers<const PART: usize>(BTreeMap<u32, Photo>);

#[derive(Debug)]
struct Photo {
    /// The size that the device announced, in bytes. Some devices announce none: the photo then ends with a part that
    /// is not full.
    size: Option<usize>,
    /// Received so far.
    bytes: Vec<u8>,
}

impl<const PART: usize> PhotoTransfers<PART> {
    /// Bytes of the photos in transfer.
    pub(crate) fn held_bytes(&self) -> usize {
        self.0.values().map(|photo| photo.bytes.len()).sum()
    }

    /// Whether this photo is in transfer.
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.0.contains_key(&id)
    }

    /// Begins a photo; one with the same id is dropped.
    pub(crate) fn begin(&mut self, id: u32, size: Option<u32>) -> Result<(), DecodeError> {
        let size = size.map(|size| usize::try_from(size).unwrap_or(usize::MAX));
        let is_one_more = self.0.len() >= IN_TRANSFER_MAX && !self.contains(id);
        if size.is_some_and(|size| size > FILE_MAX) || is_one_more {
            return Err(DecodeError::Malformed("a photo is too large, or too many are being received"));
        }
        self.0.insert(id, Photo { size, bytes: Vec::new() });
        Ok(())
    }

    /// Adds the part that begins at `from`, or the next one; returns the photo when it is complete. A repeated part is
    /// ignored.
    pub(crate) fn add(
        &mut self,
        id: u32,
        from: Option<u32>,
        part: &[u8],
    ) -> Result<Option<UploadedFile>, DecodeError> {
        let Some(photo) = self.0.get_mut(&id) else { return Ok(None) };
        let held = photo.bytes.len();
        if from.is_some_and(|from| usize::try_from(from) != Ok(held)) {
            return Ok(None);
        }
        let room = photo.size.unwrap_or(FILE_MAX).saturating_sub(held);
        if photo.size.is_none() && part.len() > room {
            self.0.remove(&id);
            return Err(DecodeError::Malformed("the photo is too large"));
        }
        photo.bytes.extend(part.iter().take(room));
        let is_whole = photo.size.map_or(part.len() < PART, |size| photo.bytes.len() >= size);
        let whole = if is_whole { self.0.remove(&id) } else { None };
        Ok(whole.map(|photo| UploadedFile {
            name: format!("photo-{id}.jpg"),
            captured_at: None,
            bytes: photo.bytes,
        }))
    }

    /// The next part to request: the ID of the photo, the offset and the length, big-endian.
    pub(crate) fn next_request(&self, id: u32) -> Option<Vec<u8>> {
        let photo = self.0.get(&id)?;
        let held = photo.bytes.len();
        let rest = photo.size.map_or(PART, |size| size.saturating_sub(held).min(PART));
        let mut request = id.to_be_bytes().to_vec();
        request.extend_from_slice(&u32::try_from(held).unwrap_or(u32::MAX).to_be_bytes());
        request.extend_from_slice(&u16::try_from(rest).unwrap_or(u16::MAX).to_be_bytes());
        Some(request)
    }
}
