//! The DevTools protocol over a WebSocket, for a Chromium that others started with
//! `--remote-debugging-port`.

use std::{io, net::SocketAddr, sync::Arc};

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::mpsc,
};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{Message, Utf8Bytes, protocol::WebSocketConfig},
};

use super::connection::{Connection, MAX_MESSAGE, Shared, dispatch};

/// Largest answer to the question where the WebSocket is, in bytes.
const MAX_ANSWER: u64 = 64 << 10;

/// Connects to the Chromium at `host:port`.
pub(crate) async fn connect(address: &str) -> io::Result<Connection> {
    let place = resolve(address).await?;
    let path = socket_path(place).await?;
    let stream = TcpStream::connect(place).await?;
    stream.set_nodelay(true)?;
    let bytes = usize::try_from(MAX_MESSAGE).unwrap_or(usize::MAX);
    let config = WebSocketConfig::default()
        .max_message_size(Some(bytes))
        .max_frame_size(Some(bytes));
    let url = format!("ws://{place}{path}");
    let shaken = client_async_with_config(url, stream, Some(config)).await;
    let (socket, _) = shaken.map_err(io::Error::other)?;
    let (connection, messages) = Connection::unconnected();
    tokio::spawn(exchange(socket, messages, Arc::clone(&connection.shared)));
    Ok(connection)
}

/// Chromium answers only those who name it by its address.
async fn resolve(address: &str) -> io::Result<SocketAddr> {
    let mut found = tokio::net::lookup_host(address).await?;
    found
        .next()
        .ok_or_else(|| io::Error::other("the host has no address"))
}

/// Asks for the path of the browser's WebSocket.
async fn socket_path(place: SocketAddr) -> io::Result<String> {
    let mut stream = TcpStream::connect(place).await?;
    let request =
        format!("GET /json/version HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    let mut bounded = stream.take(MAX_ANSWER);
    // Chromium may keep the connection open after its answer.
    while path_in(&answer).is_none() && bounded.read_buf(&mut answer).await? > 0 {}
    path_in(&answer).ok_or_else(|| {
        let text = String::from_utf8_lossy(&answer);
        let line = text.lines().next().unwrap_or_default();
        io::Error::other(format!(
            "it does not answer like Chromium with --remote-debugging-port: `{line}`"
        ))
    })
}

/// The path in an answer, once it is complete: only a path of the browser itself, on the host that was
/// asked, whatever host the answer names.
fn path_in(answer: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(answer).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    if head.split(' ').nth(1)? != "200" {
        return None;
    }
    let body: Value = serde_json::from_str(body).ok()?;
    let url = body["webSocketDebuggerUrl"].as_str()?;
    let (_, path) = url.strip_prefix("ws://")?.split_once('/')?;
    let name = path.strip_prefix("devtools/browser/")?;
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '-';
    (!name.is_empty() && name.len() <= 100 && name.chars().all(is_name))
        .then(|| format!("/devtools/browser/{name}"))
}

/// Carries messages both ways until either end closes.
async fn exchange(
    mut socket: WebSocketStream<TcpStream>,
    mut messages: mpsc::Receiver<Vec<u8>>,
    shared: Arc<Shared>,
) {
    let mut closed = shared.closed.subscribe();
    loop {
        // Awaited in its own block, because the guard it returns must not be held across an await.
        let closing = async {
            let _ = closed.wait_for(|closed| *closed).await;
        };
        tokio::select! {
            message = messages.recv() => {
                let Some(mut message) = message else { break };
                // The mark of the end of a message on a pipe.
                message.pop();
                let Ok(text) = Utf8Bytes::try_from(bytes::Bytes::from(message)) else { break };
                if socket.send(Message::Text(text)).await.is_err() {
                    break;
                }
            }
            message = socket.next() => match message {
                Some(Ok(Message::Text(text))) => dispatch(text.as_bytes(), &shared),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                _ => break,
            },
            () = closing => break,
        }
    }
    shared.close();
}

#[cfg(test)]
mod tests {
    use super::path_in;

    #[test]
    fn only_the_browser_itself_is_found() {
        let answer = |url: &str| {
            let body = format!(r#"{{"Browser":"x","webSocketDebuggerUrl":"{url}"}}"#);
            path_in(format!("HTTP/1.1 200 OK\r\nA: b\r\n\r\n{body}").as_bytes())
        };
        let path = answer("ws://elsewhere:1/devtools/browser/3f-A").unwrap();
        assert_eq!(path, "/devtools/browser/3f-A");
        for wrong in [
            "wss://a/devtools/browser/1",
            "ws://a/devtools/page/1",
            "ws://a/devtools/browser/",
            "ws://a/devtools/browser/../x",
            "ws://a/devtools/browser/1 HTTP/1.1",
        ] {
            assert_eq!(answer(wrong), None, "{wrong}");
        }
        let body = r#"{"webSocketDebuggerUrl":"ws://a/devtools/browser/1"}"#;
        assert!(path_in(format!("HTTP/1.1 500 No\r\n\r\n{body}").as_bytes()).is_none());
        assert!(path_in(format!("HTTP/1.1 200 OK\r\n\r\n{}", &body[..20]).as_bytes()).is_none());
    }
}
