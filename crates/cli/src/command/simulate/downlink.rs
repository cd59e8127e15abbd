//! `perigee simulate --downlink`: the interface of a provider that takes messages to devices.

use anyhow::{Context, Result, bail};
use perigee_simulator::downlink::{Downlink, Fault, Interface};
use tokio::net::TcpListener;

use crate::args::Simulate;

/// Answers requests until interrupted, and prints the number of messages that were taken.
pub(crate) async fn run(options: &Simulate, feed: &str) -> Result<()> {
    let Some(interface) = Interface::of(feed) else {
        let known = Interface::FEEDS.map(|(name, _)| name).join(", ");
        bail!("the interface of {feed:?} cannot be simulated; choose one of {known}");
    };
    let address = options.listen.as_deref().unwrap_or_default();
    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
    let provider = Downlink::new(interface, options.key.clone());
    for word in &options.faults {
        provider.fail_next(fault(word)?);
    }
    eprintln!("simulating the provider of {feed} on {}; Ctrl-C ends it", listener.local_addr()?);
    tokio::select! {
        () = provider.clone().serve(listener) => {}
        _interrupted = tokio::signal::ctrl_c() => {}
    }
    eprintln!("{} of {} requests were taken", provider.taken().len(), provider.requests());
    Ok(())
}

fn fault(word: &str) -> Result<Fault> {
    Ok(match word {
        "busy" => Fault::Busy(30),
        "broken" => Fault::Broken,
        "silent" => Fault::Silent,
        code => match code.parse() {
            Ok(code) => Fault::Code(code),
            Err(_not_a_number) => bail!("{word:?} is no fault; choose busy, broken, silent or a number"),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_words_or_codes() {
        assert_eq!(fault("busy").unwrap(), Fault::Busy(30));
        assert_eq!(fault("15").unwrap(), Fault::Code(15));
        assert!(fault("tired").is_err());
    }
}
