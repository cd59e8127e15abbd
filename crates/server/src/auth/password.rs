//! Hashes passwords with Argon2id, at most one per core at the same time.

use std::sync::Arc;

use argon2::{Algorithm, Argon2, Params, PasswordHash, PasswordHasher as _, PasswordVerifier as _, Version};
use rand::{Rng as _, RngCore as _};
use secrecy::{ExposeSecret as _, SecretString};

use crate::budget::{Payer, Queue, QueueLimits, RunError};

/// Minimum characters of a password.
pub const LEAST_CHARS: usize = 10;
/// Maximum characters of a password.
pub const MOST_CHARS: usize = 128;

const SALT_BYTES: usize = 16;

/// The cost parameters of Argon2id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordCost {
    /// Memory of one hash, in KiB.
    pub memory_kib: u32,
    /// Number of passes over that memory.
    pub passes: u32,
}

impl PasswordCost {
    /// The minimum of OWASP's Password Storage Cheat Sheet for Argon2id: 19 MiB, two passes, one lane.
    pub const OWASP: Self = Self { memory_kib: 19 * 1024, passes: 2 };
    /// The minimum that Argon2id accepts. For tests, which hash many passwords.
    pub const CHEAPEST: Self = Self { memory_kib: 8, passes: 1 };
}

