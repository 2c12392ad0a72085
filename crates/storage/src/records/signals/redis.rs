//! Signals by Redis (or Valkey): one connection publishes to a channel and is subscribed to it.
//! Nothing is stored there. Source: <https://redis.io/docs/latest/develop/pubsub/>.

use std::{future::Future, path::Path, sync::Arc, time::Duration};

use platen_outbound::Trust;
use redis::{
    AsyncConnectionConfig, ConnectionAddr, ConnectionInfo, ErrorKind, IntoConnectionInfo,
    ProtocolVersion, PushInfo, PushKind, RedisError as Cause, ServerErrorKind, Value,
    aio::MultiplexedConnection,
};
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream},
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, sleep, sleep_until, timeout},
};
use tokio_rustls::TlsConnector;

use super::{CHECK_INTERVAL, COLLECT, PAUSE, Signals, payloads, read};
use crate::records::peers::Signal;

/// Messages that may wait to be read from the connection.
const MAX_MESSAGES: usize = 1_024;
/// Bytes of a message.
const MAX_PAYLOAD: usize = 64 << 10;
/// How long a connection may take to be made, with its handshakes.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// How long the server may take to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(3);

/// Why the Redis server cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedisError {
    /// The address or the file of authorities is wrong.
    #[error(
        "the Redis address cannot be used: {0}; write redis://user:password@host:6379, or rediss:// for TLS"
    )]
    Address(String),
    /// The server refuses this service, and will until an operator changes something.
    #[error("the Redis server refuses: {0}")]
    Refused(String),
    /// The server cannot be reached, which may pass.
    #[error("the Redis server does not answer: {0}")]
    Unavailable(String),
}

/// A Redis server, version 6 or newer, that carries signals between services.
#[derive(Clone)]
pub struct Redis {
    info: ConnectionInfo,
    tls: Option<Arc<ClientConfig>>,
}

impl std::fmt::Debug for Redis {
    /// Without the address, which contains the password.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Redis").finish_non_exhaustive()
    }
}

impl Redis {
    /// Reads an address: `redis://user:password@host:port`, `rediss://` for TLS, or
    /// `redis+unix:///path`. `ca_file` has the only authorities to trust, PEM.
    ///
    /// # Errors
    /// [`RedisError::Address`].
    pub fn new(url: &str, ca_file: Option<&Path>) -> Result<Self, RedisError> {
        // The library knows TLS only with certificates of its own choice.
        let (plain, is_tls) = match url.strip_prefix("rediss://") {
            Some(rest) => (format!("redis://{rest}"), true),
            None => (url.to_owned(), false),
        };
        let info = plain.as_str().into_connection_info();
        // Its messages do not quote the address, which contains the password.
        let info = info.map_err(|error| RedisError::Address(error.to_string()))?;
        let protocol = info.redis_settings().clone();
        let protocol = protocol.set_protocol(ProtocolVersion::RESP3);
        let tls = match is_tls {
            false => None,
            true => Some(Arc::new(tls_config(ca_file)?)),
        };
        Ok(Self {
            info: info.set_redis_settings(protocol),
            tls,
        })
    }

    /// Whether the way to the server is protected: it has TLS, or stays on this machine.
    #[must_use]
    pub fn is_protected(&self) -> bool {
        let is_local = match self.info.addr() {
            ConnectionAddr::Tcp(host, _) => {
                let address = host.parse::<std::net::IpAddr>();
                host == "localhost" || address.is_ok_and(|address| address.is_loopback())
            }
            _ => true,
        };
        self.tls.is_some() || is_local
    }

    /// Checks that the server lets this service publish and subscribe.
    ///
    /// # Errors
    /// [`RedisError::Refused`], [`RedisError::Unavailable`].
    pub async fn check(&self) -> Result<(), RedisError> {
        let (sender, _messages) = mpsc::channel(MAX_MESSAGES);
        let mut link = self.connect("platen:check", sender).await?;
        link.publish("platen:check", "").await
    }

    /// Connects, and subscribes to `channel`.
    async fn connect(
        &self,
        channel: &str,
        messages: mpsc::Sender<Option<String>>,
    ) -> Result<Link, RedisError> {
        let connected = timeout(CONNECT_WITHIN, self.connect_once(channel, messages)).await;
        connected.map_err(|_| RedisError::Unavailable("it is silent".to_owned()))?
    }

