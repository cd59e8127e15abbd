//! Templates: the output of the built-in ones, and that hostile ones end soon and do no harm.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use perigee_core::access::credential::LinkPurpose;
use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::alerts::alert::{Alert, StoredAlert};
use perigee_core::alerts::severity::Severity;
use perigee_core::id::{AccountId, AlertId, DeviceId, NotificationId};
use perigee_core::locations::location::{Attribute, Latitude, Longitude};
use perigee_core::notifications::notification::{
    Appearance, Channel, Compose as _, Composed, Content, Message, MessageDevice, Occasion,
};
use perigee_core::notifications::routing::{Preferences, Units};
use perigee_core::zone::Zone;
use perigee_notify::sms::Fitting;
use perigee_notify::template::{
    AccountTemplates, Composer, CustomTemplates, Facts, Limits, TemplateKind, Topic, check, render,
    render_within, sample,
};

pub(crate) struct Own(pub(crate) AccountTemplates);

#[async_trait]
impl CustomTemplates for Own {
    async fn custom_templates(&self, _account: AccountId) -> AccountTemplates {
        Arc::clone(&self.0)
    }
}

pub(crate) fn content(channel: Channel, language: &str, name: &str) -> Content {
    let alert = Alert {
        time: "2026-05-01T12:00:04Z".parse().unwrap(),
        name: name.to_owned(),
        text: None,
        position: Some((
            Latitude::from_degrees(41.385_06).unwrap(),
            Longitude::from_degrees(2.173_4).unwrap(),
        )),
        critical: false,
        attributes: BTreeMap::new(),
    };
    Content {
        id: NotificationId::from_i64(42),
        account: AccountId::from_i64(1),
        account_name: "Harbour fleet".to_owned(),
        appearance: Appearance::default(),
        channel,
        to: "ana@example.com".to_owned(),
        preferences: Preferences {
            name: Some("Ana".to_owned()),
            time_zone: None,
            units: Units::Nautical,
            language: language.parse().unwrap(),
        },
        time_zone: "Europe/Madrid".parse().unwrap(),
        occasion: Occasion::Alert {
            alert: Box::new(StoredAlert {
                id: AlertId::from_i64(2),
                device: DeviceId::from_i64(3),
                received_at: alert.time,
                alert,
                last_known: None,
                later_fix: None,
                acknowledged: None,
                acknowledged_name: None,
                ended_at: None,
                severity: Severity::Warning,
                sent_by: Vec::new(),
            }),
            severity: if name == "SOSButton" { Severity::Critical } else { Severity::Warning },
            step: 0,
        },
        device: Some(MessageDevice {
            id: DeviceId::from_i64(3),
            name: "Sea Otter <7>".to_owned(),
            identifier: Some("300434060000007".to_owned()),
        }),
        last_location: None,
        base_url: "https://track.example.com".to_owned(),
        mail_link: None,
        is_stranger: false,
        acknowledge_link: Some(format!("https://track.example.com/a/{}", "A".repeat(48))),
        created: "2026-05-01T12:00:05Z".parse().unwrap(),
        is_lost: false,
        now: "2026-05-01T12:00:06Z".parse().unwrap(),
    }
}

pub(crate) async fn compose(content: &Content, own: &[(TemplateKind, &str)]) -> Composed {
    let own = own.iter().map(|(kind, source)| (*kind, (*source).to_owned())).collect();
    let composer = Composer::new(Arc::new(Own(Arc::new(own))), Fitting { segments: 2, plain_letters: true });
    composer.compose(content).await.unwrap()
}

fn facts() -> Facts {
    sample(Topic::Alert, Channel::EMAIL, "en", Units::Metric, Zone::utc(), "https://track.example.com")
}

