//! Templates of an account, stored by revision and separate from those of other accounts.

use perigee_core::error::{Kind, StoreError};
use perigee_core::notifications::notification::StoredTemplate;
use perigee_core::revision::Revision;
use perigee_core::store::Templates as _;

use crate::assert_fails;
use crate::fixture::Fixture;

pub(crate) async fn templates_are_kept_by_revision(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let put = async |seen: Revision, source: Option<&str>| {
        on.store.replace_template(&tenant.actor(), "alert-sms", seen, source.map(str::to_owned)).await
    };
    assert!(on.store.templates(tenant.scope()).await.unwrap().is_empty());
    let first = put(StoredTemplate::UNSET.revision, Some("{{ alert.title }}\n'🚤'")).await.unwrap();
    assert_fails!(
        put(StoredTemplate::UNSET.revision, Some("late")).await,
        StoreError::RevisionMismatch(Kind::Template)
    );
    let kept = on.store.templates(tenant.scope()).await.unwrap();
    assert_eq!(kept.get("alert-sms"), Some(&first));
    assert!(on.store.templates(other.scope()).await.unwrap().is_empty());
    let same = put(first.revision, first.source.as_deref()).await.unwrap();
    assert_eq!(same, first, "setting what is set changes nothing");
    let deleted = put(first.revision, None).await.unwrap();
    assert_eq!((deleted.revision, deleted.source), (first.revision.next(), None));
    let again = put(deleted.revision, Some("x")).await.unwrap();
    assert_eq!(again.revision, deleted.revision.next(), "revisions count on");
}
