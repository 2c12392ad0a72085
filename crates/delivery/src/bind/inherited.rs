//! Sockets opened by another process: by a service manager (systemd socket activation,
//! `LISTEN_FDS`), or by a parent process that passes them to its children over a UNIX socket
//! (`SCM_RIGHTS`).

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
};

use listenfd::ListenFd;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, getsockname, recvmsg, sendmsg, sockopt,
};

/// Maximum number of file descriptors in one message; sender and receiver must agree.
const MAX_SOCKETS: usize = 32;

/// Sockets passed by the service manager: all of them, or those called `name`. They can be taken
/// once. Fails if there are none.
pub(super) fn activated(name: Option<&str>) -> io::Result<Vec<OwnedFd>> {
    let names = std::env::var("LISTEN_FDNAMES").unwrap_or_default();
    let names: Vec<&str> = names.split(':').collect();
    let mut given = ListenFd::from_env();
    let mut sockets = Vec::new();
    for index in 0..given.len() {
        if name.is_some_and(|name| names.get(index) != Some(&name)) {
            continue;
        }
        let taken = match given.take_tcp_listener(index) {
            Ok(tcp) => tcp.map(OwnedFd::from),
            Err(_) => given.take_unix_listener(index)?.map(OwnedFd::from),
        };
        sockets.extend(taken);
    }
    if sockets.is_empty() {
        let message = "the service manager passed no such socket";
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    }
    Ok(sockets)
}

/// Passes sockets to the process at the other end of `channel`, which calls [`receive_fds`]. They
/// stay open in this process too, so that all processes accept from one queue.
///
/// # Errors
/// The other process has exited, or there are more than 32 sockets.
pub fn pass_fds(channel: &UnixStream, sockets: &[BorrowedFd<'_>]) -> io::Result<()> {
    if sockets.len() > MAX_SOCKETS {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_SOCKETS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(sockets)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let count = [sockets.len() as u8];
    sendmsg(
        channel,
        &[IoSlice::new(&count)],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// Receives the sockets that [`pass_fds`] sends.
///
/// # Errors
/// The other process has exited or sent something else.
pub fn receive_fds(channel: impl AsFd) -> io::Result<Vec<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_SOCKETS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut count = [0];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let mut slices = [IoSliceMut::new(&mut count)];
    let received = recvmsg(channel, &mut slices, &mut control, flags)?;
    let mut sockets = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            sockets.extend(descriptors);
        }
    }
    if received.bytes == 0 || sockets.len() != usize::from(count[0]) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(sockets)
}

/// Whether the socket is a UNIX socket. Fails if it is not a listening socket.
pub(super) fn is_unix(socket: BorrowedFd<'_>) -> io::Result<bool> {
    if !sockopt::socket_acceptconn(socket)? {
        let message = "an inherited socket is not listening";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    Ok(getsockname(socket)?.address_family() == AddressFamily::UNIX)
}
