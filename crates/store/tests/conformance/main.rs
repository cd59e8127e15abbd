//! Conformance tests of the store, run against each engine: `sqlite::area::case` and `postgres::area::case`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a case that cannot go on has failed")]

mod access;
mod accounts;
mod alerts;
mod clock;
mod clock_ahead;
mod commits;
mod damage;
mod devices;
mod drivers;
mod fixture;
mod flips;
mod gateways;
mod groups;
mod locations;
mod logs;
mod maintenance;
mod metrics;
mod notifications;
mod plans;
mod races;
mod rule_engine;
mod sample;
mod shares;
mod timeline_edits;
mod timelines;
mod trip_rules;
mod webhooks;

/// Makes a test of each case on each engine. A case is `pub(crate) async fn case(on: Fixture)` in its area's module,
/// which may be in a folder: `[folder] area`.
macro_rules! conformance {
    ($($([$folder:ident])? $area:ident { $($case:ident),+ $(,)? })+) => {
        conformance!(@engine sqlite Sqlite $($([$folder])? $area { $($case)+ })+);
        conformance!(@engine postgres Postgres $($([$folder])? $area { $($case)+ })+);
    };
    (@engine $engine:ident $variant:ident $($([$folder:ident])? $area:ident { $($case:ident)+ })+) => {
        mod $engine {$(
            mod $area {
                use crate::$($folder::)?$area as cases;

                $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    let on = crate::fixture::Fixture::new(perigee_store::Engine::$variant).await;
                    cases::$case(on).await;
                })+
            }
        )+}
    };
}

