//! Users, the owner an account keeps, and who sees whom.

use perigee_core::access::preference::{ConsoleLanguage, Preferences, Theme};
use perigee_core::access::privilege::{Privilege, Privileges};
use perigee_core::access::user::{NewUser, User, UserFilter, UserProfile};
use perigee_core::error::{Kind, StoreError, Unique};
use perigee_core::events::event::EventKind;
use perigee_core::id::{DeviceId, GroupId, UserId};
use perigee_core::idempotency::Created;
use perigee_core::notifications::routing::Units;
use perigee_core::page::PageRequest;
use perigee_core::revision::Revision;
use perigee_core::store::{Credentials as _, Users as _};

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant, profile, zone};

fn new_user(profile: UserProfile) -> NewUser {
    NewUser { profile, password_hash: None }
}

async fn replace(on: &Fixture, by: &Tenant, user: &User, profile: UserProfile) -> Result<User, StoreError> {
    on.store.replace_user(&by.actor(), user.id, user.revision, profile, None).await
}

pub(crate) async fn a_user_is_kept_as_given(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let device = on.device(&tenant, None).await;
    let group = on.group(&tenant, &[device]).await;
    let given = UserProfile {
        description: Some("line one\nline two".into()),
        message: Some("¡Hola!".into()),
        disabled: true,
        disabled_message: Some("see you".into()),
        tags: [("team".into(), "south \"2\"".into()), ("a".into(), String::new())].into(),
        privileges: [Privilege::Api, Privilege::DevicesWrite].into_iter().collect(),
        group: Some(group),
        device: Some(device),
        admin_devices: Some(UserProfile::ADMIN_DEVICES_MAX),
        from: Some(on.now().plus_seconds(-5)),
        expires: Some(on.now().plus_seconds(5)),
        time_zone: zone("Asia/Tokyo"),
        language: Some(ConsoleLanguage::Spanish),
        ..profile("ana")
    };
    let made = on.store.create_user(&tenant.actor(), new_user(given.clone()), None).await.unwrap();
    let Created::Now(user) = made else { unreachable!("nothing was made before") };
    assert_eq!(user.profile, given);
    assert_eq!((user.revision, user.operator, user.last_login), (Revision::FIRST, false, None));
    assert_eq!((user.creation, user.modification), (on.now(), on.now()));
    assert_eq!(on.store.find_user(tenant.scope(), user.id).await.unwrap(), Some(user.clone()));
    assert_eq!(on.store.find_user(tenant.scope(), UserId::from_i64(1)).await.unwrap(), None);

    let event = on.events(&tenant).await.pop().unwrap();
    assert_eq!((event.kind, event.subject), (EventKind::UserCreated, user.id.to_string()));
    assert_eq!(event.data["revision"], 1);
    let entry = on.audits(&tenant).await.swap_remove(0);
    assert_eq!((&*entry.action, entry.target), ("user.create", Some(user.id.to_string())));
    assert_eq!((&*entry.via, entry.user), ("session", Some(tenant.owner.id)));
}

pub(crate) async fn an_address_is_unique_in_any_case(on: Fixture) {
    let (alfa, beta) = (on.tenant("alfa").await, on.tenant("beta").await);
    let ana = on.user(&alfa, "ana").await;
    let ben = on.user(&beta, "ben").await;
    let shouted = UserProfile { email: "ANA@Users.Example".parse().unwrap(), ..profile("ben") };

    let made = on.store.create_user(&beta.actor(), new_user(shouted.clone()), None).await;
    assert_fails!(made, StoreError::Taken(Unique::Email));
    assert_fails!(replace(&on, &beta, &ben, shouted.clone()).await, StoreError::Taken(Unique::Email));

    let own = UserProfile { email: shouted.email, ..profile("ana") };
    let changed = replace(&on, &alfa, &ana, own).await.unwrap();
    assert_eq!(changed.profile.email.as_str(), "ANA@Users.Example");
    assert_eq!(changed.revision, Revision(2));
}

