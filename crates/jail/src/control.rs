//! The protocol between a zygote and its owner: packets of fixed size, some with descriptors.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Size of a packet: kind, number and value.
const PACKET_BYTES: usize = 13;

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packet {
    /// Owner: the zygote is in its control group and may fork.
    Begin,
    /// Owner: fork a cell with this number.
    Fork(u64),
    /// Zygote: confined at this level (0, 1 or 2).
    Ready(u32),
    /// Zygote: the cell was forked. Its channel and its pidfd are attached.
    Forked(u64),
    /// Zygote: the cell could not be forked, with this errno.
    NotForked(u64, u32),
    /// Zygote: the cell ended. The value is its exit code, or 256 plus the signal.
    Ended(u64, u32),
}

impl Packet {
    fn encode(self) -> [u8; PACKET_BYTES] {
        let (kind, number, value) = match self {
            Self::Begin => (b'b', 0, 0),
            Self::Fork(number) => (b'f', number, 0),
            Self::Ready(level) => (b'r', 0, level),
            Self::Forked(number) => (b'c', number, 0),
            Self::NotForked(number, errno) => (b'n', number, errno),
            Self::Ended(number, how) => (b'e', number, how),
        };
        let mut bytes = [0; PACKET_BYTES];
        bytes[0] = kind;
        bytes[1..9].copy_from_slice(&number.to_le_bytes());
        bytes[9..].copy_from_slice(&value.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        let number = u64::from_le_bytes(rest.get(..8)?.try_into().ok()?);
        let value = u32::from_le_bytes(rest.get(8..12)?.try_into().ok()?);
        Some(match kind {
            b'b' => Self::Begin,
            b'f' => Self::Fork(number),
            b'r' => Self::Ready(value),
            b'c' => Self::Forked(number),
            b'n' => Self::NotForked(number, value),
            b'e' => Self::Ended(number, value),
            _ => return None,
        })
    }
}

/// Sends a packet with descriptors.
pub(crate) fn send(
    socket: impl AsFd,
    packet: Packet,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let bytes = packet.encode();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    sendmsg(
        socket,
        &[IoSlice::new(&bytes)],
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// Waits for a packet; `None` if the other side has exited.
pub(crate) fn receive(socket: impl AsFd) -> io::Result<Option<(Packet, Vec<OwnedFd>)>> {
    let mut bytes = [0; PACKET_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let mut parts = [IoSliceMut::new(&mut bytes)];
        match recvmsg(&socket, &mut parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::CONNRESET) => return Ok(None),
            other => break other?,
        }
    };
    if received.bytes == 0 {
        return Ok(None);
    }
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    let packet = Packet::decode(&bytes[..received.bytes])
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "an unknown packet"))?;
    Ok(Some((packet, descriptors)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_back() {
        for packet in [
            Packet::Begin,
            Packet::Fork(7),
            Packet::Ready(2),
            Packet::Forked(u64::MAX),
            Packet::NotForked(1, 11),
            Packet::Ended(3, 256 + 31),
        ] {
            assert_eq!(Packet::decode(&packet.encode()), Some(packet));
        }
        assert_eq!(Packet::decode(b"x"), None);
    }
}
