//! The other services on the database.

use std::{sync::Arc, time::Duration};

use tokio::sync::broadcast;

use super::{
    batch::claim_one,
    run_row::{QUEUED, queued},
    runs::Runs,
    service_lock::NAMES,
};
use crate::{
    Error,
    records::{
        StoreFuture,
        peers::{Peers, Signal},
        runs::{Claimed, Lease, Queued},
    },
};

impl Peers for Runs {
    fn notify(&self, signal: Signal) {
        self.database.signals().notify(signal);
    }

    fn listen(&self) -> broadcast::Receiver<Signal> {
        self.database.signals().listen()
    }

    fn lead(&self, name: &'static str, holder: String, lease: Duration) -> StoreFuture<'_, bool> {
        let lease_ms = i64::try_from(lease.as_millis()).unwrap_or(i64::MAX);
        let holder = Arc::new(holder);
        self.database.maintain(move |connection| {
            let holder = Arc::clone(&holder);
            Box::pin(async move {
                // Who does not lead only reads.
                let lead = "
                    WITH clock AS (
                        SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms
                    )
                    INSERT INTO leaders (name, holder, until_ms)
                    SELECT $1, $2, now_ms + $3 FROM clock WHERE NOT EXISTS (
                        SELECT 1 FROM leaders
                        WHERE name = $1 AND holder <> $2 AND until_ms > now_ms)
                    ON CONFLICT (name) DO UPDATE SET holder = $2, until_ms = excluded.until_ms
                    WHERE leaders.holder = $2
                        OR leaders.until_ms <= (SELECT now_ms FROM clock)
                    RETURNING 1";
                let rows = connection
                    .query(lead, &[&name, &*holder, &lease_ms])
                    .await?;
                Ok(!rows.is_empty())
            })
        })
    }

    fn lost(&self, own: String) -> StoreFuture<'_, Vec<String>> {
        let own = Arc::new(own);
        self.database.maintain(move |connection| {
            let own = Arc::clone(&own);
            Box::pin(async move {
                // A service holds the lock of its name as long as it is there.
                let find = "
                    WITH services AS MATERIALIZED (
                        SELECT DISTINCT regexp_replace(worker, '^.*@', '') AS name FROM open_runs
                        WHERE state = 1 AND lease_until_ms > 0)
                    SELECT name FROM services WHERE name <> $1
                        AND pg_try_advisory_xact_lock_shared(
                            $2, hashtext(current_schema() || '/' || name))";
                let rows = connection.query(find, &[&*own, &NAMES]).await?;
                let names = rows.iter().map(|row| row.try_get(0));
                Ok(names.collect::<Result<_, _>>()?)
            })
        })
    }

    fn release(&self, service: String) -> StoreFuture<'_, ()> {
        let service = Arc::new(service);
        self.database.maintain(move |connection| {
            let service = Arc::clone(&service);
            Box::pin(async move {
                let release = "UPDATE open_runs SET lease_until_ms = 0
                    WHERE state = 1 AND regexp_replace(worker, '^.*@', '') = $1";
                connection.query(release, &[&*service]).await?;
                Ok(())
            })
        })
    }

    fn claim_within(
        &self,
        id: String,
        lease: Lease,
        limit: u32,
    ) -> StoreFuture<'_, Option<Claimed>> {
        let given = Arc::new((id, lease));
        self.database.write(self.lane(&given.0), move |connection| {
            let given = Arc::clone(&given);
            Box::pin(async move {
                let (id, lease) = &*given;
                // Claims of the flow come one after another, so that none is counted too late.
                let lock = "SELECT flow, number,
                         pg_advisory_xact_lock(hashtextextended('platen:' || flow, 0))
                     FROM runs WHERE id = $1";
                let rows = connection.query(lock, &[id]).await?;
                let row = rows.first().ok_or(Error::Fenced)?;
                let (flow, number): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
                let tidy = "DELETE FROM limited_runs l WHERE flow = $1 AND NOT EXISTS (
                         SELECT 1 FROM open_runs o WHERE o.number = l.number AND o.state = 1)";
                connection.query(tidy, &[&flow]).await?;
                let count = "SELECT count(*) FROM limited_runs WHERE flow = $1";
                let rows = connection.query(count, &[&flow]).await?;
                let running: i64 = rows.first().ok_or(Error::Fenced)?.try_get(0)?;
                if running >= i64::from(limit) {
                    return Ok(None);
                }
                let claimed = claim_one(connection, id, lease).await?;
                let note = "INSERT INTO limited_runs (number, flow) VALUES ($1, $2)
                     ON CONFLICT DO NOTHING";
                connection.query(note, &[&number, &flow]).await?;
                Ok(Some(claimed.ok_or(Error::Fenced)?))
            })
        })
    }

    fn queued_among(&self, ids: Vec<String>) -> StoreFuture<'_, Vec<Queued>> {
        let ids = Arc::new(ids);
        self.database.read(move |connection| {
            let ids = Arc::clone(&ids);
            Box::pin(async move {
                let find = format!(
                    "SELECT {QUEUED} FROM runs r JOIN open_runs o ON o.number = r.number
                     WHERE r.id = ANY($1) AND o.state = 0 ORDER BY r.number"
                );
                let rows = connection.query(&find, &[&*ids]).await?;
                Ok(rows.iter().map(queued).collect::<Result<_, _>>()?)
            })
        })
    }

    fn overdue(&self, before_ms: u64, after: u64, limit: u32) -> StoreFuture<'_, Vec<Queued>> {
        self.database.read(move |connection| {
            Box::pin(async move {
                let find = format!(
                    "SELECT {QUEUED} FROM open_runs o JOIN runs r ON r.number = o.number
                     WHERE o.state = 0 AND r.created_ms < $1 AND o.number > $2
                     ORDER BY o.number LIMIT $3"
                );
                let (before_ms, after) = (before_ms as i64, after as i64);
                let limit = i64::from(limit);
                let rows = connection
                    .query(&find, &[&before_ms, &after, &limit])
                    .await?;
                Ok(rows.iter().map(queued).collect::<Result<_, _>>()?)
            })
        })
    }

    fn answered_among(&self, ids: Vec<String>) -> StoreFuture<'_, Vec<String>> {
        let ids = Arc::new(ids);
        self.database.read(move |connection| {
            let ids = Arc::clone(&ids);
            Box::pin(async move {
                let find = "SELECT r.id FROM runs r LEFT JOIN open_runs o ON o.number = r.number
                     WHERE r.id = ANY($1) AND (o.number IS NULL OR o.answer IS NOT NULL)";
                let rows = connection.query(find, &[&*ids]).await?;
                let ids = rows.iter().map(|row| row.try_get(0));
                Ok(ids.collect::<Result<_, _>>()?)
            })
        })
    }
}