    async fn connect_once(
        &self,
        channel: &str,
        messages: mpsc::Sender<Option<String>>,
    ) -> Result<Link, RedisError> {
        let lost = |error: std::io::Error| RedisError::Unavailable(error.to_string());
        match self.info.addr() {
            ConnectionAddr::Unix(path) => {
                let stream = UnixStream::connect(path).await.map_err(lost)?;
                self.introduce(stream, channel, messages).await
            }
            ConnectionAddr::Tcp(host, port) => {
                let stream = TcpStream::connect((&**host, *port)).await.map_err(lost)?;
                stream.set_nodelay(true).map_err(lost)?;
                let Some(tls) = &self.tls else {
                    return self.introduce(stream, channel, messages).await;
                };
                let name = ServerName::try_from(host.clone())
                    .map_err(|error| RedisError::Address(error.to_string()))?;
                let connector = TlsConnector::from(Arc::clone(tls));
                let stream = connector.connect(name, stream).await.map_err(tls_failure)?;
                self.introduce(stream, channel, messages).await
            }
            _ => Err(RedisError::Address("it is of an unknown kind".to_owned())),
        }
    }

    /// Authenticates on a stream, and subscribes.
    async fn introduce<S>(
        &self,
        stream: S,
        channel: &str,
        messages: mpsc::Sender<Option<String>>,
    ) -> Result<Link, RedisError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(Some(ANSWER_WITHIN))
            .set_push_sender(move |push| pass_on(&messages, push));
        let settings = self.info.redis_settings();
        let made = MultiplexedConnection::new_with_config(settings, stream, config);
        let (mut connection, driver) = drive(made).await?;
        connection
            .subscribe(channel)
            .await
            .map_err(|error| failure(&error))?;
        Ok(Link { connection, driver })
    }
}

/// Waits for the handshake, and spawns what drives the connection from then on.
async fn drive<D>(
    made: impl Future<Output = Result<(MultiplexedConnection, D), Cause>>,
) -> Result<(MultiplexedConnection, Driver), RedisError>
where
    D: Future<Output = ()> + Send + 'static,
{
    let (connection, driver) = made.await.map_err(|error| failure(&error))?;
    Ok((connection, Driver(tokio::spawn(driver))))
}

/// Ends the task of a connection with the connection, which closes the socket.
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A connection that is subscribed.
struct Link {
    connection: MultiplexedConnection,
    driver: Driver,
}

impl Link {
    async fn publish(&mut self, channel: &str, message: &str) -> Result<(), RedisError> {
        let command = redis::cmd("PUBLISH").arg(channel).arg(message).to_owned();
        let sent = command.query_async::<()>(&mut self.connection).await;
        sent.map_err(|error| failure(&error))
    }

    async fn check(&mut self) -> Result<(), RedisError> {
        let command = redis::cmd("PING");
        let sent = command.query_async::<()>(&mut self.connection).await;
        sent.map_err(|error| failure(&error))
    }

    fn is_closed(&self) -> bool {
        self.driver.0.is_finished()
    }
}

/// Passes a message on, `None` for those that found no place. Never waits: the answers to commands
/// come the same way.
fn pass_on(messages: &mpsc::Sender<Option<String>>, push: PushInfo) -> Result<(), ()> {
    if push.kind != PushKind::Message {
        return Ok(());
    }
    let Some(Value::BulkString(text)) = push.data.into_iter().nth(1) else {
        return Ok(());
    };
    // Half of the places are for messages, so that one that stands for the lost ones has a place.
    let message = match messages.capacity() > MAX_MESSAGES / 2 {
        true => String::from_utf8(text).ok(),
        false => None,
    };
    let _ = messages.try_send(message);
    Ok(())
}

fn tls_config(ca_file: Option<&Path>) -> Result<ClientConfig, RedisError> {
    let trust = match ca_file {
        None => Ok(Trust::default()),
        Some(file) => Trust::only(file),
    };
    let config = trust.and_then(|trust| trust.client_config());
    let mut config = config.map_err(|error| RedisError::Address(format!("TLS: {error}")))?;
    config.alpn_protocols.clear();
    Ok(config)
}

fn tls_failure(error: std::io::Error) -> RedisError {
    match error
        .get_ref()
        .is_some_and(|cause| cause.is::<rustls::Error>())
    {
        true => RedisError::Refused(format!("{error}: check the certificate and REDIS_CA_FILE")),
        false => RedisError::Unavailable(error.to_string()),
    }
}

