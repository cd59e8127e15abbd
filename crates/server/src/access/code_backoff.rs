//! Back-off after wrong codes of the second factor. It is counted by user, whatever the address: a code has only six
//! digits, so guesses from many addresses must add up.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use perigee_core::id::UserId;
use perigee_core::time::Monotonic;

/// Wrong codes in a row before the first wait.
const FREE_ATTEMPTS: u32 = 5;
/// The first wait; it doubles with each further wrong code.
const FIRST_WAIT: Duration = Duration::from_secs(30);
/// The longest wait. A guesser finds the code with a chance of 0.03 % a day; the user waits at most a quarter of an
/// hour.
const LONGEST_WAIT: Duration = Duration::from_mins(15);
/// Time without a wrong code after which the count is reset.
const FORGOTTEN_AFTER: Duration = Duration::from_hours(24);
/// Number of users above which those whose count was reset are removed from memory.
const SWEEP_ABOVE: usize = 1_024;

/// Users with recent wrong codes. Codes are checked after the password, so only somebody who knows it adds an entry.
#[derive(Debug, Default)]
pub struct CodeBackoff {
    users: Mutex<HashMap<UserId, Wrong>>,
}

#[derive(Clone, Copy, Debug)]
struct Wrong {
    /// Wrong codes in a row, including those being checked now.
    codes: u32,
    /// Time of the last wrong code, and time from which the next code is accepted.
    last: Monotonic,
    next: Monotonic,
}

impl CodeBackoff {
    /// Begins to check a code. It counts as wrong until [`Self::succeed`] is called, so that only the first five of a
    /// thousand parallel guesses are checked. Fails with the time to wait.
    pub fn begin(&self, user: UserId, now: Monotonic) -> Result<(), Duration> {
        let mut users = self.users.lock();
        if users.len() >= SWEEP_ABOVE {
            users.retain(|_, wrong| now.since(wrong.last) < FORGOTTEN_AFTER);
        }
        let before = users.get(&user).filter(|wrong| now.since(wrong.last) < FORGOTTEN_AFTER);
        if let Some(wrong) = before
            && now < wrong.next
        {
            return Err(wrong.next.since(now));
        }
        let codes = before.map_or(0, |wrong| wrong.codes).saturating_add(1);
        users.insert(user, Wrong { codes, last: now, next: now.plus(wait_after(codes)) });
        Ok(())
    }

    /// The user sent a correct code.
    pub fn succeed(&self, user: UserId) {
        self.users.lock().remove(&user);
    }
}

fn wait_after(codes: u32) -> Duration {
    match codes.checked_sub(FREE_ATTEMPTS) {
        None => Duration::ZERO,
        Some(beyond) => FIRST_WAIT.saturating_mul(1 << beyond.min(16)).min(LONGEST_WAIT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANA: UserId = UserId::from_i64(1);
    const EVA: UserId = UserId::from_i64(2);

    #[test]
    fn waits_double_up_to_a_bound_and_end_with_a_right_code() {
        let backoff = CodeBackoff::default();
        let mut now = Monotonic::from_start(Duration::from_secs(1_000));
        for _ in 0..FREE_ATTEMPTS {
            assert_eq!(backoff.begin(ANA, now), Ok(()));
        }
        for wait_s in [30, 60, 120, 240, 480, 900, 900] {
            let wait = Duration::from_secs(wait_s);
            assert_eq!(backoff.begin(ANA, now), Err(wait));
            now = now.plus(wait.saturating_sub(Duration::from_millis(1)));
            assert_eq!(backoff.begin(ANA, now), Err(Duration::from_millis(1)));
            now = now.plus(Duration::from_millis(1));
            assert_eq!(backoff.begin(ANA, now), Ok(()));
        }
        assert_eq!(backoff.begin(EVA, now), Ok(()), "others are not concerned");
        backoff.succeed(ANA);
        assert_eq!(backoff.begin(ANA, now), Ok(()));
    }

    #[test]
    fn memory_is_bounded_by_time() {
        let backoff = CodeBackoff::default();
        let start = Monotonic::from_start(Duration::ZERO);
        for user in 0..2_000 {
            assert_eq!(backoff.begin(UserId::from_i64(user), start), Ok(()));
        }
        assert_eq!(backoff.begin(ANA, start.plus(FORGOTTEN_AFTER)), Ok(()));
        assert_eq!(backoff.users.lock().len(), 1);
    }
}
