//! Every route of the service.

use std::sync::LazyLock;

use axum::extract::DefaultBodyLimit;
use axum::handler::Handler as _;
use axum::routing::{MethodRouter, any, get};
use axum::{Extension, Router};
use serde_json::{Value, json};
use tower::util::MapRequest;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::document::document;
use super::middleware::{CanonicalPaths, Framing, KnownOperations, frame};
use super::routes::console::Console;
use super::routes::documents::ApiDocument;
use crate::app::App;
use crate::http::encoding::compress::compressing;
use crate::http::routes::{
    access::api_key, access::audit, access::session, access::session_password, access::session_preferences,
    access::session_totp, access::token, access::user_links, access::users, accounts::account,
    accounts::logo, accounts::operator, accounts::usage, alerts, alerts::alert_page,
    alerts::alert_recipients, console, devices, devices::commands, devices::conversation,
    devices::device_files, devices::device_photo, devices::tracker_models, devices::watch_list, documents,
    drivers, events, gateways, gateways::decode, gateways::device_claims, gateways::gateway_requests,
    gateways::heard_devices, gateways::raw_messages, groups, locations, locations::geofences,
    locations::places, maintenance, metrics, notifications, notifications::alert_routing,
    notifications::contact_groups, notifications::mail, notifications::notification_settings,
    notifications::overview_report, notifications::push_subscriptions, notifications::templates, operations,
    pages, plans, plans::travel_page, reference, reports, rules, shares, shares::shares_public, timeline,
    webhooks,
};

pub use super::routes::events::body::EVENT_FORMAT;
pub use super::routes::metrics::metrics_router;
pub use super::routes::plans::nudge::COMPOSE_NUDGE;
pub use super::routes::reports::saved::READ_REPORT;

/// The most bytes in the body of the unsubscribe form, and of the buttons of a traveller.
const MAIL_FORM_MAX: usize = 4_096;
/// The most bytes in the body of the form that acknowledges an alert: a name and a note, percent-encoded.
const ALERT_FORM_MAX: usize = 16_384;

/// Routes of notification settings, overview reports, contact groups and watch lists.
fn account_messages() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(
            notification_settings::get_notification_settings,
            notification_settings::replace_notification_settings,
            notification_settings::update_notification_settings
        ))
        .routes(routes!(
            overview_report::get_overview_report,
            overview_report::replace_overview_report,
            overview_report::update_overview_report
        ))
        .routes(routes!(contact_groups::list_contact_groups, contact_groups::create_contact_group))
        .routes(routes!(
            contact_groups::get_contact_group,
            contact_groups::replace_contact_group,
            contact_groups::update_contact_group,
            contact_groups::delete_contact_group
        ))
        .routes(routes!(
            watch_list::get_watch_list,
            watch_list::replace_watch_list,
            watch_list::update_watch_list
        ))
}

/// Routes of maintenance plans.
fn maintenance_operations() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(
            maintenance::handlers::list_maintenance_plans,
            maintenance::handlers::create_maintenance_plan
        ))
        .routes(routes!(
            maintenance::handlers::get_maintenance_plan,
            maintenance::handlers::replace_maintenance_plan,
            maintenance::handlers::update_maintenance_plan,
            maintenance::handlers::delete_maintenance_plan
        ))
        .routes(routes!(maintenance::done::finish_maintenance))
        .routes(routes!(maintenance::done::list_maintenance_records))
}

/// Routes of plans.
fn plan_operations() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(plans::handlers::list_plans, plans::handlers::create_plan))
        .routes(routes!(
            plans::handlers::get_plan,
            plans::handlers::replace_plan,
            plans::handlers::update_plan,
            plans::handlers::delete_plan
        ))
        .routes(routes!(plans::handlers::copy_plan))
        .routes(routes!(plans::actions::start_plan))
        .routes(routes!(plans::actions::check_in_plan))
        .routes(routes!(plans::actions::pause_plan))
        .routes(routes!(plans::actions::resume_plan))
        .routes(routes!(plans::actions::extend_plan))
        .routes(routes!(plans::actions::end_plan))
        .routes(routes!(plans::actions::cancel_plan))
        .routes(routes!(plans::actions::list_plan_events))
        .routes(routes!(plans::links::list_plan_links, plans::links::create_plan_link))
        .routes(routes!(plans::links::delete_plan_link))
        .routes(routes!(plans::rescue::get_rescue_sheet))
}

