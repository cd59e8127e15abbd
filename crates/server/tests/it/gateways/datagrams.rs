//! Datagrams above a rate: positions are dropped, an SOS of a registered tracker is stored.

use serde_json::{Value, json};
use tokio::net::UdpSocket;
use tokio::time::timeout;

use super::{Hearing, IMEI, PATIENCE, frame, location, login};
use crate::support::{Engine, on_both_engines};

on_both_engines!(
    an_sos_above_the_rate_of_its_device_is_stored,
    an_sos_above_the_rate_of_its_address_is_stored,
    an_sos_of_a_flood_has_an_allowance_of_its_own,
);

/// A status without a position: terminal information with the alarm bits of an SOS, voltage, signal, alarm.
fn sos(serial: u16) -> Vec<u8> {
    frame(0x13, &[0x24, 0x04, 0x04, 0x01, 0x02], serial)
}

/// A tracker that has logged in by UDP, from its own address and port.
struct ByUdp {
    on: Hearing,
    device: String,
    socket: UdpSocket,
}

impl ByUdp {
    async fn log_in(engine: Engine) -> Self {
        let on = Hearing::new(engine).await;
        let device = on.device().await;
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.connect(on.addresses["gt06"].1.unwrap()).await.unwrap();
        let known = Self { on, device, socket };
        known.ask(&login(IMEI, 1), &frame(0x01, &[], 1)).await;
        known
    }

    async fn ask(&self, bytes: &[u8], expect: &[u8]) {
        let mut buffer = [0; 100];
        self.socket.send(bytes).await.unwrap();
        let count = timeout(PATIENCE, self.socket.recv(&mut buffer)).await.expect("an answer").unwrap();
        assert_eq!(&buffer[..count], expect);
    }

    /// Uses up the messages of the device. The clock stands still, so that there are no new ones.
    fn use_up_device(&self) {
        let device = self.device.parse().unwrap();
        while self.on.app.app.ingest.admission.admits_datagram_of(device) {}
    }

    fn use_up_address(&self) {
        while self.on.app.app.ingest.admission.admits_datagram("127.0.0.1".parse().unwrap()) {}
    }

    /// Stops the listeners, which finish what they received; and checks what is stored.
    async fn finish(self, alerts: usize, locations: usize, messages: usize) {
        let Self { on: Hearing { app, tenant, listeners, .. }, device, .. } = self;
        listeners.stop().await;
        let owner = &tenant.owner;
        let raw = app.get(owner, "/api/rawMessages").await;
        assert_eq!(raw["rawMessages"].as_array().unwrap().len(), messages);
        let found = app.get(owner, &format!("/api/devices/{device}/alerts")).await;
        let names: Vec<&Value> =
            found["alerts"].as_array().unwrap().iter().map(|one| &one["alertName"]).collect();
        assert_eq!(names, vec![&json!("SOSButton"); alerts]);
        let found = app.get(owner, &format!("/api/devices/{device}/locations")).await;
        assert_eq!(found["locations"].as_array().unwrap().len(), locations);
    }
}

async fn an_sos_above_the_rate_of_its_device_is_stored(engine: Engine) {
    let tracker = ByUdp::log_in(engine).await;
    tracker.use_up_device();
    tracker.socket.send(&location(5, 2)).await.unwrap();
    tracker.ask(&sos(3), &frame(0x13, &[], 3)).await;
    tracker.finish(1, 0, 2).await;
}

async fn an_sos_above_the_rate_of_its_address_is_stored(engine: Engine) {
    let tracker = ByUdp::log_in(engine).await;
    tracker.use_up_address();
    tracker.use_up_device();
    let stranger = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    stranger.connect(tracker.on.addresses["gt06"].1.unwrap()).await.unwrap();
    // The port of a tracker changes when its network or the service is restarted.
    stranger.send(&[login(IMEI, 2), location(5, 3)].concat()).await.unwrap();
    stranger.send(&[login(IMEI, 2), sos(4)].concat()).await.unwrap();
    let mut answer = [0; 100];
    let count = timeout(PATIENCE, stranger.recv(&mut answer)).await.expect("an answer").unwrap();
    assert_eq!(answer[..count], frame(0x13, &[], 4), "only the SOS is acknowledged");
    tracker.socket.send(&location(5, 5)).await.unwrap();
    tracker.ask(&sos(6), &frame(0x13, &[], 6)).await;
    tracker.finish(1, 0, 3).await;
}

async fn an_sos_of_a_flood_has_an_allowance_of_its_own(engine: Engine) {
    const OTHER: &str = "111111111111111";
    let tracker = ByUdp::log_in(engine).await;
    tracker.on.app.device(&tracker.on.tenant.owner, &json!({"name": "Other", "identifier": OTHER})).await;
    tracker.use_up_device();
    tracker.ask(&sos(2), &frame(0x13, &[], 2)).await;
    let (ingest, device) = (&tracker.on.app.app.ingest, tracker.device.parse().unwrap());
    let left = (0..100).take_while(|_| ingest.admission.admits_sos_of(device)).count();
    assert_eq!(left, 19, "one of twenty was used");
    tracker.socket.send(&sos(3)).await.unwrap();
    // The datagrams before it are read by the time it is answered.
    let other = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    other.connect(tracker.on.addresses["gt06"].1.unwrap()).await.unwrap();
    other.send(&login(OTHER, 4)).await.unwrap();
    timeout(PATIENCE, other.recv(&mut [0; 100])).await.expect("an answer").unwrap();
    tracker.finish(1, 0, 3).await;
}
