//! The worker of one channel, so that a slow channel does not delay another.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use metrics::counter;
use perigee_core::access::actor::{Origin, Scope};
use perigee_core::access::credential::LinkPurpose;
use perigee_core::alerts::severity::Severity;
use perigee_core::day::Date;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, SavedReportId};
use perigee_core::notifications::notification::{
    Attachment, Candidate, Channel, Composed, Content, EmailCaps, LINK_SECRET, Message, Occasion,
    Reservation, SendOutcome, SendingPolicy,
};
use perigee_core::reports::MadeFile;
use perigee_core::store::Queue;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::in_flight::{InFlight, InFlightMessage, LEASE, RENEW_EVERY};
use crate::app::App;
use crate::senders::{ChannelSender, ChannelSenders};

/// Time limit of an attempt; senders have shorter ones of their own.
const ATTEMPT_LIMIT: Duration = Duration::from_mins(5);
/// How long storing an outcome is retried; then the lease expires and the attempt counts as lost.
const SETTLE_LIMIT: Duration = Duration::from_mins(2);
const SETTLE_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause: another node may have added a message meanwhile, or stopped before it sent one.
const LONGEST_REST: Duration = Duration::from_secs(5);
/// The same for a channel that is not set up, whose messages are only recorded as suppressed. Few servers have all
/// channels, and a node with nothing to do should ask the store for little.
const LONGEST_REST_WHEN_OFF: Duration = Duration::from_mins(1);
/// The shortest pause, when another node was faster or the store's clock is a little behind.
const SHORTEST_REST: Duration = Duration::from_millis(100);
const AFTER_ERROR: Duration = Duration::from_secs(2);
/// Messages recorded as suppressed in one step when the channel is off.
const SUPPRESSED_AT_ONCE: u32 = 500;

/// Sends the messages of one channel.
#[derive(Clone)]
pub struct Worker {
    app: App,
    channel: Channel,
    sender: Option<ChannelSender>,
    /// Prefixes of numbers that SMS may go to; all when empty.
    sms_prefixes: Vec<String>,
    in_flight: InFlight,
    /// Messages with a file are sent one at a time, because each needs several times its size.
    attachments: Arc<Semaphore>,
}

/// What a message needs just before it is sent, and what is not stored with it.
enum Extra {
    /// A link that sets a password.
    Link(LinkPurpose),
    /// The file of a report.
    Report { report: SavedReportId, date: Date, file: MadeFile },
}

impl Extra {
    fn of(content: &Content) -> Option<Self> {
        match &content.occasion {
            Occasion::PasswordLink { purpose } => Some(Self::Link(*purpose)),
            Occasion::ScheduledReport(notice) if notice.attached => {
                Some(Self::Report { report: notice.report, date: notice.date, file: notice.file.clone() })
            }
            _ => None,
        }
    }
}

/// The outcome of a look at the outbox.
enum Begun {
    /// Messages were taken; there may be more.
    Taken,
    /// None was taken; look again after this pause.
    Nothing(Duration),
}

impl Worker {
    /// The worker of this channel.
    pub fn new(app: &App, senders: &ChannelSenders, channel: Channel) -> Self {
        // The settings were checked at the start. If they are invalid nevertheless, nothing is sent.
        let allowed = app.config.sms.allowed().ok();
        let sender = senders.of(channel).cloned().filter(|_| allowed.is_some());
        let sms_prefixes = allowed.map(|allowed| allowed.prefixes()).unwrap_or_default();
        Self {
            app: app.clone(),
            channel,
            sender,
            sms_prefixes,
            in_flight: InFlight::default(),
            attachments: Arc::new(Semaphore::new(1)),
        }
    }

