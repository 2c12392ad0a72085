//! Streams of this process that LibreOffice reads from and writes to.

use std::{
    io::SeekFrom,
    sync::Arc,
    sync::atomic::{AtomicU64, Ordering},
};

use bytes::{Bytes, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWrite, AsyncWriteExt},
    sync::Mutex,
};

use crate::{
    bridge::{Boxed, Incoming, Object, Outcome, object_exception, runtime_exception},
    codec::Value,
};

/// A reader that can seek.
pub trait ReadSeek: AsyncRead + AsyncSeek + Send + Unpin {}

impl<T: AsyncRead + AsyncSeek + Send + Unpin> ReadSeek for T {}

/// Upper bound of what LibreOffice gets with one call, in bytes.
const PIECE_BYTES: usize = 8 * 1024 * 1024;

enum Source {
    Once(Box<dyn AsyncRead + Send + Unpin>),
    Anywhere(Box<dyn ReadSeek>),
}

/// An input that LibreOffice reads with calls.
pub(crate) struct InputStream {
    source: Mutex<Source>,
    seekable: bool,
    calls: AtomicU64,
    failure: std::sync::Mutex<Option<std::io::Error>>,
}

impl InputStream {
    pub(crate) fn once(source: Box<dyn AsyncRead + Send + Unpin>) -> Arc<Self> {
        Self::new(Source::Once(source), false)
    }

    /// The caller chooses whether it is seekable: some filters are faster without, others require
    /// it.
    pub(crate) fn anywhere(source: Box<dyn ReadSeek>, seekable: bool) -> Arc<Self> {
        Self::new(Source::Anywhere(source), seekable)
    }

    fn new(source: Source, seekable: bool) -> Arc<Self> {
        Arc::new(Self {
            source: Mutex::new(source),
            seekable,
            calls: AtomicU64::new(0),
            failure: std::sync::Mutex::new(None),
        })
    }

    /// Number of calls served.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Why reading failed, if it did. Returns the error once.
    pub(crate) fn failure(&self) -> Option<std::io::Error> {
        take(&self.failure)
    }

    async fn serve(&self, name: &str, arguments: &[Value]) -> std::io::Result<Vec<Value>> {
        let mut source = self.source.lock().await;
        match (name, arguments) {
            ("readBytes", [Value::Long(wanted)]) => {
                let bytes = source.read(size(*wanted), true).await?;
                Ok(piece(bytes))
            }
            ("readSomeBytes", [Value::Long(wanted)]) => {
                let bytes = source.read(size(*wanted), false).await?;
                Ok(piece(bytes))
            }
            ("skipBytes", [Value::Long(wanted)]) => {
                source.skip(size(*wanted)).await?;
                Ok(vec![Value::Void])
            }
            ("available", _) => {
                let left = source.left().await?;
                Ok(vec![Value::Long(i32::try_from(left).unwrap_or(i32::MAX))])
            }
            ("closeInput", _) => Ok(vec![Value::Void]),
            ("seek", [Value::Hyper(position)]) => {
                let position = u64::try_from(*position).map_err(std::io::Error::other)?;
                source.seek(SeekFrom::Start(position)).await?;
                Ok(vec![Value::Void])
            }
            ("getPosition", _) => Ok(vec![hyper(source.seek(SeekFrom::Current(0)).await?)]),
            ("getLength", _) => Ok(vec![hyper(source.length().await?)]),
            _ => Err(std::io::ErrorKind::Unsupported.into()),
        }
    }
}

fn hyper(number: u64) -> Value {
    Value::Hyper(i64::try_from(number).unwrap_or(i64::MAX))
}

fn size(wanted: i32) -> usize {
    usize::try_from(wanted).unwrap_or(0).min(PIECE_BYTES)
}

fn piece(bytes: Bytes) -> Vec<Value> {
    let length = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
    vec![Value::Long(length), Value::Bytes(bytes)]
}

