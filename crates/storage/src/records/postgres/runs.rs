//! Runs in PostgreSQL.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{
    connection::Connection,
    database::Database,
    job::{Change, Failure, Job},
    key_value, maintenance,
    run_row::{ALL, HEAD, QUEUED, bytes, number, queued, run, small, state_number},
    shard::shard_of,
};
use crate::{
    Error,
    records::{
        StoreFuture,
        runs::{
            Accepted, Claimed, Ending, ExpiredLease, Hold, Lease, NewRun, NextRecords, Published,
            Queued, Run, RunFilter, RunState, RunStore, Scope, Write,
        },
    },
};

/// Runs of flows.
pub(super) struct Runs {
    pub database: Arc<Database>,
}

impl Runs {
    pub(super) fn lane(&self, id: &str) -> usize {
        self.database.lane_of(shard_of(id))
    }

    fn change(&self, write: Write, change: Change) -> StoreFuture<'static, bool> {
        let (answer, wait) = oneshot::channel();
        let lane = self.lane(&write.id);
        self.database
            .send(lane, Job::Change(write, change, answer), wait)
    }

    fn find(&self, columns: &'static str, id: String) -> StoreFuture<'_, Run> {
        self.database.read(move |connection| {
            let id = id.clone();
            Box::pin(async move {
                let find = format!(
                    "SELECT {columns} FROM runs r LEFT JOIN open_runs o ON o.number = r.number
                     LEFT JOIN ended_runs e ON e.number = r.number WHERE r.id = $1"
                );
                let rows = connection.query(&find, &[&id]).await?;
                Ok(run(rows.first().ok_or(Error::NotFound)?)?)
            })
        })
    }

    fn change_only(&self, write: Write, change: Change) -> StoreFuture<'static, ()> {
        let changed = self.change(write, change);
        Box::pin(async move { changed.await.map(drop) })
    }
}

async fn read_runs(
    connection: &Connection,
    filter: &RunFilter,
) -> Result<Vec<Run>, tokio_postgres::Error> {
    // A state is in one of the tables only.
    let (open, ended) = match filter.state {
        Some(state) if state.is_end() => ("LEFT JOIN", "JOIN"),
        Some(_) => ("JOIN", "LEFT JOIN"),
        None => ("LEFT JOIN", "LEFT JOIN"),
    };
    let find = format!(
        "SELECT {head} FROM runs r {open} open_runs o ON o.number = r.number
         {ended} ended_runs e ON e.number = r.number
         WHERE r.number < $1 AND ($2::text IS NULL OR r.flow = $2)
         AND ($3::smallint IS NULL OR coalesce(o.state, e.state) = $3)
         AND r.created_ms BETWEEN $5 AND $6
         ORDER BY r.number DESC LIMIT $4",
        head = *HEAD
    );
    let before = filter
        .before
        .map_or(i64::MAX, |before| i64::try_from(before).unwrap_or(i64::MAX));
    let (state, limit) = (filter.state.map(state_number), i64::from(filter.limit));
    let (since, until) = filter.times();
    let rows = connection
        .query(
            &find,
            &[&before, &filter.flow, &state, &limit, &since, &until],
        )
        .await?;
    rows.iter().map(run).collect()
}

impl RunStore for Runs {
    fn now_ms(&self) -> u64 {
        self.database.now_ms()
    }

