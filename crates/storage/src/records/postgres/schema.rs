//! Tables and their migrations.
//!
//! A run is a row of `runs`, which never changes; while it is open, a narrow row of `open_runs`
//! has what changes, and once it has ended, one of `ended_runs` has its end. No index contains
//! what a claim or a heartbeat changes, so their updates stay within a page. Source:
//! <https://www.postgresql.org/docs/current/storage-hot.html>.

use super::connection::Connection;
use super::trouble::refused;
use super::{address::Address, connection::BoxFuture};
use crate::Error;

/// The lock that migrations hold: "platen" in ASCII.
const LOCK: i64 = 0x70_6c_61_74_65_6e;

/// Migrations in order; the table `platen_schema` counts those applied.
const MIGRATIONS: [&str; 6] = [
    r#"
    CREATE TABLE templates (
        key text COLLATE "C" PRIMARY KEY,
        -- NULL where the template is deleted; its numbers are not given again.
        current bigint,
        last bigint NOT NULL,
        generation bigint NOT NULL
    );
    CREATE TABLE template_versions (
        key text COLLATE "C" NOT NULL,
        version bigint NOT NULL,
        generation bigint NOT NULL,
        name text NOT NULL,
        note text,
        restored_from bigint,
        created_unix_ms bigint NOT NULL,
        source bytea NOT NULL,
        PRIMARY KEY (key, version)
    );
    CREATE TABLE flows (LIKE templates INCLUDING ALL);
    CREATE TABLE flow_versions (LIKE template_versions INCLUDING ALL);
    -- The version of a flow that its triggers start.
    CREATE TABLE published (
        flow text COLLATE "C" PRIMARY KEY,
        version bigint NOT NULL,
        -- What a poll or a schedule remembers, JSON.
        cursor bytea
    );
    CREATE TABLE runs (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        version bigint NOT NULL,
        deadline_ms bigint,
        created_ms bigint NOT NULL,
        lane smallint NOT NULL,
        -- From the id; the queue of a process that a write goes through follows from it.
        shard smallint NOT NULL,
        id text COLLATE "C" NOT NULL UNIQUE,
        flow text COLLATE "C" NOT NULL,
        token text NOT NULL,
        retry_of text,
        -- The trace that the run belongs to, as W3C's traceparent.
        trace text,
        idempotency_key text COLLATE "C",
        request_hash bytea,
        definition bytea,
        trigger_payload bytea NOT NULL
    );
    CREATE INDEX runs_of_flow ON runs (flow, number);
    CREATE UNIQUE INDEX runs_idempotency ON runs (flow, idempotency_key)
        WHERE idempotency_key IS NOT NULL;
    CREATE TABLE open_runs (
        number bigint PRIMARY KEY,
        epoch bigint NOT NULL DEFAULT 0,
        worker_losses bigint NOT NULL DEFAULT 0,
        lease_until_ms bigint NOT NULL DEFAULT 0,
        wake_ms bigint,
        started_ms bigint,
        state smallint NOT NULL DEFAULT 0,
        shard smallint NOT NULL,
        -- Whether a callback has arrived that the worker does not know of.
        called boolean NOT NULL DEFAULT false,
        worker text,
        -- An answer before the end.
        answer bytea
    ) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05,
            autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
    CREATE TABLE ended_runs (
        number bigint PRIMARY KEY,
        epoch bigint NOT NULL,
        worker_losses bigint NOT NULL,
        started_ms bigint,
        ended_ms bigint NOT NULL,
        state smallint NOT NULL,
        worker text,
        answer bytea,
        details bytea NOT NULL
    );
    CREATE INDEX ended_runs_ended ON ended_runs (ended_ms);
    CREATE TABLE journal (
        run bigint NOT NULL,
        -- Taken under the lock of the open run, so it is in the order of the writes.
        position bigint GENERATED ALWAYS AS IDENTITY,
        -- 0 where it came from outside, by a callback.
        epoch bigint NOT NULL,
        records bytea NOT NULL,
        PRIMARY KEY (run, position)
    );
    CREATE TABLE kept (
        -- Empty where it is shared, as no key of a flow is.
        flow text COLLATE "C" NOT NULL,
        key text COLLATE "C" NOT NULL,
        value bytea NOT NULL,
        PRIMARY KEY (flow, key)
    );
    -- A row for each connection that writes: its last transaction, by which the end of a
    -- transaction whose answer was lost is read back.
    CREATE TABLE writers (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        epoch bigint NOT NULL DEFAULT 1,
        batch bigint NOT NULL DEFAULT 0,
        seen timestamptz NOT NULL DEFAULT now()
    ) WITH (fillfactor = 20, autovacuum_vacuum_threshold = 2000);
"#,
    r#"
    -- Work that one of several services does at a time.
    CREATE TABLE leaders (
        name text COLLATE "C" PRIMARY KEY,
        holder text NOT NULL,
        until_ms bigint NOT NULL
    ) WITH (fillfactor = 20, autovacuum_vacuum_threshold = 2000);
    -- Runs under a lease of flows that limit how many run at once. A row whose run has no lease any
    -- more does not count.
    CREATE TABLE limited_runs (
        number bigint PRIMARY KEY,
        flow text COLLATE "C" NOT NULL
    );
    CREATE INDEX limited_runs_of_flow ON limited_runs (flow);
"#,
    r#"
    -- The move that filled this database, if there was one. Services wait for its end.
    CREATE TABLE moves (
        id boolean PRIMARY KEY DEFAULT true CHECK (id),
        -- Which state of the source.
        source text NOT NULL,
        -- Where its files went.
        files text NOT NULL,
        replaces_nul boolean NOT NULL,
        finished boolean NOT NULL DEFAULT false
    );
    -- How far the move has come with a table, or with files of a kind.
    CREATE TABLE move_parts (
        name text COLLATE "C" PRIMARY KEY,
        -- The last row or file that was moved.
        after text,
        is_done boolean NOT NULL DEFAULT false
    );
"#,
    r#"
    -- The unpublished content of templates (kind 0) and their sample data (kind 1).
    CREATE TABLE drafts (
        kind smallint NOT NULL,
        key text COLLATE "C" NOT NULL,
        name text NOT NULL,
        revision bigint NOT NULL,
        -- The version that it changes.
        base bigint,
        updated_unix_ms bigint NOT NULL,
        source bytea NOT NULL,
        PRIMARY KEY (kind, key)
    );
    -- Who changed what.
    CREATE TABLE audit (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        at_unix_ms bigint NOT NULL,
        actor text NOT NULL,
        action text NOT NULL,
        subject text NOT NULL,
        version bigint,
        request_id text NOT NULL,
        address text NOT NULL
    );
"#,
    r#"
    -- API keys that were made while the service runs.
    CREATE TABLE api_keys (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id text COLLATE "C" NOT NULL UNIQUE,
        name text NOT NULL,
        hash bytea NOT NULL,
        roles text NOT NULL,
        scopes text NOT NULL,
        requests_per_minute bigint,
        created_by text NOT NULL,
        created_unix_ms bigint NOT NULL,
        expires_unix_ms bigint,
        last_used_unix_ms bigint
    );
"#,
    r#"
    -- Labels, each between two line breaks. Their revision changes with each write.
    ALTER TABLE templates ADD COLUMN labels text NOT NULL DEFAULT '',
        ADD COLUMN labels_revision bigint NOT NULL DEFAULT 0;
    ALTER TABLE flows ADD COLUMN labels text NOT NULL DEFAULT '',
        ADD COLUMN labels_revision bigint NOT NULL DEFAULT 0;
    -- Pictures and fonts: `name` is the media type, `note` what is in a font.
    CREATE TABLE assets (LIKE templates INCLUDING ALL);
    CREATE TABLE asset_versions (LIKE template_versions INCLUDING ALL);
    -- They are compressed already.
    ALTER TABLE asset_versions ALTER COLUMN source SET STORAGE EXTERNAL;
"#,
];