/// Routes of corrections and settings of timelines.
fn timeline_operations() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(timeline::edits::split_segment))
        .routes(routes!(timeline::edits::merge_segments))
        .routes(routes!(drivers::list_drivers, drivers::create_driver))
        .routes(routes!(
            drivers::get_driver,
            drivers::replace_driver,
            drivers::update_driver,
            drivers::delete_driver
        ))
        .routes(routes!(
            drivers::assignments::list_driver_assignments,
            drivers::assignments::create_assignment
        ))
        .routes(routes!(drivers::assignments::list_device_assignments))
        .routes(routes!(
            drivers::assignments::get_assignment,
            drivers::assignments::replace_assignment,
            drivers::assignments::update_assignment,
            drivers::assignments::delete_assignment
        ))
        .routes(routes!(timeline::edits::list_timeline_edits))
        .routes(routes!(timeline::edits::get_timeline_edit, timeline::edits::delete_timeline_edit))
        .routes(routes!(
            timeline::settings::get_device_timeline_settings,
            timeline::settings::replace_device_timeline_settings,
            timeline::settings::update_device_timeline_settings
        ))
        .routes(routes!(
            timeline::settings::get_group_timeline_settings,
            timeline::settings::replace_group_timeline_settings,
            timeline::settings::update_group_timeline_settings
        ))
        .routes(routes!(
            timeline::settings::get_account_timeline_settings,
            timeline::settings::replace_account_timeline_settings,
            timeline::settings::update_account_timeline_settings
        ))
}

/// The operations of the API, with their part of the document.
fn operations() -> OpenApiRouter<App> {
    device_operations().merge(account_operations())
}

/// Routes of conversations with devices.
fn conversation_operations() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(conversation::read::list_conversation, conversation::write::send_message))
        .routes(routes!(conversation::read::get_conversation_links))
        .routes(routes!(conversation::write::check_conversation_text))
        .routes(routes!(conversation::write::mark_conversation_read))
        .routes(routes!(conversation::read::list_conversations))
        .routes(routes!(conversation::read::get_conversation_message, conversation::write::cancel_message))
}

/// Routes of totals and reports.
fn report_operations() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(reports::totals::list_totals))
        .routes(routes!(reports::kinds::list_report_kinds))
        .routes(routes!(reports::run::run_report))
        .routes(routes!(reports::saved::list_saved_reports, reports::saved::create_saved_report))
        .routes(routes!(
            reports::saved::get_saved_report,
            reports::saved::replace_saved_report,
            reports::saved::update_saved_report,
            reports::saved::delete_saved_report
        ))
        .routes(routes!(reports::saved::list_report_runs))
        .routes(routes!(reports::saved::run_saved_report))
}

