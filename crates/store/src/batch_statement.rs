//! Statements over the rows of a group commit, in the form for one server and in the form for a Citus cluster.
//!
//! On one server a statement takes the account of each row from an array. On a cluster a commit has rows of one account
//! only, and the statement names it as the first element of that array: then it runs on the server of the account, may
//! lock rows there, and the commit needs no second phase. Rows are inserted by joining them with the row of the
//! account, because otherwise the coordinator would copy them to the shards and commit in two phases.

/// Both forms of a statement. They have the same parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchStatement {
    /// For rows of any accounts, on one server.
    pub(crate) any_account: &'static str,
    /// For rows of one account, on a cluster.
    pub(crate) one_account: &'static str,
}

impl BatchStatement {
    /// The form for this database.
    pub(crate) const fn of(self, is_distributed: bool) -> &'static str {
        if is_distributed { self.one_account } else { self.any_account }
    }
}
