//! Keys, sessions, second factors and signing keys.

use std::slice;

use perigee_core::access::actor::Origin;
use perigee_core::access::credential::{
    ApiKey, LinkPurpose, NewLink, NewSession, Session, SignInAddress, SigningKey, Totp, VerifiedTotp,
};
use perigee_core::access::user::{NewUser, User};
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{KeyId, UserId};
use perigee_core::store::{Credentials as _, Maintenance as _, Users as _};
use perigee_core::time::Timestamp;

use crate::assert_fails;
use crate::fixture::{Fixture, profile};

/// A user nobody has.
const NOBODY: UserId = UserId::from_i64(1);

/// Where changes come from when it does not matter.
pub(crate) const ORIGIN: Origin = Origin::service();

/// A key made now.
pub(crate) fn api_key(on: &Fixture, hash: u8) -> ApiKey {
    ApiKey {
        id: KeyId::random(on.now()),
        hash: [hash; 32],
        hint: "pk_1234".into(),
        creation: on.now(),
        last_used: None,
    }
}

/// A session of an hour whose secret has this hash.
pub(crate) async fn session(on: &Fixture, user: &User, hash: u8) -> Session {
    let new = NewSession { user: user.id, hash: [hash; 32], expires: on.now().plus_seconds(3_600) };
    on.store.create_session(&ORIGIN, new).await.expect("the session is made")
}

/// A link of an hour whose secret has this hash.
pub(crate) async fn link(on: &Fixture, user: &User, purpose: LinkPurpose, hash: u8) {
    let new = NewLink { user: user.id, purpose, hash: [hash; 32], expires: on.now().plus_seconds(3_600) };
    on.store.create_link(&ORIGIN, new).await.expect("the link is made");
}

/// Gives the user a session (hash 1), a link (hash 2), a key (hash 3) and a second factor.
pub(crate) async fn let_in(on: &Fixture, user: &User) {
    session(on, user, 1).await;
    link(on, user, LinkPurpose::Reset, 2).await;
    on.store.put_api_key(&ORIGIN, user.id, api_key(on, 3)).await.expect("the key is made");
    on.store.begin_totp(user.id, vec![4]).await.expect("the factor is begun");
}

