//! Tests with the examples of both standards, and with patches made to exhaust memory or time.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn check(document: &Value, patch: &Value, expect: &Value) {
    assert_eq!(apply_patch(document, patch).as_ref(), Ok(expect), "{document} by {patch}");
}

fn refused(document: &Value, patch: &Value) -> PatchProblem {
    apply_patch(document, patch).unwrap_err()
}

#[test]
fn merges_as_rfc_7396_shows() {
    for (document, patch, expect) in [
        (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
        (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
        (json!({"a": "b"}), json!({"a": null}), json!({})),
        (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
        (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
        (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
        (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
        (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
        (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
    ] {
        check(&document, &patch, &expect);
    }
}

#[test]
fn patches_as_rfc_6902_shows() {
    for (document, operation, expect) in [
        (json!({"a": 1}), json!({"op": "add", "path": "/b", "value": 2}), json!({"a": 1, "b": 2})),
        (json!({"a": [1, 3]}), json!({"op": "add", "path": "/a/1", "value": 2}), json!({"a": [1, 2, 3]})),
        (json!({"a": [1]}), json!({"op": "add", "path": "/a/-", "value": [2]}), json!({"a": [1, [2]]})),
        (json!({"a": 1}), json!({"op": "add", "path": "/a", "value": null}), json!({"a": null})),
        (json!({"a": 1, "b": 2}), json!({"op": "remove", "path": "/a"}), json!({"b": 2})),
        (json!({"a": 1}), json!({"op": "replace", "path": "/a", "value": 2}), json!({"a": 2})),
        (json!({"a": 1}), json!({"op": "replace", "path": "", "value": {}}), json!({})),
        (
            json!({"a": {"b": 1}, "c": {}}),
            json!({"op": "move", "from": "/a/b", "path": "/c/d"}),
            json!({"a": {}, "c": {"d": 1}}),
        ),
        (
            json!({"a": [1, 2, 3]}),
            json!({"op": "move", "from": "/a/0", "path": "/a/2"}),
            json!({"a": [2, 3, 1]}),
        ),
        (
            json!({"a": {"b": 1}}),
            json!({"op": "copy", "from": "/a", "path": "/c"}),
            json!({"a": {"b": 1}, "c": {"b": 1}}),
        ),
        (
            json!({"a/b": 1, "m~n": 2}),
            json!({"op": "test", "path": "/m~0n", "value": 2}),
            json!({"a/b": 1, "m~n": 2}),
        ),
        (
            json!({"a": [1, {"b": 2.0}]}),
            json!({"op": "test", "path": "/a", "value": [1.0, {"b": 2}]}),
            json!({"a": [1, {"b": 2.0}]}),
        ),
    ] {
        check(&document, &json!([operation]), &expect);
    }
}

#[test]
fn names_the_operation_that_is_wrong() {
    let good = json!({"op": "add", "path": "/x", "value": 1});
    let check = |operation: Value, detail: &str| {
        let problem = refused(&json!({"a": 1}), &json!([good, operation]));
        assert!(matches!(&problem, PatchProblem::Malformed(_)), "{problem:?}");
        assert_eq!((problem.problem().pointer.as_str(), problem.to_string().as_str()), ("/1", detail));
    };
    check(json!(5), "Operation 1 must be an object.");
    check(json!({"op": "add", "value": 1}), "Operation 1 must have a \"path\" that is a string.");
    check(json!({"op": "add", "path": "/b"}), "Operation 1 must have a \"value\".");
    check(json!({"op": "move", "path": "/b"}), "Operation 1 must have a \"from\" that is a string.");
    check(
        json!({"path": "/b"}),
        "Operation 1 must have an \"op\" that is one of add, remove, replace, move, copy, test.",
    );
    check(
        json!({"op": "replcae", "path": "/b", "value": 1}),
        "Operation 1 must have an \"op\" that is one of add, remove, replace, move, copy, test, perhaps \"replace\", not \"replcae\".",
    );
    check(
        json!({"op": "remove", "path": "b"}),
        "Operation 1 must have a \"path\" that is a JSON pointer such as \"/name\", not \"b\".",
    );
    check(json!({"op": "move", "from": "", "path": "/b"}), "Operation 1 would move a value into itself.");
    let shapeless = refused(&json!({}), &json!("x"));
    assert!(matches!(shapeless, PatchProblem::Malformed(_)));
}

#[test]
fn missing_paths_and_failed_tests_are_distinguished() {
    let document = json!({"a": [1], "s": "text"});
    for (operation, path) in [
        (json!({"op": "remove", "path": "/b"}), "/b"),
        (json!({"op": "remove", "path": ""}), ""),
        (json!({"op": "remove", "path": "/a/-"}), "/a/-"),
        (json!({"op": "replace", "path": "/a/1", "value": 1}), "/a/1"),
        (json!({"op": "add", "path": "/a/2", "value": 1}), "/a/2"),
        (json!({"op": "add", "path": "/a/01", "value": 1}), "/a/01"),
        (json!({"op": "add", "path": "/b/c", "value": 1}), "/b/c"),
        (json!({"op": "add", "path": "/s/c", "value": 1}), "/s/c"),
        (json!({"op": "move", "from": "/b", "path": "/c"}), "/b"),
        (json!({"op": "copy", "from": "/b", "path": "/c"}), "/b"),
        (json!({"op": "test", "path": "/b", "value": null}), "/b"),
    ] {
        let problem = refused(&document, &json!([operation]));
        assert!(matches!(&problem, PatchProblem::MissingPath(_)), "{operation}: {problem:?}");
        assert_eq!(problem.to_string(), format!("Operation 0 names {path:?}, which does not exist."));
    }
    let problem = refused(&document, &json!([{"op": "test", "path": "/a/0", "value": 2}]));
    assert!(matches!(&problem, PatchProblem::TestFailed(_)));
    assert_eq!(
        problem.to_string(),
        "Operation 0 expected another value at \"/a/0\". Read the resource again."
    );
}

#[test]
fn patches_that_grow_too_much_are_refused() {
    let double = json!({"op": "copy", "from": "/a", "path": "/a/-"});
    let problem = refused(&json!({"a": [1]}), &Value::from(vec![double; 30]));
    assert!(problem.to_string().contains("larger than allowed"), "{problem}");
    let widen = |number| json!({"op": "copy", "from": "", "path": format!("/{number}")});
    let problem = refused(&json!({"a": "x"}), &(0..30).map(widen).collect());
    assert!(problem.to_string().contains("larger than allowed"), "{problem}");
    let repeat = |number| json!({"op": "copy", "from": "/a", "path": format!("/{number}")});
    let problem = refused(&json!({"a": "x".repeat(10_000)}), &(0..900).map(repeat).collect());
    assert!(problem.to_string().contains("larger than allowed"), "{problem}");
    let many = vec![json!({"op": "add", "path": "/a", "value": 1}); OPERATIONS_MAX + 1];
    assert!(matches!(refused(&json!({}), &many.into()), PatchProblem::TooCostly(_)));
    let deeper = |number: usize| json!({"op": "add", "path": "/a".repeat(number + 1), "value": {}});
    let problem = refused(&json!({}), &(0..900).map(deeper).collect());
    assert!(problem.to_string().contains("nest the document"), "{problem}");
}

/// Applies a patch without a limit of steps, and returns how many it took.
fn steps_taken(document: &Value, patch: &Value) -> u64 {
    let mut steps = Steps::new(u64::MAX);
    let _applied_or_not = apply_within(document, patch, &mut steps);
    u64::MAX - steps.left()
}

fn too_costly(document: &Value, patch: &Value) {
    let taken = steps_taken(document, patch);
    let allowed = allowed(document, patch).left();
    assert!(taken > allowed, "took {taken} steps of {allowed}");
    let problem = refused(document, patch);
    assert!(matches!(problem, PatchProblem::TooCostly(_)), "{problem:?}");
    assert!(problem.to_string().contains("more work than a patch of this size may"), "{problem}");
    assert!(apply_patch_at_once(document, patch, 20_000).is_none());
}

#[test]
fn more_work_than_the_size_allows_is_refused() {
    let zeros = |count: usize| Value::from(vec![0; count]);
    let operations = |first: Value, rest: Value| Value::from_iter([vec![first], vec![rest; 999]].concat());
    let add = |value: Value| json!({"op": "add", "path": "/a", "value": value});
    // Each moves the whole array to another path, or shifts all its elements.
    let shift = json!({"op": "move", "from": "/a/0", "path": "/a/4000"});
    too_costly(&json!({}), &operations(add(zeros(5_000)), shift));
    let front = json!({"op": "add", "path": "/a/0", "value": 0});
    too_costly(&json!({}), &operations(add(zeros(5_000)), front));
    let remove = json!({"op": "remove", "path": "/a/0"});
    too_costly(&json!({}), &operations(add(zeros(5_000)), remove));
    let test = |value: &Value| json!({"op": "test", "path": "/a", "value": value});
    let deep = json!({"b": zeros(5_000)});
    let there_and_back: Vec<Value> = std::iter::once(json!({"op": "add", "path": "/b", "value": {}}))
        .chain((0..400).flat_map(|_| {
            [
                json!({"op": "move", "from": "/a", "path": "/b/a"}),
                json!({"op": "move", "from": "/b/a", "path": "/a"}),
            ]
        }))
        .collect();
    too_costly(&json!({"a": deep}), &there_and_back.into());
    // The copied value is in the document, so that the patch itself is small.
    let copies = (0..900).map(|_| json!({"op": "copy", "from": "/a", "path": "/b"}));
    let problem = refused(&json!({"a": zeros(5_000)}), &copies.collect());
    assert!(matches!(problem, PatchProblem::TooCostly(_)), "{problem:?}");
    let tests = vec![test(&zeros(900)); 1000];
    assert!(apply_patch(&json!({"a": zeros(900)}), &tests.into()).is_ok(), "paid for by its size");
}

#[test]
fn ordinary_patches_are_far_from_the_bound() {
    let document = json!({"a": vec![0; 1000], "b": {}});
    let mix: Vec<Value> = (0..250)
        .flat_map(|number| {
            [
                json!({"op": "add", "path": "/a/0", "value": number}),
                json!({"op": "move", "from": "/a/0", "path": "/a/-"}),
                json!({"op": "remove", "path": "/a/0"}),
                json!({"op": "add", "path": format!("/b/{number}"), "value": {"name": "x"}}),
            ]
        })
        .collect();
    let patched = apply_patch(&document, &mix.into()).unwrap();
    assert_eq!(patched["a"].as_array().map(Vec::len), Some(1000));
    let small = json!([{"op": "replace", "path": "/b", "value": 1}]);
    assert_eq!(apply_patch_at_once(&document, &small, 20_000).unwrap().unwrap()["b"], 1);
}

fn any_document() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(json!(null)), (0..3).prop_map(Value::from), "[ab]{0,2}".prop_map(Value::from)];
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map("[ab]", inner, 0..3).prop_map(Value::from_iter),
        ]
    })
}

fn any_operation() -> impl Strategy<Value = Value> {
    let op = prop::sample::select(vec!["add", "remove", "replace", "move", "copy", "test"]);
    (op, "(/[ab012-]){0,3}", "(/[ab012-]){0,3}", any_document())
        .prop_map(|(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}))
}

proptest! {
    #[test]
    fn any_patch_is_applied_or_refused(
        document in any_document(),
        operations in prop::collection::vec(any_operation(), 0..12),
    ) {
        if let Ok(patched) = apply_patch(&document, &operations.into()) {
            prop_assert!(measure(&patched, &mut Steps::new(u64::MAX)).unwrap().depth <= MAX_DEPTH);
        }
    }

    #[test]
    fn any_patch_takes_no_more_than_it_may(
        document in any_document(),
        operations in prop::collection::vec(any_operation(), 0..12),
    ) {
        let patch = Value::from(operations);
        if apply_patch(&document, &patch).is_ok() {
            prop_assert!(steps_taken(&document, &patch) <= allowed(&document, &patch).left());
        }
    }

    #[test]
    fn merging_a_document_into_nothing_gives_it_without_nulls(document in any_document()) {
        let merged = apply_patch(&json!({}), &json!({ "a": document })).unwrap();
        prop_assert_eq!(apply_patch(&merged, &merged).unwrap(), merged);
    }
}