impl Source {
    /// Reads up to `wanted` bytes; fewer at the end, or if `whole` is false.
    async fn read(&mut self, wanted: usize, whole: bool) -> std::io::Result<Bytes> {
        let mut bytes = BytesMut::with_capacity(wanted.min(64 * 1024));
        while bytes.len() < wanted {
            let left = (wanted - bytes.len()) as u64;
            let read = match self {
                Self::Once(source) => source.take(left).read_buf(&mut bytes).await?,
                Self::Anywhere(source) => source.take(left).read_buf(&mut bytes).await?,
            };
            if read == 0 || !whole {
                break;
            }
        }
        Ok(bytes.freeze())
    }

    async fn skip(&mut self, wanted: usize) -> std::io::Result<()> {
        self.read(wanted, true).await.map(drop)
    }

    async fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        match self {
            Self::Once(_) => Err(std::io::ErrorKind::Unsupported.into()),
            Self::Anywhere(source) => source.seek(to).await,
        }
    }

    async fn length(&mut self) -> std::io::Result<u64> {
        let position = self.seek(SeekFrom::Current(0)).await?;
        let length = self.seek(SeekFrom::End(0)).await?;
        self.seek(SeekFrom::Start(position)).await?;
        Ok(length)
    }

    /// Number of bytes left; 0 if unknown.
    async fn left(&mut self) -> std::io::Result<u64> {
        if let Self::Once(_) = self {
            return Ok(0);
        }
        let position = self.seek(SeekFrom::Current(0)).await?;
        Ok(self.length().await?.saturating_sub(position))
    }
}

impl Object for InputStream {
    fn interfaces(&self) -> &[&'static str] {
        const ALL: [&str; 2] = ["com.sun.star.io.XInputStream", "com.sun.star.io.XSeekable"];
        if self.seekable { &ALL } else { &ALL[..1] }
    }

    fn call(&self, incoming: Incoming) -> Boxed<'_, Outcome> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            let served = self.serve(incoming.function.name, &incoming.arguments);
            served.await.map_err(|error| failed(&self.failure, error))
        })
    }
}

/// An output that LibreOffice writes with calls.
pub(crate) struct OutputStream {
    sink: Mutex<Box<dyn AsyncWrite + Send + Unpin>>,
    written: AtomicU64,
    failure: std::sync::Mutex<Option<std::io::Error>>,
}

impl OutputStream {
    pub(crate) fn new(sink: Box<dyn AsyncWrite + Send + Unpin>) -> Arc<Self> {
        Arc::new(Self {
            sink: Mutex::new(sink),
            written: AtomicU64::new(0),
            failure: std::sync::Mutex::new(None),
        })
    }

    /// Number of bytes received.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Why writing failed, if it did. Returns the error once.
    pub(crate) fn failure(&self) -> Option<std::io::Error> {
        take(&self.failure)
    }

    /// Flushes the sink.
    pub(crate) async fn finish(&self) -> std::io::Result<()> {
        self.sink.lock().await.flush().await
    }

    async fn serve(&self, name: &str, arguments: &[Value]) -> std::io::Result<Vec<Value>> {
        if let ("writeBytes", [Value::Bytes(bytes)]) = (name, arguments) {
            self.sink.lock().await.write_all(bytes).await?;
            self.written
                .fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        Ok(vec![Value::Void])
    }
}

impl Object for OutputStream {
    fn interfaces(&self) -> &[&'static str] {
        &["com.sun.star.io.XOutputStream"]
    }

    fn call(&self, incoming: Incoming) -> Boxed<'_, Outcome> {
        Box::pin(async move {
            let served = self.serve(incoming.function.name, &incoming.arguments);
            served.await.map_err(|error| failed(&self.failure, error))
        })
    }
}

type Failure = std::sync::Mutex<Option<std::io::Error>>;

/// Records the error and raises it in LibreOffice as an exception.
fn failed(failure: &Failure, error: std::io::Error) -> crate::codec::Any {
    let text = error.to_string();
    match failure.lock() {
        Ok(mut failure) => {
            failure.get_or_insert(error);
            object_exception("com.sun.star.io.IOException", &text)
        }
        Err(_) => runtime_exception(&text),
    }
}

fn take(failure: &Failure) -> Option<std::io::Error> {
    failure.lock().ok().and_then(|mut failure| failure.take())
}
