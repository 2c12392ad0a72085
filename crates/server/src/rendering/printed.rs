//! Results of Chromium on their way to the client. How many pages and bytes a PDF has is known at its
//! end: trailers say it (RFC 9110 section 6.5), to clients that take them (`TE: trailers`).

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};
use hyper::{
    HeaderMap,
    header::{HeaderName, HeaderValue},
};
use platen_browser::Printed;

use crate::metrics::Metrics;

/// What the header `Trailer` announces.
pub const TRAILERS: &str = "x-render-pages, x-render-size-bytes";

/// A result on its way from Chromium to the client; when the client goes, the page does.
pub struct PrintedBody {
    printed: Printed,
    /// For PDFs, until the trailers are sent.
    account: Option<Account>,
}

/// What is counted of a PDF.
struct Account {
    metrics: Arc<Metrics>,
    stages: Vec<(&'static str, Duration)>,
    pages: PageCounter,
    size_bytes: usize,
}

impl PrintedBody {
    /// A picture.
    pub fn plain(printed: Printed) -> Self {
        Self {
            printed,
            account: None,
        }
    }

    /// A PDF, which is counted as produced when it is whole.
    pub fn pdf(
        metrics: &Arc<Metrics>,
        printed: Printed,
        stages: Vec<(&'static str, Duration)>,
    ) -> Self {
        let account = Account {
            metrics: Arc::clone(metrics),
            stages,
            pages: PageCounter::default(),
            size_bytes: 0,
        };
        Self {
            printed,
            account: Some(account),
        }
    }
}

impl HttpBody for PrintedBody {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match std::task::ready!(self.printed.poll_next(context)) {
            Some(Ok(piece)) => {
                if let Some(account) = &mut self.account {
                    account.pages.read(&piece);
                    account.size_bytes += piece.len();
                }
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            Some(Err(error)) => Poll::Ready(Some(Err(std::io::Error::other(error)))),
            None => Poll::Ready(self.account.take().map(|account| Ok(account.trailers()))),
        }
    }
}

impl Account {
    fn trailers(self) -> Frame<Bytes> {
        let pages = self.pages.pages;
        self.metrics
            .produced(Some(pages), self.size_bytes, &self.stages);
        let mut trailers = HeaderMap::new();
        let pages_name = HeaderName::from_static("x-render-pages");
        let size_name = HeaderName::from_static("x-render-size-bytes");
        trailers.insert(pages_name, HeaderValue::from(pages));
        trailers.insert(size_name, HeaderValue::from(self.size_bytes));
        Frame::trailers(trailers)
    }
}

/// Counts the page objects of a PDF as Chromium writes it, where they are never compressed.
#[derive(Debug, Default)]
struct PageCounter {
    pages: u32,
    /// Bytes of [`PageCounter::MARK`] that the last ones were.
    matched: usize,
}

impl PageCounter {
    const MARK: &[u8] = b"/Type /Page\n";

    fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            // After `/Type /` the second slash may begin the mark anew.
            while *byte != Self::MARK[self.matched] && self.matched > 0 {
                self.matched = usize::from(self.matched == 7);
            }
            if *byte == Self::MARK[self.matched] {
                self.matched += 1;
            }
            if self.matched == Self::MARK.len() {
                self.pages += 1;
                self.matched = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_across_pieces() {
        let mut counter = PageCounter::default();
        let text = b"<</Type /Pages\n/Count 2>>//Type /Page\n/Type /Type /Page\n/Type /Page /X";
        for piece in text.chunks(3) {
            counter.read(piece);
        }
        assert_eq!(counter.pages, 2);
    }
}
