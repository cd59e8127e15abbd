//! Reports for owners, as they are read.

use std::sync::Arc;

use perigee_core::notifications::notification::{Channel, Compose as _, Content, Occasion};
use perigee_core::notifications::overview::{Frequency, GroupTotals, Overview, Period, Totals};
use perigee_notify::sms::Fitting;
use perigee_notify::template::{Composer, TemplateKind};

use crate::template::{Own, compose, content};

fn group(name: Option<&str>, silent_names: &[&str]) -> GroupTotals {
    let figures = Totals {
        devices: 12,
        metres: 1_234_567,
        alerts: 4,
        critical: 1,
        suppressed: 9,
        silent: u64::try_from(silent_names.len()).unwrap() + 2,
        silent_names: silent_names.iter().map(|name| (*name).to_owned()).collect(),
    };
    GroupTotals { name: name.map(str::to_owned), figures }
}

fn report(language: &str, frequency: Frequency, groups: Vec<GroupTotals>) -> Content {
    let first = if frequency == Frequency::Weekly { "2026-04-27" } else { "2026-05-03" };
    let overview = Overview {
        frequency,
        period: Period {
            first: first.parse().unwrap(),
            last: "2026-05-03".parse().unwrap(),
            begins: "2026-04-26T22:00:00Z".parse().unwrap(),
            ends: "2026-05-03T22:00:00Z".parse().unwrap(),
        },
        total: group(None, &[]).figures,
        groups,
        more_groups: 3,
    };
    Content {
        occasion: Occasion::Overview(Box::new(overview)),
        device: None,
        ..content(Channel::EMAIL, language, "")
    }
}

#[tokio::test]
async fn a_week_in_english_and_a_day_in_spanish() {
    let groups = vec![group(Some("Trawlers <North>"), &["Gaviota", "Sea Otter <7>"]), group(None, &[])];
    let english = compose(&report("en", Frequency::Weekly, groups.clone()), &[]).await.message;
    insta::assert_snapshot!("overview_english_subject", english.subject);
    insta::assert_snapshot!("overview_english_text", english.text);
    insta::assert_snapshot!("overview_english_html", english.html.unwrap());
    let spanish = compose(&report("es", Frequency::Daily, groups.clone()), &[]).await.message;
    insta::assert_snapshot!("overview_spanish_subject", spanish.subject);
    insta::assert_snapshot!("overview_spanish_text", spanish.text);
    let german = compose(&report("de", Frequency::Weekly, groups), &[]).await.message;
    insta::assert_snapshot!("overview_german_subject", german.subject);
    insta::assert_snapshot!("overview_german_text", german.text);
}

#[tokio::test]
async fn the_largest_report_has_room() {
    for letter in ["x", "<", "🚤", "\r\n"] {
        let name = letter.repeat(200);
        let named = [name.as_str(); 5];
        let groups = (0..51).map(|_| group(Some(&name), &named)).collect();
        let message = compose(&report("en", Frequency::Weekly, groups), &[]).await.message;
        assert_eq!(message.text.matches("Devices without reports: 7").count(), 51, "{letter}");
        assert_eq!(message.html.unwrap().matches("<td>666.6 NM</td>").count(), 52, "{letter}");
    }
}

#[tokio::test]
async fn an_account_writes_its_own_report() {
    let own = "{% for group in overview.groups %}{{ group.name }}={{ group.distance|distance }};{% endfor %}";
    let content = report("en", Frequency::Daily, vec![group(Some("Tugs"), &[])]);
    let message = compose(&content, &[(TemplateKind::OverviewEmailText, own)]).await.message;
    assert_eq!(message.text, "Tugs=666.6 NM;");
}

#[tokio::test]
async fn a_deleted_subject_is_not_composed() {
    let composer = Composer::new(Arc::new(Own(Arc::default())), Fitting { segments: 2, plain_letters: true });
    let deleted = Content { occasion: Occasion::Deleted, ..content(Channel::EMAIL, "en", "") };
    assert!(composer.compose(&deleted).await.is_err());
    let by_sms = Content { channel: Channel::SMS, ..report("en", Frequency::Daily, Vec::new()) };
    assert!(composer.compose(&by_sms).await.is_err());
}