    /// Sends until it is stopped, and then waits for notifications that are being sent.
    pub async fn run(self, stop: CancellationToken) {
        let mut sending = JoinSet::new();
        let mut commits = self.app.store.commit_signals().of_queue(Queue::Outbox(self.channel));
        while !stop.is_cancelled() {
            let rest = match self.begin(&mut sending).await {
                Ok(Begun::Taken) => continue,
                Ok(Begun::Nothing(rest)) => rest,
                Err(error) => {
                    tracing::warn!(
                        channel = self.channel.name(),
                        error = &error as &dyn std::error::Error,
                        "could not read the outbox"
                    );
                    self.in_flight.store_failed();
                    AFTER_ERROR
                }
            };
            tokio::select! {
                () = stop.cancelled() => {}
                Some(_) = sending.join_next() => {}
                Ok(()) = commits.changed() => {}
                () = tokio::time::sleep(rest) => {}
            }
        }
        let limit = Duration::from_secs(self.app.config.server.shutdown_seconds);
        let finish = async { while sending.join_next().await.is_some() {} };
        if tokio::time::timeout(limit, finish).await.is_err() {
            tracing::warn!(
                channel = self.channel.name(),
                messages = sending.len(),
                "notifications were still being sent; they are recorded as unclear"
            );
        }
    }

    /// Sends everything that is due now, and waits until it is settled.
    pub async fn send_due(&self) -> Result<(), StoreError> {
        let mut sending = JoinSet::new();
        loop {
            let begun = self.begin(&mut sending).await?;
            let ended = sending.join_next().await;
            if matches!(begun, Begun::Nothing(_)) && ended.is_none() {
                return Ok(());
            }
        }
    }

    /// Starts to send as many messages as the limit on concurrency allows.
    async fn begin(&self, sending: &mut JoinSet<()>) -> Result<Begun, StoreError> {
        while sending.try_join_next().is_some() {}
        let at_once = self.sender.as_ref().map_or(usize::MAX, |channel| channel.sender.at_once());
        let at_once = at_once.min(self.app.config.notifications.concurrency);
        let room = at_once.saturating_sub(sending.len());
        let policy = self.policy();
        let most = match (self.is_on(), u32::try_from(room)) {
            (false, _) => SUPPRESSED_AT_ONCE,
            (true, Ok(0)) => return Ok(Begun::Nothing(self.longest_rest())),
            (true, room) => room.unwrap_or(SUPPRESSED_AT_ONCE),
        };
        let mut due = self.app.store.due_notifications(self.channel, most).await?;
        if due.is_empty() {
            return self.rest().await.map(Begun::Nothing);
        }
        due.retain(|content| self.in_flight.admits(content));
        if due.is_empty() {
            return Ok(Begun::Nothing(AFTER_ERROR));
        }
        let mut messages = Vec::with_capacity(due.len());
        let mut candidates = Vec::with_capacity(due.len());
        let mut extras = HashMap::new();
        for content in due {
            let (account, id) = (content.account, content.id);
            extras.extend(Extra::of(&content).map(|extra| (id, extra)));
            let composed = self.compose(content).await;
            let segments = composed.as_ref().map(|composed| composed.segments).map_err(Clone::clone);
            candidates.push(Candidate { account, id, segments });
            messages.extend(composed.ok().map(|composed| composed.message));
        }
        let reserved = self.app.store.reserve(candidates, &policy).await?;
        let nothing = reserved.granted.is_empty() && reserved.suppressed == 0;
        self.count("suppressed", reserved.suppressed);
        for reservation in reserved.granted {
            let Some(index) = messages.iter().position(|message| message.id == reservation.id) else {
                continue;
            };
            let (worker, message) = (self.clone(), messages.swap_remove(index));
            let held = self.in_flight.begin(reservation.id);
            let extra = extras.remove(&reservation.id);
            sending.spawn(async move { worker.send(held, reservation, message, extra).await });
        }
        Ok(if nothing { Begun::Nothing(SHORTEST_REST) } else { Begun::Taken })
    }

    /// Time until the next message is due.
    async fn rest(&self) -> Result<Duration, StoreError> {
        let next = self.app.store.next_due(self.channel).await?;
        let millis = next.map_or(i64::MAX, |next| next.as_millis() - self.app.clock.now().as_millis());
        Ok(Duration::from_millis(u64::try_from(millis).unwrap_or(0))
            .clamp(SHORTEST_REST, self.longest_rest()))
    }

    fn longest_rest(&self) -> Duration {
        if self.channel.is_other() && self.sender.is_none() { LONGEST_REST_WHEN_OFF } else { LONGEST_REST }
    }

    fn is_on(&self) -> bool {
        self.sender.is_some() && self.app.config.notifications.is_on(self.channel)
    }