pub(crate) async fn logins_are_found_by_address_and_id(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let new = NewUser { profile: profile("ana"), password_hash: None };
    let user = on.store.create_user(&tenant.actor(), new, None).await.unwrap().into_inner();

    let login = on.store.find_login(&"ANA@users.example".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((&login.user, &login.account), (&user, &tenant.account));
    assert_eq!((login.password_hash, login.totp, login.api_key), (None, None, None));
    let owner = on.store.find_login_by_id(tenant.owner.id).await.unwrap().unwrap();
    assert_eq!(owner.password_hash.as_deref(), Some("owner-hash"));
    let identity = on.store.find_identity(user.id).await.unwrap().unwrap();
    assert_eq!((identity.user, identity.account, identity.api_key), (user, tenant.account, None));

    assert!(on.store.find_login(&"nobody@users.example".parse().unwrap()).await.unwrap().is_none());
    assert!(on.store.find_login_by_id(NOBODY).await.unwrap().is_none());
    assert!(on.store.find_identity(NOBODY).await.unwrap().is_none());
}

pub(crate) async fn a_user_has_one_api_key(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let user = on.user(&tenant, "ana").await;
    let kept = async || on.store.find_login_by_id(user.id).await.unwrap().unwrap().api_key;
    let (first, second) = (api_key(&on, 1), api_key(&on, 2));

    assert!(!on.store.delete_api_key(&ORIGIN, user.id).await.unwrap());
    on.store.put_api_key(&ORIGIN, user.id, first.clone()).await.unwrap();
    assert_eq!(kept().await, Some(first.clone()));
    on.store.touch_api_key(user.id, first.id, on.now()).await.unwrap();
    assert_eq!(kept().await.unwrap().last_used, Some(on.now()));

    on.store.put_api_key(&ORIGIN, user.id, second.clone()).await.unwrap();
    assert_eq!(kept().await, Some(second.clone()));
    assert_eq!(on.store.find_identity(user.id).await.unwrap().unwrap().api_key, Some(second.id));
    on.store.touch_api_key(user.id, first.id, on.now()).await.unwrap();
    assert_eq!(kept().await.unwrap().last_used, None);
    on.store.touch_api_key(user.id, second.id, on.now()).await.unwrap();
    on.store.touch_api_key(user.id, second.id, on.now().plus_seconds(-60)).await.unwrap();
    assert_eq!(kept().await.unwrap().last_used, Some(on.now()));

    assert!(on.store.delete_api_key(&ORIGIN, user.id).await.unwrap());
    assert_eq!(kept().await, None);
    let actions: Vec<_> = on.audits(&tenant).await.into_iter().take(3).map(|entry| entry.action).collect();
    assert_eq!(actions, ["apiKey.delete", "apiKey.create", "apiKey.create"]);
    let refused = on.store.put_api_key(&ORIGIN, NOBODY, first).await;
    assert_fails!(refused, StoreError::NotFound(Kind::User));
    assert_fails!(on.store.delete_api_key(&ORIGIN, NOBODY).await, StoreError::NotFound(Kind::User));
}

pub(crate) async fn sessions_last_until_they_end(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let user = on.user(&tenant, "ana").await;
    on.clock().advance_seconds(60);
    let (first, second) = (session(&on, &user, 1).await, session(&on, &user, 2).await);
    assert_eq!((first.user, first.expires), (user.id, on.now().plus_seconds(3_600)));
    assert_eq!(on.store.find_session(&[1; 32]).await.unwrap(), Some(first));
    assert_eq!(on.store.find_session(&[9; 32]).await.unwrap(), None);
    let seen = on.store.find_user(tenant.scope(), user.id).await.unwrap().unwrap();
    assert_eq!(seen, User { last_login: Some(on.now()), ..user });

    on.store.delete_session(&ORIGIN, first.id).await.unwrap();
    on.store.delete_session(&ORIGIN, first.id).await.unwrap();
    assert_eq!(on.store.find_session(&[1; 32]).await.unwrap(), None);
    assert_eq!(on.store.find_session(&[2; 32]).await.unwrap(), Some(second));
    let actions: Vec<_> = on.audits(&tenant).await.into_iter().take(3).map(|entry| entry.action).collect();
    assert_eq!(actions, ["session.delete", "session.create", "session.create"]);

    on.clock().advance_seconds(3_599);
    assert_eq!(on.store.find_session(&[2; 32]).await.unwrap(), Some(second));
    on.clock().advance_seconds(1);
    assert_eq!(on.store.find_session(&[2; 32]).await.unwrap(), None);
    let new = NewSession { user: NOBODY, hash: [3; 32], expires: Timestamp::MAX };
    assert_fails!(on.store.create_session(&ORIGIN, new).await, StoreError::NotFound(Kind::User));
}

pub(crate) async fn sessions_say_from_where_users_signed_in(on: Fixture) {
    let (alfa, beta) = (on.tenant("alfa").await, on.tenant("beta").await);
    let (ana, eva) = (on.user(&alfa, "ana").await, on.user(&beta, "eva").await);
    let sign_in = async |user: &User, hash: u8, address: Option<&str>| {
        on.clock().advance_seconds(1);
        let origin = Origin { address: address.map(|address| address.parse().unwrap()), ..ORIGIN };
        let new = NewSession { user: user.id, hash: [hash; 32], expires: on.now().plus_seconds(60) };
        on.store.create_session(&origin, new).await.unwrap()
    };
    let listed = async |limit| {
        let found = on.store.list_sign_in_addresses(limit).await.unwrap();
        let text = |from: SignInAddress| (from.email, from.account, from.address.to_string());
        found.into_iter().map(text).collect::<Vec<_>>()
    };
    sign_in(&ana, 1, Some("192.0.2.1")).await;
    let second = sign_in(&eva, 2, Some("2001:db8::7")).await;
    sign_in(&eva, 3, None).await;
    let ana_from = ("ana@users.example".to_owned(), alfa.account.id, "192.0.2.1".to_owned());
    let eva_from = ("eva@users.example".to_owned(), beta.account.id, "2001:db8::7".to_owned());
    assert_eq!(listed(10).await, [eva_from.clone(), ana_from.clone()]);
    assert_eq!(listed(1).await, [eva_from]);
    on.store.delete_session(&ORIGIN, second.id).await.unwrap();
    assert_eq!(listed(10).await, [ana_from]);
    on.clock().advance_seconds(60);
    assert_eq!(listed(10).await, [], "expired");
}

pub(crate) async fn second_factors_are_begun_confirmed_and_removed(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let user = on.user(&tenant, "ana").await.id;
    let kept = async || on.store.find_login_by_id(user).await.unwrap().unwrap().totp;

    assert_fails!(
        on.store.confirm_totp(&ORIGIN, user, VerifiedTotp { secret: vec![2; 20], step: 7 }, None).await,
        StoreError::NotFound(Kind::Credential)
    );
    on.store.begin_totp(user, vec![1; 20]).await.unwrap();
    on.store.begin_totp(user, vec![2; 20]).await.unwrap();
    assert_eq!(kept().await, Some(Totp { secret: vec![2; 20], confirmed: false, last_step: 0 }));
    let mut sessions = Vec::new();
    for hash in [[1; 32], [2; 32]] {
        let new = NewSession { user, hash, expires: on.now().plus_seconds(60) };
        sessions.push(on.store.create_session(&ORIGIN, new).await.unwrap());
    }
    let first = VerifiedTotp { secret: vec![1; 20], step: 7 };
    assert_fails!(
        on.store.confirm_totp(&ORIGIN, user, first, Some(sessions[1].id)).await,
        StoreError::NotFound(Kind::Credential)
    );
    assert_eq!(
        kept().await.map(|totp| totp.confirmed),
        Some(false),
        "another one was begun since it was proved"
    );
    let proved = VerifiedTotp { secret: vec![2; 20], step: 7 };
    on.store.confirm_totp(&ORIGIN, user, proved, Some(sessions[1].id)).await.unwrap();
    assert_eq!(on.store.find_session(&[1; 32]).await.unwrap(), None, "it came in without the factor");
    assert_eq!(on.store.find_session(&[2; 32]).await.unwrap(), Some(sessions[1]));
    let confirmed = Some(Totp { secret: vec![2; 20], confirmed: true, last_step: 7 });
    assert_eq!(kept().await, confirmed);

    assert_fails!(
        on.store.begin_totp(user, vec![3; 20]).await,
        StoreError::RevisionMismatch(Kind::Credential)
    );
    assert_eq!(kept().await, confirmed);
    on.store.delete_totp(&ORIGIN, user).await.unwrap();
    on.store.delete_totp(&ORIGIN, user).await.unwrap();
    assert_eq!(kept().await, None);
    let actions: Vec<_> = on.audits(&tenant).await.into_iter().take(2).map(|entry| entry.action).collect();
    assert_eq!(actions, ["totp.delete", "totp.create"]);
    assert_fails!(on.store.begin_totp(NOBODY, vec![1]).await, StoreError::NotFound(Kind::User));
}

pub(crate) async fn a_time_step_is_used_once(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let user = on.user(&tenant, "ana").await.id;
    let try_step = async |step| on.store.use_totp_step(user, step).await.unwrap();
    assert!(!try_step(5).await, "there is no factor");
    on.store.begin_totp(user, vec![1]).await.unwrap();
    assert!(!try_step(5).await, "the factor is not confirmed");
    let proved = VerifiedTotp { secret: vec![1], step: 7 };
    on.store.confirm_totp(&ORIGIN, user, proved, None).await.unwrap();
    assert!(!try_step(7).await, "it was used to confirm");
    assert!(!try_step(6).await, "a later one was used");
    assert!(try_step(8).await);
    assert!(!try_step(8).await, "it was used");
    assert!(!on.store.use_totp_step(NOBODY, 9).await.unwrap());
}

pub(crate) async fn the_first_signing_key_stays(on: Fixture) {
    let key =
        |kid: &str| SigningKey { kid: kid.into(), pkcs8: vec![1, 2, 3], creation: on.now(), expires: None };
    let first = key("one");
    assert_eq!(on.store.signing_keys(first.clone()).await.unwrap(), slice::from_ref(&first));
    on.clock().advance_seconds(1);
    assert_eq!(on.store.signing_keys(key("two")).await.unwrap(), slice::from_ref(&first));
}

pub(crate) async fn a_rotated_key_verifies_until_its_tokens_end(on: Fixture) {
    let key =
        |kid: &str| SigningKey { kid: kid.into(), pkcs8: kid.into(), creation: on.now(), expires: None };
    let kids = async || {
        let keys = on.store.list_signing_keys().await.unwrap();
        keys.into_iter().map(|key| (key.kid, key.expires)).collect::<Vec<_>>()
    };
    assert_eq!(kids().await, []);
    on.store.signing_keys(key("one")).await.unwrap();
    let until = on.now().plus_seconds(3_660);
    // The clock goes back meanwhile: the new key signs all the same.
    on.clock().advance_seconds(-600);
    on.store.rotate_signing_key(key("two"), until).await.unwrap();
    assert_eq!(kids().await, [("two".to_owned(), None), ("one".to_owned(), Some(until))]);
    let later = until.plus_seconds(60);
    on.store.rotate_signing_key(key("three"), later).await.unwrap();
    let expect =
        [("three".to_owned(), None), ("one".to_owned(), Some(until)), ("two".to_owned(), Some(later))];
    assert_eq!(kids().await, expect, "an end is never put off");
    on.clock().set(until);
    assert_eq!(kids().await.len(), 2);
    assert_eq!(on.store.delete_expired().await.unwrap(), 1, "the first key was deleted");
    on.store.rotate_signing_key(key("four"), on.now()).await.unwrap();
    assert_eq!(kids().await, [("four".to_owned(), None)], "the others were dropped at once");
}

pub(crate) async fn expired_credentials_are_deleted(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let user = on.user(&tenant, "ana").await;
    session(&on, &user, 1).await;
    link(&on, &user, LinkPurpose::Reset, 2).await;
    let once = tenant.once("POST /api/users", "k", 1);
    let new = NewUser { profile: profile("eva"), password_hash: None };
    on.store.create_user(&tenant.actor(), new, Some(once)).await.unwrap();
    assert_eq!(on.store.delete_expired().await.unwrap(), 0);

    on.clock().advance_seconds(3_600);
    let lasting = session(&on, &user, 3).await;
    assert_eq!(on.store.delete_expired().await.unwrap(), 2);
    assert_eq!(on.store.find_session(&[3; 32]).await.unwrap(), Some(lasting));
    on.clock().advance_seconds(23 * 3_600);
    assert_eq!(on.store.delete_expired().await.unwrap(), 2);
    assert_eq!(on.store.delete_expired().await.unwrap(), 0);
    on.store.ping().await.unwrap();
}
