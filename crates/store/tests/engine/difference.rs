//! Differences between the engines that the store hides.

use perigee_core::error::StoreError;
use perigee_store::{Engine, Value, on_both_engines, params};

use crate::support::{add, bench, internal};

on_both_engines!(
    every_type_comes_back,
    null_goes_anywhere,
    placeholders_out_of_order,
    wrong_number_of_parameters,
    not_a_number_is_refused,
    nul_in_text_is_refused,
    text_in_a_number_column_is_refused,
    like_heeds_case,
    nulls_sort_as_requested,
    text_sorts_by_bytes,
    duplicate_keys_are_named_alike,
    dangling_references_are_reported,
    getters_refuse_other_types,
    rows_returned_by_a_change,
);

async fn every_type_comes_back(engine: Engine) {
    let bench = bench(engine).await;
    let sql = "INSERT INTO thing (id, code, num, ratio, flag, blob) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let text = "Zoë ☂ 🛰";
    let written =
        bench.execute(sql, params![i64::MAX, text, i64::MIN, 0.1 + 0.2, true, [0_u8, 255, 0]]).await;
    assert_eq!(written.unwrap(), 1);
    let row = bench.query("SELECT * FROM thing WHERE flag = ?1", params![true]).await.unwrap().remove(0);
    assert_eq!(row.i64("id").unwrap(), i64::MAX);
    assert_eq!((row.text("code").unwrap().as_str(), row.str(1).unwrap()), (text, text));
    assert_eq!(row.i64("num").unwrap(), i64::MIN);
    assert_eq!(row.f64("ratio").unwrap().to_bits(), (0.1_f64 + 0.2).to_bits());
    assert!(row.bool("flag").unwrap());
    assert_eq!(row.bytes("blob").unwrap(), [0, 255, 0]);
    assert_eq!(row.opt_i64("parent").unwrap(), None);
    let none = bench.query("SELECT id FROM thing WHERE flag = ?1", params![false]).await.unwrap();
    assert!(none.is_empty());
}

async fn null_goes_anywhere(engine: Engine) {
    let bench = bench(engine).await;
    let sql =
        "INSERT INTO thing (id, code, num, ratio, flag, blob, parent) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)";
    let none = params![None::<&str>, None::<i64>, None::<f64>, None::<bool>, None::<Vec<u8>>, Value::Null];
    bench.execute(sql, none).await.unwrap();
    let row = bench.query("SELECT * FROM thing", &[]).await.unwrap().remove(0);
    assert_eq!(row.opt_text("code").unwrap(), None);
    assert_eq!(row.opt_f64("ratio").unwrap(), None);
    assert_eq!(row.opt_bool("flag").unwrap(), None);
    assert_eq!(row.opt_bytes("blob").unwrap(), None);
    assert!(row.text("code").is_err());
}

async fn placeholders_out_of_order(engine: Engine) {
    let bench = bench(engine).await;
    let sql = "INSERT INTO thing (code, num, id) VALUES (?3, ?1, ?2)";
    bench.execute(sql, params![10_i64, 20_i64, "c"]).await.unwrap();
    let sql = "SELECT id, num, code, '?1' AS literal FROM thing WHERE code = ?2 AND num < ?1 AND id = ?1 AND code <> '?2'";
    let row = bench.query(sql, params![20_i64, "c"]).await.unwrap().remove(0);
    assert_eq!((row.i64("id").unwrap(), row.i64("num").unwrap()), (20, 10));
    assert_eq!(row.str("literal").unwrap(), "?1");
}

async fn wrong_number_of_parameters(engine: Engine) {
    let bench = bench(engine).await;
    for given in [params![], params![1_i64, 2_i64]] {
        let result = bench.execute("INSERT INTO thing (id) VALUES (?1)", given).await;
        assert!(internal(result).contains("1 parameters expected"));
    }
}

async fn not_a_number_is_refused(engine: Engine) {
    let bench = bench(engine).await;
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let result = bench.execute("INSERT INTO thing (id, ratio) VALUES (1, ?1)", params![number]).await;
        assert!(internal(result).contains("?1 is"));
    }
    assert_eq!(bench.count().await, 0);
}

async fn nul_in_text_is_refused(engine: Engine) {
    let bench = bench(engine).await;
    let result = bench.execute("INSERT INTO thing (id, code) VALUES (?1, ?2)", params![1_i64, "a\0b"]).await;
    assert!(internal(result).contains("?2 is text with a NUL"));
    assert_eq!(bench.count().await, 0);
}

async fn text_in_a_number_column_is_refused(engine: Engine) {
    let bench = bench(engine).await;
    let result = bench.execute("INSERT INTO thing (id, num) VALUES (1, ?1)", params!["twelve"]).await;
    internal(result);
    let result = bench.execute("INSERT INTO thing (id, blob) VALUES (1, ?1)", params![5_i64]).await;
    internal(result);
    assert_eq!(bench.count().await, 0);
}

async fn like_heeds_case(engine: Engine) {
    let bench = bench(engine).await;
    let sql = "INSERT INTO thing (id, code) VALUES (1, 'Alpha'), (2, 'alpha'), (3, 'al%ha')";
    bench.execute(sql, &[]).await.unwrap();
    let sql = r"SELECT id FROM thing WHERE code LIKE ?1 ESCAPE '\' ORDER BY id";
    let ids = |pattern: &'static str| {
        let bench = &bench;
        async move {
            let rows = bench.query(sql, params![pattern]).await.unwrap();
            rows.iter().map(|row| row.i64(0).unwrap()).collect::<Vec<_>>()
        }
    };
    assert_eq!(ids("al%").await, [2, 3]);
    assert_eq!(ids("AL%").await, [0_i64; 0]);
    assert_eq!(ids(r"al\%%").await, [3]);
    // The writer's connection as well as the readers'.
    let changed = bench.execute("UPDATE thing SET num = 1 WHERE code LIKE 'A%'", &[]).await.unwrap();
    assert_eq!(changed, 1);
}

