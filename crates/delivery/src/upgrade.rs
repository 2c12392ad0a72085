//! Connections that switch protocols after a 101 response (RFC 9110, section 7.8).

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::oneshot,
};

/// The byte stream below HTTP.
pub(crate) trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Transport for T {}

/// The connection after the 101 response, for the new protocol.
pub struct Upgraded {
    transport: Box<dyn Transport>,
}

impl std::fmt::Debug for Upgraded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upgraded").finish_non_exhaustive()
    }
}

/// The connection did not switch protocols.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("connection was not upgraded")]
pub struct NotUpgraded;

/// Resolves once the 101 response has been written.
#[derive(Debug)]
pub struct OnUpgrade(oneshot::Receiver<Upgraded>);

impl Future for OnUpgrade {
    type Output = Result<Upgraded, NotUpgraded>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0)
            .poll(context)
            .map(|upgraded| upgraded.map_err(|_| NotUpgraded))
    }
}

/// Stored in the extensions of requests that ask for an upgrade.
#[derive(Clone)]
struct Offer(Arc<Mutex<Option<OnUpgrade>>>);

/// The connection of `request` after a 101 response; `None` if the request does not ask for another
/// protocol, or if it was taken before.
#[must_use]
pub fn on_upgrade<B>(request: &mut http::Request<B>) -> Option<OnUpgrade> {
    let offer = request.extensions_mut().remove::<Offer>()?;
    let mut offer = offer.0.lock();
    offer.take()
}

/// Offers an upgrade to the service that receives `request`.
pub(crate) fn offer<B>(request: &mut http::Request<B>) -> oneshot::Sender<Upgraded> {
    let (sender, receiver) = oneshot::channel();
    let offer = Offer(Arc::new(Mutex::new(Some(OnUpgrade(receiver)))));
    request.extensions_mut().insert(offer);
    sender
}

impl Upgraded {
    pub(crate) fn new(transport: Box<dyn Transport>) -> Self {
        Self { transport }
    }
}

impl AsyncRead for Upgraded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.transport).poll_read(context, buffer)
    }
}

impl AsyncWrite for Upgraded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.transport).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.transport).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.transport).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.transport).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.transport.is_write_vectored()
    }
}
