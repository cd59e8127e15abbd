//! The setup of every scenario: a server, the attacker's account and another tenant's account.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use perigee_bench::http::Connection;
use perigee_bench::server::{Limits, Server, Setup};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Source address of the other tenant. The attacker uses 127.0.0.1.
pub(crate) const OTHER_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

const OTHER_EMAIL: &str = "other@localhost";

/// A server under attack.
#[derive(Debug)]
pub(crate) struct Stage {
    /// The server; its first account is the attacker's.
    pub(crate) server: Server,
    /// The tenant that must not be affected.
    pub(crate) other: Tenant,
    /// The address of the listener for trackers of any protocol.
    pub(crate) trackers: SocketAddr,
    /// The mail server that the server uses, if the scenario sets its host to 127.0.0.1.
    pub(crate) mail: Arc<TcpListener>,
    /// The tile server of the operator's map layer; only the scenario `tiles` answers its requests.
    pub(crate) tiles: Arc<TcpListener>,
}

/// Another account with one device.
#[derive(Clone, Debug)]
pub(crate) struct Tenant {
    pub(crate) email: String,
    pub(crate) password: String,
    pub(crate) token: String,
    pub(crate) device: String,
}

impl Stage {
    /// Starts a server with the default limits and these settings, on an empty store.
    pub(crate) async fn start(
        perigee: &Path,
        scratch: &Path,
        database: Option<String>,
        environment: &[(&str, &str)],
    ) -> Result<Self> {
        let mail = TcpListener::bind("127.0.0.1:0").await?;
        let port = ("PERIGEE_EMAIL__PORT".to_owned(), mail.local_addr()?.port().to_string());
        // Scenarios with trackers register them; claims have tests of their own.
        let first_claims = ("PERIGEE_GATEWAYS__CLAIMS".to_owned(), "first".to_owned());
        // The port is free again once the listener is dropped.
        let trackers = TcpListener::bind("127.0.0.1:0").await?.local_addr()?;
        let listen = ("PERIGEE_GATEWAYS__LISTEN".to_owned(), format!("any={trackers}"));
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let mut server = Server::start(Setup {
            perigee: perigee.to_owned(),
            scratch: scratch.to_owned(),
            database,
            environment: environment.chain([port, first_claims, listen]).collect(),
            limits: Limits::Default,
        })
        .await?;
        let tiles = TcpListener::bind("127.0.0.1:0").await?;
        let source = format!("http://{}/{{z}}/{{x}}/{{y}}.png?key=secret", tiles.local_addr()?);
        server.run_json(&["map", "add", &source, "--name", "Sea marks", "--overlay"])?;
        // Layers are read at start.
        server.end()?;
        server.start_again()?;
        let other = make_tenant(&server).await?;
        Ok(Self { server, other, trackers, mail: Arc::new(mail), tiles: Arc::new(tiles) })
    }

    /// A new connection of the attacker.
    pub(crate) async fn connect(&self) -> Result<Connection> {
        Connection::open(&self.server.address).await
    }

    /// Calls the API as the attacker's owner and returns the body of a success.
    pub(crate) async fn call(&self, line: &str, body: &Value) -> Result<Value> {
        self.call_as(&self.server.token, line, body).await
    }

    /// The same with another token.
    pub(crate) async fn call_as(&self, token: &str, line: &str, body: &Value) -> Result<Value> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut connection = self.connect().await?;
        let answer = connection.call(line, token, body.as_bytes()).await?;
        if !answer.is_success() {
            bail!("{line}: {}", answer.text());
        }
        answer.json()
    }

    /// Creates a user of the attacker's account with these privileges and returns a token.
    pub(crate) async fn make_user(&self, email: &str, privileges: &[&str]) -> Result<String> {
        let body = json!({
            "name": email, "email": email, "country": "ES", "timeZone": "UTC", "privileges": privileges,
        });
        self.call("POST /api/users", &body).await?;
        get_token(&self.server, email).await
    }
}

async fn make_tenant(server: &Server) -> Result<Tenant> {
    let line = ["account", "create", "--name", "Other", "--licenses", "100000", "--owner-email", OTHER_EMAIL];
    let made = server.run_json(&line)?;
    let password = made["password"].as_str().context("no password was given")?.to_owned();
    let token = get_token(server, OTHER_EMAIL).await?;
    let mut connection = Connection::open_from(OTHER_ADDRESS, &server.address).await?;
    let body = json!({"name": "Bystander", "identifier": "bystander"}).to_string();
    let answer = connection.call("POST /api/devices", &token, body.as_bytes()).await?.json()?;
    let device = answer["device"]["id"].as_str().context("a device without an id")?.to_owned();
    // A user who signed in from this network is known there, and must not be refused when strangers try passwords.
    let body = json!({"email": OTHER_EMAIL, "password": password}).to_string();
    let answer = connection.call("POST /api/session", "", body.as_bytes()).await?;
    ensure!(answer.is_success(), "the other tenant could not sign in: {}", answer.text());
    Ok(Tenant { email: OTHER_EMAIL.to_owned(), password, token, device })
}

/// A token for a user of the server, by an API key issued on the command line.
async fn get_token(server: &Server, email: &str) -> Result<String> {
    let key = server.run_json(&["key", "issue", "--email", email])?;
    let body = json!({"userName": email, "apiKey": key["apiKey"]}).to_string();
    let mut connection = Connection::open(&server.address).await?;
    let answer = connection.call("POST /api/Auth/Token", "", body.as_bytes()).await?.json()?;
    Ok(answer["token"].as_str().with_context(|| format!("no token was given: {answer}"))?.to_owned())
}