conformance! {
    accounts {
        an_account_comes_with_its_owner,
        only_the_first_start_makes_an_account,
        settings_are_replaced_by_revision,
        a_zone_takes_effect_when_the_day_ends,
        undoing_a_change_of_zone_undoes_the_longer_day,
        licences_cannot_be_fewer_than_in_use,
        settings_and_licences_change_together_or_not_at_all,
        licences_are_freed_by_expiry_and_not_by_a_clock_going_back,
        a_clock_that_was_ahead_is_repaired_by_command,
        accounts_are_listed_oldest_first,
        api_calls_are_summed_by_day,
    }
    [devices] commands {
        a_command_goes_from_queued_to_answered,
        a_command_is_sent_once_and_in_order,
        a_queue_is_bounded_and_old_commands_are_forgotten,
        commands_are_seen_with_their_device,
    }
    [devices] conversations {
        a_text_is_stored_once_with_its_message,
        without_its_text_no_message_is_stored,
        texts_are_unread_until_each_user_has_read_them,
        a_message_is_handed_over_in_order_and_answered,
        what_is_unclear_is_never_sent_again,
        concurrent_workers_hand_each_message_over_once,
        a_command_carries_a_message_to_a_tracker,
        billed_messages_are_capped,
        parts_of_a_text_are_queued_together_or_not_at_all,
        an_interval_is_kept_and_parts_keep_their_order,
    }
    [devices] device_files {
        a_file_is_stored_once_and_read_back,
        the_oldest_files_of_a_device_are_deleted_for_newer_ones,
        files_are_seen_and_deleted_with_their_device,
        files_are_kept_as_long_as_raw_messages,
        a_photo_is_set_replaced_and_removed,
    }
    clock {
        a_lease_of_a_clock_ahead_is_over,
        a_restart_after_a_step_back_goes_on,
        deliveries_do_not_wait_out_a_step_back,
        messages_do_not_wait_out_a_step_back,
        reports_do_not_wait_out_a_step_back,
        expiries_are_announced_after_a_step_back,
        few_locations_are_packed_after_a_step_back,
        a_clock_ahead_deletes_nothing,
        a_boot_days_ahead_deletes_nothing,
        a_step_is_believed_once_the_service_has_run_for_a_day,
        a_store_that_never_noted_its_clock_goes_by_its_events,
    }
    clock_ahead {
        limits_of_an_hour_follow_a_corrected_clock,
        records_go_by_their_age_after_a_corrected_clock,
        order_outlasts_a_corrected_clock,
        feeds_are_fetched_after_a_corrected_clock,
        a_silent_device_is_noticed_after_a_corrected_clock,
    }
    commits {
        changes_and_locations_wake_readers_of_the_account,
        messages_wake_the_workers_of_their_queue,
        a_tracker_that_answers_wakes_readers,
        what_is_not_committed_wakes_nobody,
    }
    [access] calls {
        calls_add_up_by_hour,
    }
    metrics {
        the_store_reports_what_it_holds_and_what_waits,
        accounts_are_searched_in_pages,
    }
    [access] users {
        a_user_is_kept_as_given,
        an_address_is_unique_in_any_case,
        a_request_sent_twice_makes_one_user,
        a_scope_must_exist_in_the_account,
        replacing_counts_revisions,
        replacing_an_address_moves_the_login,
        the_last_owner_stays,
        a_removed_user_leaves_nothing_behind,
        users_are_listed_in_pages_and_filtered,
        tenants_do_not_see_each_other,
        operators_are_made_by_command,
        preferences_are_kept_beside_the_user,
    }
    [access] credentials {
        logins_are_found_by_address_and_id,
        a_user_has_one_api_key,
        sessions_last_until_they_end,
        sessions_say_from_where_users_signed_in,
        second_factors_are_begun_confirmed_and_removed,
        a_time_step_is_used_once,
        the_first_signing_key_stays,
        a_rotated_key_verifies_until_its_tokens_end,
        expired_credentials_are_deleted,
    }
    [access] passwords {
        a_new_password_ends_sessions_and_links,
        a_rehash_replaces_only_the_same_password,
        a_link_is_used_once,
        a_later_link_voids_the_earlier,
        replacing_a_user_can_set_the_password,
    }
    logs {
        events_come_in_order_and_only_visible_ones,
        audits_come_newest_first_in_pages,
        audits_are_filtered,
        a_change_names_what_was_changed,
        audits_outlive_a_clock_going_back,
        refusals_of_a_kind_share_the_entry_of_their_hour,
        a_refused_change_leaves_no_trace,
        events_are_trimmed_behind_their_readers,
        a_beginning_gives_a_cursor_that_goes_on,
    }
    races {
        two_first_starts_make_one_account,
        two_owners_cannot_demote_each_other,
        two_users_cannot_take_one_address,
        one_link_cannot_be_used_twice,
        one_time_step_cannot_be_used_twice,
        two_nodes_agree_on_the_first_signing_key,
        one_request_sent_twice_at_once_makes_one_user,
        api_calls_of_several_nodes_add_up,
    }
    devices {
        a_device_is_kept_as_given,
        a_device_is_found_by_id_and_identifier,
        an_identifier_is_unique_in_the_account,
        a_request_sent_twice_makes_one_device,
        a_users_devices_are_bounded,
        devices_are_listed_in_pages_and_filtered,
        invisible_devices_are_not_found,
        a_groups_user_keeps_devices_in_the_group,
        replacing_counts_revisions,
        counters_are_of_the_accounts_day,
        a_deleted_device_leaves_nothing_behind,
        a_users_scope_cannot_be_deleted,
    }
    [devices] new_devices {
        many_devices_are_created_as_single_ones,
        all_devices_are_created_or_none,
        a_call_sent_twice_creates_devices_once,
        many_devices_obey_who_creates_them,
        calls_at_once_create_each_device_once,
    }
    [devices] reporting_interval {
        an_interval_is_learned_by_each_device,
        alerts_and_what_is_refused_are_heard_too,
    }
    [notifications] email {
        caps_on_email_hold_and_critical_alerts_pass,
        nothing_exceeds_the_ceiling_and_operators_see_it,
        few_strangers_get_mail_without_a_confirmation,
        a_recipient_gets_so_many_an_hour,
        a_message_is_counted_against_the_caps_once,
        caps_hold_when_nodes_reserve_at_once,
        who_ended_it_gets_none_until_they_resume,
        strangers_are_asked_once,
        the_key_of_links_is_made_once,
    }
    [accounts] records {
        records_are_kept_as_long_as_the_operator_says,
        many_records_go_in_slices,
    }
    [accounts] retention {
        locations_are_kept_as_long_as_wanted,
        a_longer_retention_is_obeyed_at_once,
        a_long_history_goes_in_parts,
        a_last_location_goes_with_its_time,
    }
    [accounts] standing {
        a_suspension_is_recorded_and_ended,
        a_suspended_account_stores_locations_and_alerts,
        a_deletion_can_be_undone_until_its_day,
        a_purge_leaves_nothing_of_the_account_and_everything_of_others,
        branding_is_set_and_removed,
        accounts_are_sorted_and_paged,
        the_usage_of_an_account_is_its_own,
    }
    [accounts] expiry {
        a_device_is_active_through_its_date,
        a_change_of_zone_moves_no_expiry,
        a_clock_going_back_brings_nothing_back,
        a_past_date_expires_at_once,
        each_expiry_is_announced_once,
        an_expiry_is_announced_when_it_is_near,
        a_change_of_the_notice_holds_for_all_devices,
        an_expiry_replaced_before_it_was_announced_is_announced,
    }
    [accounts] licenses {
        the_last_licence_is_the_last,
        a_refused_change_changes_nothing,
        a_want_of_licences_is_announced_once_a_day,
        clients_at_once_never_exceed_the_licences,
        the_race_is_seen_without_the_lock,
        a_wrong_count_is_corrected_when_licences_are_set,
        licences_that_lapse_in_a_race_are_counted_once,
        a_lapse_that_a_submission_saw_frees_the_licence_at_once,
    }
    groups {
        a_group_is_kept_as_given,
        membership_is_one_relation_seen_from_both_sides,
        a_request_sent_twice_makes_one_group,
        unknown_devices_and_groups_are_refused,
        groups_are_listed_in_pages_and_only_visible_ones,
        replacing_counts_revisions,
        a_deleted_group_leaves_its_devices,
        many_devices_come_and_go_at_once,
    }
    [groups] large_groups {
        a_large_change_is_made_in_slices,
        a_large_change_that_fails_leaves_nothing,
        a_large_group_is_made_once,
        a_change_of_a_dead_node_is_finished,
        members_that_were_never_shown_are_deleted,
    }
    locations {
        a_location_is_kept_as_given,
        a_device_may_be_named_by_its_identifier,
        the_same_location_is_stored_once,
        history_is_listed_both_ways_in_pages,
        the_last_location_is_the_newest_to_be_trusted,
        a_jump_is_doubted_until_it_is_confirmed,
        a_doubt_that_was_settled_stays_so_when_what_settled_it_is_erased,
        an_expired_device_is_heard_but_not_stored,
        every_location_has_an_event,
        invisible_devices_accept_no_locations,
        a_large_batch_is_stored_whole,
    }
    [locations] feed {
        the_feed_is_in_arrival_order,
        the_feed_goes_on_from_its_end,
        all_last_locations_are_listed,
        a_range_is_deleted,
    }
    [locations] trails {
        trails_equal_the_history_of_each_device,
    }
    [locations] compaction {
        packed_locations_read_as_before,
        a_packed_location_is_a_duplicate,
        the_log_is_trimmed_behind_the_feed,
        few_locations_are_packed_after_a_while,
        packed_ranges_are_deleted_and_retired,
    }
    damage {
        a_sound_store_is_found_sound_after_every_change,
        every_flipped_bit_is_found_reported_and_mended,
        histories_go_on_past_a_damaged_chunk,
        the_log_is_read_past_a_damaged_row,
        a_store_opens_without_a_damaged_row,
        a_damaged_last_location_is_not_believed,
        checksums_of_older_rows_are_filled_in,
        a_probe_writes_and_reads,
    }
    flips {
        a_flipped_bit_in_the_state_of_a_device_costs_nothing,
        a_store_opens_with_a_damaged_state_and_rebuilds_it,
        a_flipped_bit_in_a_last_location_is_repaired_from_the_history,
        a_flipped_bit_in_an_alert_is_undone_or_stays_reported,
        a_flipped_bit_in_a_device_is_undone_or_stays_reported,
        a_damaged_state_does_not_let_the_log_be_trimmed,
        a_new_checksum_would_hide_damage,
    }
    [locations] sinks {
        parts_make_the_whole_wherever_a_sink_stops,
    }
    alerts {
        an_alert_is_kept_as_given,
        the_same_alert_is_stored_once,
        alerts_are_listed_by_name_both_ways,
        an_expired_device_raises_nothing,
    }
    [notifications] outbox {
        an_alert_is_sent_and_counted,
        a_limit_stops_and_is_announced_once,
        the_last_messages_are_for_critical_alerts,
        unsent_messages_are_uncounted,
        messages_that_may_have_been_sent_stay_counted,
        a_lost_attempt_is_unclear,
        a_renewed_attempt_is_not_lost,
        notifications_of_deleted_alerts_are_not_sent,
        a_dead_letter_can_be_sent_again,
        a_message_is_given_up_in_time,
    }
    [notifications] outbox_race {
        workers_at_once_never_exceed_a_limit,
        workers_at_once_never_exceed_the_cap_of_a_preset,
        the_race_is_seen_when_the_limit_is_counted_too_late,
        no_message_is_reserved_twice,
    }
    [notifications] outbox_time {
        a_storm_is_written_whole_and_sent_within_limits,
        a_clock_going_back_reopens_no_day,
        a_clock_that_was_ahead_holds_nothing_back,
        a_change_of_zone_gives_no_second_day,
        the_same_alert_is_notified_ever_more_rarely,
        no_account_waits_for_anothers_storm,
        messages_due_later_are_skipped,
        old_messages_are_deleted,
    }
    [notifications] saved_reports {
        reports_are_saved_by_revision_and_seen_by_their_owner,
        an_account_has_a_limited_number_of_reports,
        people_of_other_accounts_are_not_named,
        each_date_is_reported_once,
        nodes_at_once_report_a_date_once,
        a_stop_between_mails_and_mark_repeats_nothing,
        failures_are_repeated_with_growing_pauses,
        a_disabled_owner_pauses_the_schedule,
        a_changed_report_is_not_finished_for_its_old_settings,
        a_clock_put_right_holds_nothing_back,
        large_files_are_linked_and_old_ones_deleted,
    }
    [notifications] overview {
        settings_are_stored_by_revision,
        each_period_is_reported_once,
        nodes_at_once_report_a_period_once,
        a_change_is_obeyed_at_once,
        events_are_counted_by_device,
    }
    [notifications] push {
        subscriptions_belong_to_their_user,
        a_browser_has_one_subscription_and_a_user_few,
        subscriptions_end_with_the_session_and_the_user,
        a_user_is_notified_in_every_browser_by_its_limits,
        a_test_reaches_one_browser_a_limited_number_of_times,
        what_ends_is_the_subscription_that_was_sent_to,
        a_rotated_key_of_web_push_serves_its_subscriptions_until_its_end,
    }
    [notifications] routing {
        the_most_specific_level_decides,
        routings_are_stored_by_revision,
        people_are_notified_of_what_they_want_when_they_want,
        accounts_and_operators_switch_channels_off,
        sms_are_capped_by_segments,
        alerts_are_routed_to_webhooks,
    }
    [notifications] templates {
        templates_are_kept_by_revision,
    }
    [gateways] feeds {
        steps_in_any_order_are_one_alert,
        a_late_cancellation_divides_two_emergencies,
        a_later_fix_of_an_emergency_is_the_position_of_its_alert,
        reports_of_gateways_add_up,
        accounts_take_turns_at_polls,
        a_feed_that_is_not_fetched_is_late,
        a_poll_is_leased_to_one_node,
        a_fix_that_comes_by_two_ways_is_stored_once,
    }
    [gateways] message_contents {
        a_message_is_stored_with_all_it_says,
        without_its_alert_no_message_is_stored,
        a_request_of_several_devices_is_stored_whole,
        a_request_that_says_very_much_is_stored_in_parts,
        alerts_and_locations_of_an_account_do_not_block_each_other,
        alerts_of_the_past_notify_nobody,
        messages_of_before_are_searched_once,
        an_sos_of_an_expired_device_notifies_its_people,
        strangers_cannot_flood_people_with_sos,
    }
    [gateways] message_devices {
        a_message_of_several_devices_is_found_by_each,
        devices_of_a_message_are_deleted_with_it,
        reprocessing_adds_devices_to_a_message,
    }
    [gateways] sos_outbox {
        an_sos_is_announced_once_after_a_crash,
        an_sos_is_recorded_with_its_message_or_not_at_all,
        an_sos_of_an_expired_or_deleted_device_is_recorded,
        an_unreadable_sos_keeps_no_other_back,
    }
    [gateways] claims {
        the_only_account_needs_no_proof,
        a_claim_counts_once_it_is_proven,
        a_proof_fails_when_the_tracker_is_in_use,
        operators_decide_about_contested_identifiers,
        the_network_of_a_proof_is_kept,
        an_identifier_has_one_open_finding_of_networks,
        findings_of_networks_are_listed_first,
    }
    [gateways] account_gateways {
        a_gateway_is_found_by_its_secret,
        a_gateway_reaches_devices_of_its_account,
    }
    [gateways] gateway_changes {
        a_gateway_is_changed_from_the_revision_that_was_read,
        a_renewed_address_leaves_the_old_one_for_a_day,
        a_deleted_gateway_leaves_its_settings_to_its_messages,
        a_gateway_goes_with_its_device_and_leaves_its_settings,
        a_fetched_gateway_begins_again_with_other_options,
    }
    gateways {
        every_name_finds_its_device,
        a_name_is_taken_once_in_an_account,
        the_first_account_claims_a_name,
        a_message_is_stored_with_its_locations,
        messages_of_devices_that_store_nothing_are_kept,
        only_visible_messages_are_listed,
        old_messages_are_deleted,
        messages_that_stored_nothing_new_are_deleted_first,
        room_of_raw_messages_is_counted,
        unknown_devices_are_remembered_until_they_are_claimed,
        reported_facts_are_stored_beside_the_settings,
    }
    rule_engine {
        a_round_is_kept_once,
        a_round_is_kept_whole_or_not_at_all,
        a_round_by_old_rules_is_refused,
        the_log_waits_for_the_rule_engine,
        a_deleted_device_leaves_nothing_to_evaluate,
        checkpoints_are_kept_and_thinned,
        a_round_prolongs_the_lease_of_its_node_alone,
        how_far_histories_were_evaluated_is_kept,
    }
    [locations] skimming {
        the_log_is_skimmed_in_parts_of_any_size,
        deleted_locations_are_not_evaluated,
    }
    timelines {
        any_order_of_arrival_gives_the_same_segments,
        segments_tile_and_are_selected_by_period,
        totals_are_those_of_the_clipped_segments,
        late_locations_change_a_trip_and_not_its_id,
        events_of_trips_are_stored_once,
        a_round_of_timelines_is_saved_once,
        a_device_that_is_marked_meanwhile_stays_pending,
        a_long_history_is_derived_in_parts,
        labels_survive_a_new_derivation,
        trips_are_listed_in_scope_and_followed_by_change,
        the_log_waits_for_timelines,
        timelines_end_with_their_locations,
        queueing_histories_goes_on_where_it_ended,
    }
    maintenance {
        plans_are_made_once_changed_and_deleted,
        a_device_has_a_bounded_number_of_plans,
        usage_is_what_totals_say,
        alerts_are_raised_once_in_a_cycle,
        a_date_comes_without_locations,
        what_is_done_begins_the_next_cycle,
    }
    plans {
        a_device_runs_so_many_plans,
        plans_are_made_once_changed_and_deleted,
        a_missed_check_in_is_announced_in_steps,
        late_locations_withdraw_alerts,
        words_of_a_device_steer_its_plan,
        a_traveller_steers_by_link,
        a_nudge_is_queued_once,
        each_step_is_taken_once_whatever_happens,
    }
    drivers {
        drivers_are_kept_found_and_deleted,
        assignments_of_a_device_do_not_overlap,
        who_drove_does_not_depend_on_what_came_first,
        changes_of_drivers_are_followed,
        trips_are_added_up_by_driver,
    }
    trip_rules {
        each_trip_raises_one_alert_in_any_order,
        labels_and_drivers_decide_later,
        trips_from_before_a_rule_raise_nothing,
    }
    timeline_edits {
        edits_survive_late_locations_and_restarts,
        edits_are_made_once_and_seen_in_scope,
        removed_trips_are_listed_in_order,
        settings_of_each_level_derive_again,
        the_most_specific_settings_apply,
        a_device_that_joins_a_group_is_derived_again,
    }
    shares {
        a_link_shows_a_device_between_two_instants,
        a_link_shows_a_groups_devices,
        a_link_hides_where_things_were_before_it_began,
        openings_are_counted_apart_from_opening,
        only_visible_links_are_listed_and_revoked,
        a_request_sent_twice_makes_one_link,
        a_link_goes_with_what_it_shows,
    }
    [notifications] recipients {
        contact_groups_are_kept_and_not_deleted_while_named,
        users_and_contact_groups_are_notified_once_each,
        a_watch_list_reaches_who_sees_the_device,
        an_alert_nobody_acknowledges_goes_on_step_by_step,
        acknowledging_and_ending_stop_an_escalation,
        steps_count_against_the_limits_of_the_device,
        the_clock_set_back_delays_no_step,
        people_without_an_account_acknowledge_once,
        a_note_that_is_sent_twice_is_stored_once,
        a_test_reaches_everybody_and_is_bounded,
    }
    webhooks {
        a_webhook_is_kept_as_given,
        events_carry_what_they_are_about_and_say_how_far_they_go,
        a_cursor_in_the_log_moves_with_what_it_brought,
        a_delivery_is_lent_to_one_worker_at_a_time,
        a_receiver_that_answers_410_switches_its_webhook_off,
    }
}

/// SQLite has a single writer, so only PostgreSQL could show numbers out of order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_never_shows_an_event_before_a_lower_number_is_settled() {
    logs::no_number_is_passed_while_a_lower_one_is_open(
        fixture::Fixture::new(perigee_store::Engine::Postgres).await,
    )
    .await;
}