    fn policy(&self) -> SendingPolicy {
        let settings = &self.app.config.notifications;
        let cap = |most: u32| (most > 0).then_some(most);
        SendingPolicy {
            on: if self.is_on() { vec![self.channel] } else { Vec::new() },
            caps: [(self.channel, self.app.config.unit_caps(self.channel))].into(),
            sms_prefixes: self.sms_prefixes.clone(),
            email_caps: EmailCaps {
                daily: cap(settings.email_daily),
                critical_daily: cap(settings.email_critical_daily),
                recipient_hourly: cap(settings.email_recipient_hourly),
                ceiling: cap(settings.email_ceiling_daily),
            },
            confirmation: settings.confirmation(),
            lease_ms: millis(LEASE),
        }
    }

    async fn compose(&self, mut content: Content) -> Result<Composed, String> {
        let Some(channel) = self.sender.as_ref().filter(|_| self.is_on()) else {
            return Err("the server has no settings for this channel".to_owned());
        };
        self.app.base_url.join("").trim_end_matches('/').clone_into(&mut content.base_url);
        if self.channel == Channel::EMAIL {
            let token = self.app.access.mail_links.token(content.account, &content.to);
            content.mail_link = Some(self.app.base_url.join(&format!("/mail/{token}")));
        }
        if let Occasion::Alert { severity, alert, .. } = &content.occasion
            && *severity >= Severity::Warning
            && alert.acknowledged.is_none()
            && alert.ended_at.is_none()
        {
            let token = self.app.access.alert_links.token(content.account, content.id, content.created);
            content.acknowledge_link = Some(self.app.base_url.join(&format!("/a/{token}")));
        }
        let has_no_position =
            matches!(&content.occasion, Occasion::Alert { alert, .. } if alert.alert.position.is_none());
        if let Some(device) = content.device.as_ref().filter(|_| has_no_position) {
            let scope = Scope::for_background_job(content.account);
            // On an error the message is sent without a location.
            content.last_location =
                self.app.store.find_last_location(scope, device.id).await.unwrap_or_default();
        }
        if self.channel == Channel::EMAIL {
            self.add_pictures(&mut content).await;
        }
        channel.compose.compose(&content).await.map_err(|error| error.to_string())
    }

    /// Adds the logo and a map of the position. An e-mail never waits for them or fails without them.
    async fn add_pictures(&self, content: &mut Content) {
        if content.appearance.logo_id.is_some() {
            content.appearance.logo = self.app.store.find_logo(content.account).await.unwrap_or_default();
        }
        let Occasion::Alert { alert, .. } = &content.occasion else { return };
        let last = content.last_location.as_ref();
        let position = alert
            .best_position()
            .or_else(|| last.map(|last| (last.location.latitude, last.location.longitude)));
        let (Some((latitude, longitude)), Some(pictures)) = (position, self.app.maps.pictures.clone()) else {
            return;
        };
        let draw = move || pictures.draw(latitude.as_degrees(), longitude.as_degrees());
        content.appearance.map = tokio::task::spawn_blocking(draw).await.unwrap_or_default();
    }

    /// Makes an attempt and stores the outcome; renews the reservation meanwhile.
    async fn send(
        &self,
        _in_flight: InFlightMessage,
        reservation: Reservation,
        mut message: Message,
        extra: Option<Extra>,
    ) {
        let sending = async {
            // Held until the message is sent.
            let _turn = match extra {
                Some(Extra::Report { .. }) => self.attachments.acquire().await.ok(),
                Some(Extra::Link(_)) | None => None,
            };
            let completed = match extra {
                Some(Extra::Link(purpose)) => self
                    .make_link(&mut message, purpose)
                    .await
                    .map_err(|reason| SendOutcome::RetryLater { reason, wait: None }),
                Some(Extra::Report { report, date, file }) => {
                    self.attach(&mut message, (reservation.account, report, date), file).await
                }
                None => Ok(()),
            };
            match completed {
                Ok(()) => self.attempt(reservation, &message).await,
                Err(outcome) => self.settle(reservation, outcome).await,
            }
        };
        tokio::select! {
            () = sending => {}
            () = self.renew(reservation) => {}
        }
    }