/// Routes of devices, locations, alerts and their routing.
fn device_operations() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(devices::read::list_devices, devices::write::create_device))
        .routes(routes!(devices::many::create_devices))
        .routes(routes!(
            devices::read::get_device,
            devices::write::replace_device,
            devices::write::update_device,
            devices::write::delete_device
        ))
        .routes(routes!(locations::read::get_last_location))
        .routes(routes!(
            locations::read::list_locations,
            locations::write::submit_locations,
            locations::delete::delete_locations
        ))
        .routes(routes!(gateways::read::list_gateways, gateways::write::create_gateway))
        .routes(routes!(decode::decode_messages))
        .routes(routes!(
            gateways::read::get_gateway,
            gateways::write::replace_gateway,
            gateways::write::update_gateway,
            gateways::write::delete_gateway
        ))
        .routes(routes!(gateways::write::renew_gateway_address))
        .routes(routes!(raw_messages::list_raw_messages))
        .routes(routes!(raw_messages::get_raw_message))
        .routes(routes!(raw_messages::reprocess_raw_message))
        .routes(routes!(heard_devices::list_heard_devices))
        .routes(routes!(tracker_models::list_tracker_models))
        .routes(routes!(commands::read::list_device_commands, commands::write::create_command))
        .routes(routes!(commands::write::send_command))
        .routes(routes!(device_claims::list_device_claims, device_claims::prove_device_claim))
        .routes(routes!(device_files::list_device_files))
        .routes(routes!(device_files::get_device_file))
        .routes(routes!(device_photo::replace_device_photo, device_photo::delete_device_photo))
        .merge(conversation_operations())
        .routes(routes!(commands::read::list_command_types))
        .routes(routes!(commands::read::list_commands))
        .routes(routes!(commands::read::get_command, commands::write::cancel_command))
        .routes(routes!(timeline::read::get_timeline))
        .routes(routes!(timeline::trips::list_trips))
        .routes(routes!(timeline::read::get_segment, timeline::labels::update_segment))
        .merge(report_operations())
        .merge(timeline_operations())
        .merge(maintenance_operations())
        .merge(plan_operations())
        .routes(routes!(timeline::visits::list_device_visits))
        .routes(routes!(timeline::visits::list_geofence_visits))
        .routes(routes!(locations::last::list_last_locations))
        .routes(routes!(locations::feed::list_location_feed))
        .routes(routes!(places::list_places))
        .routes(routes!(alerts::read::list_alerts, alerts::write::submit_alerts))
        .routes(routes!(alerts::all::list_all_alerts))
        .routes(routes!(alerts::all::get_alert))
        .routes(routes!(alerts::all::acknowledge_alert))
        .routes(routes!(alerts::all::end_alert))
        .routes(routes!(alerts::notes::list_alert_notes, alerts::notes::create_alert_note))
        .routes(routes!(alerts::notes::get_alert_note))
        .routes(routes!(alert_recipients::list_alert_recipients))
        .routes(routes!(alert_recipients::test_alert_recipients))
        .routes(routes!(
            alert_routing::get_device_alert_routing,
            alert_routing::replace_device_alert_routing,
            alert_routing::update_device_alert_routing,
            alert_routing::delete_device_alert_routing
        ))
        .routes(routes!(
            alert_routing::get_group_alert_routing,
            alert_routing::replace_group_alert_routing,
            alert_routing::update_group_alert_routing,
            alert_routing::delete_group_alert_routing
        ))
        .routes(routes!(
            alert_routing::get_account_alert_routing,
            alert_routing::replace_account_alert_routing,
            alert_routing::update_account_alert_routing,
            alert_routing::delete_account_alert_routing
        ))
        .merge(account_messages())
        .routes(routes!(notifications::list_notifications))
        .routes(routes!(notifications::list_device_notifications))
        .routes(routes!(notifications::get_notification))
        .routes(routes!(notifications::resend_notification))
        .routes(routes!(events::list::list_events))
        .routes(routes!(events::stream::stream_events))
        .routes(routes!(webhooks::read::list_webhooks, webhooks::write::create_webhook))
        .routes(routes!(
            webhooks::read::get_webhook,
            webhooks::write::replace_webhook,
            webhooks::write::update_webhook,
            webhooks::write::delete_webhook
        ))
        .routes(routes!(webhooks::secret::rotate_webhook_secret))
        .routes(routes!(webhooks::deliveries::test_webhook))
        .routes(routes!(webhooks::deliveries::list_deliveries))
        .routes(routes!(webhooks::deliveries::retry_delivery))
}