pub(crate) async fn a_request_sent_twice_makes_one_user(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let create = async |name: &str, key: &str, body: u8| {
        let once = tenant.once("POST /api/users", key, body);
        on.store.create_user(&tenant.actor(), new_user(profile(name)), Some(once)).await
    };
    let Created::Now(first) = create("ana", "k1", 1).await.unwrap() else { unreachable!("it is the first") };
    let renamed = UserProfile { name: "Ana B".into(), ..profile("ana") };
    replace(&on, &tenant, &first, renamed).await.unwrap();

    assert_eq!(create("ana", "k1", 1).await.unwrap(), Created::Before(first.clone()));
    assert_fails!(create("ana", "k1", 2).await, StoreError::IdempotencyMismatch);
    assert_fails!(create("ana", "k2", 1).await, StoreError::Taken(Unique::Email));

    on.clock().advance_seconds(24 * 60 * 60 - 1);
    assert_eq!(create("ana", "k1", 1).await.unwrap(), Created::Before(first));
    on.clock().advance_seconds(1);
    assert!(matches!(create("eva", "k1", 2).await.unwrap(), Created::Now(_)));
    assert!(matches!(create("eva", "k1", 2).await.unwrap(), Created::Before(_)));
}

pub(crate) async fn a_scope_must_exist_in_the_account(on: Fixture) {
    let (alfa, beta) = (on.tenant("alfa").await, on.tenant("beta").await);
    let foreign_device = on.device(&beta, None).await;
    let foreign_group = on.group(&beta, &[]).await;
    let user = on.user(&alfa, "ana").await;
    for device in [foreign_device, DeviceId::from_i64(1)] {
        let bound = UserProfile { device: Some(device), ..profile("eva") };
        let made = on.store.create_user(&alfa.actor(), new_user(bound), None).await;
        assert_fails!(made, StoreError::UnknownReference { kind: Kind::Device, id } if *id == device.to_string());
    }
    for group in [foreign_group, GroupId::from_i64(1)] {
        let bound = UserProfile { group: Some(group), ..profile("ana") };
        let made = replace(&on, &alfa, &user, bound).await;
        assert_fails!(made, StoreError::UnknownReference { kind: Kind::Group, id } if *id == group.to_string());
    }
    assert_eq!(on.store.find_user(alfa.scope(), user.id).await.unwrap(), Some(user));
}

pub(crate) async fn replacing_counts_revisions(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let user = on.user(&tenant, "ana").await;
    on.clock().advance_seconds(60);

    assert_eq!(replace(&on, &tenant, &user, profile("ana")).await.unwrap(), user);
    let renamed = UserProfile { name: "Ana B".into(), ..profile("ana") };
    let changed = replace(&on, &tenant, &user, renamed.clone()).await.unwrap();
    assert_eq!((changed.revision, changed.modification), (Revision(2), on.now()));
    assert_eq!((changed.creation, &changed.profile), (user.creation, &renamed));
    assert_eq!(on.store.find_user(tenant.scope(), user.id).await.unwrap(), Some(changed.clone()));
    assert_fails!(
        replace(&on, &tenant, &user, profile("ana")).await,
        StoreError::RevisionMismatch(Kind::User)
    );
    let nobody = User { id: UserId::from_i64(1), ..user.clone() };
    assert_fails!(replace(&on, &tenant, &nobody, renamed).await, StoreError::NotFound(Kind::User));

    let updates = on.events(&tenant).await.into_iter().filter(|event| event.kind == EventKind::UserUpdated);
    let announced: Vec<_> = updates.map(|event| (event.subject, event.data["revision"].clone())).collect();
    assert_eq!(announced, [(user.id.to_string(), 2.into())]);
}

pub(crate) async fn replacing_an_address_moves_the_login(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let user = on.user(&tenant, "ana").await;
    let moved = UserProfile { email: "new@users.example".parse().unwrap(), ..profile("ana") };
    replace(&on, &tenant, &user, moved.clone()).await.unwrap();
    assert!(on.store.find_login(&user.profile.email).await.unwrap().is_none());
    assert_eq!(on.store.find_login(&moved.email).await.unwrap().unwrap().user.id, user.id);
    on.user(&tenant, "ana").await;
}

