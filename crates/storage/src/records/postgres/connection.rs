//! A connection to the server: how it is made, its prepared statements, and statements sent one
//! after another without waiting for answers in between.

use std::{
    collections::HashMap,
    future::{Future, poll_fn},
    pin::Pin,
    sync::{Mutex, PoisonError},
    task::Poll,
    time::Duration,
};

use tokio::{
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, sleep, timeout, timeout_at},
};
use tokio_postgres::{
    AsyncMessage, Client, Error as PgError, Notification, Row, RowStream, Statement, types::ToSql,
};

use super::{
    address::Address,
    tls::Tls,
    trouble::{Trouble, no_connection},
};

/// First pause between two attempts to connect; it doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
/// Longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// What the network may take beyond the time that the server allows a statement.
const NETWORK: Duration = Duration::from_secs(2);

/// The least time between two warnings.
const WARNING_INTERVAL: Duration = Duration::from_secs(10);

/// Idle time after which the system asks whether the server is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// A future on the heap.
pub(super) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
/// A column of a statement that takes arrays.
pub(super) type Column<'a> = Box<dyn ToSql + Sync + Send + 'a>;
/// Parameters of a statement.
pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Write,
    Read,
    /// Changes tables, without a limit of time.
    Migrate,
}

/// Makes connections.
pub(super) struct Connector {
    pub address: Address,
    tls: Tls,
    connect_within: Duration,
    statement_timeout: Duration,
    /// When the last warning was logged.
    warned: Mutex<Option<Instant>>,
}