    fn accept(&self, new: NewRun) -> StoreFuture<'_, Accepted> {
        let (answer, wait) = oneshot::channel();
        let lane = self.lane(&new.id);
        self.database.send(lane, Job::Accept(new, answer), wait)
    }

    fn claim(&self, id: String, lease: Lease) -> StoreFuture<'_, Claimed> {
        let (answer, wait) = oneshot::channel();
        let lane = self.lane(&id);
        self.database
            .send(lane, Job::Claim(id, lease, answer), wait)
    }

    fn heartbeat(
        &self,
        leases: Vec<(String, u32)>,
        now_ms: u64,
        until_ms: u64,
    ) -> StoreFuture<'_, Vec<(String, u32)>> {
        // Behind the claims, so each lane extends its own.
        let mut parts: Vec<Vec<(String, u32)>> = vec![Vec::new(); self.database.lane_count()];
        for (id, epoch) in &leases {
            parts[self.lane(id)].push((id.clone(), *epoch));
        }
        let parts = parts.into_iter().enumerate();
        let sent: Vec<StoreFuture<'static, Vec<(String, u32)>>> = parts
            .filter(|(_, part)| !part.is_empty())
            .map(|(lane, part)| {
                let part = Arc::new(part);
                self.database.write(lane, move |connection| {
                    let part = Arc::clone(&part);
                    Box::pin(async move {
                        maintenance::heartbeat(connection, &part, now_ms, until_ms).await
                    })
                })
            })
            .collect();
        Box::pin(async move {
            let mut extended = std::collections::HashSet::new();
            for part in sent {
                extended.extend(part.await?);
            }
            let lost = leases.into_iter().filter(|lease| !extended.contains(lease));
            Ok(lost.collect())
        })
    }

    fn append(&self, write: Write) -> StoreFuture<'_, ()> {
        self.change_only(write, Change::Nothing)
    }

    fn respond(&self, write: Write, answer: Arc<[u8]>) -> StoreFuture<'_, ()> {
        self.change_only(write, Change::Answer(answer))
    }

    fn suspend(&self, write: Write, wake_ms: Option<u64>) -> StoreFuture<'_, bool> {
        self.change(write, Change::Suspend(wake_ms))
    }

    fn finish(&self, write: Write, ending: Ending) -> StoreFuture<'_, ()> {
        self.change_only(write, Change::End(ending))
    }

    fn release(&self, write: Write) -> StoreFuture<'_, ()> {
        self.change_only(write, Change::Release)
    }

    fn put_value(
        &self,
        write: Write,
        scope: Scope,
        key: String,
        value: Option<Arc<[u8]>>,
    ) -> StoreFuture<'_, ()> {
        let lane = self.lane(&write.id);
        let given = Arc::new((write, key, value));
        self.database.write(lane, move |connection| {
            let given = Arc::clone(&given);
            Box::pin(async move {
                let (write, key, value) = &*given;
                key_value::put(connection, write, scope, key, value.as_deref()).await
            })
        })
    }

    fn get_value(
        &self,
        hold: Hold,
        scope: Scope,
        key: String,
    ) -> StoreFuture<'_, Option<Arc<[u8]>>> {
        let id = hold.id.clone();
        key_value::ask(&self.database, &id, move |connection| {
            let (hold, key) = (hold.clone(), key.clone());
            Box::pin(async move { key_value::get(connection, &hold, scope, &key).await })
        })
    }

    fn check_hold(&self, hold: Hold) -> StoreFuture<'_, ()> {
        let id = hold.id.clone();
        key_value::ask(&self.database, &id, move |connection| {
            let hold = hold.clone();
            Box::pin(async move { key_value::flow_of(connection, &hold).await.map(drop) })
        })
    }

    fn stop(&self, id: String, ending: Ending, now_ms: u64) -> StoreFuture<'_, RunState> {
        let lane = self.lane(&id);
        let given = Arc::new((id, ending));
        self.database.write(lane, move |connection| {
            let given = Arc::clone(&given);
            Box::pin(async move {
                let (id, ending) = &*given;
                let before = maintenance::stop(connection, id, ending, now_ms, false).await?;
                Ok(before.ok_or(Error::Ended)?)
            })
        })
    }

    fn expire(&self, id: String, ending: Ending, now_ms: u64) -> StoreFuture<'_, bool> {
        let lane = self.lane(&id);
        let given = Arc::new((id, ending));
        self.database.write(lane, move |connection| {
            let given = Arc::clone(&given);
            Box::pin(async move {
                let (id, ending) = &*given;
                let before = maintenance::stop(connection, id, ending, now_ms, true).await?;
                Ok(before.is_some())
            })
        })
    }

    fn callbacks(&self, id: String) -> StoreFuture<'_, u64> {
        self.database.read(move |connection| {
            let id = id.clone();
            Box::pin(async move {
                let count = "SELECT (SELECT count(*) FROM journal
                     WHERE run = r.number AND epoch <= 0) FROM runs r WHERE r.id = $1";
                let rows = connection.query(count, &[&id]).await?;
                let count: i64 = rows.first().ok_or(Error::NotFound)?.try_get(0)?;
                Ok(count as u64)
            })
        })
    }

    fn call_back(
        &self,
        id: String,
        token: String,
        records: Arc<[u8]>,
        seen: u64,
    ) -> StoreFuture<'_, RunState> {
        let lane = self.lane(&id);
        let given = Arc::new((id, token, records));
        self.database.write(lane, move |connection| {
            let given = Arc::clone(&given);
            Box::pin(async move {
                let (id, token, records) = &*given;
                maintenance::call_back(connection, id, token, records, seen).await
            })
        })
    }

    fn wake(&self, now_ms: u64, limit: u32) -> StoreFuture<'_, Vec<Queued>> {
        self.database.maintain(move |connection| {
            Box::pin(async move { maintenance::wake(connection, now_ms, limit).await })
        })
    }

    fn expire_leases(
        &self,
        now_ms: u64,
        max_worker_losses: u32,
        limit: u32,
    ) -> StoreFuture<'_, Vec<ExpiredLease>> {
        self.database.maintain(move |connection| {
            Box::pin(async move {
                maintenance::expire_leases(connection, now_ms, max_worker_losses, limit).await
            })
        })
    }

    fn orphan(&self, worker: Option<String>, culprit: String) -> StoreFuture<'_, ()> {
        let lanes = self.database.lane_count();
        let given = Arc::new((worker, culprit));
        let sent: Vec<StoreFuture<'static, ()>> = (0..lanes)
            .map(|lane| {
                let given = Arc::clone(&given);
                self.database.write(lane, move |connection| {
                    let given = Arc::clone(&given);
                    Box::pin(async move {
                        let (worker, culprit) = &*given;
                        let worker = worker.as_deref();
                        maintenance::orphan(connection, (lane, lanes), worker, culprit).await
                    })
                })
            })
            .collect();
        Box::pin(async move {
            for part in sent {
                part.await?;
            }
            Ok(())
        })
    }

    fn queued(&self, after: u64, limit: u32) -> StoreFuture<'_, Vec<Queued>> {
        self.database.read(move |connection| {
            Box::pin(async move {
                let find = format!(
                    "SELECT {QUEUED} FROM open_runs o JOIN runs r ON r.number = o.number
                     WHERE o.state = 0 AND o.number > $1 ORDER BY o.number LIMIT $2"
                );
                let after = i64::try_from(after).unwrap_or(i64::MAX);
                let rows = connection
                    .query(&find, &[&after, &i64::from(limit)])
                    .await?;
                Ok(rows.iter().map(queued).collect::<Result<_, _>>()?)
            })
        })
    }

    fn get(&self, id: String) -> StoreFuture<'_, Run> {
        self.find(ALL, id)
    }

    fn head(&self, id: String) -> StoreFuture<'_, Run> {
        self.find(&HEAD, id)
    }

    fn journal(&self, id: String) -> StoreFuture<'_, Vec<Arc<[u8]>>> {
        self.database.read(move |connection| {
            let id = id.clone();
            Box::pin(async move {
                let find = "SELECT j.records FROM runs r LEFT JOIN journal j ON j.run = r.number
                     WHERE r.id = $1 ORDER BY j.position";
                let rows = connection.query(find, &[&id]).await?;
                if rows.is_empty() {
                    return Err(Error::NotFound.into());
                }
                // A run without records is one row without a value.
                let records = rows.iter().map(|row| bytes(row, 0));
                let records = records.collect::<Result<Vec<_>, _>>()?;
                Ok(records.into_iter().flatten().collect())
            })
        })
    }

    fn journal_after(&self, id: String, position: i64) -> StoreFuture<'_, NextRecords> {
        self.database.read(move |connection| {
            let id = id.clone();
            Box::pin(async move {
                let find = "SELECT j.position, j.records FROM runs r
                     LEFT JOIN LATERAL (
                         SELECT position, records FROM journal
                         WHERE run = r.number AND position > $2 ORDER BY position LIMIT 1
                     ) j ON true
                     WHERE r.id = $1";
                let rows = connection.query(find, &[&id, &position]).await?;
                let row = rows.first().ok_or(Error::NotFound)?;
                let next: Option<i64> = row.try_get(0)?;
                let records = bytes(row, 1)?;
                Ok(next.zip(records))
            })
        })
    }

    fn list(&self, filter: RunFilter) -> StoreFuture<'_, Vec<Run>> {
        self.database.read(move |connection| {
            let filter = filter.clone();
            Box::pin(async move { Ok(read_runs(connection, &filter).await?) })
        })
    }

    fn counts(&self) -> StoreFuture<'_, [u64; 3]> {
        self.database.read(|connection| {
            Box::pin(async move {
                let count = "SELECT count(*) FILTER (WHERE state = 0),
                     count(*) FILTER (WHERE state = 1), count(*) FILTER (WHERE state = 2)
                     FROM open_runs";
                let rows = connection.query(count, &[]).await?;
                let row = rows.first().ok_or(Error::NotFound)?;
                Ok([number(row, 0)?, number(row, 1)?, number(row, 2)?])
            })
        })
    }

    fn prune(&self, before_ms: u64, limit: u32) -> StoreFuture<'_, u64> {
        self.database.maintain(move |connection| {
            Box::pin(async move { maintenance::prune(connection, before_ms, limit).await })
        })
    }

    fn publish(&self, flow: String, version: Option<u32>) -> StoreFuture<'_, ()> {
        self.database.maintain(move |connection| {
            let flow = flow.clone();
            Box::pin(async move {
                match version {
                    Some(version) => {
                        let publish = "INSERT INTO published (flow, version) VALUES ($1, $2)
                             ON CONFLICT (flow) DO UPDATE SET version = $2";
                        let version = i64::from(version);
                        connection.query(publish, &[&flow, &version]).await?
                    }
                    None => {
                        let delete = "DELETE FROM published WHERE flow = $1";
                        connection.query(delete, &[&flow]).await?
                    }
                };
                Ok(())
            })
        })
    }

    fn published(&self) -> StoreFuture<'_, Vec<Published>> {
        self.database.read(|connection| {
            Box::pin(async move {
                let find = "SELECT flow, version, cursor FROM published ORDER BY flow";
                let rows = connection.query(find, &[]).await?;
                let published = rows.iter().map(|row| {
                    Ok(Published {
                        flow: row.try_get(0)?,
                        version: small(row, 1)?,
                        cursor: bytes(row, 2)?,
                    })
                });
                published.collect::<Result<_, Failure>>()
            })
        })
    }

    fn save_cursor(&self, flow: String, cursor: Arc<[u8]>) -> StoreFuture<'_, ()> {
        self.database.maintain(move |connection| {
            let (flow, cursor) = (flow.clone(), Arc::clone(&cursor));
            Box::pin(async move {
                let save = "UPDATE published SET cursor = $2 WHERE flow = $1";
                connection.query(save, &[&flow, &&*cursor]).await?;
                Ok(())
            })
        })
    }
}
