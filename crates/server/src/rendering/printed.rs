//! Streams Chromium's results to the client. The number of pages and the size of a PDF are known
//! only at its end: trailers report them (RFC 9110 section 6.5) to clients that accept trailers
//! (`TE: trailers`).

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};
use hyper::{
    HeaderMap,
    header::{HeaderName, HeaderValue},
};
use platen_browser::Printed;
use platen_engine::PrintedDocument;

use super::job::Stages;
use crate::metrics::Metrics;

/// Value of the `Trailer` header.
pub const TRAILERS: &str = "x-render-pages, x-render-size-bytes";

/// A body that streams from Chromium. Dropping it closes the page, for example if the client
/// disconnects.
pub struct PrintedBody(Content);

enum Content {
    /// An image.
    Plain(Printed),
    /// A PDF, and the metrics to record at its end.
    Pdf(Box<PrintedDocument>, Option<Account>),
}

struct Account {
    metrics: Arc<Metrics>,
    stages: Stages,
}

impl PrintedBody {
    /// An image.
    pub fn plain(printed: Printed) -> Self {
        Self(Content::Plain(printed))
    }

    /// A PDF; counted as rendered once it is complete.
    pub fn pdf(metrics: &Arc<Metrics>, document: PrintedDocument, stages: Stages) -> Self {
        let account = Account {
            metrics: Arc::clone(metrics),
            stages,
        };
        Self(Content::Pdf(Box::new(document), Some(account)))
    }
}

impl HttpBody for PrintedBody {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let next = match &mut self.0 {
            Content::Plain(printed) => ready!(printed.poll_next(context)),
            Content::Pdf(document, _) => ready!(document.poll_next(context)),
        };
        let frame = match (next, &mut self.0) {
            (Some(Ok(piece)), _) => Some(Ok(Frame::data(piece))),
            (Some(Err(error)), _) => Some(Err(std::io::Error::other(error))),
            (None, Content::Pdf(document, account)) => {
                let account = account.take();
                account.map(|account| Ok(account.trailers(document)))
            }
            (None, Content::Plain(_)) => None,
        };
        Poll::Ready(frame)
    }
}

impl Account {
    fn trailers(self, document: &PrintedDocument) -> Frame<Bytes> {
        let (pages, size_bytes) = (document.pages(), document.size_bytes());
        self.metrics.produced(pages, size_bytes, &self.stages);
        let mut trailers = HeaderMap::new();
        let pages_name = HeaderName::from_static("x-render-pages");
        let size_name = HeaderName::from_static("x-render-size-bytes");
        trailers.insert(pages_name, HeaderValue::from(pages.unwrap_or_default()));
        trailers.insert(size_name, HeaderValue::from(size_bytes));
        Frame::trailers(trailers)
    }
}
