//! The migration from columns of e-mail and SMS to rows by channel loses nothing.

use perigee_core::access::actor::Origin;
use perigee_core::notifications::notification::Channel;
use perigee_core::store::Accounts as _;
use perigee_store::testing::{Scratch, new_account};
use perigee_store::{Database, Engine, on_both_engines};

on_both_engines!(counters_and_limits_of_before_are_kept);

const SQLITE: &str = include_str!("../../migrations/sqlite/0047_channel_rows.sql");
const POSTGRES: &str = include_str!("../../migrations/postgres/0047_channel_rows.sql");

/// The schema of before, with data. `{number}`, `{truth}`, `{yes}` and `{no}` differ between engines.
const BEFORE: &str = "
    DROP TABLE device_message_counter;
    DROP TABLE account_message_counter;
    ALTER TABLE device DROP COLUMN daily_limits;
    ALTER TABLE device ADD COLUMN daily_emails {number};
    ALTER TABLE device ADD COLUMN daily_sms {number};
    CREATE TABLE device_counter (
        account_id {number} NOT NULL, device_id {number} NOT NULL, date TEXT NOT NULL,
        emails_sent {number} NOT NULL DEFAULT 0, sms_sent {number} NOT NULL DEFAULT 0,
        sms_segments {number} NOT NULL DEFAULT 0, emails_told {truth} NOT NULL, sms_told {truth} NOT NULL,
        PRIMARY KEY (account_id, device_id, date));
    CREATE TABLE account_counter (
        account_id {number} NOT NULL, date TEXT NOT NULL, sms_segments {number} NOT NULL,
        emails {number} NOT NULL DEFAULT 0, critical_emails {number} NOT NULL DEFAULT 0,
        PRIMARY KEY (account_id, date));
    INSERT INTO device (account_id, id, revision, name, tags, licensed, critical_reserve, search, creation,
                        last_modified, checksum, daily_emails, daily_sms)
    VALUES ({account}, 1, 1, 'both', '{}', {yes}, 0, '', 0, 0, 5, 50, 10),
           ({account}, 2, 1, 'mail', '{}', {yes}, 0, '', 0, 0, 5, 0, NULL),
           ({account}, 3, 1, 'sms', '{}', {yes}, 0, '', 0, 0, 5, NULL, 1000000),
           ({account}, 4, 1, 'none', '{}', {yes}, 0, '', 0, 0, 5, NULL, NULL);
    INSERT INTO device_counter VALUES
        ({account}, 1, '2026-01-01', 3, 2, 5, {no}, {yes}), ({account}, 1, '2026-01-02', 0, 0, 0, {no}, {no}),
        ({account}, 2, '2026-01-01', 0, 0, 0, {yes}, {no}), ({account}, 3, '2026-01-01', 0, 1, 1, {no}, {no});
    INSERT INTO account_counter VALUES
        ({account}, '2026-01-01', 6, 3, 0), ({account}, '2026-01-02', 0, 0, 7), ({account}, '2026-01-03', 0, 0, 0);";

async fn rows(db: &Database, sql: &'static str) -> Vec<String> {
    let rows = db.read(move |tx| Box::pin(async move { Ok(tx.query(sql, &[]).await?) })).await.unwrap();
    rows.iter().map(|row| row.text("line").unwrap()).collect()
}

async fn counters_and_limits_of_before_are_kept(engine: Engine) {
    let scratch = Scratch::new(engine).await;
    let db = scratch.open().await;
    let account = db.create_account(&Origin::command(), new_account(9)).await.unwrap().0.id;
    db.close().await;
    let (number, truth, yes, no, migration) = match engine {
        Engine::Sqlite => ("INTEGER", "INTEGER", "1", "0", SQLITE),
        Engine::Postgres => ("BIGINT", "BOOLEAN", "TRUE", "FALSE", POSTGRES),
    };
    let mut before = BEFORE.replace("{account}", &account.as_i64().to_string());
    for (name, value) in [("{number}", number), ("{truth}", truth), ("{yes}", yes), ("{no}", no)] {
        before = before.replace(name, value);
    }
    scratch.run(&before).await;
    scratch.run(migration).await;

    let db = scratch.open().await;
    let limits = "SELECT name || ' ' || daily_limits || ' ' || COALESCE(CAST(checksum AS TEXT), 'none') AS line \
                  FROM device ORDER BY id";
    let expect = [
        r#"both {"email":50,"sms":10} none"#,
        r#"mail {"email":0} none"#,
        r#"sms {"sms":1000000} none"#,
        "none {} none",
    ];
    assert_eq!(rows(&db, limits).await, expect);
    let counters = "SELECT CAST(device_id AS TEXT) || ' ' || date || ' ' || channel || ' ' || CAST(messages AS TEXT) \
                        || ' ' || CAST(segments AS TEXT) || CASE WHEN announced THEN ' announced' ELSE '' END AS line \
                    FROM device_message_counter ORDER BY device_id, date, channel";
    let expect = [
        "1 2026-01-01 email 3 0",
        "1 2026-01-01 sms 2 5 announced",
        "2 2026-01-01 email 0 0 announced",
        "3 2026-01-01 sms 1 1",
    ];
    assert_eq!(rows(&db, counters).await, expect);
    let counters = "SELECT date || ' ' || channel || ' ' || CAST(units AS TEXT) || ' ' || CAST(critical_units AS TEXT) \
                        AS line FROM account_message_counter ORDER BY date, channel";
    assert_eq!(
        rows(&db, counters).await,
        ["2026-01-01 email 3 0", "2026-01-01 sms 6 0", "2026-01-02 email 0 7"]
    );
    assert_eq!((Channel::EMAIL.name(), Channel::SMS.name()), ("email", "sms"), "the names in the migration");
}
