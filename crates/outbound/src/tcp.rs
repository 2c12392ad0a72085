//! Connections that end with their request: nothing here waits longer than a moment without a look at the stop
//! flag and the clock. The client library blocks, so nothing else can wake it.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, SocketAddr, TcpStream},
    os::fd::{AsFd, OwnedFd},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt::socket_error},
};
use ureq::{
    Error, Timeout,
    unversioned::transport::{
        Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
    },
};

use crate::stop::{POLL_INTERVAL, check};

/// The least time for an address, so that the last ones of a name have a chance, too.
const LEAST_TIME: Duration = Duration::from_millis(10);

/// Opens connections.
#[derive(Debug)]
pub(crate) struct TcpConnector;

impl<In: Transport> Connector<In> for TcpConnector {
    type Out = TcpTransport;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        _: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        let end = end_of(details.timeout);
        let mut failed = Error::Io(io::ErrorKind::ConnectionRefused.into());
        for (index, address) in details.addrs.iter().enumerate() {
            // The first address gets half of the time, the next half of the rest; the last all that is left.
            let left = end.saturating_duration_since(Instant::now());
            let share = match index + 1 == details.addrs.len() {
                true => left,
                false => (left / 2).max(LEAST_TIME),
            };
            match connected(*address, Instant::now() + share) {
                Ok(stream) => {
                    stream.set_nodelay(details.config.no_delay())?;
                    let (input, output) = (
                        details.config.input_buffer_size(),
                        details.config.output_buffer_size(),
                    );
                    return Ok(Some(TcpTransport {
                        stream,
                        buffers: LazyBuffers::new(input, output),
                    }));
                }
                Err(error) => {
                    check()?;
                    failed = match error.kind() {
                        io::ErrorKind::TimedOut if Instant::now() >= end => {
                            return Err(Error::Timeout(details.timeout.reason));
                        }
                        io::ErrorKind::TimedOut => Error::Timeout(Timeout::Connect),
                        _ => error.into(),
                    };
                }
            }
        }
        Err(failed)
    }
}

/// When a time is over; in a year if it has no end.
fn end_of(timeout: NextTimeout) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 86_400);
    Instant::now() + (*timeout.after).min(YEAR)
}

/// A connection to an address, unless it takes until `end`.
fn connected(address: SocketAddr, end: Instant) -> io::Result<TcpStream> {
    let family = match address.ip() {
        IpAddr::V4(_) => AddressFamily::INET,
        IpAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    match connect(&socket, &address) {
        Ok(()) => {}
        Err(Errno::INPROGRESS) => wait_connected(&socket, end)?,
        Err(error) => return Err(error.into()),
    }
    let stream = TcpStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

fn wait_connected(socket: &OwnedFd, end: Instant) -> io::Result<()> {
    loop {
        let slice = slice(end)?;
        let time = Timespec {
            tv_sec: 0,
            tv_nsec: slice.subsec_nanos().into(),
        };
        let mut waiting = [PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::OUT)];
        match poll(&mut waiting, Some(&time)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return socket_error(socket)?.map_err(io::Error::from),
            Err(error) => return Err(error.into()),
        }
    }
}

/// How long to wait before the next look.
///
/// # Errors
/// The request was stopped, or its time is over.
fn slice(end: Instant) -> io::Result<Duration> {
    if check().is_err() {
        return Err(io::ErrorKind::Interrupted.into());
    }
    match end.saturating_duration_since(Instant::now()) {
        left if left.is_zero() => Err(io::ErrorKind::TimedOut.into()),
        left => Ok(left.min(POLL_INTERVAL)),
    }
}

/// A connection that fails once the stop flag of the thread that uses it is set.
#[derive(Debug)]
pub(crate) struct TcpTransport {
    stream: TcpStream,
    buffers: LazyBuffers,
}

/// Whether a read or write only took longer than a slice.
fn is_late(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

/// The error of a request whose time is over, or that was stopped.
fn ended(error: io::Error, timeout: NextTimeout) -> Error {
    match error.kind() {
        io::ErrorKind::TimedOut => Error::Timeout(timeout.reason),
        _ => error.into(),
    }
}

impl Transport for TcpTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        let end = end_of(timeout);
        let mut left = &self.buffers.output()[..amount];
        while !left.is_empty() {
            let slice = slice(end).map_err(|error| ended(error, timeout))?;
            self.stream.set_write_timeout(Some(slice))?;
            match self.stream.write(left) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
                Ok(written) => left = &left[written..],
                Err(error) if is_late(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let end = end_of(timeout);
        loop {
            let slice = slice(end).map_err(|error| ended(error, timeout))?;
            self.stream.set_read_timeout(Some(slice))?;
            match self.stream.read(self.buffers.input_append_buf()) {
                Ok(amount) => {
                    self.buffers.input_appended(amount);
                    return Ok(amount > 0);
                }
                Err(error) if is_late(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn is_open(&mut self) -> bool {
        if self.stream.set_nonblocking(true).is_err() {
            return false;
        }
        // Nothing was asked for yet: what can be read, if only the end, is not for the next request.
        let peeked = self.stream.peek(&mut [0]);
        let is_silent = peeked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        is_silent && self.stream.set_nonblocking(false).is_ok()
    }
}