/// Routes of accounts, users and their settings.
fn account_operations() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(console::facts::get_console_facts))
        .routes(routes!(token::create_token))
        .routes(routes!(token::list_signing_keys))
        .routes(routes!(session::create_session, session::get_session, session::delete_session))
        .routes(routes!(session_password::replace_password))
        .routes(routes!(session_password::reset_password))
        .routes(routes!(session_password::ask_for_password_mail))
        .routes(routes!(session_preferences::get_preferences, session_preferences::update_preferences))
        .routes(routes!(session_totp::begin_totp, session_totp::confirm_totp, session_totp::delete_totp))
        .routes(routes!(account::get_account, account::update_account))
        .routes(routes!(usage::get_usage))
        .routes(routes!(
            operator::accounts::list_operator_accounts,
            operator::accounts::create_operator_account
        ))
        .routes(routes!(
            operator::accounts::get_operator_account,
            operator::accounts::update_operator_account,
            operator::standing::delete_operator_account
        ))
        .routes(routes!(operator::standing::restore_operator_account))
        .routes(routes!(
            operator::standing::suspend_operator_account,
            operator::standing::resume_operator_account
        ))
        .routes(routes!(operator::usage::get_operator_usage))
        .routes(routes!(logo::get_operator_logo, logo::replace_operator_logo, logo::delete_operator_logo))
        .routes(routes!(logo::get_account_logo))
        .routes(routes!(operator::health::get_operator_health))
        .routes(routes!(operator::notices::list_operator_notices))
        .routes(routes!(operator::notices::dismiss_operator_notice))
        .routes(routes!(operator::claims::list_operator_claims, operator::claims::assign_operator_claim))
        .routes(routes!(operator::storage::get_operator_storage))
        .routes(routes!(operator::maps::list_operator_maps, operator::maps::create_operator_map))
        .routes(routes!(operator::maps::get_operator_map, operator::maps::delete_operator_map))
        .routes(routes!(operator::maps::fetch_operator_map))
        .routes(routes!(operator::maps::stop_operator_map))
        .routes(routes!(api_key::get_api_key, api_key::create_api_key, api_key::delete_api_key))
        .routes(routes!(push_subscriptions::get_push_key))
        .routes(routes!(
            push_subscriptions::list_push_subscriptions,
            push_subscriptions::create_push_subscription
        ))
        .routes(routes!(
            push_subscriptions::get_push_subscription,
            push_subscriptions::replace_push_subscription,
            push_subscriptions::update_push_subscription,
            push_subscriptions::delete_push_subscription
        ))
        .routes(routes!(push_subscriptions::test_push_subscription))
        .routes(routes!(users::list_users, users::create_user))
        .routes(routes!(reference::list_countries))
        .routes(routes!(reference::list_time_zones))
        .routes(routes!(users::get_user, users::replace_user, users::update_user, users::delete_user))
        .routes(routes!(user_links::create_password_link))
        .routes(routes!(user_links::mail_password_link))
        .routes(routes!(groups::list_groups, groups::create_group))
        .routes(routes!(groups::get_group, groups::replace_group, groups::update_group, groups::delete_group))
        .routes(routes!(geofences::handlers::list_geofences, geofences::handlers::create_geofence))
        .routes(routes!(
            geofences::handlers::get_geofence,
            geofences::handlers::replace_geofence,
            geofences::handlers::update_geofence,
            geofences::handlers::delete_geofence
        ))
        .routes(routes!(rules::handlers::list_rules, rules::handlers::create_rule))
        .routes(routes!(
            rules::handlers::get_rule,
            rules::handlers::replace_rule,
            rules::handlers::update_rule,
            rules::handlers::delete_rule
        ))
        .routes(routes!(rules::replay::test_rule))
        .routes(routes!(rules::replay::test_new_rule))
        .routes(routes!(audit::list_audit))
        .routes(routes!(shares::list_shares, shares::create_share))
        .routes(routes!(shares::get_share, shares::delete_share))
        .routes(routes!(shares_public::get_shared))
        .routes(routes!(templates::list_templates))
        .routes(routes!(templates::preview_template))
        .routes(routes!(templates::get_template, templates::replace_template, templates::delete_template))
}