/// What an error of the library means.
fn failure(error: &Cause) -> RedisError {
    let said = error.detail().unwrap_or_default();
    match error.kind() {
        ErrorKind::AuthenticationFailed => {
            RedisError::Refused(format!("{error}: check user and password of the address"))
        }
        ErrorKind::Server(ServerErrorKind::NoPerm) => RedisError::Refused(format!(
            "{said}: allow the user +subscribe +publish +ping on the channels platen:*"
        )),
        ErrorKind::RESP3NotSupported => {
            RedisError::Refused("it is older than version 6".to_owned())
        }
        ErrorKind::Extension if error.code() == Some("WRONGPASS") => {
            RedisError::Refused(format!("{said}: check user and password of the address"))
        }
        ErrorKind::Extension if error.code() == Some("NOAUTH") => {
            RedisError::Refused(format!("{said}: give user and password in the address"))
        }
        _ => RedisError::Unavailable(error.to_string()),
    }
}

/// Sends and receives on `channel` until the task is aborted. Signals from a time without a
/// connection are sent by the next one; those of others from that time are lost.
pub(crate) async fn exchange(redis: Redis, channel: String, signals: Arc<Signals>) {
    // A subscriber hears itself: messages begin with who sent them.
    let sender = format!("{:016x}", fastrand::u64(..));
    loop {
        let (messages, arriving) = mpsc::channel(MAX_MESSAGES);
        if let Ok(link) = redis.connect(&channel, messages).await {
            // Returns how the connection failed; the next one may do better.
            let _ = converse(link, &channel, &sender, arriving, &signals).await;
        }
        sleep(PAUSE).await;
    }
}

async fn converse(
    mut link: Link,
    channel: &str,
    sender: &str,
    mut arriving: mpsc::Receiver<Option<String>>,
    signals: &Signals,
) -> Result<(), RedisError> {
    signals.receive(Signal::Missed);
    let mut check_at = Instant::now() + CHECK_INTERVAL;
    while !link.is_closed() {
        tokio::select! {
            message = arriving.recv() => match message {
                Some(Some(message)) => hear(&message, sender, signals),
                Some(None) => signals.receive(Signal::Missed),
                None => return Ok(()),
            },
            () = signals.has_unsent.notified() => {
                sleep(COLLECT).await;
                for payload in payloads(&signals.take_unsent(), MAX_PAYLOAD) {
                    link.publish(channel, &format!("{sender}\n{payload}")).await?;
                }
            }
            () = sleep_until(check_at) => {
                link.check().await?;
                check_at = Instant::now() + CHECK_INTERVAL;
            }
        }
    }
    Ok(())
}

fn hear(message: &str, own: &str, signals: &Signals) {
    let (sender, lines) = message.split_once('\n').unwrap_or_default();
    if sender != own {
        for signal in lines.lines().filter_map(read) {
            signals.receive(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_passwords_are_not_quoted() {
        let of = |url: &str| Redis::new(url, None).map(|redis| redis.is_protected());
        assert_eq!(of("redis://localhost"), Ok(true));
        assert_eq!(of("redis://:hidden@127.0.0.1:7000/2"), Ok(true));
        assert_eq!(of("redis://user:hidden@redis.example.com"), Ok(false));
        assert_eq!(of("redis+unix:///run/redis.sock"), Ok(true));
        for wrong in [
            "http://a:hidden@b",
            "redis://",
            "word",
            "redis://a:hidden@b:x",
        ] {
            let error = of(wrong).unwrap_err();
            assert!(matches!(error, RedisError::Address(_)), "{wrong}");
            let said = error.to_string();
            assert!(
                !said.contains("hidden") && said.contains("redis://user"),
                "{said}"
            );
        }
        let file = Some(Path::new("/nowhere.pem"));
        assert!(Redis::new("rediss://a", file).is_err());
        assert!(Redis::new("redis://a", file).is_ok());
    }

    #[test]
    fn a_service_does_not_hear_itself() {
        let signals = Signals::default();
        let mut heard = signals.listen();
        hear("me\nr1", "me", &signals);
        hear("", "me", &signals);
        hear("other\nr2\n?new\np", "me", &signals);
        assert_eq!(heard.try_recv(), Ok(Signal::Ready("2".to_owned())));
        assert_eq!(heard.try_recv(), Ok(Signal::Published));
        assert!(heard.try_recv().is_err());
    }
}
