//! Runs in SQLite.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    database::{Database, now_unix_ms},
    key_value,
    run_accept::{add, insert},
    run_journal::{journal, journal_after},
    run_row::{HEAD, QUEUED, bytes, find, head, instant, queued, run, state_number},
};
use crate::{
    Error,
    records::{
        StoreFuture,
        endings::dead_lettered,
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

/// How many callbacks a run has had.
fn callbacks(connection: &Connection, number: u64) -> Result<u64, Error> {
    let count: i64 = connection
        .prepare_cached("SELECT count(*) FROM journal WHERE run = ?1 AND epoch <= 0")?
        .query_row([number as i64], |row| row.get(0))?;
    Ok(count as u64)
}

/// Checks that the lease of `write` is valid, and appends its records. Returns the run's number.
fn fenced(connection: &Connection, write: &Write) -> Result<i64, Error> {
    let number: i64 = connection
        .prepare_cached(
            "SELECT number FROM runs
             WHERE id = ?1 AND epoch = ?2 AND state = 1 AND lease_until_ms >= ?3",
        )?
        .query_row(params![write.id, write.epoch, write.now_ms as i64], |row| {
            row.get(0)
        })
        .optional()?
        .ok_or(Error::Fenced)?;
    if let Some(records) = &write.records {
        add(connection, number, write.epoch, records)?;
    }
    Ok(number)
}

fn end(connection: &Connection, number: i64, ending: &Ending, now_ms: u64) -> Result<(), Error> {
    connection
        .prepare_cached(
            "UPDATE runs SET state = ?2, answer = ifnull(answer, ?3), ending = ?4, ended_ms = ?5,
             wake_ms = NULL WHERE number = ?1",
        )?
        .execute(params![
            number,
            state_number(ending.state),
            ending.answer.as_deref(),
            &*ending.details,
            now_ms as i64
        ])?;
    Ok(())
}

fn claim(connection: &Connection, id: &str, lease: &Lease) -> Result<Claimed, Error> {
    let changed = connection
        .prepare_cached(
            "UPDATE runs SET state = 1, epoch = epoch + 1, worker = ?2, lease_until_ms = ?3,
             started_ms = ifnull(started_ms, ?4), wake_ms = NULL WHERE id = ?1 AND state = 0",
        )?
        .execute(params![
            id,
            lease.worker,
            lease.until_ms as i64,
            lease.now_ms as i64
        ])?;
    if changed == 0 {
        return Err(Error::Fenced);
    }
    let run = find(connection, id)?;
    let journal = journal(connection, run.number)?;
    Ok(Claimed { run, journal })
}

fn list_queued(
    connection: &Connection,
    statement: &str,
    parameters: impl rusqlite::Params,
) -> Result<Vec<Queued>, Error> {
    let mut statement = connection.prepare_cached(statement)?;
    let rows = statement.query_map(parameters, queued)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

impl RunStore for Runs {
    fn now_ms(&self) -> u64 {
        u64::try_from(now_unix_ms()).unwrap_or_default()
    }

    fn accept(&self, new: NewRun) -> StoreFuture<'_, Accepted> {
        self.database
            .write(move |transaction| insert(transaction, &new))
    }

    fn claim(&self, id: String, lease: Lease) -> StoreFuture<'_, Claimed> {
        self.database
            .write(move |transaction| claim(transaction, &id, &lease))
    }

    fn heartbeat(
        &self,
        leases: Vec<(String, u32)>,
        now_ms: u64,
        until_ms: u64,
    ) -> StoreFuture<'_, Vec<(String, u32)>> {
        self.database.write(move |transaction| {
            let mut statement = transaction.prepare_cached(
                "UPDATE runs SET lease_until_ms = ?3
                 WHERE id = ?1 AND epoch = ?2 AND state = 1 AND lease_until_ms >= ?4",
            )?;
            let mut lost = Vec::new();
            for (id, epoch) in leases {
                let parameters = params![id, epoch, until_ms as i64, now_ms as i64];
                if statement.execute(parameters)? == 0 {
                    lost.push((id, epoch));
                }
            }
            Ok(lost)
        })
    }

    fn append(&self, write: Write) -> StoreFuture<'_, ()> {
        self.database
            .write(move |transaction| fenced(transaction, &write).map(drop))
    }

    fn respond(&self, write: Write, answer: Arc<[u8]>) -> StoreFuture<'_, ()> {
        self.database.write(move |transaction| {
            let number = fenced(transaction, &write)?;
            transaction
                .prepare_cached("UPDATE runs SET answer = ifnull(answer, ?2) WHERE number = ?1")?
                .execute(params![number, &*answer])?;
            Ok(())
        })
    }

    fn suspend(&self, write: Write, wake_ms: Option<u64>) -> StoreFuture<'_, bool> {
        self.database.write(move |transaction| {
            let number = fenced(transaction, &write)?;
            // Whether a callback has arrived since the claim: the worker does not know of it.
            let called: bool = transaction
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM journal WHERE run = ?1 AND epoch = -1)",
                )?
                .query_row([number], |row| row.get(0))?;
            let (state, wake_ms) = match called {
                true => (RunState::Queued, None),
                false => {
                    let wake_ms = wake_ms.map(|at| i64::try_from(at).unwrap_or(i64::MAX));
                    (RunState::Waiting, wake_ms)
                }
            };
            transaction
                .prepare_cached("UPDATE journal SET epoch = 0 WHERE run = ?1 AND epoch = -1")?
                .execute([number])?;
            transaction
                .prepare_cached("UPDATE runs SET state = ?2, wake_ms = ?3 WHERE number = ?1")?
                .execute(params![number, state_number(state), wake_ms])?;
            Ok(called)
        })
    }

    fn finish(&self, write: Write, ending: Ending) -> StoreFuture<'_, ()> {
        self.database.write(move |transaction| {
            let number = fenced(transaction, &write)?;
            end(transaction, number, &ending, write.now_ms)
        })
    }

    fn release(&self, write: Write) -> StoreFuture<'_, ()> {
        self.database.write(move |transaction| {
            let number = fenced(transaction, &write)?;
            transaction
                .prepare_cached("UPDATE runs SET state = 0 WHERE number = ?1")?
                .execute([number])?;
            Ok(())
        })
    }

    fn put_value(
        &self,
        write: Write,
        scope: Scope,
        key: String,
        value: Option<Arc<[u8]>>,
    ) -> StoreFuture<'_, ()> {
        self.database.write(move |transaction| {
            fenced(transaction, &write)?;
            key_value::put(transaction, &write.id, scope, &key, value.as_deref())
        })
    }

    fn get_value(
        &self,
        hold: Hold,
        scope: Scope,
        key: String,
    ) -> StoreFuture<'_, Option<Arc<[u8]>>> {
        key_value::ask(&self.database, move |connection| {
            key_value::get(connection, &hold, scope, &key)
        })
    }

    fn check_hold(&self, hold: Hold) -> StoreFuture<'_, ()> {
        key_value::ask(&self.database, move |connection| {
            key_value::flow_of(connection, &hold).map(drop)
        })
    }

    fn stop(&self, id: String, ending: Ending, now_ms: u64) -> StoreFuture<'_, RunState> {
        self.database.write(move |transaction| {
            let run = head(transaction, &id)?;
            if run.state.is_end() {
                return Err(Error::Ended);
            }
            end(transaction, run.number as i64, &ending, now_ms)?;
            Ok(run.state)
        })
    }

    fn expire(&self, id: String, ending: Ending, now_ms: u64) -> StoreFuture<'_, bool> {
        self.database.write(move |transaction| {
            let run = head(transaction, &id)?;
            if run.state != RunState::Queued {
                return Ok(false);
            }
            end(transaction, run.number as i64, &ending, now_ms)?;
            Ok(true)
        })
    }

    fn callbacks(&self, id: String) -> StoreFuture<'_, u64> {
        self.database.read(move |connection| {
            let run = head(connection, &id)?;
            callbacks(connection, run.number)
        })
    }

    fn call_back(
        &self,
        id: String,
        token: String,
        records: Arc<[u8]>,
        seen: u64,
    ) -> StoreFuture<'_, RunState> {
        self.database.write(move |transaction| {
            let run = head(transaction, &id)?;
            if run.token != token {
                return Err(Error::NotFound);
            }
            if run.state.is_end() {
                return Err(Error::Ended);
            }
            if callbacks(transaction, run.number)? != seen {
                return Err(Error::Called);
            }
            // The worker of a running run is not notified; `suspend` looks for this mark.
            let mark = if run.state == RunState::Running { -1 } else { 0 };
            transaction
                .prepare_cached(
                    "INSERT INTO journal (run, position, epoch, records) VALUES
                     (?1, 1 + ifnull((SELECT max(position) FROM journal WHERE run = ?1), 0), ?2, ?3)",
                )?
                .execute(params![run.number as i64, mark, &*records])?;
            if run.state == RunState::Waiting {
                transaction
                    .prepare_cached("UPDATE runs SET state = 0, wake_ms = NULL WHERE number = ?1")?
                    .execute([run.number as i64])?;
                return Ok(RunState::Queued);
            }
            Ok(run.state)
        })
    }

    fn wake(&self, now_ms: u64, limit: u32) -> StoreFuture<'_, Vec<Queued>> {
        self.database.write(move |transaction| {
            let due = list_queued(
                transaction,
                &format!(
                    "SELECT {QUEUED} FROM runs WHERE state = 2 AND wake_ms <= ?1
                     ORDER BY number LIMIT ?2"
                ),
                params![now_ms as i64, limit],
            )?;
            let mut statement = transaction
                .prepare_cached("UPDATE runs SET state = 0, wake_ms = NULL WHERE number = ?1")?;
            for run in &due {
                statement.execute([run.number as i64])?;
            }
            Ok(due)
        })
    }

    fn expire_leases(
        &self,
        now_ms: u64,
        max_worker_losses: u32,
        limit: u32,
    ) -> StoreFuture<'_, Vec<ExpiredLease>> {
        self.database.write(move |transaction| {
            let found: Vec<Run> = {
                let mut statement = transaction.prepare_cached(&format!(
                    "SELECT {} FROM runs WHERE state = 1 AND lease_until_ms < ?1
                     ORDER BY number LIMIT ?2",
                    *HEAD
                ))?;
                let rows = statement.query_map(params![now_ms as i64, limit], run)?;
                rows.collect::<rusqlite::Result<_>>()?
            };
            let mut expired = Vec::with_capacity(found.len());
            for run in found {
                let losses = run.worker_losses + 1;
                let dead = losses >= max_worker_losses;
                transaction
                    .prepare_cached("UPDATE runs SET state = 0, deaths = ?2 WHERE number = ?1")?
                    .execute(params![run.number as i64, losses])?;
                if dead {
                    let ending = dead_lettered(run.worker.as_deref(), losses);
                    end(transaction, run.number as i64, &ending, now_ms)?;
                }
                expired.push(ExpiredLease {
                    queued: Queued {
                        number: run.number,
                        id: run.id,
                        flow: run.flow,
                        lane: run.lane,
                        // It only bounds the wait for the first start.
                        deadline_ms: run.deadline_ms.filter(|_| run.started_ms.is_none()),
                    },
                    epoch: run.epoch,
                    dead,
                });
            }
            Ok(expired)
        })
    }

    fn orphan(&self, worker: Option<String>, culprit: String) -> StoreFuture<'_, ()> {
        self.database.write(move |transaction| {
            transaction.execute(
                "UPDATE runs SET lease_until_ms = 0
                 WHERE state = 1 AND (?1 IS NULL OR worker = ?1) AND worker = ?2",
                params![worker, culprit],
            )?;
            transaction.execute(
                "UPDATE runs SET state = 0
                 WHERE state = 1 AND (?1 IS NULL OR worker = ?1) AND worker <> ?2",
                params![worker, culprit],
            )?;
            Ok(())
        })
    }

    fn queued(&self, after: u64, limit: u32) -> StoreFuture<'_, Vec<Queued>> {
        self.database.read(move |connection| {
            list_queued(
                connection,
                &format!(
                    "SELECT {QUEUED} FROM runs WHERE state = 0 AND number > ?1
                     ORDER BY number LIMIT ?2"
                ),
                params![after as i64, limit],
            )
        })
    }

    fn get(&self, id: String) -> StoreFuture<'_, Run> {
        self.database.read(move |connection| find(connection, &id))
    }

    fn head(&self, id: String) -> StoreFuture<'_, Run> {
        self.database.read(move |connection| head(connection, &id))
    }

    fn journal(&self, id: String) -> StoreFuture<'_, Vec<Arc<[u8]>>> {
        self.database.read(move |connection| {
            let run = head(connection, &id)?;
            journal(connection, run.number)
        })
    }

    fn journal_after(&self, id: String, position: i64) -> StoreFuture<'_, NextRecords> {
        self.database.read(move |connection| {
            let run = head(connection, &id)?;
            journal_after(connection, run.number, position)
        })
    }

    fn list(&self, filter: RunFilter) -> StoreFuture<'_, Vec<Run>> {
        self.database.read(move |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {} FROM runs WHERE number < ?1 AND (?2 IS NULL OR flow = ?2)
                 AND (?3 IS NULL OR state = ?3) AND created_ms BETWEEN ?5 AND ?6
                 ORDER BY number DESC LIMIT ?4",
                *HEAD
            ))?;
            let before = filter
                .before
                .map_or(i64::MAX, |before| i64::try_from(before).unwrap_or(i64::MAX));
            let state = filter.state.map(state_number);
            let (since, until) = filter.times();
            let values = params![before, filter.flow, state, filter.limit, since, until];
            let rows = statement.query_map(values, run)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn counts(&self) -> StoreFuture<'_, [u64; 3]> {
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT state, count(*) FROM runs WHERE state < 3 GROUP BY state",
            )?;
            let mut rows = statement.query([])?;
            let mut counts = [0; 3];
            while let Some(row) = rows.next()? {
                let state = instant(row, 0)? as usize;
                counts[state] = instant(row, 1)?;
            }
            Ok(counts)
        })
    }

    fn prune(&self, before_ms: u64, limit: u32) -> StoreFuture<'_, u64> {
        self.database.write(move |transaction| {
            let count = transaction
                .prepare_cached(
                    "DELETE FROM runs WHERE number IN
                     (SELECT number FROM runs WHERE ended_ms < ?1 ORDER BY ended_ms LIMIT ?2)",
                )?
                .execute(params![before_ms as i64, limit])?;
            Ok(count as u64)
        })
    }

    fn publish(&self, flow: String, version: Option<u32>) -> StoreFuture<'_, ()> {
        self.database.write(move |transaction| {
            match version {
                Some(version) => transaction.execute(
                    "INSERT INTO published (flow, version) VALUES (?1, ?2)
                     ON CONFLICT (flow) DO UPDATE SET version = ?2",
                    params![flow, version],
                )?,
                None => transaction.execute("DELETE FROM published WHERE flow = ?1", [flow])?,
            };
            Ok(())
        })
    }

    fn published(&self) -> StoreFuture<'_, Vec<Published>> {
        self.database.read(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT flow, version, memory FROM published ORDER BY flow")?;
            let rows = statement.query_map([], |row| {
                Ok(Published {
                    flow: row.get(0)?,
                    version: row.get(1)?,
                    cursor: bytes(row, 2)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn save_cursor(&self, flow: String, cursor: Arc<[u8]>) -> StoreFuture<'_, ()> {
        self.database.write(move |transaction| {
            transaction.execute(
                "UPDATE published SET memory = ?2 WHERE flow = ?1",
                params![flow, &*cursor],
            )?;
            Ok(())
        })
    }
}