/// Routes outside the API: its document, the server's own pages, health and metrics.
fn beside_the_api(base_url: &str) -> [(&'static str, MethodRouter<App>); 21] {
    [
        ("/api/openapi.json", get(documents::get_openapi.layer(Extension(ApiDocument::new(base_url))))),
        ("/api/docs", get(documents::get_reference)),
        ("/api/docs/", get(documents::redirect_to_reference)),
        ("/api/docs/{file}", get(documents::get_reference_file)),
        ("/api/map/bundled/world.pmtiles", get(console::bundled::get_bundled_tiles)),
        ("/api/map/places.bin", get(console::bundled::get_places)),
        ("/api/map/tiles.pmtiles", get(console::tiles::get_tiles)),
        ("/api/map/layers/{layer}/tiles.pmtiles", get(console::layers::get_layer_file)),
        ("/api/map/layers/{layer}/{z}/{x}/{y}", get(console::layers::get_layer_tile)),
        ("/password", get(pages::get_password_page)),
        (
            "/mail/{token}",
            get(mail::get_mail_page).post(mail::change_mail).layer(DefaultBodyLimit::max(MAIL_FORM_MAX)),
        ),
        (
            "/a/{token}",
            get(alert_page::get_alert_page)
                .post(alert_page::acknowledge_by_link)
                .layer(DefaultBodyLimit::max(ALERT_FORM_MAX)),
        ),
        ("/a/{token}/map.png", get(alert_page::get_alert_map)),
        ("/a/{token}/logo", get(alert_page::get_alert_logo)),
        (
            "/travel/{secret}",
            get(travel_page::get_travel_page)
                .post(travel_page::use_travel_page)
                .layer(DefaultBodyLimit::max(MAIL_FORM_MAX)),
        ),
        ("/gateways/{feed}/{secret}", any(gateway_requests::receive_gateway_request)),
        ("/pages/{file}", get(pages::get_page_file)),
        ("/healthz", get(operations::get_health)),
        ("/readyz", get(operations::get_readiness)),
        ("/metrics", get(metrics::get_metrics)),
        // Browsers request it even if no page names it.
        ("/favicon.ico", get(pages::get_icon)),
    ]
}

/// The operations and their schemas. They are the same for every router, and building them takes longer than the rest of
/// the start-up.
static OPERATIONS: LazyLock<(Router<App>, OpenApi)> = LazyLock::new(|| operations().split_for_parts());

/// The document of the API without the address of a server.
static DOCUMENT: LazyLock<Value> = LazyLock::new(|| document(OPERATIONS.1.clone()));

/// The document of the API as served under this address.
pub fn api_document(base_url: &str) -> Value {
    let mut document = DOCUMENT.clone();
    document["servers"] = json!([{ "url": base_url }]);
    document
}

/// The router of the whole service, with all layers.
pub fn router(app: App) -> Router {
    let operations = OPERATIONS.0.clone();
    let described =
        DOCUMENT["paths"].as_object().into_iter().flat_map(|paths| paths.keys().map(String::as_str));
    let beside = beside_the_api(&app.base_url.to_string());
    let fixed = described.chain(beside.iter().map(|(path, _)| *path));
    let paths = CanonicalPaths::new(app.base_url.prefix(), fixed);
    let inner = beside
        .into_iter()
        .fold(with_bench_route(operations), |routes, (path, methods)| routes.route(path, methods))
        .fallback(console::get_console.layer(Extension(Console::new(&app.base_url))))
        .layer(axum::middleware::from_fn_with_state(
            Framing { app: app.clone(), known: KnownOperations::of(&DOCUMENT) },
            frame,
        ))
        .with_state(app);
    let routed = MapRequest::new(inner, move |request| paths.rewrite(request));
    Router::new().fallback_service(compressing(routed))
}

/// Adds the route that benchmarks compare with, in builds with the feature `bench`.
fn with_bench_route(operations: Router<App>) -> Router<App> {
    #[cfg(feature = "bench")]
    let operations = operations.route(
        "/api/bench/noop",
        get(locations::write::answer_nothing).post(locations::write::discard_locations),
    );
    operations
}
