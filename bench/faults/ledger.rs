//! A ledger of sent and acknowledged locations, kept outside the database.

use std::collections::VecDeque;

use rand::Rng;
use rand::rngs::StdRng;

use crate::point::{self, Slot};

/// How many acknowledged requests are kept to be sent again.
const REMEMBERED: usize = 64;
/// Locations that a device holds back to send late.
const KEPT_BACK: usize = 400;

/// The kind of a request, which decides what its answer must say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Locations never sent before: all are new.
    Fresh,
    /// Locations that were acknowledged: none is new.
    Known,
    /// Locations of a request without an answer: new or not is unknown.
    Unknown,
}

/// Locations of a device, sent at once.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) device: usize,
    pub(crate) slots: Vec<Slot>,
    pub(crate) purpose: Purpose,
}

impl Request {
    /// The body: an object for one location, an array for several.
    pub(crate) fn body(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.slots.len() * 160);
        if self.slots.len() == 1 {
            point::write(&mut body, self.device, self.slots[0]);
            return body;
        }
        for (index, slot) in self.slots.iter().enumerate() {
            body.push(if index == 0 { b'[' } else { b',' });
            point::write(&mut body, self.device, *slot);
        }
        body.push(b']');
        body
    }
}

/// The state of a location in the ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    /// Never sent.
    #[default]
    Unsent,
    /// Sent, but not acknowledged.
    Sent,
    /// Acknowledged by an answer.
    Acknowledged,
}

/// A device's page of the ledger.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) states: Vec<State>,
    /// How often the location feed showed each location.
    pub(crate) shown: Vec<u8>,
    kept_back: Vec<Slot>,
}

/// Everything that happened so far.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) pages: Vec<Page>,
    /// Devices that are written to now; the others are complete.
    pub(crate) current: std::ops::Range<usize>,
    known: VecDeque<Request>,
    unanswered: Vec<Request>,
    pub(crate) counts: Counts,
}

/// Counters of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) requests: u64,
    pub(crate) acknowledged: u64,
    pub(crate) late: u64,
    pub(crate) sent_again: u64,
    pub(crate) unanswered: u64,
    pub(crate) refused: u64,
}

impl Ledger {
    /// Adds pages for `count` devices, which are used from now on.
    pub(crate) fn open_pages(&mut self, count: usize) {
        let first = self.pages.len();
        self.pages.extend((0..count).map(|_| Page::default()));
        self.current = first..first + count;
        self.known.clear();
        self.unanswered.clear();
    }

    /// Chooses the next request and records that it is sent.
    pub(crate) fn next(&mut self, random: &mut StdRng, most: usize) -> Request {
        self.counts.requests += 1;
        if random.random_bool(0.5)
            && let Some(request) = self.unanswered.pop()
        {
            self.counts.sent_again += 1;
            return Request { purpose: Purpose::Unknown, ..request };
        }
        if random.random_bool(0.08) && !self.known.is_empty() {
            self.counts.sent_again += 1;
            let chosen = random.random_range(0..self.known.len());
            return Request { purpose: Purpose::Known, ..self.known[chosen].clone() };
        }
        // One device gets most of the locations, so that they are packed as often as possible.
        let is_busy = random.random_bool(0.6);
        let device = if is_busy { self.current.start } else { random.random_range(self.current.clone()) };
        let count = if random.random_bool(0.5) { 1 } else { random.random_range(1..=most) };
        let page = &mut self.pages[device];
        let mut slots = Vec::with_capacity(count);
        while slots.len() < count {
            let is_late = random.random_bool(0.05) && !page.kept_back.is_empty();
            let slot = if is_late {
                self.counts.late += 1;
                page.kept_back.swap_remove(random.random_range(0..page.kept_back.len()))
            } else {
                page.states.push(State::Unsent);
                page.shown.push(0);
                Slot::try_from(page.states.len() - 1).unwrap_or(Slot::MAX)
            };
            if !is_late && page.kept_back.len() < KEPT_BACK && random.random_bool(0.05) {
                page.kept_back.push(slot);
                continue;
            }
            page.states[slot as usize] = State::Sent;
            slots.push(slot);
        }
        Request { device, slots, purpose: Purpose::Fresh }
    }

    /// Records that a request succeeded. Called after the whole answer was read.
    pub(crate) fn acknowledge(&mut self, request: Request) {
        let page = &mut self.pages[request.device];
        for slot in &request.slots {
            let state = &mut page.states[*slot as usize];
            self.counts.acknowledged += u64::from(*state != State::Acknowledged);
            *state = State::Acknowledged;
        }
        if request.purpose != Purpose::Known {
            if self.known.len() == REMEMBERED {
                self.known.pop_front();
            }
            self.known.push_back(request);
        }
    }

    /// Records that there was no answer, or one that acknowledges nothing.
    pub(crate) fn leave_unanswered(&mut self, request: Request) {
        self.counts.unanswered += 1;
        if request.purpose != Purpose::Known {
            self.unanswered.push(request);
        }
    }
}
