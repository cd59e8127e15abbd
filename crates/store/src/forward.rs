//! A macro that implements the store's traits where each method runs one SQL function in one transaction.

/// Implements a trait of the store for [`Database`](crate::Database), one line for each method:
///
/// ```text
/// forward! {
///     impl Examples for Database {
///         write delete_share(&self, &actor: Actor, id: ShareId) -> () = delete;
///         read find_webhook(&self, scope: Scope, id: WebhookId) -> Option<Webhook> = find(scope.account, id);
///         read list_rules(&self, scope: Scope, text: Option<&str>, page: PageRequest)
///             -> Page<Rule> = list with text = text.map(str::to_owned);
///         run trim_events(&self, keep_ms: i64) -> u64 = event_trim::trim;
///     }
/// }
/// ```
///
/// - The first word is the method of `Database` that runs the transaction: `read`, `read_snapshot`, `write` and so on.
///   `run` begins no transaction: the function gets the database and the arguments unchanged.
/// - `&actor: Actor` is the argument `actor: &Actor`. It is cloned, because the transaction may outlive the caller.
/// - `-> T` is the method's `Result<T>`.
/// - The function gets the transaction, then all arguments in order, or those in parentheses after its name.
/// - `with` computes values before the transaction, for example from borrowed arguments that are not worth a clone.
macro_rules! forward {
    (impl $trait:ident for Database { $(
        $run:ident $method:ident(
            &self $(, $arg:ident: $type:ty)* $(, &$ref:ident: $of:ty $(, $more:ident: $also:ty)*)*
        ) -> $ok:ty = $($function:ident)::+ $(($($given:expr),*))? $(with $($name:ident = $value:expr),+)?;
    )+ }) => {
        #[async_trait::async_trait]
        impl $trait for $crate::Database { $(
            async fn $method(
                &self $(, $arg: $type)* $(, $ref: &$of $(, $more: $also)*)*
            ) -> perigee_core::store::Result<$ok> {
                $($(let $name = $value;)+)?
                $crate::forward::forward!(
                    @$run (self) ($($function)::+) [$($ref)*] [$($arg,)* $($ref, $($more,)*)*] $(($($given),*))?
                )
            }
        )+ }
    };
    (@run ($database:expr) ($function:path) $refs:tt [$($arg:ident,)*]) => {
        $function($database, $($arg),*).await
    };
    (@$run:ident ($database:expr) ($function:path) [$($ref:ident)*] [$($arg:ident,)*]) => {{
        $(let $ref = $ref.to_owned();)*
        $database.$run(move |tx| Box::pin($function(tx, $($arg),*))).await
    }};
    (@$run:ident ($database:expr) ($function:path) [$($ref:ident)*] $args:tt ($($given:expr),*)) => {{
        $(let $ref = $ref.to_owned();)*
        $database.$run(move |tx| Box::pin(async move { $function(tx, $($given),*).await })).await
    }};
}

pub(crate) use forward;
