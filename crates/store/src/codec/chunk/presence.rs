//! Which locations have a value: nothing when all have one, else run lengths or a bitmap, whichever is shorter.

use crate::codec::bytes::{CodecError, Reader, Writer};

mod form {
    pub(super) const ALL: u8 = 0;
    pub(super) const RUNS: u8 = 1;
    pub(super) const BITS: u8 = 2;
}

/// Writes the flags. Their count is not written.
pub(super) fn write_presence(out: &mut Writer, flags: &[bool]) {
    if !flags.contains(&false) {
        return out.byte(form::ALL);
    }
    let bits = flags.len().div_ceil(8);
    if let Some(runs) = runs(flags, bits) {
        out.byte(form::RUNS);
        out.length(runs.len());
        out.raw(&runs);
    } else {
        out.byte(form::BITS);
        for eight in flags.chunks(8) {
            out.byte(eight.iter().rev().fold(0, |byte, flag| (byte << 1) | u8::from(*flag)));
        }
    }
}

/// The run lengths, beginning with a run of `false`; `None` if they take more than `bytes_max` bytes.
fn runs(flags: &[bool], bytes_max: usize) -> Option<Vec<u8>> {
    let mut out = Writer::default();
    if flags.first() == Some(&true) {
        out.length(0);
    }
    for run in flags.chunk_by(|left, right| left == right) {
        out.length(run.len());
        if out.len() > bytes_max {
            return None;
        }
    }
    Some(out.into_bytes())
}

/// Reads the flags one by one.
pub(super) enum Presence<'a> {
    /// All flags are set.
    All,
    /// The flag of the current run, how many of its flags are unread, and the following runs.
    Runs(bool, usize, Reader<'a>),
    /// A bitmap, and the index of the next bit.
    Bits(&'a [u8], usize),
}

impl<'a> Presence<'a> {
    /// Opens `count` flags, and returns how many are set.
    pub(super) fn open(input: &mut Reader<'a>, count: usize) -> Result<(Self, usize), CodecError> {
        match input.byte()? {
            form::ALL => Ok((Self::All, count)),
            form::RUNS => {
                let length = input.length()?;
                let runs = input.raw(length)?;
                Ok((Self::Runs(true, 0, Reader::new(runs)), count_runs(Reader::new(runs), count)?))
            }
            form::BITS => {
                let bits = input.raw(count.div_ceil(8))?;
                let set = (0..count).filter(|index| bit(bits, *index)).count();
                Ok((Self::Bits(bits, 0), set))
            }
            _ => Err(CodecError::Malformed),
        }
    }

    #[inline]
    pub(super) fn next(&mut self) -> Result<bool, CodecError> {
        match self {
            Self::All => Ok(true),
            Self::Runs(flag, left, runs) => {
                // Only the first run can be empty; the total was checked when the runs were opened.
                while *left == 0 {
                    *left = usize::try_from(runs.unsigned()?).map_err(|_too_large| CodecError::Malformed)?;
                    *flag = !*flag;
                }
                *left -= 1;
                Ok(*flag)
            }
            Self::Bits(bits, index) => {
                *index += 1;
                Ok(bit(bits, *index - 1))
            }
        }
    }
}

fn bit(bits: &[u8], index: usize) -> bool {
    bits.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1)
}

/// How many of `count` flags are set.
fn count_runs(mut runs: Reader<'_>, count: usize) -> Result<usize, CodecError> {
    let (mut all, mut set, mut flag) = (0_usize, 0, false);
    while all < count {
        let length = usize::try_from(runs.unsigned()?).map_err(|_too_large| CodecError::Malformed)?;
        all = all.checked_add(length).filter(|all| *all <= count).ok_or(CodecError::Malformed)?;
        set += if flag { length } else { 0 };
        flag = !flag;
    }
    runs.end().map(|()| set)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packed(flags: &[bool]) -> usize {
        let mut out = Writer::default();
        write_presence(&mut out, flags);
        let bytes = out.into_bytes();
        let mut input = Reader::new(&bytes);
        let (mut column, set) = Presence::open(&mut input, flags.len()).unwrap();
        assert_eq!(set, flags.iter().filter(|flag| **flag).count());
        let back: Vec<bool> = flags.iter().map(|_| column.next().unwrap()).collect();
        assert_eq!(back, flags);
        assert_eq!(input.end(), Ok(()));
        bytes.len()
    }

    #[test]
    fn takes_the_shortest_form() {
        assert_eq!(packed(&[true; 1_000]), 1);
        assert_eq!(packed(&[false; 1_000]), 4);
        let mut one_missing = vec![true; 1_000];
        one_missing[500] = false;
        assert_eq!(packed(&one_missing), 8);
        let alternating: Vec<bool> = (0..1_000).map(|index| index % 2 == 0).collect();
        assert_eq!(packed(&alternating), 126);
    }

    proptest! {
        #[test]
        fn any_flags_come_back(flags: Vec<bool>) {
            packed(&flags);
        }
    }
}