async fn nulls_sort_as_requested(engine: Engine) {
    let bench = bench(engine).await;
    bench.execute("INSERT INTO thing (id, num) VALUES (1, NULL), (2, 5), (3, 4)", &[]).await.unwrap();
    for (sql, expect) in [
        ("SELECT id FROM thing ORDER BY num NULLS FIRST", [1, 3, 2]),
        ("SELECT id FROM thing ORDER BY num NULLS LAST", [3, 2, 1]),
        ("SELECT id FROM thing ORDER BY num DESC NULLS FIRST", [1, 2, 3]),
        ("SELECT id FROM thing ORDER BY num DESC NULLS LAST", [2, 3, 1]),
    ] {
        let rows = bench.query(sql, &[]).await.unwrap();
        let ids: Vec<i64> = rows.iter().map(|row| row.i64("id").unwrap()).collect();
        assert_eq!(ids, expect, "{sql}");
    }
}

async fn text_sorts_by_bytes(engine: Engine) {
    let bench = bench(engine).await;
    let sql =
        "INSERT INTO thing (id, code) VALUES (1, 'b'), (2, 'B'), (3, 'a'), (4, 'é'), (5, 'a b'), (6, '_')";
    bench.execute(sql, &[]).await.unwrap();
    let rows = bench.query("SELECT code FROM thing ORDER BY code", &[]).await.unwrap();
    let codes: Vec<String> = rows.iter().map(|row| row.text("code").unwrap()).collect();
    assert_eq!(codes, ["B", "_", "a", "a b", "b", "é"]);
}

async fn duplicate_keys_are_named_alike(engine: Engine) {
    let bench = bench(engine).await;
    bench.execute("INSERT INTO thing (id, code) VALUES (1, 'x')", &[]).await.unwrap();
    bench.execute("INSERT INTO pair (a, b) VALUES (1, 'x')", &[]).await.unwrap();
    for (sql, columns) in [
        ("INSERT INTO thing (id, code) VALUES (2, 'x')", "thing.code"),
        ("INSERT INTO thing (id, code) VALUES (1, 'y')", "thing.id"),
        ("INSERT INTO pair (a, b) VALUES (1, 'x')", "pair.b, pair.a"),
    ] {
        let violated = bench
            .db
            .write(move |tx| {
                Box::pin(async move {
                    let error = tx.execute(sql, &[]).await.unwrap_err();
                    assert!(error.violates(columns), "{error}");
                    assert!(!error.violates("thing.num"));
                    Err::<(), _>(StoreError::Taken(perigee_core::error::Unique::Email))
                })
            })
            .await;
        assert!(matches!(violated, Err(StoreError::Taken(_))), "{violated:?}");
    }
    // One that nobody expected is a defect, not an answer.
    internal(bench.execute("INSERT INTO thing (id) VALUES (1)", &[]).await);
    let skipped = bench.execute("INSERT INTO thing (id) VALUES (1) ON CONFLICT DO NOTHING", &[]).await;
    assert_eq!(skipped.unwrap(), 0);
}

async fn dangling_references_are_reported(engine: Engine) {
    let bench = bench(engine).await;
    let outcome = bench
        .db
        .write(|tx| {
            Box::pin(async move {
                add(tx, 1).await?;
                let result =
                    tx.execute("INSERT INTO thing (id, parent) VALUES (2, ?1)", params![99_i64]).await;
                assert!(matches!(result, Err(perigee_store::DbError::ForeignKeyViolation)), "{result:?}");
                Ok(result.map(drop)?)
            })
        })
        .await;
    internal(outcome);
    assert_eq!(bench.count().await, 0);
}

async fn getters_refuse_other_types(engine: Engine) {
    let bench = bench(engine).await;
    bench.execute("INSERT INTO thing (id, code, num) VALUES (1, 'x', 300)", &[]).await.unwrap();
    let row = bench.query("SELECT * FROM thing", &[]).await.unwrap().remove(0);
    assert!(row.i64("code").is_err() && row.text("num").is_err() && row.bool("num").is_err());
    assert!(row.i64("missing").is_err() && row.i64(99).is_err());
    assert!(row.int::<u8>("num").is_err());
    assert_eq!(row.int::<u16>("num").unwrap(), 300);
    assert_eq!(row.opt_int::<u8>("parent").unwrap(), None);
}

async fn rows_returned_by_a_change(engine: Engine) {
    let bench = bench(engine).await;
    let row = bench
        .db
        .write(|tx| {
            Box::pin(async move {
                let sql = "INSERT INTO thing (id, num) VALUES (?1, ?2)
                           ON CONFLICT (id) DO UPDATE SET num = excluded.num RETURNING id, num";
                tx.query_one(sql, params![1_i64, 5_i64]).await?;
                Ok(tx.query_one(sql, params![1_i64, 6_i64]).await?)
            })
        })
        .await
        .unwrap();
    assert_eq!((row.i64("id").unwrap(), row.i64("num").unwrap()), (1, 6));
}