/// Why a password could not be hashed or compared.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    /// Argon2 does not allow these parameters.
    #[error("the memory and time costs for password hashing are invalid")]
    Cost(#[source] argon2::Error),
    /// The stored hash cannot be parsed.
    #[error("the stored password hash is malformed")]
    Broken(#[source] argon2::password_hash::Error),
    /// The hashing itself failed.
    #[error("hashing a password failed")]
    Failed(#[source] argon2::password_hash::Error),
    /// The queue was full, or the service stopped meanwhile.
    #[error(transparent)]
    NotRun(#[from] RunError),
}

/// Why a new password is refused, as a sentence for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyProblem {
    /// Fewer than [`LEAST_CHARS`] characters.
    #[error("The password must have at least 10 characters.")]
    TooShort,
    /// More than [`MOST_CHARS`] characters.
    #[error("The password must have at most 128 characters.")]
    TooLong,
    /// The e-mail address, or the part of it before the @.
    #[error("The password must not be the e-mail address.")]
    IsEmail,
}

/// Whether a user may choose this password.
pub fn check_policy(password: &str, email: &str) -> Result<(), PolicyProblem> {
    let chars = password.chars().count();
    let (password, email) = (password.trim().to_lowercase(), email.trim().to_lowercase());
    let local_part = email.split('@').next().unwrap_or_default();
    if chars < LEAST_CHARS {
        Err(PolicyProblem::TooShort)
    } else if chars > MOST_CHARS {
        Err(PolicyProblem::TooLong)
    } else if password == email || password == local_part {
        Err(PolicyProblem::IsEmail)
    } else {
        Ok(())
    }
}

/// A random password that can be read aloud: four groups of five unambiguous letters and digits, 100 bits.
pub fn generate() -> SecretString {
    const LETTERS: &[u8; 32] = b"23456789abcdefghijkmnpqrstuvwxyz";
    let mut rng = rand::rng();
    let mut group = || -> String { (0..5).map(|_| char::from(LETTERS[rng.random_range(0..32)])).collect() };
    [group(), group(), group(), group()].join("-").into()
}

/// Hashes passwords and compares them with stored hashes, outside the threads that serve requests.
#[derive(Clone, Debug)]
pub struct Passwords {
    argon2: Argon2<'static>,
    cost: PasswordCost,
    queue: Arc<Queue>,
}

impl Passwords {
    /// Hashes at this cost, at most one per core at the same time.
    pub fn new(cost: PasswordCost) -> Result<Self, PasswordError> {
        let params = Params::new(cost.memory_kib, cost.passes, 1, None).map_err(PasswordError::Cost)?;
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let limits = QueueLimits {
            running: cores,
            running_each: cores,
            memory: usize::MAX,
            waiting: usize::MAX,
            waiting_each: usize::MAX,
            strangers: None,
        };
        Ok(Self {
            argon2: Argon2::new(Algorithm::Argon2id, Version::V0x13, params),
            cost,
            queue: Queue::new("hashes", limits),
        })
    }

    /// Runs the hashes in this queue instead.
    #[must_use]
    pub fn in_queue(self, queue: Arc<Queue>) -> Self {
        Self { queue, ..self }
    }

    /// The hash to store, as a PHC string; the service itself is the payer.
    pub async fn hash(&self, password: SecretString) -> Result<String, PasswordError> {
        self.hash_for(Payer::own(), password).await
    }

    /// The hash to store, as a PHC string.
    pub async fn hash_for(&self, payer: Payer, password: SecretString) -> Result<String, PasswordError> {
        self.work(payer, move |argon2| {
            let mut salt = [0; SALT_BYTES];
            rand::rng().fill_bytes(&mut salt);
            let hash = argon2.hash_password_with_salt(password.expose_secret().as_bytes(), &salt);
            hash.map(|hash| hash.to_string()).map_err(PasswordError::Failed)
        })
        .await
    }

    /// Whether the password matches the stored hash.
    pub async fn verify(
        &self,
        payer: Payer,
        password: SecretString,
        stored: String,
    ) -> Result<bool, PasswordError> {
        self.work(payer, move |argon2| {
            let stored = PasswordHash::new(&stored).map_err(|error| PasswordError::Broken(error.into()))?;
            match argon2.verify_password(password.expose_secret().as_bytes(), &stored) {
                Ok(()) => Ok(true),
                Err(argon2::password_hash::Error::PasswordInvalid) => Ok(false),
                Err(error) => Err(PasswordError::Broken(error)),
            }
        })
        .await
    }

    /// Does the work of [`Self::verify`] for a user who does not exist, so that the time does not reveal whether they
    /// do.
    pub async fn verify_dummy(&self, payer: Payer, password: SecretString) -> Result<(), PasswordError> {
        self.work(payer, move |argon2| {
            let hash = argon2.hash_password_with_salt(password.expose_secret().as_bytes(), &[0; SALT_BYTES]);
            hash.map(drop).map_err(PasswordError::Failed)
        })
        .await
    }

    /// Whether the stored hash has other parameters than new ones have, and should be replaced at the next sign-in.
    pub fn needs_rehash(&self, stored: &str) -> bool {
        let Ok(hash) = PasswordHash::new(stored) else {
            return true;
        };
        let same = hash.algorithm == Algorithm::Argon2id.ident()
            && hash.version == Some(Version::V0x13.into())
            && Params::try_from(&hash).is_ok_and(|params| {
                (params.m_cost(), params.t_cost(), params.p_cost())
                    == (self.cost.memory_kib, self.cost.passes, 1)
            });
        !same
    }

    async fn work<T: Send + 'static>(
        &self,
        payer: Payer,
        job: impl FnOnce(Argon2<'static>) -> Result<T, PasswordError> + Send + 'static,
    ) -> Result<T, PasswordError> {
        let argon2 = self.argon2.clone();
        let memory = usize::try_from(self.cost.memory_kib).unwrap_or(usize::MAX).saturating_mul(1024);
        self.queue.run(payer, memory, move || job(argon2)).await?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cheap() -> Passwords {
        Passwords::new(PasswordCost::CHEAPEST).unwrap()
    }

    #[tokio::test]
    async fn hashes_verify_and_differ() {
        let passwords = cheap();
        let hash = passwords.hash("correct horse".into()).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=8,t=1,p=1$"), "{hash}");
        assert_ne!(passwords.hash("correct horse".into()).await.unwrap(), hash);
        assert!(passwords.verify(Payer::own(), "correct horse".into(), hash.clone()).await.unwrap());
        assert!(!passwords.verify(Payer::own(), "Correct horse".into(), hash.clone()).await.unwrap());
        assert!(!passwords.verify(Payer::own(), String::new().into(), hash).await.unwrap());
        passwords.verify_dummy(Payer::own(), "anything".into()).await.unwrap();
    }

    #[tokio::test]
    async fn broken_hashes_are_an_error_and_not_a_wrong_password() {
        for stored in ["", "plain", "$argon2id$v=19$m=8,t=1,p=1$", "$scrypt$ln=1,r=8,p=1$c2FsdHNhbHQ$aGFzaA"]
        {
            let result = cheap().verify(Payer::own(), "anything".into(), stored.to_owned()).await;
            assert!(matches!(result, Err(PasswordError::Broken(_))), "{stored}: {result:?}");
            assert!(cheap().needs_rehash(stored), "{stored}");
        }
    }

    #[tokio::test]
    async fn hashes_of_another_cost_verify_and_are_replaced() {
        let old = cheap();
        let new = Passwords::new(PasswordCost { memory_kib: 16, passes: 2 }).unwrap();
        let hash = old.hash("correct horse".into()).await.unwrap();
        assert!(new.verify(Payer::own(), "correct horse".into(), hash.clone()).await.unwrap());
        assert!(new.needs_rehash(&hash) && !old.needs_rehash(&hash));
    }

    #[tokio::test]
    async fn the_real_cost_works() {
        let passwords = Passwords::new(PasswordCost::OWASP).unwrap();
        let hash = passwords.hash("correct horse".into()).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert!(Passwords::new(PasswordCost { memory_kib: 0, passes: 0 }).is_err());
    }

    #[tokio::test]
    async fn waits_for_its_turn_in_the_queue() {
        let limits = QueueLimits {
            running: 1,
            running_each: 1,
            memory: 0,
            waiting: 1,
            waiting_each: 1,
            strangers: None,
        };
        let queue = Queue::new("test", limits);
        let passwords = cheap().in_queue(Arc::clone(&queue));
        let taken = queue.try_acquire(Payer::own(), 0).unwrap();
        let waiting = tokio::spawn({
            let passwords = passwords.clone();
            async move { passwords.hash("correct horse".into()).await }
        });
        tokio::task::yield_now().await;
        assert_eq!(queue.load(), (1, 1));
        let shed = passwords.hash("correct horse".into()).await;
        assert!(matches!(shed, Err(PasswordError::NotRun(RunError::Exhausted(_)))), "{shed:?}");
        drop(taken);
        waiting.await.unwrap().unwrap();
        assert_eq!(queue.load(), (0, 0));
    }

    #[test]
    fn policy() {
        let check =
            |password: &str, expect| assert_eq!(check_policy(password, "ana.lopez@example.com"), expect);
        check("123456789", Err(PolicyProblem::TooShort));
        check("ñandú-ñandú", Ok(()));
        check(&"x".repeat(128), Ok(()));
        check(&"x".repeat(129), Err(PolicyProblem::TooLong));
        check("Ana.Lopez@example.com ", Err(PolicyProblem::IsEmail));
        assert_eq!(check_policy("long.enough", "long.enough@example.com"), Err(PolicyProblem::IsEmail));
    }

    #[test]
    fn generated_passwords_are_readable_and_pass_the_policy() {
        let (one, other) = (generate(), generate());
        assert_ne!(one.expose_secret(), other.expose_secret());
        assert_eq!(one.expose_secret().len(), 23);
        assert_eq!(check_policy(one.expose_secret(), "ana@example.com"), Ok(()));
    }
}
