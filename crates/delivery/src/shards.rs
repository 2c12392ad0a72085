//! Thread per core: each thread has its own runtime and its own listening sockets, and a connection
//! stays on the thread that accepted it.

use std::{io, net::SocketAddr, os::fd::AsFd, sync::Arc, thread::JoinHandle};

use tokio::{
    runtime::{Builder, Runtime},
    sync::watch,
};

use crate::{
    Bind, Limits, ListenError, Listener, MakeHandler, Observer, Sharing,
    serve::{ConnectionSlots, serve_in},
};

/// Why shards could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShardError {
    /// An address cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// A thread or its runtime cannot be started.
    #[error("thread could not be started")]
    System(#[from] io::Error),
}

/// Threads that serve requests.
#[derive(Debug)]
pub struct Shards {
    threads: Vec<JoinHandle<()>>,
    addresses: Vec<SocketAddr>,
    stop: watch::Sender<()>,
}

impl Shards {
    /// Listens on `binds` with `count` threads. Each thread has its own TCP sockets
    /// (`SO_REUSEPORT`); UNIX sockets are shared.
    ///
    /// # Errors
    /// An address is taken, or a thread cannot be started.
    pub fn start(
        binds: &[Bind],
        count: usize,
        limits: Limits,
        observer: Arc<dyn Observer>,
        make: MakeHandler,
    ) -> Result<Self, ShardError> {
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
            let work = serve_in(slots.clone(), listeners, Arc::clone(&make), stopped.clone());
            let thread = std::thread::Builder::new().name("shard".to_owned());
            threads.push(thread.spawn(move || runtime.block_on(work))?);
        }
        Ok(Self {
            threads,
            addresses,
            stop,
        })
    }

    /// Creates the runtime and the sockets of one shard. The sockets of `first` say which ports the
    /// kernel has chosen.
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

    /// Network addresses that the shards listen on.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Stops accepting connections, and returns when the open ones have ended.
    pub fn stop(self) {
        drop(self.stop);
        for thread in self.threads {
            // A panic of a connection is caught in its task.
            let _ = thread.join();
        }
    }
}

impl Listener {
    /// Another socket for the same address (TCP), or another descriptor of the same socket (UNIX).
    fn another(&self) -> io::Result<Self> {
        match self.address() {
            Some(address) => self.beside(address),
            None => self.again(self.as_fd().try_clone_to_owned()?),
        }
    }
}