#[tokio::test]
async fn alerts_by_e_mail() {
    let english = compose(&content(Channel::EMAIL, "en", "SpeedLimit"), &[]).await;
    insta::assert_snapshot!("alert_english_subject", english.message.subject);
    insta::assert_snapshot!("alert_english_text", english.message.text);
    insta::assert_snapshot!("alert_english_html", english.message.html.unwrap());
    let spanish = compose(&content(Channel::EMAIL, "es-MX", "SOSButton"), &[]).await;
    insta::assert_snapshot!("alert_spanish_subject", spanish.message.subject);
    insta::assert_snapshot!("alert_spanish_text", spanish.message.text);
    let german = compose(&content(Channel::EMAIL, "de-CH", "SOSButton"), &[]).await;
    insta::assert_snapshot!("alert_german_subject", german.message.subject);
    insta::assert_snapshot!("alert_german_text", german.message.text);
    insta::assert_snapshot!("alert_german_html", german.message.html.unwrap());
}

#[tokio::test]
async fn places_are_in_the_language_and_units_of_the_recipient() {
    let off_vigo = |channel, language: &str, units| {
        let mut content = content(channel, language, "LowBattery");
        content.preferences.units = units;
        let Occasion::Alert { alert, .. } = &mut content.occasion else { unreachable!() };
        alert.alert.position =
            Some((Latitude::from_degrees(42.09).unwrap(), Longitude::from_degrees(-8.9).unwrap()));
        content
    };
    let text = async |content: Content| compose(&content, &[]).await.message.text;
    let mail = text(off_vigo(Channel::EMAIL, "en", Units::Metric)).await;
    assert!(mail.contains("Place: 22 km SW of Vigo, Spain, 42.09000,-8.90000\n"), "{mail}");
    let mail = text(off_vigo(Channel::EMAIL, "es-MX", Units::Nautical)).await;
    assert!(mail.contains("Lugar: 12 mn al SO de Vigo, España, 42.09000,-8.90000\n"), "{mail}");
    for (language, expect) in [
        ("fr", "Lieu: 12 NM au SO de Vigo, Espagne, 42.09000,-8.90000\n"),
        ("de", "Ort: 12 sm SW von Vigo, Spanien, 42.09000,-8.90000\n"),
        ("pt-BR", "Local: 12 mn a SO de Vigo, Espanha, 42.09000,-8.90000\n"),
        ("it", "Luogo: 12 NM a SO di Vigo, Spagna, 42.09000,-8.90000\n"),
    ] {
        let mail = text(off_vigo(Channel::EMAIL, language, Units::Nautical)).await;
        assert!(mail.contains(expect), "{mail}");
    }
    let sms = text(off_vigo(Channel::SMS, "es", Units::Imperial)).await;
    assert!(sms.ends_with(". 13 mi al SO de Vigo 42.09000,-8.90000"), "{sms}");
    let own = [(TemplateKind::AlertSms, "{{ short_place }} | {{ place }}")];
    let sms = compose(&off_vigo(Channel::SMS, "en", Units::Metric), &own).await.message.text;
    assert_eq!(sms, "22 km SW of Vigo | 22 km SW of Vigo, Spain");
    let mut nowhere = off_vigo(Channel::EMAIL, "en", Units::Metric);
    let Occasion::Alert { alert, .. } = &mut nowhere.occasion else { unreachable!() };
    alert.alert.position = None;
    assert!(!text(nowhere).await.contains("Place"));
}

#[tokio::test]
async fn limits_by_e_mail() {
    let mut content = content(Channel::EMAIL, "es", "");
    content.occasion = Occasion::LimitReached { channel: Channel::SMS };
    let composed = compose(&content, &[]).await;
    insta::assert_snapshot!("limit_spanish_subject", composed.message.subject);
    insta::assert_snapshot!("limit_spanish_text", composed.message.text);
}

