//! A control beside an attack: two threads of this program send a byte to each other over loopback, without the server.
//! Their longest wait is what the machine itself adds to every wait at that time.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

/// Pause between two bytes, as between two calls of the other tenant.
const PAUSE: Duration = Duration::from_millis(20);

/// A running control.
#[derive(Debug)]
pub(crate) struct Control {
    stop: Sender<()>,
    thread: JoinHandle<Result<Duration>>,
}

impl Control {
    pub(crate) fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let mut asking = TcpStream::connect(listener.local_addr()?)?;
        let (mut answering, _) = listener.accept()?;
        asking.set_nodelay(true)?;
        answering.set_nodelay(true)?;
        // Ends when the other side is closed.
        std::thread::spawn(move || {
            let mut byte = [0];
            while answering.read_exact(&mut byte).is_ok() && answering.write_all(&byte).is_ok() {}
        });
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            let (mut byte, mut longest) = ([0], Duration::ZERO);
            while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                let began = Instant::now();
                asking.write_all(&byte)?;
                asking.read_exact(&mut byte)?;
                longest = longest.max(began.elapsed());
            }
            Ok(longest)
        });
        Ok(Self { stop, thread })
    }

    /// Stops, and returns the longest wait in milliseconds.
    pub(crate) fn stop(self) -> Result<f64> {
        drop(self.stop);
        let longest = self.thread.join().map_err(|_panic| anyhow!("the control panicked"))??;
        Ok(longest.as_secs_f64() * 1000.0)
    }
}