/// Version of the schema of a database, and the newest that this program knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaVersions {
    /// Of the database; 0 if it is empty.
    pub found: u32,
    /// Of this program.
    pub known: u32,
}

impl SchemaVersions {
    /// # Errors
    /// [`Error::TooOld`], [`Error::TooNew`].
    pub(crate) fn require_current(self) -> Result<(), Error> {
        let Self { found, known } = self;
        match is_current(self)? {
            true => Ok(()),
            false => Err(Error::TooOld { found, known }),
        }
    }
}

/// The statements that bring a schema of version `found` to the newest version, in order.
pub(super) fn after(found: u32) -> &'static [&'static str] {
    MIGRATIONS.get(found as usize..).unwrap_or_default()
}

/// # Errors
/// The server refuses.
pub(super) async fn versions(
    connection: &Connection,
    address: &Address,
) -> Result<SchemaVersions, Error> {
    let known = MIGRATIONS.len() as u32;
    let found = async {
        // Not `to_regclass`: within a transaction it may answer from a cache that is older than
        // what another process has just committed.
        let table = "SELECT EXISTS (SELECT 1 FROM pg_tables
             WHERE tablename = 'platen_schema' AND schemaname = ANY(current_schemas(false)))";
        let rows = connection.query(table, &[]).await?;
        let is_there = match rows.first() {
            Some(row) => row.try_get(0)?,
            None => false,
        };
        if !is_there {
            return Ok(0);
        }
        let count = "SELECT coalesce(max(version), 0) FROM platen_schema";
        let rows = connection.query(count, &[]).await?;
        rows.first().map_or(Ok(0), |row| row.try_get::<_, i32>(0))
    };
    let found = found.await.map_err(|error| refused(error, address))?;
    Ok(SchemaVersions {
        found: u32::try_from(found).unwrap_or_default(),
        known,
    })
}