    /// Attaches the file of a report. Read only now, so that memory holds one file at a time.
    async fn attach(
        &self,
        message: &mut Message,
        (account, report, date): (AccountId, SavedReportId, Date),
        MadeFile { name, media_type }: MadeFile,
    ) -> Result<(), SendOutcome> {
        let found = self.app.store.find_report_file(account, report, date).await;
        let later = |error: StoreError| SendOutcome::RetryLater { reason: error.to_string(), wait: None };
        let bytes = found.map_err(later)?.ok_or_else(|| SendOutcome::Refused {
            reason: "the file of the report is not kept any more".to_owned(),
        })?;
        message.attachment = Some(Attachment { name, media_type, bytes: Arc::new(bytes) });
        Ok(())
    }

    /// Creates the link of an e-mail that sets a password. Created only now, so that its secret is never stored; a
    /// repeated attempt creates a new one, and the previous link becomes invalid.
    async fn make_link(&self, message: &mut Message, purpose: LinkPurpose) -> Result<(), String> {
        let failed = |error: StoreError| error.to_string();
        let email =
            message.to.parse().map_err(|_invalid| "the address of the recipient is not valid".to_owned())?;
        let login = self.app.store.find_login(&email).await.map_err(failed)?;
        let user = login.ok_or_else(|| "the user was deleted".to_owned())?.user.id;
        let (secret, new) = self.app.new_password_link(user, purpose);
        self.app.store.create_link(&Origin::service(), new).await.map_err(failed)?;
        message.text = message.text.replace(LINK_SECRET, secret.expose());
        Ok(())
    }

    /// Renews a reservation until it is cancelled.
    async fn renew(&self, reservation: Reservation) {
        loop {
            tokio::time::sleep(RENEW_EVERY).await;
            match self.app.store.renew(reservation, millis(LEASE)).await {
                Ok(true) => {}
                Ok(false) => {
                    tracing::warn!(notification = %reservation.id, "the reservation of a notification was lost");
                }
                Err(error) => {
                    self.in_flight.store_failed();
                    tracing::warn!(%error, notification = %reservation.id, "could not renew a reservation");
                }
            }
        }
    }

    async fn attempt(&self, reservation: Reservation, message: &Message) {
        let Some(channel) = &self.sender else { return };
        let attempt = tokio::time::timeout(ATTEMPT_LIMIT, channel.sender.send(message)).await;
        let delivery = attempt.unwrap_or_else(|_elapsed| SendOutcome::Unclear {
            reason: format!("no answer within {} s", ATTEMPT_LIMIT.as_secs()),
        });
        let (outcome, reason) = match &delivery {
            SendOutcome::Sent { .. } => ("sent", ""),
            SendOutcome::Refused { reason } => ("refused", reason.as_str()),
            SendOutcome::RetryLater { reason, .. } => ("later", reason.as_str()),
            SendOutcome::Unclear { reason } => ("unclear", reason.as_str()),
        };
        self.count(outcome, 1);
        if outcome != "sent" {
            tracing::info!(notification = %reservation.id, outcome, reason, "a notification was not sent");
        }
        self.settle(reservation, delivery).await;
    }

    /// Stores the outcome of an attempt, with retries while the store is unavailable: an attempt without an outcome
    /// counts as lost, and an e-mail would be sent a second time.
    async fn settle(&self, reservation: Reservation, delivery: SendOutcome) {
        let settle = async {
            loop {
                match self.app.store.settle(reservation, delivery.clone()).await {
                    Ok(true) => break,
                    Ok(false) => {
                        tracing::warn!(notification = %reservation.id, "settled too late");
                        break;
                    }
                    Err(error) => {
                        self.in_flight.store_failed();
                        tracing::warn!(
                            notification = %reservation.id,
                            error = &error as &dyn std::error::Error,
                            "could not record the result of sending a notification"
                        );
                        tokio::time::sleep(SETTLE_PAUSE).await;
                    }
                }
            }
        };
        if tokio::time::timeout(SETTLE_LIMIT, settle).await.is_err() {
            tracing::error!(notification = %reservation.id, "the result of sending a notification is not recorded");
        }
    }

    fn count(&self, outcome: &'static str, messages: usize) {
        let messages = u64::try_from(messages).unwrap_or(u64::MAX);
        counter!("perigee_notifications_total", "channel" => self.channel.name(), "outcome" => outcome)
            .increment(messages);
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
