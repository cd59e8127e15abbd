//! A row of yes and no: nothing for all yes, the lengths of its runs, or a bit each, whichever is shortest.

use crate::codec::bytes::{CodecError, Reader, Writer};

mod form {
    pub(super) const ALL: u8 = 0;
    pub(super) const RUNS: u8 = 1;
    pub(super) const BITS: u8 = 2;
}

/// Writes the answers; their count is not part of it.
pub(super) fn write_answers(out: &mut Writer, answers: &[bool]) {
    if !answers.contains(&false) {
        return out.byte(form::ALL);
    }
    let bits = answers.len().div_ceil(8);
    if let Some(runs) = runs(answers, bits) {
        out.byte(form::RUNS);
        out.length(runs.len());
        out.raw(&runs);
    } else {
        out.byte(form::BITS);
        for eight in answers.chunks(8) {
            out.byte(eight.iter().rev().fold(0, |byte, answer| (byte << 1) | u8::from(*answer)));
        }
    }
}

/// Lengths of the runs, no first, unless they take more bytes than this.
fn runs(answers: &[bool], bytes_max: usize) -> Option<Vec<u8>> {
    let mut out = Writer::default();
    if answers.first() == Some(&true) {
        out.length(0);
    }
    for run in answers.chunk_by(|left, right| left == right) {
        out.length(run.len());
        if out.len() > bytes_max {
            return None;
        }
    }
    Some(out.into_bytes())
}

/// Reads the answers one by one.
pub(super) enum Answers<'a> {
    /// All yes.
    All,
    /// Runs: the answer, how many more of it, and the runs to come.
    Runs(bool, usize, Reader<'a>),
    /// Bits, and which is next.
    Bits(&'a [u8], usize),
}

impl<'a> Answers<'a> {
    /// Opens so many answers, and counts those that are yes.
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
                let yes = (0..count).filter(|place| bit(bits, *place)).count();
                Ok((Self::Bits(bits, 0), yes))
            }
            _ => Err(CodecError::Malformed),
        }
    }

    #[inline]
    pub(super) fn next(&mut self) -> Result<bool, CodecError> {
        match self {
            Self::All => Ok(true),
            Self::Runs(answer, left, runs) => {
                // Only the first run can be empty; the count of them all was checked when they were opened.
                while *left == 0 {
                    *left = usize::try_from(runs.unsigned()?).map_err(|_too_large| CodecError::Malformed)?;
                    *answer = !*answer;
                }
                *left -= 1;
                Ok(*answer)
            }
            Self::Bits(bits, place) => {
                *place += 1;
                Ok(bit(bits, *place - 1))
            }
        }
    }
}

fn bit(bits: &[u8], place: usize) -> bool {
    bits.get(place / 8).is_some_and(|byte| byte >> (place % 8) & 1 == 1)
}

/// How many of so many answers are yes.
fn count_runs(mut runs: Reader<'_>, count: usize) -> Result<usize, CodecError> {
    let (mut all, mut yes, mut answer) = (0_usize, 0, false);
    while all < count {
        let length = usize::try_from(runs.unsigned()?).map_err(|_too_large| CodecError::Malformed)?;
        all = all.checked_add(length).filter(|all| *all <= count).ok_or(CodecError::Malformed)?;
        yes += if answer { length } else { 0 };
        answer = !answer;
    }
    runs.end().map(|()| yes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packed(answers: &[bool]) -> usize {
        let mut out = Writer::default();
        write_answers(&mut out, answers);
        let bytes = out.into_bytes();
        let mut input = Reader::new(&bytes);
        let (mut column, yes) = Answers::open(&mut input, answers.len()).unwrap();
        assert_eq!(yes, answers.iter().filter(|answer| **answer).count());
        let back: Vec<bool> = answers.iter().map(|_| column.next().unwrap()).collect();
        assert_eq!(back, answers);
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
        let alternating: Vec<bool> = (0..1_000).map(|place| place % 2 == 0).collect();
        assert_eq!(packed(&alternating), 126);
    }

    proptest! {
        #[test]
        fn any_answers_come_back(answers: Vec<bool>) {
            packed(&answers);
        }
    }
}
