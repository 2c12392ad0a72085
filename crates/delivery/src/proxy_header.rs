//! The header of the PROXY protocol, version 2, with which a load balancer says for whom it opens a
//! connection. Source: <https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt>, section 2.2.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use tokio::io::{AsyncRead, AsyncReadExt};

/// What every header begins with: no request of HTTP and no handshake of TLS does.
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
/// Signature, version and command, family and protocol, length of the rest.
const FIXED_BYTES: usize = 16;
/// Longest rest, in bytes: addresses, and extensions such as a client's certificate. Load balancers
/// send less than one kilobyte.
const MAX_REST_BYTES: u16 = 8 << 10;
/// Addresses and ports of both ends over IPv4 and IPv6.
const IPV4_BYTES: u16 = 12;
const IPV6_BYTES: u16 = 36;

/// Why a connection of a trusted proxy was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyHeaderError {
    /// The connection begins with something else.
    #[error("the connection does not begin with a PROXY protocol header of version 2")]
    Missing,
    /// Another version than 2.
    #[error("the PROXY protocol header has version {0}, not 2")]
    Version(u8),
    /// A command other than LOCAL and PROXY.
    #[error("the PROXY protocol header has the unknown command {0}")]
    Command(u8),
    /// The client does not use TCP over IPv4 or IPv6.
    #[error("the PROXY protocol header has the family {0:#04x}, which is not TCP over IP")]
    Family(u8),
    /// The rest is shorter than the addresses, or longer than 8 KiB.
    #[error("the PROXY protocol header has the length {0}")]
    Length(u16),
    /// The connection ended within the header.
    #[error("the connection ended within its PROXY protocol header")]
    Truncated,
    /// The header took too long.
    #[error("the PROXY protocol header took too long")]
    Timeout,
    /// The socket failed.
    #[error("the PROXY protocol header could not be read")]
    Io(#[source] io::Error),
}

/// For whom a connection was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// For the load balancer itself, as health checks are.
    Itself,
    /// For a client.
    Client(SocketAddr),
}

/// What follows the fixed part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// Bytes without meaning here.
    Skipped(u16),
    /// Addresses of IPv4 or IPv6, and extensions.
    Addresses { is_ipv6: bool, length: u16 },
}

