//! `perigee demo`: the whole service with a simulated fleet on a temporary database, until Ctrl-C.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use perigee_core::access::actor::Origin;
use perigee_core::access::credential::ApiKey as StoredApiKey;
use perigee_core::id::KeyId;
use perigee_core::notifications::notification::{Channel, Sender};
use perigee_core::time::{Clock, SystemClock};
use perigee_server::auth::api_key::ApiKey;
use perigee_server::config::{Config, SmsGateway};
use perigee_server::run::{FirstOwner, Service};
use perigee_server::senders::Senders;
use perigee_simulator::demo::{DemoFleet, Sink, create_content, run_live};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use tokio::sync::oneshot;

use super::serve::stop_signal;
use crate::api::Api;
use crate::args::{Common, Demo, Remote};
use crate::output::{Answer, print};
use crate::{logging, progress, settings};

const DAY_MS: i64 = 86_400_000;
/// A name that never resolves (RFC 2606), in case anything tries to connect.
const NOWHERE: &str = "demo.invalid";

/// A sender for every channel, which sends nothing.
fn demo_channels() -> BTreeMap<Channel, Arc<dyn Sender>> {
    Channel::all().iter().map(|channel| (*channel, Arc::new(Sink) as Arc<dyn Sender>)).collect()
}

/// Runs the demo until it is stopped.
pub(crate) async fn demo(common: &Common, options: Demo) -> Result<ExitCode> {
    let folder = tempfile::Builder::new().prefix("perigee-demo-").tempdir();
    let folder = folder.context("cannot create a folder for the demo")?;
    let mut config = settings::defaults()?;
    prepare(&mut config, &options);
    config.store.data = folder.path().to_owned();
    logging::start(&config.log)?;
    let stop = stop_signal()?;

    let clock = Arc::new(SystemClock);
    let mut service = Service::open(config, clock.clone()).await?;
    // Replaces the senders, so that nothing leaves this machine.
    service.send_by(Senders { channels: demo_channels(), centre: None, push: None });
    let owner = service
        .first_owner()
        .await?
        .context("the database of the demo is not empty; end the demo and start it again")?;
    let api = Api::new(&prepare_access(&service, &owner).await?)?;
    let now_ms = clock.now().as_millis();
    let start_ms = now_ms - i64::from(options.days) * DAY_MS;
    let fleet = DemoFleet::new(options.seed, options.devices, start_ms, now_ms);
    let access = DemoAccess {
        address: service.base_url().to_string(),
        email: owner.email.as_str().to_owned(),
        password: owner.password.expose_secret().to_owned(),
        devices: options.devices,
    };

    let (ended, end) = oneshot::channel();
    let json = common.json;
    let simulation = tokio::spawn(async move {
        let simulated = async {
            let bar = progress::bar("devices");
            bar.set_length(u64::from(fleet.count));
            create_content(&api, fleet, || bar.inc(1)).await?;
            bar.finish_and_clear();
            print(&access, json)?;
            run_live(&api, fleet).await
        };
        // The error of the simulated fleet, if it fails.
        let _not_listening = ended.send(simulated.await);
    });
    let mut failed = None;
    let stop = async {
        tokio::select! {
            () = stop => {}
            outcome = end => failed = outcome.ok().and_then(Result::err),
        }
        simulation.abort();
    };
    service.run(stop).await;
    folder.close().context("cannot delete the folder of the demo")?;
    match failed {
        Some(error) => Err(error.context("the demo cannot continue")),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Changes the settings so that every feature is enabled and no other machine is contacted.
fn prepare(config: &mut Config, options: &Demo) {
    config.server.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port.unwrap_or(0)));
    "warn".clone_into(&mut config.log.level);
    let first = &mut config.first_start;
    "Perigee demo".clone_into(&mut first.account_name);
    first.licenses = options.devices.saturating_add(20);
    NOWHERE.clone_into(&mut config.email.host);
    config.email.from = format!("Perigee demo <demo@{NOWHERE}>");
    config.sms.gateway = SmsGateway::Http;
    config.sms.http_url = format!("https://{NOWHERE}/?to={{number}}&text={{text}}");
}

/// Makes the owner an operator, and issues an API key for the simulated fleet.
async fn prepare_access(service: &Service, owner: &FirstOwner) -> Result<Remote> {
    let app = service.app();
    let login = app.store.find_login(&owner.email).await?.context("cannot find the owner of the demo")?;
    app.store.set_operator(login.user.id, true).await?;
    let (key, now) = (ApiKey::generate(), app.clock.now());
    let kept = StoredApiKey {
        id: KeyId::random(now),
        hash: *key.hash().as_bytes(),
        hint: key.hint().to_owned(),
        creation: now,
        last_used: None,
    };
    app.store.put_api_key(&Origin::command(), login.user.id, kept).await?;
    Ok(Remote {
        url: service.base_url().to_string().parse()?,
        user_name: Some(owner.email.as_str().to_owned()),
        api_key: Some(SecretString::from(key.expose().to_owned())),
        token: None,
        ca: None,
    })
}

/// Where the demo runs, and the credentials to sign in.
#[derive(Serialize)]
struct DemoAccess {
    address: String,
    email: String,
    password: String,
    devices: u32,
}

impl Answer for DemoAccess {
    fn in_words(&self) -> String {
        format!(
            "A fleet of {} vehicles, vessels and hikers is on its way.

  open      {}
  e-mail    {}
  password  {}

Nothing of it is real: messages go nowhere, and Ctrl-C ends it and removes everything.",
            self.devices, self.address, self.email, self.password
        )
    }
}
