//! A connection to LibreOffice: outgoing calls, incoming calls, references.
//!
//! One task reads; callers write. A reply carries no call id: it answers the newest pending call of
//! its thread. Concurrent calls therefore use separate thread ids.

mod object;
mod read;
mod reference;
mod state;

use std::{
    future::Future,
    path::Path,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::BytesMut;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    net::{TcpStream, UnixStream},
    sync::{Notify, Semaphore, oneshot},
};

pub(crate) use object::object_exception;
pub use object::{Export, Incoming, Object, Outcome, runtime_exception};
pub use reference::Reference;

use crate::{
    Error,
    codec::{Any, Encoder, Function, Limits, Oid, Tid, Type, Value},
};
use state::{State, Waiting};

/// A boxed future.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Options of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Limits on what is accepted from the peer.
    pub limits: Limits,
    /// Slots to use in each of the peer's caches, at most 256; 0 disables caching.
    pub cache_slots: u16,
    /// Timeout for the handshake.
    pub handshake: Duration,
    /// How long a call waits without any message from the peer before it fails.
    pub silence: Duration,
    /// Calls from the peer served at a time; more are answered with an exception.
    pub served: usize,
    /// Exported objects that may exist at a time.
    pub exports: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            cache_slots: 256,
            handshake: Duration::from_secs(20),
            silence: Duration::from_secs(120),
            served: 64,
            exports: 256,
        }
    }
}

/// A connection. Dropping it closes the connection.
pub struct Bridge {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    writer: tokio::sync::Mutex<Writer>,
    state: Mutex<State>,
    closing: Notify,
    served: Arc<Semaphore>,
    options: Options,
    start: Instant,
}

struct Writer {
    stream: Box<dyn AsyncWrite + Send + Unpin>,
    encoder: Encoder,
    buffer: BytesMut,
}

impl Bridge {
    /// Connects to a pipe, that is, a UNIX domain socket.
    ///
    /// # Errors
    /// Nothing listens there, or the handshake fails.
    pub async fn connect_unix(path: &Path, options: Options) -> Result<Self, Error> {
        let connected = UnixStream::connect(path).await;
        let stream = connected.map_err(|source| Error::Connect {
            address: path.display().to_string(),
            source,
        })?;
        let (reader, writer) = stream.into_split();
        Self::start(Box::new(reader), Box::new(writer), options).await
    }

    /// Connects to a host and port.
    ///
    /// # Errors
    /// Nothing listens there, or the handshake fails.
    pub async fn connect_tcp(address: &str, options: Options) -> Result<Self, Error> {
        let connected = TcpStream::connect(address).await;
        let connected = connected.and_then(|stream| stream.set_nodelay(true).map(|()| stream));
        let stream = connected.map_err(|source| Error::Connect {
            address: address.to_owned(),
            source,
        })?;
        let (reader, writer) = stream.into_split();
        Self::start(Box::new(reader), Box::new(writer), options).await
    }

    /// Performs the handshake over any byte stream.
    ///
    /// # Errors
    /// The handshake fails or times out.
    pub async fn start(
        reader: Box<dyn AsyncRead + Send + Unpin>,
        writer: Box<dyn AsyncWrite + Send + Unpin>,
        options: Options,
    ) -> Result<Self, Error> {
        let inner = Arc::new(Inner {
            writer: tokio::sync::Mutex::new(Writer {
                stream: writer,
                encoder: Encoder::new(options.cache_slots),
                buffer: BytesMut::new(),
            }),
            state: Mutex::new(State::default()),
            closing: Notify::new(),
            served: Arc::new(Semaphore::new(options.served)),
            options,
            start: Instant::now(),
        });
        let bridge = Self {
            inner: Arc::clone(&inner),
        };
        let (ready, agreed) = oneshot::channel();
        // Only this task reads.
        tokio::spawn(read::run(inner, reader, ready));
        match tokio::time::timeout(options.handshake, agreed).await {
            Ok(Ok(())) => Ok(bridge),
            Ok(Err(_)) => Err(bridge.inner.failure()),
            Err(_) => Err(Error::Silent(options.handshake)),
        }
    }

    /// A reference to an object that is registered under a well-known name, such as
    /// `StarOffice.ComponentContext`.
    ///
    /// # Errors
    /// There is no such object, or the connection is broken.
    pub async fn initial(&self, name: &str, interface: &str) -> Result<Reference, Error> {
        // A well-known name resolves only in a query for `XInterface`.
        let named = Reference::initial(&self.inner, name);
        let object = named.query("com.sun.star.uno.XInterface").await?;
        object.query(interface).await
    }

    /// Makes an object callable by the peer until the export is dropped.
    ///
    /// # Errors
    /// The limit of exported objects is reached.
    pub fn export(&self, object: Arc<dyn Object>) -> Result<Export, Error> {
        object::export(&self.inner, object)
    }

    /// Whether the connection has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.inner.state().broken.is_some()
    }

    /// Number of exported objects.
    #[must_use]
    pub fn exported(&self) -> usize {
        self.inner.state().exports.len()
    }

    /// Sends pending releases, which otherwise wait for the next call.
    ///
    /// # Errors
    /// The connection is broken.
    pub async fn flush(&self) -> Result<(), Error> {
        let mut writer = self.inner.writer.lock().await;
        self.inner.send(&mut writer).await
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.inner.end(Broken::Dropped);
    }
}

/// Why a connection ended.
#[derive(Clone, Debug)]
pub(crate) enum Broken {
    Dropped,
    Io(Arc<std::io::Error>),
    Codec(crate::codec::CodecError),
}