pub(crate) async fn the_last_owner_stays(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let device = on.device(&tenant, None).await;
    let group = on.group(&tenant, &[]).await;
    let owner = &tenant.owner;
    let as_owner = owner.profile.clone();
    let lesser = [
        UserProfile { privileges: Privileges::NONE, ..as_owner.clone() },
        UserProfile { disabled: true, ..as_owner.clone() },
        UserProfile { from: Some(on.now().plus_millis(1)), ..as_owner.clone() },
        UserProfile { expires: Some(on.now().plus_seconds(1_000_000)), ..as_owner.clone() },
        UserProfile { device: Some(device), ..as_owner.clone() },
        UserProfile { group: Some(group), ..as_owner.clone() },
    ];
    // None of these is an owner who can act for the account from now on without end.
    for (number, second) in lesser.iter().enumerate() {
        let email = format!("second{number}@users.example").parse().unwrap();
        let second = UserProfile { email, ..second.clone() };
        on.store.create_user(&tenant.actor(), new_user(second), None).await.unwrap();
    }
    for profile in &lesser {
        assert_fails!(replace(&on, &tenant, owner, profile.clone()).await, StoreError::LastOwner);
    }
    assert_fails!(on.store.delete_user(&tenant.actor(), owner.id, None).await, StoreError::LastOwner);

    let renamed = UserProfile { name: "Boss".into(), ..as_owner.clone() };
    let owner = replace(&on, &tenant, owner, renamed).await.unwrap();
    let second = UserProfile { privileges: Privileges::OWNER, from: Some(on.now()), ..profile("eva") };
    on.store.create_user(&tenant.actor(), new_user(second), None).await.unwrap();
    replace(&on, &tenant, &owner, lesser[0].clone()).await.unwrap();
    on.store.delete_user(&tenant.actor(), owner.id, None).await.unwrap();
}

pub(crate) async fn a_removed_user_leaves_nothing_behind(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let user = on.user(&tenant, "ana").await;
    let delete = async |seen| on.store.delete_user(&tenant.actor(), user.id, seen).await;
    crate::access::credentials::let_in(&on, &user).await;

    assert_fails!(delete(Some(Revision(9))).await, StoreError::RevisionMismatch(Kind::User));
    delete(Some(user.revision)).await.unwrap();
    assert_fails!(delete(None).await, StoreError::NotFound(Kind::User));

    assert_eq!(on.store.find_user(tenant.scope(), user.id).await.unwrap(), None);
    assert!(on.store.find_login(&user.profile.email).await.unwrap().is_none());
    assert!(on.store.find_identity(user.id).await.unwrap().is_none());
    assert!(on.store.find_session(&[1; 32]).await.unwrap().is_none());
    assert!(on.store.find_link(&[2; 32]).await.unwrap().is_none());
    assert_eq!(on.events(&tenant).await.pop().unwrap().kind, EventKind::UserDeleted);
    assert_eq!(on.audits(&tenant).await[0].action, "user.delete");
    on.user(&tenant, "ana").await;
}

pub(crate) async fn users_are_listed_in_pages_and_filtered(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let group = on.group(&tenant, &[]).await;
    let tag = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let profiles = [
        UserProfile { name: "Ångström 100%".into(), tags: [tag("t", "x")].into(), ..profile("ana") },
        UserProfile {
            description: Some("Río_Grande".into()),
            tags: [tag("a\"t", "x")].into(),
            ..profile("eva")
        },
        UserProfile { group: Some(group), tags: [tag("s", "y"), tag("t", "x")].into(), ..profile("ben") },
    ];
    let mut ids = vec![tenant.owner.id];
    for profile in profiles {
        on.clock().advance_seconds(1);
        let made = on.store.create_user(&tenant.actor(), new_user(profile), None).await.unwrap();
        ids.push(made.into_inner().id);
    }
    let list = async |filter: UserFilter, page: PageRequest| {
        let page = on.store.list_users(tenant.scope(), &filter, page).await.unwrap();
        (page.items.into_iter().map(|user| user.id).collect::<Vec<_>>(), page.next)
    };
    let (first, next) = list(UserFilter::default(), PageRequest::first(3)).await;
    assert_eq!((&*first, next), (&ids[..3], Some(ids[2].as_i64())));
    let (second, next) = list(UserFilter::default(), PageRequest { after: next, limit: 3 }).await;
    assert_eq!((&*second, next), (&ids[3..], None));

    let text = async |text: &str| {
        let filter = UserFilter { text: Some(text.into()), ..UserFilter::default() };
        list(filter, PageRequest::first(100)).await.0
    };
    assert_eq!(text("åNGSTRÖM").await, ids[1..2]);
    assert_eq!(text("100%").await, ids[1..2]);
    assert_eq!(text("%").await, ids[1..2]);
    assert_eq!(text("RÍO_").await, ids[2..3]);
    assert_eq!(text("USERS.example").await, ids[1..]);
    assert!(text("nobody").await.is_empty());

    let tagged = async |key: &str, value: &str| {
        let filter = UserFilter { tag: Some(tag(key, value)), ..UserFilter::default() };
        list(filter, PageRequest::first(100)).await.0
    };
    assert_eq!(tagged("t", "x").await, [ids[1], ids[3]]);
    assert_eq!(tagged("a\"t", "x").await, ids[2..3]);
    assert!(tagged("t", "y").await.is_empty());
    let filter = UserFilter { group: Some(group), ..UserFilter::default() };
    assert_eq!(list(filter, PageRequest::first(100)).await.0, ids[3..]);
}

