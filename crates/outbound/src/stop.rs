//! Cancellation of requests: a connection checks a stop flag while it waits.

use std::{
    cell::RefCell,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use ureq::{
    Error,
    unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport},
};

/// How often a waiting connection checks its stop flag. The client library blocks, so nothing else
/// can wake it.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

thread_local! {
    /// Stop flag of the request on this thread. It is not part of the connection, because
    /// connections are reused for other requests.
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Restores the previous stop flag.
struct Leave(Option<Arc<AtomicBool>>);

impl Drop for Leave {
    fn drop(&mut self) {
        STOP.set(self.0.take());
    }
}

/// Runs `work`, whose connections fail once `stop` is true.
pub(crate) fn stoppable<T>(stop: Option<&Arc<AtomicBool>>, work: impl FnOnce() -> T) -> T {
    let _leave = Leave(STOP.replace(stop.cloned()));
    work()
}

fn check() -> Result<(), Error> {
    let is_stopped = STOP.with_borrow(|stop| {
        let stop = stop.as_ref();
        stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    });
    match is_stopped {
        true => Err(Error::Io(io::ErrorKind::Interrupted.into())),
        false => Ok(()),
    }
}

/// Makes connections stoppable. Placed between the socket and TLS.
#[derive(Debug)]
pub(crate) struct StopConnector;

impl<In: Transport> Connector<In> for StopConnector {
    type Out = Stoppable<In>;

    fn connect(
        &self,
        _: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        check()?;
        Ok(chained.map(Stoppable))
    }
}

/// A connection that fails once the stop flag of the thread that uses it is set.
#[derive(Debug)]
pub(crate) struct Stoppable<T>(T);

impl<T: Transport> Transport for Stoppable<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.0.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        check()?;
        self.0.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let mut left = *timeout.after;
        loop {
            check()?;
            let slice = NextTimeout {
                after: left.min(POLL_INTERVAL).into(),
                ..timeout
            };
            match self.0.await_input(slice) {
                Err(Error::Timeout(_)) if left > POLL_INTERVAL => left -= POLL_INTERVAL,
                other => return other,
            }
        }
    }

    fn is_open(&mut self) -> bool {
        self.0.is_open()
    }

    fn is_tls(&self) -> bool {
        self.0.is_tls()
    }
}