/// Reads the header from the beginning of a connection, and no byte more. `None` if the connection
/// ended before its first byte, as the checks of some load balancers do.
pub(crate) async fn receive(
    stream: &mut (impl AsyncRead + Unpin),
    timeout: Duration,
) -> Result<Option<Sender>, ProxyHeaderError> {
    let read = tokio::time::timeout(timeout, read(stream));
    read.await.map_err(|_| ProxyHeaderError::Timeout)?
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Result<Option<Sender>, ProxyHeaderError> {
    let mut fixed = [0; FIXED_BYTES];
    let mut filled = 0;
    while filled < FIXED_BYTES {
        let count = stream.read(&mut fixed[filled..]).await.map_err(failed)?;
        if count == 0 {
            return match filled {
                0 => Ok(None),
                _ => Err(ProxyHeaderError::Truncated),
            };
        }
        filled += count;
        // Refused at the first wrong byte, not after those that may never come.
        let known = filled.min(SIGNATURE.len());
        if fixed[..known] != SIGNATURE[..known] {
            return Err(ProxyHeaderError::Missing);
        }
    }
    match rest(fixed)? {
        Rest::Skipped(length) => {
            skip(stream, length).await?;
            Ok(Some(Sender::Itself))
        }
        Rest::Addresses {
            is_ipv6: false,
            length,
        } => {
            let mut block = [0; IPV4_BYTES as usize];
            stream.read_exact(&mut block).await.map_err(failed)?;
            skip(stream, length - IPV4_BYTES).await?;
            let [a, b, c, d, _, _, _, _, high, low, ..] = block;
            Ok(Some(client([a, b, c, d], [high, low])))
        }
        Rest::Addresses {
            is_ipv6: true,
            length,
        } => {
            let mut block = [0; IPV6_BYTES as usize];
            stream.read_exact(&mut block).await.map_err(failed)?;
            skip(stream, length - IPV6_BYTES).await?;
            let mut source = [0; 16];
            source.copy_from_slice(&block[..16]);
            Ok(Some(client(source, [block[32], block[33]])))
        }
    }
}

/// What the fixed part says about the rest.
fn rest(fixed: [u8; FIXED_BYTES]) -> Result<Rest, ProxyHeaderError> {
    let [.., command, family, high, low] = fixed;
    let length = u16::from_be_bytes([high, low]);
    if command >> 4 != 2 {
        return Err(ProxyHeaderError::Version(command >> 4));
    }
    if length > MAX_REST_BYTES {
        return Err(ProxyHeaderError::Length(length));
    }
    match command & 0x0f {
        // LOCAL, whose addresses mean nothing.
        0 => return Ok(Rest::Skipped(length)),
        // PROXY.
        1 => {}
        command => return Err(ProxyHeaderError::Command(command)),
    }
    // Of an unknown family, the client would be the load balancer, which is believed everything.
    let (is_ipv6, least) = match family {
        0x11 => (false, IPV4_BYTES),
        0x21 => (true, IPV6_BYTES),
        family => return Err(ProxyHeaderError::Family(family)),
    };
    match length < least {
        true => Err(ProxyHeaderError::Length(length)),
        false => Ok(Rest::Addresses { is_ipv6, length }),
    }
}

fn client(source: impl Into<IpAddr>, port: [u8; 2]) -> Sender {
    let address = source.into().to_canonical();
    Sender::Client(SocketAddr::new(address, u16::from_be_bytes(port)))
}

async fn skip(
    stream: &mut (impl AsyncRead + Unpin),
    mut count: u16,
) -> Result<(), ProxyHeaderError> {
    let mut room = [0; 256];
    while count > 0 {
        let part = room.len().min(usize::from(count));
        stream.read_exact(&mut room[..part]).await.map_err(failed)?;
        count -= part as u16;
    }
    Ok(())
}

fn failed(error: io::Error) -> ProxyHeaderError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ProxyHeaderError::Truncated,
        _ => ProxyHeaderError::Io(error),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use proptest::prelude::*;
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    fn header(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend([command, family]);
        bytes.extend((rest.len() as u16).to_be_bytes());
        bytes.extend(rest);
        bytes
    }

    fn ipv4() -> Vec<u8> {
        let mut rest = vec![203, 0, 113, 9, 10, 0, 0, 1];
        rest.extend(51_234_u16.to_be_bytes());
        rest.extend(443_u16.to_be_bytes());
        rest
    }

    fn ipv6() -> Vec<u8> {
        let source: std::net::Ipv6Addr = "2001:db8::7".parse().unwrap();
        let mut rest = source.octets().to_vec();
        rest.extend([0; 16]);
        rest.extend(51_234_u16.to_be_bytes());
        rest.extend(443_u16.to_be_bytes());
        rest
    }

    /// What is read of `bytes` and then the end, and what is left behind it.
    fn received(mut bytes: &[u8]) -> (Result<Option<Sender>, ProxyHeaderError>, usize) {
        let found = {
            let mut reading = pin!(read(&mut bytes));
            let mut context = Context::from_waker(Waker::noop());
            match reading.as_mut().poll(&mut context) {
                Poll::Ready(found) => found,
                Poll::Pending => panic!("bytes in memory are always there"),
            }
        };
        (found, bytes.len())
    }

    fn refusal(bytes: &[u8]) -> String {
        received(bytes).0.unwrap_err().to_string()
    }

    #[test]
    fn clients_are_read_and_extensions_skipped() {
        for (family, block, expected) in [
            (0x11, ipv4(), "203.0.113.9:51234"),
            (0x21, ipv6(), "[2001:db8::7]:51234"),
        ] {
            for extensions in [0, 1, 4, 300, 8_000] {
                let mut rest = block.clone();
                rest.extend(vec![4; extensions]);
                let mut bytes = header(0x21, family, &rest);
                bytes.extend(b"GET /");
                let (found, left) = received(&bytes);
                let expected = Sender::Client(expected.parse().unwrap());
                assert_eq!((found.unwrap(), left), (Some(expected), 5));
            }
        }
        let mut mapped = ipv6();
        mapped[..16].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 203, 0, 113, 9]);
        let (found, _) = received(&header(0x21, 0x21, &mapped));
        let expected = Sender::Client("203.0.113.9:51234".parse().unwrap());
        assert_eq!(found.unwrap(), Some(expected));
    }

    #[test]
    fn a_load_balancer_speaks_for_itself() {
        for (family, rest) in [
            (0, vec![]),
            (0x11, ipv4()),
            (0x31, vec![0; 216]),
            (0xff, vec![9; 3]),
        ] {
            let mut bytes = header(0x20, family, &rest);
            bytes.push(b'G');
            let (found, left) = received(&bytes);
            assert_eq!((found.unwrap(), left), (Some(Sender::Itself), 1));
        }
    }

    #[test]
    fn every_version_command_and_family_but_the_known_ones_is_refused() {
        for command in 0..=255_u8 {
            for family in 0..=255_u8 {
                let (found, _) = received(&header(command, family, &ipv6()));
                let is_known = match command {
                    0x20 => true,
                    0x21 => [0x11, 0x21].contains(&family),
                    _ => false,
                };
                assert_eq!(found.is_ok(), is_known, "{command:#x} {family:#x}");
            }
        }
        assert!(refusal(&header(0x11, 0x11, &ipv4())).contains("version 1"));
        assert!(refusal(&header(0x22, 0x11, &ipv4())).contains("command 2"));
        assert!(refusal(&header(0x21, 0x00, &[])).contains("0x00"));
        assert!(refusal(&header(0x21, 0x31, &[0; 216])).contains("0x31"));
    }

    #[test]
    fn every_length_below_the_addresses_or_above_the_bound_is_refused() {
        for length in 0..IPV6_BYTES {
            let bytes = header(0x21, 0x21, &vec![0; usize::from(length)]);
            assert!(refusal(&bytes).contains(&format!("length {length}")));
        }
        for length in 0..IPV4_BYTES {
            let bytes = header(0x21, 0x11, &vec![0; usize::from(length)]);
            assert!(refusal(&bytes).contains(&format!("length {length}")));
        }
        let longest = vec![0; usize::from(MAX_REST_BYTES)];
        assert!(received(&header(0x21, 0x11, &longest)).0.is_ok());
        for command in [0x20, 0x21] {
            let too_long = vec![0; usize::from(MAX_REST_BYTES) + 1];
            assert!(refusal(&header(command, 0x11, &too_long)).contains("length 8193"));
        }
    }

    #[test]
    fn headers_cut_off_anywhere_are_refused() {
        let mut rest = ipv6();
        rest.extend([1; 20]);
        let whole = header(0x21, 0x21, &rest);
        for length in 1..whole.len() {
            let said = refusal(&whole[..length]);
            assert!(said.contains("ended within"), "{length}: {said}");
        }
        assert_eq!(received(b"").0.unwrap(), None);
    }

    #[test]
    fn anything_else_is_refused_at_its_first_wrong_byte() {
        for bytes in [
            &b"G"[..],
            b"PROXY TCP4 203.0.113.9 10.0.0.1 51234 443\r\n",
            b"\r\n\r\n\0\r\nQUIT\r",
            b"\x16\x03\x01",
        ] {
            assert!(refusal(bytes).contains("does not begin"));
        }
    }

    #[tokio::test]
    async fn a_header_that_does_not_come_is_not_waited_for() {
        let (mut ours, mut theirs) = tokio::io::duplex(64);
        theirs.write_all(&SIGNATURE).await.unwrap();
        let found = receive(&mut ours, Duration::from_millis(20)).await;
        assert!(matches!(found, Err(ProxyHeaderError::Timeout)), "{found:?}");
    }

    proptest! {
        /// The reader takes the header and not a byte of what follows, however it arrives.
        #[test]
        fn no_more_than_the_header_is_read(extensions in 0_usize..600, after in 0_usize..40) {
            let mut rest = ipv4();
            rest.extend(vec![7; extensions]);
            let mut bytes = header(0x21, 0x11, &rest);
            bytes.extend(vec![8; after]);
            let (found, left) = received(&bytes);
            prop_assert!(found.is_ok());
            prop_assert_eq!(left, after);
        }

        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let mut behind = SIGNATURE.to_vec();
            behind.extend(&bytes);
            let _ = received(&bytes);
            let _ = received(&behind);
        }
    }
}
