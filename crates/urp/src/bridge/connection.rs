//! The shared core of a connection: sends messages, and matches calls with their replies.

use std::{
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::BytesMut;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::{Notify, Semaphore, oneshot},
};

use super::{
    object::Outcome,
    options::Options,
    state::{Broken, State, Waiting},
};
use crate::{
    Error,
    codec::{Any, Encoder, Function, Oid, Tid, Type, Value, registry},
    error::Exception,
};

/// What the bridge, the reading task, references and exported objects share.
pub(crate) struct Inner {
    writer: tokio::sync::Mutex<Writer>,
    state: Mutex<State>,
    /// Ends the reading task.
    pub(super) closing: Notify,
    /// Slots for calls from the peer.
    pub(super) served: Arc<Semaphore>,
    pub(super) options: Options,
    start: Instant,
}

struct Writer {
    stream: Box<dyn AsyncWrite + Send + Unpin>,
    encoder: Encoder,
    buffer: BytesMut,
}

impl Inner {
    /// A connection whose messages go to `stream`.
    pub(super) fn new(stream: Box<dyn AsyncWrite + Send + Unpin>, options: Options) -> Self {
        Self {
            writer: tokio::sync::Mutex::new(Writer {
                stream,
                encoder: Encoder::new(options.cache_slots),
                buffer: BytesMut::new(),
            }),
            state: Mutex::new(State::default()),
            closing: Notify::new(),
            served: Arc::new(Semaphore::new(options.served)),
            options,
            start: Instant::now(),
        }
    }

    /// Sends pending releases, which otherwise wait for the next call.
    pub(super) async fn flush(&self) -> Result<(), Error> {
        let mut writer = self.writer.lock().await;
        self.send(&mut writer).await
    }

    /// Lets the peer see the connection close, though references may keep this alive.
    pub(super) async fn close_writer(&self) {
        self.writer.lock().await.stream = Box::new(tokio::io::sink());
    }

    pub(crate) fn state(&self) -> parking_lot::MutexGuard<'_, State> {
        self.state.lock()
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

    pub(super) fn heard(&self) {
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
    pub(super) async fn answer(
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
        Error::Exception(Exception::of(&exception))
    }
}

fn release_function() -> &'static Function {
    registry()
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