impl Connector {
    pub(super) fn new(
        mut address: Address,
        tls: Tls,
        connect_within: Duration,
        statement_timeout: Duration,
    ) -> Self {
        let config = &mut address.config;
        // So that the next host is tried when one is silent.
        if config.get_connect_timeout().is_none() {
            let hosts = u32::try_from(config.get_hosts().len()).unwrap_or(1).max(1);
            config.connect_timeout(connect_within / hosts);
        }
        // A network that forgot a connection does not say so.
        config.keepalives_idle(KEEPALIVE);
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(statement_timeout + NETWORK);
        }
        Self {
            address,
            tls,
            connect_within,
            statement_timeout,
            warned: Mutex::default(),
        }
    }

    /// When an attempt that begins now is given up.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.connect_within
    }

    /// How long an exchange with the server may take; the client library has no limit of its own.
    pub(super) fn exchange(&self) -> Duration {
        self.statement_timeout + NETWORK
    }

    /// Connects, again and again until `deadline`.
    ///
    /// # Errors
    /// The last failure, or the first one that will not pass.
    pub(super) async fn connect(
        &self,
        role: Role,
        deadline: Instant,
    ) -> Result<Connection, Trouble> {
        let mut pause = FIRST_PAUSE;
        loop {
            let trouble = match timeout_at(deadline, self.connect_once(role, None)).await {
                Ok(Ok(connection)) => return Ok(connection),
                Ok(Err(Trouble::Server(cause))) => return Err(Trouble::Server(cause)),
                Ok(Err(trouble)) => trouble,
                Err(_) => Trouble::Unavailable("it does not answer in time".to_owned()),
            };
            if Instant::now() + pause >= deadline {
                return Err(trouble);
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Connects once, and passes on notifications; `None` stands for those that found no place.
    ///
    /// # Errors
    /// How it failed.
    pub(super) async fn connect_to_listen(
        &self,
        notices: mpsc::Sender<Option<Notification>>,
        deadline: Instant,
    ) -> Result<Connection, Trouble> {
        match timeout_at(deadline, self.connect_once(Role::Read, Some(notices))).await {
            Ok(connected) => connected,
            Err(_) => Err(Trouble::Unavailable(
                "it does not answer in time".to_owned(),
            )),
        }
    }

    /// Logs why there is no connection, now and then: whoever waits for one learns only that none came
    /// in time.
    fn warn(&self, trouble: &Trouble) {
        let (Trouble::Unavailable(cause) | Trouble::Server(cause)) = trouble;
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.is_none_or(|warned| warned.elapsed() >= WARNING_INTERVAL) {
            *warned = Some(Instant::now());
            tracing::warn!(cause, "no connection with PostgreSQL");
        }
    }

    async fn connect_once(
        &self,
        role: Role,
        notices: Option<mpsc::Sender<Option<Notification>>>,
    ) -> Result<Connection, Trouble> {
        let trouble = |error| {
            let trouble = no_connection(&error, &self.address);
            self.warn(&trouble);
            trouble
        };
        let connected = self.address.config.connect(self.tls.clone()).await;
        let (client, mut driver) = connected.map_err(trouble)?;
        let driver = Driver(tokio::spawn(async move {
            let Some(notices) = notices else {
                // The statements under way report its error.
                let _ = driver.await;
                return;
            };
            let mut has_dropped = false;
            // The statements under way report an error.
            while let Some(Ok(message)) = poll_fn(|context| driver.poll_message(context)).await {
                let AsyncMessage::Notification(notice) = message else {
                    continue;
                };
                // Never waits: the answers to statements come the same way.
                if has_dropped {
                    has_dropped = notices.try_send(None).is_err();
                }
                has_dropped |= notices.try_send(Some(notice)).is_err();
            }
        }));
        let connection = Connection {
            client,
            statements: Mutex::default(),
            session: Session::default(),
            _driver: driver,
        };
        connection
            .set_up(role, self.statement_timeout)
            .await
            .map_err(trouble)
    }
}

/// Ends the task of a connection with the connection, which closes the socket.
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The server's process of a connection; a process number alone is given again.
#[derive(Clone, Debug, Default)]
pub(super) struct Session {
    pub process: i32,
    pub started: String,
}

/// A connection.
pub(super) struct Connection {
    client: Client,
    /// By their text; there are as many as this crate contains.
    statements: Mutex<HashMap<String, Statement>>,
    pub session: Session,
    _driver: Driver,
}

impl Connection {
    async fn set_up(mut self, role: Role, limit: Duration) -> Result<Self, PgError> {
        let limit_ms = match role {
            Role::Migrate => 0,
            Role::Write | Role::Read => limit.as_millis(),
        };
        // So that the server notices within half a minute that this machine is gone, and frees its
        // locks. An acknowledged write survives a loss of power, whatever the server's default is.
        let mut settings = format!(
            "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5;
             SET tcp_keepalives_count = 3; SET tcp_user_timeout = 25000;
             SET statement_timeout = {limit_ms};
             SET idle_in_transaction_session_timeout = {limit_ms};
             SELECT set_config('synchronous_commit', 'on', false)
             WHERE current_setting('synchronous_commit') = 'off';"
        );
        if role == Role::Write {
            // The plans of prepared statements are made while the tables are small and unknown, and
            // kept while they grow. All of these statements find a few rows by an index.
            settings.push_str(
                "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;
                 SET enable_hashjoin = off; SET enable_mergejoin = off;",
            );
        }
        self.client.batch_execute(&settings).await?;
        let session = "SELECT pid, backend_start::text FROM pg_stat_activity
                       WHERE pid = pg_backend_pid()";
        if let Some(row) = self.client.query_opt(session, &[]).await? {
            self.session = Session {
                process: row.try_get(0)?,
                started: row.try_get(1)?,
            };
        }
        Ok(self)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// A prepared statement.
    pub(super) async fn statement(&self, text: &str) -> Result<Statement, PgError> {
        let known = self.statements.lock();
        let known = known
            .unwrap_or_else(PoisonError::into_inner)
            .get(text)
            .cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let statement = self.client.prepare(text).await?;
        let mut statements = self
            .statements
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        statements.insert(text.to_owned(), statement.clone());
        Ok(statement)
    }

    pub(super) async fn query(
        &self,
        text: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, PgError> {
        let statement = self.statement(text).await?;
        self.client.query(&statement, parameters).await
    }

    /// All rows of a statement without parameters, as they arrive: a reader that waits keeps the
    /// server from sending more.
    pub(super) async fn stream(&self, text: &str) -> Result<RowStream, PgError> {
        let statement = self.client.prepare(text).await?;
        let none: [i32; 0] = [];
        self.client.query_raw(&statement, none).await
    }

    /// As [`Connection::query`], of a statement that is prepared already: it is sent when the
    /// future is polled first.
    pub(super) async fn send_columns(
        &self,
        statement: &Statement,
        columns: &[Column<'_>],
    ) -> Result<Vec<Row>, PgError> {
        let columns: Vec<&(dyn ToSql + Sync)> = columns
            .iter()
            .map(|column| &**column as &(dyn ToSql + Sync))
            .collect();
        self.client.query(statement, &columns).await
    }

    /// The same with numbers.
    pub(super) async fn send_numbers(
        &self,
        statement: &Statement,
        [first, second, third]: [i64; 3],
    ) -> Result<Vec<Row>, PgError> {
        self.client
            .query(statement, &[&first, &second, &third])
            .await
    }

    /// Statements without parameters and results.
    pub(super) async fn execute(&self, text: &str) -> Result<Vec<Row>, PgError> {
        self.client.batch_execute(text).await?;
        Ok(Vec::new())
    }
}

/// Completes all futures, each polled first in their order: so statements of one connection are
/// sent in that order, before the first answer arrives.
pub(super) async fn in_order<T>(mut futures: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    let mut done: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut is_pending = false;
        for (future, done) in futures.iter_mut().zip(&mut done) {
            if done.is_none() {
                match future.as_mut().poll(context) {
                    Poll::Ready(value) => *done = Some(value),
                    Poll::Pending => is_pending = true,
                }
            }
        }
        match is_pending {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    })
    .await;
    done.into_iter().flatten().collect()
}

/// `None` if the future takes longer than `limit`.
pub(super) async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    timeout(limit, future).await.ok()
}
