//! A thread for each core: its own runtime, its own place in the kernel's queue, and connections
//! that never leave it.

use std::{convert::Infallible, io, net::SocketAddr, os::fd::AsFd, sync::Arc, thread::JoinHandle};

use http::{Request, Response};
use tokio::{
    runtime::{Builder, Runtime},
    sync::watch,
};
use tower_service::Service;

use crate::{
    Bind, Body, Limits, ListenError, Listener, Observer, Peer, RequestBody, Sharing,
    serve::{ConnectionSlots, serve_in},
};

/// Why shards could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShardError {
    /// An address cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// There is no thread or runtime to be had.
    #[error("thread could not be started")]
    System(#[from] io::Error),
}

/// Threads that serve.
#[derive(Debug)]
pub struct Shards {
    threads: Vec<JoinHandle<()>>,
    addresses: Vec<SocketAddr>,
    stop: watch::Sender<()>,
}

impl Shards {
    /// Listens on `binds` with `count` threads. Each has a socket of its own for TCP
    /// (`SO_REUSEPORT`); UNIX sockets are shared.
    ///
    /// # Errors
    /// Where an address is taken, or there are no threads.
    pub fn start<M, S>(
        binds: &[Bind],
        count: usize,
        limits: Limits,
        observer: Arc<dyn Observer>,
        make: M,
    ) -> Result<Self, ShardError>
    where
        M: Fn(&Peer) -> S + Clone + Send + Sync + 'static,
        S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible>
            + Clone
            + Send
            + 'static,
        S::Future: Send,
    {
        let slots = ConnectionSlots::new(limits, observer);
        let first = Self::listen(binds, None)?;
        let addresses = first.1.iter().filter_map(Listener::address).collect();
        let mut shards = Vec::new();
        for _ in 1..count {
            shards.push(Self::listen(binds, Some(&first.1))?);
        }
        shards.push(first);
        let (stop, stopped) = watch::channel(());
        let mut threads = Vec::new();
        for (runtime, listeners) in shards {
            let work = serve_in(slots.clone(), listeners, make.clone(), stopped.clone());
            let thread = std::thread::Builder::new().name("shard".to_owned());
            threads.push(thread.spawn(move || runtime.block_on(work))?);
        }
        Ok(Self {
            threads,
            addresses,
            stop,
        })
    }

    /// The sockets of one shard; those of `first` tell which ports were chosen.
    fn listen(
        binds: &[Bind],
        first: Option<&[Listener]>,
    ) -> Result<(Runtime, Vec<Listener>), ShardError> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let entered = runtime.enter();
        let mut listeners = Vec::new();
        match first {
            None => {
                for bind in binds {
                    listeners.extend(Listener::bind(bind, Sharing::Port)?);
                }
            }
            Some(first) => {
                for listener in first {
                    listeners.push(listener.another()?);
                }
            }
        }
        drop(entered);
        Ok((runtime, listeners))
    }

    /// The addresses in the network that are listened on.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Stops taking connections, and returns when those that are open have ended.
    pub fn stop(self) {
        drop(self.stop);
        for thread in self.threads {
            // A panic of a connection stays in its task.
            let _ = thread.join();
        }
    }
}

impl Listener {
    /// Another socket for the same address, or the same socket where there can be only one.
    fn another(&self) -> io::Result<Self> {
        match self.address() {
            Some(address) => self.beside(address),
            None => self.again(self.as_fd().try_clone_to_owned()?),
        }
    }
}
