//! A TCP proxy in front of the server, which loses connections.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::oneshot,
};

/// What happens to the next COMMIT that passes.
pub enum Fault {
    /// The server gets it, and its answer is lost with the connection.
    LoseAnswer,
    /// The connection is lost before the server gets it.
    LoseCommit,
    /// The client's side is lost, and the server gets it only when the sender says so.
    HoldCommit(oneshot::Receiver<()>),
}

/// A proxy.
pub struct Proxy {
    pub port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    server: u16,
    fault: Mutex<Option<Fault>>,
    /// Connections are lost after some thousand bytes.
    is_rough: AtomicBool,
    is_refusing: AtomicBool,
    /// How often the connections of then fell silent.
    silences: AtomicU64,
    random: AtomicU64,
}

impl Shared {
    /// A number below `below`, the same sequence in every test.
    fn random(&self, below: u64) -> u64 {
        let step = |state: u64| {
            state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407)
        };
        let update = self
            .random
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |state| {
                Some(step(state))
            });
        (update.unwrap() >> 33) % below
    }
}

impl Proxy {
    /// A proxy in front of a port of this machine.
    pub async fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            server,
            fault: Mutex::default(),
            is_rough: AtomicBool::default(),
            is_refusing: AtomicBool::default(),
            silences: AtomicU64::default(),
            random: AtomicU64::new(7),
        });
        tokio::spawn({
            let shared = Arc::clone(&shared);
            async move {
                while let Ok((client, _)) = listener.accept().await {
                    if !shared.is_refusing.load(Ordering::Relaxed) {
                        tokio::spawn(pass(Arc::clone(&shared), client));
                    }
                }
            }
        });
        Self { port, shared }
    }

    /// Does this to the next COMMIT.
    pub fn next(&self, fault: Fault) {
        *self.shared.fault.lock().unwrap() = Some(fault);
    }

    /// Whether the fault has happened.
    pub fn is_done(&self) -> bool {
        self.shared.fault.lock().unwrap().is_none()
    }

    /// Begins or ends to lose connections at random moments.
    pub fn set_rough(&self, is_rough: bool) {
        self.shared.is_rough.store(is_rough, Ordering::Relaxed);
    }

    /// Open connections stop to forward without an error; new ones work.
    pub fn silence(&self) {
        self.shared.silences.fetch_add(1, Ordering::Relaxed);
    }

    /// Begins or ends to close every connection at once; those that are open are not affected.
    pub fn set_refusing(&self, is_refusing: bool) {
        self.shared
            .is_refusing
            .store(is_refusing, Ordering::Relaxed);
    }
}

/// The two sides of a connection.
struct Sides {
    from_client: OwnedReadHalf,
    to_client: OwnedWriteHalf,
    from_server: OwnedReadHalf,
    to_server: OwnedWriteHalf,
}

async fn pass(shared: Arc<Shared>, client: TcpStream) {
    let address = SocketAddr::from(([127, 0, 0, 1], shared.server));
    let Ok(server) = TcpStream::connect(address).await else {
        return;
    };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let sides = Sides {
        from_client,
        to_client,
        from_server,
        to_server,
    };
    sides.pass(&shared).await;
}

impl Sides {
    async fn pass(mut self, shared: &Shared) {
        // Enough for a client to connect, most of the time.
        let mut left = 3_000 + shared.random(60_000) as usize;
        let mut question = vec![0; 1 << 16];
        let mut answer = vec![0; 1 << 16];
        let silences = shared.silences.load(Ordering::Relaxed);
        loop {
            let is_written = tokio::select! {
                read = self.from_client.read(&mut question) => {
                    if shared.silences.load(Ordering::Relaxed) > silences {
                        return std::future::pending().await;
                    }
                    let Ok(length @ 1..) = read else { return };
                    left = left.saturating_sub(length);
                    let bytes = &question[..length];
                    if contains_commit(bytes) {
                        let fault = shared.fault.lock().unwrap().take();
                        if let Some(fault) = fault {
                            return self.fail(fault, bytes).await;
                        }
                    }
                    self.to_server.write_all(bytes).await
                }
                read = self.from_server.read(&mut answer) => {
                    let Ok(length @ 1..) = read else { return };
                    left = left.saturating_sub(length);
                    self.to_client.write_all(&answer[..length]).await
                }
            };
            if is_written.is_err() {
                return;
            }
            if left == 0 && shared.is_rough.load(Ordering::Relaxed) {
                return self.lose(shared.random(4)).await;
            }
        }
    }

    /// Loses the connection in one of several ways.
    async fn lose(mut self, way: u64) {
        match way {
            // The server only sees that nothing more will come.
            0 => {
                let _ = self.to_server.shutdown().await;
                drop(self.to_client);
                drain(self.from_server).await;
            }
            // The client only sees that nothing more will come; what it sends arrives.
            1 => {
                let _ = self.to_client.shutdown().await;
                let _ = tokio::io::copy(&mut self.from_client, &mut self.to_server).await;
            }
            // What the client has sent arrives, and nobody gets the answer.
            2 => {
                let mut bytes = vec![0; 1 << 16];
                if let Ok(Ok(length)) = tokio::time::timeout(
                    std::time::Duration::from_millis(20),
                    self.from_client.read(&mut bytes),
                )
                .await
                {
                    let _ = self.to_server.write_all(&bytes[..length]).await;
                }
            }
            _ => {}
        }
    }

    async fn fail(mut self, fault: Fault, bytes: &[u8]) {
        match fault {
            Fault::LoseCommit => {}
            Fault::LoseAnswer => {
                self.to_server.write_all(bytes).await.unwrap();
                self.to_server.shutdown().await.unwrap();
                // Until the server has closed, so it has committed.
                drain(self.from_server).await;
            }
            Fault::HoldCommit(go) => {
                drop((self.from_client, self.to_client));
                let _ = go.await;
                // The server may have ended the session.
                let _ = self.to_server.write_all(bytes).await;
                let _ = self.to_server.shutdown().await;
                drain(self.from_server).await;
            }
        }
    }
}

async fn drain(mut from: OwnedReadHalf) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(1..) = from.read(&mut bytes).await {}
}

fn contains_commit(bytes: &[u8]) -> bool {
    bytes.windows(7).any(|window| window == b"COMMIT\0")
}