impl Inner {
    pub(crate) fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the connection and fails all pending calls.
    pub(crate) fn end(&self, why: Broken) {
        let mut state = self.state();
        state.broken.get_or_insert(why);
        let forgotten = state.forget_all();
        drop(state);
        drop(forgotten);
        self.closing.notify_one();
    }

    pub(crate) fn failure(&self) -> Error {
        match self.state().broken.clone() {
            Some(Broken::Codec(error)) => Error::Protocol(error),
            Some(Broken::Io(error)) => Error::Closed(Some(error)),
            Some(Broken::Dropped) | None => Error::Closed(None),
        }
    }

    fn heard(&self) {
        self.state().heard_ms = self.start.elapsed().as_millis();
    }

    /// Calls a function and waits for its reply.
    pub(crate) async fn call(
        &self,
        thread: Option<&Tid>,
        oid: &Oid,
        interface: &Type,
        function: &'static Function,
        arguments: &[Value],
    ) -> Result<Vec<Value>, Error> {
        self.heard();
        let asked = self.ask(thread, oid, interface, function, arguments);
        let Some(answer) = self.unless_silent(asked).await?? else {
            return Ok(Vec::new());
        };
        match self.unless_silent(answer).await? {
            Ok(Ok(values)) => Ok(values),
            Ok(Err(exception)) => Err(self.exception(exception)),
            Err(_) => Err(self.failure()),
        }
    }

    /// Sends a request. Returns the channel for its reply; `None` for a oneway function.
    async fn ask(
        &self,
        thread: Option<&Tid>,
        oid: &Oid,
        interface: &Type,
        function: &'static Function,
        arguments: &[Value],
    ) -> Result<Option<oneshot::Receiver<Outcome>>, Error> {
        // Held until the request is sent: the encoder's caches must change in the order in which
        // the peer reads.
        let mut writer = self.writer.lock().await;
        self.write_releases(&mut writer)?;
        let (sender, receiver) = oneshot::channel();
        {
            let mut state = self.state();
            let tid = thread.cloned().unwrap_or_else(|| state.take_thread());
            let Writer {
                encoder, buffer, ..
            } = &mut *writer;
            if let Err(error) = encoder.request(buffer, &tid, oid, interface, function, arguments) {
                state.give_thread(&tid);
                return Err(error.into());
            }
            if !function.oneway {
                let waiting = Waiting { function, sender };
                state.calls.entry(tid).or_default().push(waiting);
            }
        }
        self.send(&mut writer).await?;
        Ok((!function.oneway).then_some(receiver))
    }

    /// Replies to a call from the peer. `then` runs on the encoder before anything else is sent.
    async fn answer(
        &self,
        tid: &Tid,
        function: &Function,
        outcome: &Outcome,
        then: impl FnOnce(&mut Encoder),
    ) -> Result<(), Error> {
        let mut writer = self.writer.lock().await;
        let Writer {
            encoder, buffer, ..
        } = &mut *writer;
        encoder.reply(buffer, tid, function, outcome)?;
        then(encoder);
        self.send(&mut writer).await
    }

    /// Encodes pending releases. They are messages of their own, sent together with the next one.
    fn write_releases(&self, writer: &mut Writer) -> Result<(), Error> {
        let mut state = self.state();
        if state.broken.is_some() {
            drop(state);
            return Err(self.failure());
        }
        let tid = state.release_thread();
        let Writer {
            encoder, buffer, ..
        } = writer;
        for (oid, interface) in std::mem::take(&mut state.releases) {
            let release = release_function();
            encoder.request(buffer, &tid, &oid, &interface, release, &[])?;
        }
        Ok(())
    }

    async fn send(&self, writer: &mut Writer) -> Result<(), Error> {
        self.write_releases(writer)?;
        let mut buffer = writer.buffer.split();
        let sending = Sending {
            inner: self,
            whole: false,
        };
        let written = writer.stream.write_all_buf(&mut buffer).await;
        sending.end();
        if let Err(error) = written {
            self.end(Broken::Io(Arc::new(error)));
            return Err(self.failure());
        }
        Ok(())
    }

    /// Waits for `wanted` as long as the peer sends anything within the silence limit.
    async fn unless_silent<T>(&self, wanted: impl Future<Output = T>) -> Result<T, Error> {
        let mut wanted = std::pin::pin!(wanted);
        let limit = self.options.silence;
        loop {
            let heard = self.state().heard_ms;
            let silent = self.start.elapsed().as_millis().saturating_sub(heard);
            let left = limit.as_millis().saturating_sub(silent);
            if left == 0 {
                return Err(Error::Silent(limit));
            }
            let left = Duration::from_millis(u64::try_from(left).unwrap_or(u64::MAX));
            if let Ok(value) = tokio::time::timeout(left, &mut wanted).await {
                return Ok(value);
            }
        }
    }

    /// Converts an exception to an error, and releases the references it holds.
    fn exception(&self, exception: Any) -> Error {
        let mut state = self.state();
        state.release_within(&exception.value, &exception.ty);
        drop(state);
        Error::Exception(reference::describe(&exception))
    }
}

fn release_function() -> &'static Function {
    crate::codec::registry()
        .function_named("com.sun.star.uno.XInterface", "release")
        .expect("every interface has it")
}

/// Guards a write: a message that was only partly sent, because its future was dropped, makes the
/// connection unusable.
struct Sending<'a> {
    inner: &'a Inner,
    whole: bool,
}

impl Sending<'_> {
    fn end(mut self) {
        self.whole = true;
    }
}

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        if !self.whole {
            self.inner.end(Broken::Dropped);
        }
    }
}