#[tokio::test]
async fn every_alert_fits_one_segment_in_every_language() {
    let names = include_str!("../../src/template/words/en.toml");
    let names = names.split_once("[alert]").unwrap().1.lines().filter_map(|line| line.split_once(" = "));
    for (name, _) in names {
        for language in ConsoleLanguage::TAGS {
            let composed = compose(&content(Channel::SMS, language, name), &[]).await;
            assert_eq!(composed.segments, 1, "{}", composed.message.text);
            assert!(composed.message.text.contains("41.38506,2.17340"), "{}", composed.message.text);
        }
    }
    let sos = compose(&content(Channel::SMS, "en", "SOSButton"), &[]).await;
    let link = format!("https://track.example.com/a/{}", "A".repeat(48));
    assert_eq!(
        sos.message.text,
        format!("SOS: Sea Otter <7>. 1 May 14:00. 41.38506,2.17340 {link} Barcelona")
    );
    let long = content(Channel::SMS, "en", &"Name of my own 🚤".repeat(6));
    assert_eq!(compose(&long, &[]).await.segments, 2);
}

/// The texts that accounts cannot change: invitation, reset, question, test, and the footer of each e-mail.
#[tokio::test]
async fn fixed_texts_are_in_the_language_of_the_recipient() {
    let occasions = [
        Occasion::PasswordLink { purpose: LinkPurpose::Invitation },
        Occasion::PasswordLink { purpose: LinkPurpose::Reset },
        Occasion::ConfirmRecipient,
        Occasion::Test,
    ];
    let mut subjects = Vec::new();
    for language in ConsoleLanguage::TAGS {
        for occasion in &occasions {
            let mut content = content(Channel::EMAIL, language, "SOSButton");
            content.occasion = occasion.clone();
            content.mail_link = Some("https://track.example.com/m/1".to_owned());
            let Message { subject, text, .. } = compose(&content, &[]).await.message;
            assert!(text.contains("Harbour fleet") && !text.contains('{'), "{language}: {text}");
            assert!(text.contains("https://track.example.com/"), "{language}: {text}");
            if let Occasion::PasswordLink { .. } = occasion {
                assert!(text.contains(&format!("/password?language={language}#token=")), "{text}");
            }
            subjects.push(subject);
        }
    }
    insta::assert_snapshot!("fixed_subjects", subjects.join("\n"));
    let count = subjects.len();
    subjects.sort_unstable();
    subjects.dedup();
    assert_eq!(subjects.len(), count, "each language has its own words");
}

#[tokio::test]
async fn whatever_was_sent_with_an_alert_is_in_the_message() {
    for (count, length) in [(3_000, 20), (100, 2_000), (1, 500_000)] {
        for channel in [Channel::EMAIL, Channel::SMS] {
            let mut content = content(channel, "en", &"🚤".repeat(100));
            content.device.as_mut().unwrap().name = "\"🚤".repeat(100);
            let Occasion::Alert { alert, .. } = &mut content.occasion else { unreachable!() };
            alert.alert.text = Some("🚤".repeat(1_000));
            let values =
                (0..count).map(|number| (format!("key {number}"), Attribute::Text("<".repeat(length))));
            alert.alert.attributes = values.collect();
            let composed = compose(&content, &[]).await;
            assert!(composed.message.text.contains("🚤🚤"), "{count} attributes of {length}");
        }
    }
}

#[tokio::test]
async fn names_of_people_s_choosing_stay_text() {
    let mut content = content(Channel::EMAIL, "en", "SOSButton");
    content.device.as_mut().unwrap().name = "<script>x</script>\r\nBcc: a@b.c {{ 7 }}\0".to_owned();
    let composed = compose(&content, &[]).await;
    let html = composed.message.html.unwrap();
    assert!(
        html.contains("&lt;script&gt;") && !html.contains("<script>") && html.contains("{{ 7 }}"),
        "{html}"
    );
    assert!(!composed.message.subject.contains(['\r', '\n', '\0']), "{:?}", composed.message.subject);
}

