//! Packets on a Unix socket (`SOCK_SEQPACKET`, unix(7)): each is read whole or not at all, and may
//! carry descriptors.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};
use serde::{Serialize, de::DeserializeOwned};
use tokio::{
    io::Interest,
    net::{UnixListener, UnixStream},
};

/// Largest packet, in bytes. A larger one ends the connection.
pub(super) const MAX_BYTES: usize = 96 << 10;
/// Most descriptors of a packet.
const MAX_DESCRIPTORS: usize = 2;

const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);

/// A connection. Tokio's stream waits for any kind of Unix socket; only its way of reading and
/// writing is for streams.
#[derive(Debug)]
pub(super) struct Packets(UnixStream);

/// A socket that does not block, and its address.
fn socket(path: &Path) -> io::Result<(OwnedFd, SocketAddrUnix)> {
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, FLAGS, None)?;
    Ok((socket, SocketAddrUnix::new(path)?))
}

/// Listens at a path. A socket that a former owner left there is replaced.
pub(super) fn listen(path: &Path) -> io::Result<UnixListener> {
    let (listener, address) = socket(path)?;
    match rustix::net::bind(&listener, &address) {
        Err(rustix::io::Errno::ADDRINUSE) if is_abandoned(path) => {
            std::fs::remove_file(path)?;
            rustix::net::bind(&listener, &address)?;
        }
        bound => bound?,
    }
    rustix::net::listen(&listener, 128)?;
    UnixListener::from_std(listener.into())
}

/// True for a socket at which nobody listens.
fn is_abandoned(path: &Path) -> bool {
    let connected =
        socket(path).and_then(|(socket, address)| Ok(rustix::net::connect(&socket, &address)?));
    connected.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// The next connection, and the user at its other end.
pub(super) async fn accept(listener: &UnixListener) -> io::Result<(Packets, u32)> {
    let (stream, _) = listener.accept().await?;
    let user = stream.peer_cred()?.uid();
    Ok((Packets(stream), user))
}

impl Packets {
    /// Connects to the socket at a path.
    pub(super) fn connect(path: &Path) -> io::Result<Self> {
        let (socket, address) = socket(path)?;
        rustix::net::connect(&socket, &address)?;
        UnixStream::from_std(socket.into()).map(Self)
    }

    /// Sends a message with descriptors.
    pub(super) async fn send<M: Serialize>(
        &self,
        message: &M,
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        let bytes = serde_json::to_vec(message)?;
        // The space for descriptors is rounded up, so that more of them may fit.
        if bytes.len() > MAX_BYTES || descriptors.len() > MAX_DESCRIPTORS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let put = || put(self.0.as_fd(), &bytes, descriptors);
        self.0.async_io(Interest::WRITABLE, put).await
    }

    /// Receives a message and its descriptors; `None` at the end of the connection.
    pub(super) async fn receive<M: DeserializeOwned>(
        &self,
    ) -> io::Result<Option<(M, Vec<OwnedFd>)>> {
        let take = || take(self.0.as_fd());
        let (bytes, descriptors) = self.0.async_io(Interest::READABLE, take).await?;
        if bytes.is_empty() {
            return Ok(None);
        }
        Ok(Some((serde_json::from_slice(&bytes)?, descriptors)))
    }
}

fn put(socket: BorrowedFd<'_>, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let flags = SendFlags::NOSIGNAL;
    rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags)?;
    Ok(())
}

fn take(socket: BorrowedFd<'_>) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut bytes = vec![0; MAX_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let received = rustix::net::recvmsg(socket, &mut parts, &mut control, flags)?;
    // Read before the packet is judged: descriptors that nobody takes would stay open.
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights);
        }
    }
    if received
        .flags
        .intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC)
    {
        return Err(io::Error::other("a packet is too large"));
    }
    bytes.truncate(received.bytes);
    Ok((bytes, descriptors))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_packet_is_read_whole_with_its_descriptors_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = listen(&path).unwrap();
        let here = Packets::connect(&path).unwrap();
        let (there, user) = accept(&listener).await.unwrap();
        assert_eq!(user, rustix::process::getuid().as_raw());
        let file = std::fs::File::open("/dev/null").unwrap();
        here.send(&"one", &[file.as_fd()]).await.unwrap();
        here.send(&"two", &[]).await.unwrap();
        let (text, descriptors) = there.receive::<String>().await.unwrap().unwrap();
        assert_eq!((text.as_str(), descriptors.len()), ("one", 1));
        let (text, descriptors) = there.receive::<String>().await.unwrap().unwrap();
        assert_eq!((text.as_str(), descriptors.len()), ("two", 0));
        // More descriptors than a packet may carry, more bytes, and what is no message.
        assert!(here.send(&"x", &[file.as_fd(); 3]).await.is_err());
        assert!(here.send(&"x".repeat(MAX_BYTES), &[]).await.is_err());
        put(here.0.as_fd(), &vec![b'1'; MAX_BYTES + 1], &[]).unwrap();
        assert!(there.receive::<String>().await.is_err());
        put(here.0.as_fd(), b"[", &[]).unwrap();
        assert!(there.receive::<String>().await.is_err());
        drop(here);
        assert!(there.receive::<String>().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_socket_that_was_left_is_replaced_and_one_in_use_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let first = listen(&path).unwrap();
        assert!(listen(&path).is_err());
        drop(first);
        let second = listen(&path).unwrap();
        let _here = Packets::connect(&path).unwrap();
        accept(&second).await.unwrap();
    }
}
