//! CPU steps of one request, counted where the work is done.

/// The steps are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request would take more work than its size allows")]
pub struct OutOfSteps;

/// Steps that are left. A step is about one value visited or 16 bytes moved: a few nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    left: u64,
}

impl Steps {
    /// A budget of this many steps.
    pub const fn new(steps: u64) -> Self {
        Self { left: steps }
    }

    /// Takes steps before the work is done.
    pub const fn charge(&mut self, steps: u64) -> Result<(), OutOfSteps> {
        if let Some(left) = self.left.checked_sub(steps) {
            self.left = left;
            Ok(())
        } else {
            self.left = 0;
            Err(OutOfSteps)
        }
    }

    /// Steps that are left.
    pub const fn left(&self) -> u64 {
        self.left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_after_a_refusal() {
        let mut steps = Steps::new(10);
        assert_eq!(steps.charge(7), Ok(()));
        assert_eq!(steps.left(), 3);
        assert_eq!(steps.charge(4), Err(OutOfSteps));
        assert_eq!(steps.charge(1), Err(OutOfSteps));
    }
}
