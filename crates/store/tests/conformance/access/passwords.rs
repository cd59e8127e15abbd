//! Passwords and the links that set them.

use perigee_core::access::credential::{LinkPurpose, NewLink, NewPassword};
use perigee_core::access::user::User;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::UserId;
use perigee_core::revision::Revision;
use perigee_core::store::{Credentials as _, Users as _};

use crate::access::credentials::{ORIGIN, link, session};
use crate::assert_fails;
use crate::fixture::{Fixture, profile};

/// The hash that is kept.
async fn kept(on: &Fixture, user: &User) -> String {
    let login = on.store.find_login_by_id(user.id).await.unwrap().unwrap();
    login.password_hash.expect("there is a password")
}

/// Whether the session and the link with these hashes still let somebody in.
async fn open(on: &Fixture, session: u8, link: u8) -> (bool, bool) {
    let session = on.store.find_session(&[session; 32]).await.unwrap();
    let link = on.store.find_link(&[link; 32]).await.unwrap();
    (session.is_some(), link.is_some())
}

pub(crate) async fn a_new_password_ends_sessions_and_links(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let (user, other) = (on.user(&tenant, "ana").await, on.user(&tenant, "eva").await);
    let own = session(&on, &user, 1).await;
    session(&on, &user, 2).await;
    session(&on, &other, 3).await;
    link(&on, &user, LinkPurpose::Reset, 4).await;
    link(&on, &other, LinkPurpose::Reset, 5).await;

    on.store.set_password(&ORIGIN, user.id, NewPassword::new("new"), Some(own.id)).await.unwrap();
    assert_eq!(kept(&on, &user).await, "new");
    assert_eq!(open(&on, 1, 4).await, (true, false));
    assert_eq!(open(&on, 2, 4).await, (false, false));
    assert_eq!(open(&on, 3, 5).await, (true, true));
    assert_eq!(kept(&on, &other).await, "hash");

    on.store.set_password(&ORIGIN, user.id, NewPassword::new("newer"), None).await.unwrap();
    assert_eq!(open(&on, 1, 4).await, (false, false));
    assert_eq!(on.audits(&tenant).await[0].action, "password.set");
    let seen = on.store.find_user(tenant.scope(), user.id).await.unwrap().unwrap();
    assert_eq!(seen.revision, Revision::FIRST);
    let refused = on.store.set_password(&ORIGIN, UserId::from_i64(1), NewPassword::new("x"), None).await;
    assert_fails!(refused, StoreError::NotFound(Kind::User));
}

pub(crate) async fn a_rehash_replaces_only_the_same_password(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let user = on.user(&tenant, "ana").await;
    session(&on, &user, 1).await;
    on.store.rehash_password(user.id, "other", "stronger".into()).await.unwrap();
    assert_eq!(kept(&on, &user).await, "hash");
    on.store.rehash_password(user.id, "hash", "stronger".into()).await.unwrap();
    assert_eq!(kept(&on, &user).await, "stronger");
    assert!(on.store.find_session(&[1; 32]).await.unwrap().is_some());
}

pub(crate) async fn a_link_is_used_once(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let user = on.user(&tenant, "ana").await;
    session(&on, &user, 1).await;
    link(&on, &user, LinkPurpose::Reset, 2).await;
    link(&on, &user, LinkPurpose::Invitation, 3).await;
    let redeem = async |hash: u8, password: &str| {
        on.store.redeem_link(&ORIGIN, &[hash; 32], NewPassword::new(password)).await.unwrap()
    };

    assert_eq!(on.store.find_link(&[2; 32]).await.unwrap().map(|found| found.id), Some(user.id));
    assert_eq!(redeem(9, "none").await, None);
    assert_eq!(redeem(2, "new").await, Some(user.id));
    assert_eq!(kept(&on, &user).await, "new");
    assert_eq!(open(&on, 1, 2).await, (false, false));
    assert_eq!(redeem(2, "again").await, None);
    assert_eq!(redeem(3, "other link").await, None);
    assert_eq!(kept(&on, &user).await, "new");
    assert_eq!(on.audits(&tenant).await[0].action, "link.redeem");

    link(&on, &user, LinkPurpose::Reset, 4).await;
    on.clock().advance_seconds(3_600);
    assert_eq!(on.store.find_link(&[4; 32]).await.unwrap(), None);
    assert_eq!(redeem(4, "late").await, None);
}

pub(crate) async fn a_later_link_voids_the_earlier(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let user = on.user(&tenant, "ana").await;
    link(&on, &user, LinkPurpose::Reset, 1).await;
    link(&on, &user, LinkPurpose::Invitation, 2).await;
    link(&on, &user, LinkPurpose::Reset, 3).await;
    for (hash, works) in [(1, false), (2, true), (3, true)] {
        assert_eq!(on.store.find_link(&[hash; 32]).await.unwrap().is_some(), works, "link {hash}");
    }
    let new =
        NewLink { user: UserId::from_i64(1), purpose: LinkPurpose::Reset, hash: [4; 32], expires: on.now() };
    assert_fails!(on.store.create_link(&ORIGIN, new).await, StoreError::NotFound(Kind::User));
}

pub(crate) async fn replacing_a_user_can_set_the_password(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let user = on.user(&tenant, "ana").await;
    session(&on, &user, 1).await;
    link(&on, &user, LinkPurpose::Reset, 2).await;
    let replace = async |seen: i64, password: Option<&str>| {
        let password = password.map(str::to_owned);
        on.store.replace_user(&tenant.actor(), user.id, Revision(seen), profile("ana"), password).await
    };
    replace(1, None).await.unwrap();
    assert_eq!(kept(&on, &user).await, "hash");
    assert_eq!(open(&on, 1, 2).await, (true, true));

    assert_eq!(replace(1, Some("new")).await.unwrap().revision, Revision(2));
    assert_eq!(kept(&on, &user).await, "new");
    assert_eq!(open(&on, 1, 2).await, (false, false));
}