pub(crate) async fn tenants_do_not_see_each_other(on: Fixture) {
    let (alfa, beta) = (on.tenant("alfa").await, on.tenant("beta").await);
    let user = on.user(&alfa, "ana").await;
    assert_eq!(on.store.find_user(beta.scope(), user.id).await.unwrap(), None);
    let page = PageRequest::first(100);
    let seen = on.store.list_users(beta.scope(), &UserFilter::default(), page).await.unwrap();
    assert_eq!(seen.items, std::slice::from_ref(&beta.owner));
    assert_fails!(replace(&on, &beta, &user, profile("ana")).await, StoreError::NotFound(Kind::User));
    let deleted = on.store.delete_user(&beta.actor(), user.id, None).await;
    assert_fails!(deleted, StoreError::NotFound(Kind::User));
    assert_eq!(on.store.find_user(alfa.scope(), user.id).await.unwrap(), Some(user));
}

pub(crate) async fn operators_are_made_by_command(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let user = on.user(&tenant, "ana").await;
    let operator = on.store.set_operator(user.id, true).await.unwrap();
    assert_eq!(operator, User { operator: true, ..user.clone() });
    assert_eq!(on.store.find_user(tenant.scope(), user.id).await.unwrap(), Some(operator));
    assert_eq!(on.store.set_operator(user.id, false).await.unwrap(), user);
    assert_fails!(on.store.set_operator(UserId::from_i64(1), true).await, StoreError::NotFound(Kind::User));
    let actions: Vec<_> = on.audits(&tenant).await.into_iter().take(2).map(|entry| entry.action).collect();
    assert_eq!(actions, ["operator.revoke", "operator.grant"]);
}

pub(crate) async fn preferences_are_kept_beside_the_user(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let user = on.user(&tenant, "ana").await;
    let login = || async { on.store.find_login_by_id(user.id).await.unwrap().unwrap() };
    assert_eq!(login().await.preferences, Preferences::default());
    let chosen = Preferences {
        language: Some(ConsoleLanguage::Spanish),
        units: Units::Nautical,
        time_zone: Some(zone("Asia/Tokyo")),
        theme: Theme::Dark,
    };
    let events = on.events(&tenant).await.len();
    on.store.set_preferences(user.id, None, chosen.clone()).await.unwrap();
    assert_eq!(on.events(&tenant).await.len(), events);
    let after = login().await;
    let mut expect = user.clone();
    expect.profile.language = chosen.language;
    assert_eq!((&after.preferences, &after.user), (&chosen, &expect), "the user is as before");
    let seen = Some(Preferences::default());
    let outdated = on.store.set_preferences(user.id, seen, Preferences::default()).await;
    assert_fails!(outdated, StoreError::RevisionMismatch(Kind::Preferences));
    on.store.set_preferences(user.id, Some(chosen.clone()), chosen.clone()).await.unwrap();
    let english = UserProfile { language: Some(ConsoleLanguage::English), ..expect.profile };
    replace(&on, &tenant, &user, english).await.unwrap();
    let expect = Preferences { language: Some(ConsoleLanguage::English), ..chosen };
    assert_eq!(login().await.preferences, expect, "an administrator changes the language alone");
    on.sql("UPDATE account_user SET preferences = '{\"units\":\"furlongs\"}'", &[]).await;
    assert_eq!(login().await.preferences, Preferences::default(), "what is not known is as not chosen");
    let unknown = on.store.set_preferences(UserId::from_i64(1), None, Preferences::default()).await;
    assert_fails!(unknown, StoreError::NotFound(Kind::User));
}