#[tokio::test]
async fn an_account_s_own_template_speaks_unless_it_fails() {
    let content = content(Channel::EMAIL, "en", "SOSButton");
    let own = [(TemplateKind::AlertEmailSubject, "{{ device.name|upper }}{{ position.fuel }}!")];
    assert_eq!(compose(&content, &own).await.message.subject, "SEA OTTER <7>!");
    for broken in ["{{ device.nam }}", "{% if %}", "{% for x in alert.attributes|items %}", "{{ 1 // 0 }}"] {
        let composed = compose(&content, &[(TemplateKind::AlertEmailSubject, broken)]).await;
        assert_eq!(composed.message.subject, "Critical: SOS - Sea Otter <7>", "{broken}");
    }
}

#[test]
fn mistakes_are_reported_with_their_line() {
    let check = |source: &str, expect: &str| {
        let error = render(TemplateKind::AlertEmailText, source, &facts()).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    check("a\n\n{{ device.nam }}", "line 3: device.nam is not defined");
    check("{{ devise.name }}", "line 1");
    check("a\n{% if alert.critical %}", "line 2");
    check("{{ device.name|speed }}", "needs a number");
    check("{{ alert.text|time }}", "needs a time");
    check("{{ device|coordinates }}", "needs a pair of coordinates");
    check("{{ device.name|shout }}", "shout is not a filter");
    check("a\n{% set x = 1 %}", "line 2: {% set %} cannot be used here");
    check("{{ range(9) }}", "functions cannot be called");
    check("{% include 'x' %}", "line 1");
    check("{{ device.name|safe }}", "safe is not a filter");
}

#[test]
fn hostile_templates_end_soon() {
    let deep = format!("{}x{}", "{% if 1 %}".repeat(1_000), "{% endif %}".repeat(1_000));
    let parentheses = format!("{{{{ {}1{} }}}}", "(".repeat(9_000), ")".repeat(9_000));
    let nots = format!("{{{{ {}1 }}}}", "not ".repeat(4_500));
    let filters = format!("{{{{ device.name{} }}}}", "|upper|lower".repeat(1_650));
    let elifs = format!("{{% if 0 %}}{}{{% endif %}}", "{% elif 0 %}".repeat(1_600));
    let letters =
        "{% for a in label.why %}{% for b in label.why %}{% if a == 0 %}{% endif %}{% endfor %}{% endfor %}";
    let flood = "{% for a in label.why %}{% for b in label.why %}{{ label.why }}{{ label.limit_rest }}{% endfor %}{% endfor %}";
    let doubling = "{% set x = 'xxxxxxxxxx' %}".to_owned() + &"{% set x = x ~ x %}".repeat(60) + "{{ x }}";
    let binding = "{% for y in ['x' ~ 'x'] %}{{ y }}{% endfor %}";
    let recursive = "{% for x in alert.attributes recursive %}{{ loop(alert.attributes) }}{% endfor %}";
    let hostile = [
        &deep,
        &parentheses,
        &nots,
        &filters,
        &elifs,
        letters,
        flood,
        &doubling,
        binding,
        recursive,
        "{{ 'x' * 999999999 }}",
        "{{ 9 ** 999999 }}",
        "{{ 'x'|indent(99999999) }}",
        "{{ '%99999999d'|format(1) }}",
        "{{ device.name|replace('', device.name) }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{{ ''.join(['x']) }}",
        &"{{ 1 }}".repeat(20_001),
    ];
    // The gazetteer is unpacked for the first facts.
    let facts = facts();
    for source in hostile {
        let started = Instant::now();
        let result = render(TemplateKind::AlertSms, source, &facts);
        assert!(result.is_err(), "{}", source.chars().take(80).collect::<String>());
        assert!(
            started.elapsed() < Duration::from_secs(2),
            "{}",
            source.chars().take(80).collect::<String>()
        );
    }
}

/// Templates that make little of few instructions, but read a long text with each.
fn costly() -> Vec<(&'static str, String)> {
    let long = "Lorem ipsum dolor ".repeat(500);
    // A text of some dozens of letters, so that the body runs some hundred times.
    let twice = |body: &str| {
        format!("{{% for a in base_url %}}{{% for b in base_url %}}{body}{{% endfor %}}{{% endfor %}}")
    };
    vec![
        ("filters", twice(&format!("{{% if '{long}'|upper|lower|title|trim == 'x' %}}{{% endif %}}"))),
        ("emitted filters", twice(&format!("{{{{ '{long}'|title|cut(1) }}}}"))),
        ("comparisons", twice(&format!("{{% if '{long}' <= '{long}' %}}{{% endif %}}"))),
        ("substrings", twice(&format!("{{% if a in '{long}' %}}{{% endif %}}"))),
        ("lists", twice(&format!("{{% if a in ['{long}', '{long}'|lower] %}}{{% endif %}}"))),
        ("tests", twice(&format!("{{% if '{long}' is lower %}}{{% endif %}}"))),
        ("letters", twice(&format!("{{% if '{long}'[9] == a %}}{{% endif %}}"))),
    ]
}

#[test]
fn a_template_pays_for_the_bytes_it_reads() {
    let limits = Limits { time: Duration::from_hours(1), ..Limits::DEFAULT };
    for (name, source) in costly() {
        let error = render_within(TemplateKind::AlertEmailHtml, &source, &facts(), limits);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("rendering reads and writes more than"), "{name}: {error}");
        assert!(error.contains("line 1"), "{name}: {error}");
    }
}

