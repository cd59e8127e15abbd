//! Locations with a serial number in the attribute `n`, by which a receiver recognises them.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use perigee_bench::http::Connection;
use perigee_bench::server::Server;
use perigee_core::time::Timestamp;

/// 2020-01-01T00:00:00Z.
const FIRST_DAY_MS: i64 = 1_577_836_800_000;
/// The text before the number in the JSON of a location.
const PREFIX: &[u8] = b"\"n\":";

/// The address, credentials and devices to send with.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    pub(crate) address: String,
    pub(crate) token: String,
    pub(crate) devices: Vec<String>,
}

impl Sender {
    /// The owner of a server's first account.
    pub(crate) fn of(server: &Server) -> Self {
        Self { address: server.address.clone(), token: server.token.clone(), devices: server.devices.clone() }
    }

    /// Sends locations with these numbers, evenly over this time. Returns when the answer to each began to arrive.
    pub(crate) async fn send_evenly(
        &self,
        numbers: std::ops::Range<usize>,
        duration: Duration,
    ) -> Result<Vec<(usize, Instant)>> {
        let mut connection = Connection::open(&self.address).await?;
        let began = tokio::time::Instant::now();
        let count = u32::try_from(numbers.len()).unwrap_or(u32::MAX).max(1);
        let mut answered = Vec::with_capacity(numbers.len());
        for (index, number) in (0..).zip(numbers) {
            tokio::time::sleep_until(began + duration * index / count).await;
            let device = &self.devices[number % self.devices.len()];
            let line = format!("POST /api/devices/{device}/locations");
            let answer = connection.call(&line, &self.token, location(number).as_bytes()).await?;
            if answer.status != 201 {
                bail!("{line}: {}", answer.text());
            }
            answered.push((number, answer.first_byte));
        }
        Ok(answered)
    }

    /// Sends locations with these numbers as fast as possible, in batches of `batch_size`.
    pub(crate) async fn send_all(&self, numbers: std::ops::Range<usize>, batch_size: usize) -> Result<()> {
        let mut connection = Connection::open(&self.address).await?;
        let all: Vec<usize> = numbers.collect();
        for (index, part) in all.chunks(batch_size).enumerate() {
            let device = &self.devices[index % self.devices.len()];
            let line = format!("POST /api/devices/{device}/locations");
            let body: Vec<String> = part.iter().map(|number| location(*number)).collect();
            let answer =
                connection.call(&line, &self.token, format!("[{}]", body.join(",")).as_bytes()).await?;
            if answer.status != 201 {
                bail!("{line}: {}", answer.text());
            }
        }
        Ok(())
    }
}

fn location(number: usize) -> String {
    let time = Timestamp::from_millis(FIRST_DAY_MS + i64::try_from(number).unwrap_or(i64::MAX));
    format!(
        "{{\"dateTime\":\"{time}\",\"latitude\":42.2406,\"longitude\":-8.7207,\"attributes\":{{\"n\":{number}}}}}"
    )
}

/// The number in a location's JSON.
pub(crate) fn number_in(text: &[u8]) -> Option<usize> {
    let start = text.windows(PREFIX.len()).position(|part| part == PREFIX)? + PREFIX.len();
    let digits: Vec<u8> = text[start..].iter().copied().take_while(u8::is_ascii_digit).collect();
    std::str::from_utf8(&digits).ok()?.parse().ok()
}
