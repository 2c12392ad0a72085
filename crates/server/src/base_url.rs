//! The scheme and host that the client of a request used, as a trusted proxy says: the prefix of
//! links where `PUBLIC_URL` does not set one.

use std::sync::Arc;

tokio::task_local! {
    static CURRENT: Option<BaseUrl>;
}

/// The scheme and host of a request, `https://documents.example.com`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BaseUrl(pub(crate) Arc<str>);

/// Executes `work`, which a request from `base_url` asks for.
pub(crate) async fn within<T>(base_url: Option<BaseUrl>, work: impl Future<Output = T>) -> T {
    CURRENT.scope(base_url, work).await
}

/// The base URL of the request that the current task works for; pass it on to tasks of its own.
pub(crate) fn current() -> Option<BaseUrl> {
    CURRENT.try_with(Clone::clone).ok().flatten()
}
