//! A stream over real sockets and over restarts of the server, while somebody keeps writing.

use std::net::SocketAddr;

use perigee_server::app::App;
use perigee_server::http::router::router;
use perigee_server::serve::{Listener, ServeConfig, ShutdownReport, install_crypto_provider, serve};
use perigee_store::Database;
use reqwest::Client;
use serde_json::json;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use crate::support::app::{build, default_config};
use crate::support::stream::read_message;
use crate::support::{Engine, Person, TestApp, on_both_engines};

const LOCATIONS: usize = 120;

/// A server on a store, listening.
struct Node {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<ShutdownReport>,
}

impl Node {
    async fn start(app: App) -> Self {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = listener.local_addr();
        let (stop, stopped) = oneshot::channel::<()>();
        let routes = router(app.clone());
        let task = tokio::spawn(async move {
            let stop = async move {
                let _stopped_or_dropped = stopped.await;
                app.tasks.stopping.cancel();
            };
            serve(listener, None, routes, ServeConfig::default(), stop).await
        });
        Self { address, stop, task }
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        let report = self.task.await.unwrap();
        assert_eq!(report.cut, 0, "streams end when the service stops");
    }
}

async fn a_stream_survives_restarts_without_gap_or_repetition(engine: Engine) {
    install_crypto_provider();
    let begun = TestApp::new(engine).await;
    let tenant = begun.tenant("acme", 10).await;
    let device = begun.device(&tenant.owner, &json!({"name": "one"})).await;
    let TestApp { scratch, mut store, app, .. } = begun;
    let mut node = Node::start(app).await;
    let (address, addresses) = watch::channel(node.address);
    let (seen, mut progress) = watch::channel(0);
    let writer = tokio::spawn(write(tenant.owner.clone(), device, addresses.clone()));
    let reader = tokio::spawn(read(tenant.owner.clone(), addresses, seen));
    for part in 1..=2 {
        progress.wait_for(|seen| *seen >= part * LOCATIONS / 3).await.unwrap();
        node.stop().await;
        store.close().await;
        store = scratch.open().await;
        node = Node::start(reopened(&store, &scratch).await).await;
        address.send_replace(node.address);
    }
    writer.await.unwrap();
    let events = reader.await.unwrap();
    assert_eq!(events, (0..LOCATIONS).collect::<Vec<_>>(), "each once, in order");
    node.stop().await;
}

async fn reopened(store: &Database, scratch: &perigee_store::testing::Scratch) -> App {
    build(store, scratch.clock(), default_config()).await
}

/// Sends locations one after another, each until it is taken.
async fn write(person: Person, device: String, addresses: watch::Receiver<SocketAddr>) {
    let client = Client::builder().no_proxy().build().unwrap();
    for number in 0..LOCATIONS {
        let fix = json!({
            "dateTime": format!("2023-05-01T12:00:00.{number:03}Z"), "latitude": 1, "longitude": 2,
            "attributes": {"n": number},
        });
        loop {
            let url = format!("http://{}/api/devices/{device}/locations", *addresses.borrow());
            match client.post(url).bearer_auth(&person.token).json(&fix).send().await {
                Ok(answer) if answer.status().is_success() => break,
                // The server is being started again.
                _ => tokio::task::yield_now().await,
            }
        }
    }
}

/// Follows the stream as a browser does: connects again, and says where it was.
async fn read(
    person: Person,
    addresses: watch::Receiver<SocketAddr>,
    seen: watch::Sender<usize>,
) -> Vec<usize> {
    let client = Client::builder().no_proxy().build().unwrap();
    let (mut numbers, mut last) = (Vec::new(), None::<String>);
    while numbers.len() < LOCATIONS {
        let url = format!("http://{}/api/stream?types=location.created&cursor=start", *addresses.borrow());
        let mut request = client.get(url).bearer_auth(&person.token);
        if let Some(last) = &last {
            request = request.header("Last-Event-ID", last);
        }
        let Ok(mut answer) = request.send().await else {
            tokio::task::yield_now().await;
            continue;
        };
        let mut text = String::new();
        while numbers.len() < LOCATIONS
            && let Ok(Some(some)) = answer.chunk().await
        {
            text.push_str(std::str::from_utf8(&some).unwrap());
            while let Some(end) = text.find("\n\n") {
                let message = read_message(&text[..end]);
                text.drain(..end + 2);
                last = message.id.or(last);
                if let Some(event) = message.event {
                    numbers
                        .push(usize::try_from(event["data"]["attributes"]["n"].as_u64().unwrap()).unwrap());
                    seen.send_replace(numbers.len());
                }
            }
        }
    }
    numbers
}

on_both_engines!(a_stream_survives_restarts_without_gap_or_repetition);
