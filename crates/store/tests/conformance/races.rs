//! Changes that come at the same time: each time one of them must yield.

use futures_util::future::{join, join_all};
use perigee_core::access::actor::Origin;
use perigee_core::access::credential::{LinkPurpose, NewPassword, SigningKey, VerifiedTotp};
use perigee_core::access::privilege::Privileges;
use perigee_core::access::user::{NewUser, UserProfile};
use perigee_core::error::{StoreError, Unique};
use perigee_core::idempotency::Created;
use perigee_core::store::{Accounts as _, Credentials as _, UsageReport, Users as _};

use crate::access::credentials::{ORIGIN, link};
use crate::fixture::{Fixture, new_account, profile};

/// How often a race is run: now and then one side is done before the other begins.
const ROUNDS: u8 = 8;

pub(crate) async fn two_first_starts_make_one_account(on: Fixture) {
    let starts = ["alfa", "beta", "gamma"].map(|name| on.store.create_first_account(new_account(name)));
    let made = join_all(starts).await.into_iter().filter(|made| made.as_ref().unwrap().is_some()).count();
    assert_eq!(made, 1);
    assert_eq!(on.store.list_accounts().await.unwrap().len(), 1);
}

pub(crate) async fn two_owners_cannot_demote_each_other(on: Fixture) {
    for round in 0..ROUNDS {
        let tenant = on.tenant(&format!("tenant{round}")).await;
        let (one, actor) = (tenant.owner.clone(), tenant.actor());
        let second = UserProfile { privileges: Privileges::OWNER, ..profile(&format!("eva{round}")) };
        let new = NewUser { profile: second, password_hash: None };
        let two = on.store.create_user(&actor, new, None).await.unwrap().into_inner();
        let demoted =
            [&one, &two].map(|user| UserProfile { privileges: Privileges::NONE, ..user.profile.clone() });
        let [first, second] = demoted;
        let outcomes = join(
            on.store.replace_user(&actor, one.id, one.revision, first, None),
            on.store.replace_user(&actor, two.id, two.revision, second, None),
        )
        .await;
        assert!(
            matches!(outcomes, (Ok(_), Err(StoreError::LastOwner)) | (Err(StoreError::LastOwner), Ok(_))),
            "{outcomes:?}"
        );
    }
}

pub(crate) async fn two_users_cannot_take_one_address(on: Fixture) {
    let (alfa, beta) = (on.tenant("alfa").await, on.tenant("beta").await);
    for round in 0..ROUNDS {
        let new = NewUser { profile: profile(&format!("ana{round}")), password_hash: None };
        let (a, b) = (alfa.actor(), beta.actor());
        let outcomes =
            join(on.store.create_user(&a, new.clone(), None), on.store.create_user(&b, new, None)).await;
        assert!(
            matches!(
                outcomes,
                (Ok(_), Err(StoreError::Taken(Unique::Email)))
                    | (Err(StoreError::Taken(Unique::Email)), Ok(_))
            ),
            "{outcomes:?}"
        );
    }
}

pub(crate) async fn one_link_cannot_be_used_twice(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let user = on.user(&tenant, "ana").await;
    for round in 0..ROUNDS {
        link(&on, &user, LinkPurpose::Reset, round).await;
        let hash = [round; 32];
        let (one, two) = join(
            on.store.redeem_link(&ORIGIN, &hash, NewPassword::new("one")),
            on.store.redeem_link(&ORIGIN, &hash, NewPassword::new("two")),
        )
        .await;
        let won = match (one.unwrap(), two.unwrap()) {
            (Some(_), None) => "one",
            (None, Some(_)) => "two",
            both => unreachable!("{both:?}"),
        };
        let login = on.store.find_login_by_id(user.id).await.unwrap().unwrap();
        assert_eq!(login.password_hash.as_deref(), Some(won));
    }
}

pub(crate) async fn one_time_step_cannot_be_used_twice(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let user = on.user(&tenant, "ana").await.id;
    on.store.begin_totp(user, vec![1]).await.unwrap();
    on.store.confirm_totp(&ORIGIN, user, VerifiedTotp { secret: vec![1], step: 1 }, None).await.unwrap();
    for step in 2..10 {
        let tries = join_all((0..4).map(|_| on.store.use_totp_step(user, step))).await;
        assert_eq!(tries.into_iter().filter(|won| *won.as_ref().unwrap()).count(), 1);
    }
}

pub(crate) async fn two_nodes_agree_on_the_first_signing_key(on: Fixture) {
    let fresh = ["one", "two", "three"].map(|kid| {
        let key = SigningKey { kid: kid.into(), pkcs8: kid.into(), creation: on.now(), expires: None };
        on.store.signing_keys(key)
    });
    let keys: Vec<_> = join_all(fresh).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(keys[0].len(), 1);
    assert!(keys.iter().all(|seen| *seen == keys[0]), "{keys:?}");
}

pub(crate) async fn one_request_sent_twice_at_once_makes_one_user(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    for round in 0..ROUNDS {
        let new = NewUser { profile: profile(&format!("ana{round}")), password_hash: None };
        let key = Some(tenant.once("POST /api/users", &round.to_string(), round));
        let actor = tenant.actor();
        let (one, two) = join(
            on.store.create_user(&actor, new.clone(), key.clone()),
            on.store.create_user(&actor, new, key),
        )
        .await;
        let (one, two) = (one.unwrap(), two.unwrap());
        assert_ne!(matches!(one, Created::Now(_)), matches!(two, Created::Now(_)));
        assert_eq!(one.into_inner(), two.into_inner());
    }
}

pub(crate) async fn api_calls_of_several_nodes_add_up(on: Fixture) {
    let (alfa, beta) = (on.tenant("alfa").await.account.id, on.tenant("beta").await.account.id);
    let there = [(alfa, 1), (beta, 2)].map(|(account, today)| UsageReport {
        account,
        today,
        earlier: 0,
        day_ends: i64::MAX,
    });
    let back = [there[1], there[0]];
    let adds = (0..40).map(|turn| on.store.add_api_usage(if turn % 2 == 0 { &there } else { &back }));
    assert!(join_all(adds).await.iter().all(Result::is_ok));
    for (account, calls) in [(alfa, 40), (beta, 80)] {
        let usage = on.store.find_account(account).await.unwrap().unwrap().api_usage;
        assert_eq!((usage.total, usage.today), (calls, calls));
    }
    on.store.create_account(&Origin::command(), new_account("gamma")).await.unwrap();
}