/// Checks that no move into the database is under way.
///
/// # Errors
/// [`Error::Unfinished`], and what the server refuses.
pub(super) async fn require_finished(
    connection: &Connection,
    address: &Address,
) -> Result<(), Error> {
    let unfinished = "SELECT 1 FROM moves WHERE NOT finished";
    let rows = connection.query(unfinished, &[]).await;
    match rows.map_err(|error| refused(error, address))?.is_empty() {
        true => Ok(()),
        false => Err(Error::Unfinished),
    }
}

/// Brings the database to the newest version. Of several processes that start, one does it.
///
/// # Errors
/// [`Error::TooNew`], and what the server refuses; the database is as before then.
pub(super) async fn migrate(connection: &Connection, address: &Address) -> Result<(), Error> {
    let found = versions(connection, address).await?;
    if is_current(found)? {
        return Ok(());
    }
    let run = |text| -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let done = connection.execute(text).await;
            done.map(drop).map_err(|error| refused(error, address))
        })
    };
    run("BEGIN").await?;
    // The transaction ends with the connection, which is not used for anything else.
    let lock = "SELECT pg_advisory_xact_lock($1)";
    let locked = connection.query(lock, &[&LOCK]).await;
    locked.map_err(|error| refused(error, address))?;
    let found = versions(connection, address).await?;
    if is_current(found)? {
        return run("COMMIT").await;
    }
    run("CREATE TABLE IF NOT EXISTS platen_schema (
            version integer PRIMARY KEY,
            applied timestamptz NOT NULL DEFAULT now()
        )")
    .await?;
    for migration in &MIGRATIONS[found.found as usize..] {
        run(migration).await?;
    }
    let note = "INSERT INTO platen_schema (version) SELECT generate_series($1::int, $2::int)";
    let (first, last) = (found.found as i32 + 1, found.known as i32);
    let noted = connection.query(note, &[&first, &last]).await;
    noted.map_err(|error| refused(error, address))?;
    run("COMMIT").await
}

fn is_current(SchemaVersions { found, known }: SchemaVersions) -> Result<bool, Error> {
    match found > known {
        true => Err(Error::TooNew { found, known }),
        false => Ok(found == known),
    }
}