#[test]
fn output_stops_where_it_is_too_long() {
    let raw = "x".repeat(15_000);
    let flood =
        format!("{{% for a in base_url %}}{{% for b in base_url %}}{raw}{{% endfor %}}{{% endfor %}}");
    let quotes = format!("{{{{ '{}' }}}}", "<".repeat(700)).repeat(20);
    for (kind, source) in [
        (TemplateKind::AlertEmailText, flood),
        (TemplateKind::AlertEmailHtml, quotes),
        (TemplateKind::AlertEmailSubject, "y".repeat(1_001)),
    ] {
        let limits = Limits { bytes: u64::MAX / 2, ..Limits::DEFAULT };
        let result = render_within(kind, &source, &facts(), limits);
        if kind == TemplateKind::AlertEmailHtml {
            // 14,000 characters become 56,000, which is allowed.
            assert_eq!(result.unwrap().len(), 56_000);
        } else {
            let error = result.unwrap_err().to_string();
            assert!(error.contains("the rendered text is longer than"), "{error}");
        }
    }
}

#[test]
fn a_template_has_a_deadline() {
    let limits = Limits { time: Duration::ZERO, ..Limits::DEFAULT };
    let error = render_within(TemplateKind::AlertSms, "{{ device.name }}", &facts(), limits).unwrap_err();
    assert!(error.to_string().contains("rendering takes longer than 0 ms"), "{error}");
}

#[tokio::test]
async fn a_message_goes_out_when_its_template_costs_too_much() {
    let content = content(Channel::EMAIL, "en", "SOSButton");
    for (name, source) in costly() {
        let composed = compose(&content, &[(TemplateKind::AlertEmailSubject, &source)]).await;
        assert_eq!(composed.message.subject, "Critical: SOS - Sea Otter <7>", "{name}");
    }
}

#[test]
fn built_in_templates_pass_their_own_checks() {
    for kind in TemplateKind::ALL {
        check(kind.built_in()).unwrap();
        let units = [Units::Imperial, Units::Nautical, Units::Metric];
        for (language, units) in ConsoleLanguage::TAGS.iter().zip(units.into_iter().cycle()) {
            let facts =
                sample(kind.topic(), kind.channel(), language, units, Zone::utc(), "https://x.example");
            let text = render(*kind, kind.built_in(), &facts).unwrap();
            // In styles, "none" is a value of CSS.
            let text = text.replace("text-decoration: none", "");
            assert!(!text.contains("none") && !text.contains("http://") && !text.is_empty(), "{text}");
        }
    }
}
