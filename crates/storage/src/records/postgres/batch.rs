//! Writes of many runs in one transaction: a statement for each kind of write, with arrays.
//!
//! A statement touches a row once, and sees what the statements before it wrote. So two writes of
//! one run go into two statements, in the order of their calls; the order between runs is free.

use std::collections::{HashMap, HashSet};

use tokio_postgres::{Error as PgError, Row, types::ToSql};

use super::{
    connection::{Column, Connection},
    job::{Change, Job, Outcome},
    run_row::{OPEN, lane_number, list, run, state_number},
    shard::shard_of,
};
use crate::records::runs::{Accepted, Claimed, Lease, NewRun, RunState, Write};

const ACCEPT: &str = "
    WITH w AS (
        SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[], $5::smallint[],
            $6::bigint[], $7::bigint[], $8::text[], $9::text[], $10::text[], $11::bytea[],
            $12::bytea[], $13::bytea[], $14::smallint[], $15::text[])
        AS w (id, flow, version, definition, lane, deadline_ms, created_ms, token, retry_of,
            idempotency_key, request_hash, trigger_payload, records, shard, trace)
    ), added AS (
        INSERT INTO runs (id, flow, version, definition, lane, deadline_ms, created_ms, token,
            retry_of, idempotency_key, request_hash, trigger_payload, shard, trace)
        SELECT id, flow, version, definition, lane, deadline_ms, created_ms, token, retry_of,
            idempotency_key, request_hash, trigger_payload, shard, trace FROM w
        ON CONFLICT DO NOTHING
        RETURNING number, id, shard
    ), opened AS (
        INSERT INTO open_runs (number, shard) SELECT number, shard FROM added
    ), noted AS (
        INSERT INTO journal (run, epoch, records)
        SELECT added.number, 0, w.records FROM w JOIN added ON added.id = w.id
        WHERE w.records IS NOT NULL
    )
    SELECT id FROM added";

/// Another process may be claiming the same runs: who comes second takes others.
const CLAIM: &str = "
    WITH w AS (
        SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[])
        AS w (id, worker, now_ms, until_ms)
    ), free AS MATERIALIZED (
        SELECT o.number, w.id, w.worker, w.now_ms, w.until_ms
        FROM w JOIN runs r ON r.id = w.id JOIN open_runs o ON o.number = r.number
        WHERE o.state = 0 FOR UPDATE OF o SKIP LOCKED
    )
    UPDATE open_runs o SET state = 1, epoch = o.epoch + 1, worker = free.worker,
        lease_until_ms = free.until_ms, started_ms = coalesce(o.started_ms, free.now_ms),
        wake_ms = NULL
    FROM free WHERE o.number = free.number
    RETURNING free.id";

/// Write with a valid lease; `held` names the open run, `w` the write.
const WRITES: &str = "
    WITH w AS (
        SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bytea[]";

const FENCE: &str = "o.number = r.number AND o.epoch = w.epoch AND o.state = 1
            AND o.lease_until_ms >= w.now_ms";

const NOTE: &str = "noted AS (
        INSERT INTO journal (run, epoch, records)
        SELECT number, epoch, records FROM held WHERE records IS NOT NULL
    )";

fn claimed_statement() -> String {
    format!(
        "SELECT {OPEN}, ARRAY(SELECT records FROM journal WHERE run = r.number ORDER BY position)
         FROM runs r JOIN open_runs o ON o.number = r.number WHERE r.id = ANY($1::text[])"
    )
}

fn append_statement() -> String {
    format!(
        "{WRITES}) AS w (id, epoch, now_ms, records)
         ), held AS MATERIALIZED (
            SELECT o.number, w.id, w.epoch, w.records
            FROM w JOIN runs r ON r.id = w.id JOIN open_runs o ON {FENCE} FOR UPDATE OF o
         ), {NOTE}
         SELECT id, 1::smallint FROM held"
    )
}

fn change_statement() -> String {
    format!(
        "{WRITES}, $5::smallint[], $6::bytea[], $7::bigint[])
            AS w (id, epoch, now_ms, records, change, answer, wake_ms)
         ), held AS (
            UPDATE open_runs o SET
                answer = coalesce(o.answer, w.answer),
                state = CASE WHEN w.change = 1 THEN o.state WHEN w.change = 3 OR o.called THEN 0
                    ELSE 2 END,
                wake_ms = CASE WHEN w.change = 2 AND NOT o.called THEN w.wake_ms END,
                called = o.called AND w.change <> 2
            FROM w JOIN runs r ON r.id = w.id WHERE {FENCE}
            RETURNING o.number, w.id, w.epoch, w.records, o.state
         ), {NOTE}
         SELECT id, state FROM held"
    )
}

fn end_statement() -> String {
    format!(
        "{WRITES}, $5::smallint[], $6::bytea[], $7::bytea[])
            AS w (id, epoch, now_ms, records, state, answer, details)
         ), held AS (
            DELETE FROM open_runs o USING w JOIN runs r ON r.id = w.id WHERE {FENCE}
            RETURNING o.number, o.epoch, o.worker_losses, o.started_ms, o.worker,
                coalesce(o.answer, w.answer) AS answer, w.id, w.now_ms, w.state, w.details,
                w.records
         ), ended AS (
            INSERT INTO ended_runs (number, epoch, worker_losses, started_ms, ended_ms, state,
                worker, answer, details)
            SELECT number, epoch, worker_losses, started_ms, now_ms, state, worker, answer, details
            FROM held
         ), {NOTE}
         SELECT id, state FROM held"
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Accept,
    Claim,
    Append,
    Change,
    End,
}

fn kind_of(job: &Job) -> Option<(Kind, &str)> {
    match job {
        Job::Accept(new, _) => Some((Kind::Accept, &new.id)),
        Job::Claim(id, ..) => Some((Kind::Claim, id)),
        Job::Change(write, Change::Nothing, _) => Some((Kind::Append, &write.id)),
        Job::Change(write, Change::End(_), _) => Some((Kind::End, &write.id)),
        Job::Change(write, ..) => Some((Kind::Change, &write.id)),
        Job::Other(_) => None,
    }
}

/// Jobs of one kind, no two of the same run.
pub(super) struct Group {
    kind: Kind,
    jobs: Vec<usize>,
}

/// Divides jobs into groups, to be executed one after another.
pub(super) fn groups(jobs: &[Job]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut first_allowed: HashMap<&str, usize> = HashMap::new();
    for (index, job) in jobs.iter().enumerate() {
        let Some((kind, id)) = kind_of(job) else {
            continue;
        };
        let first = first_allowed.get(id).copied().unwrap_or_default();
        let found = (first..groups.len()).find(|place| groups[*place].kind == kind);
        let place = found.unwrap_or_else(|| {
            let jobs = Vec::new();
            groups.push(Group { kind, jobs });
            groups.len() - 1
        });
        groups[place].jobs.push(index);
        first_allowed.insert(id, place + 1);
    }
    groups
}

/// A statement and its columns.
pub(super) struct Call<'a> {
    pub text: String,
    pub columns: Vec<Column<'a>>,
}

fn column<'a, T: ToSql + Sync + Send + 'a, S>(all: &[S], each: impl Fn(&S) -> T) -> Column<'a> {
    Box::new(all.iter().map(each).collect::<Vec<T>>())
}

fn time(instant: u64) -> i64 {
    i64::try_from(instant).unwrap_or(i64::MAX)
}

impl Group {
    /// Statements that write the group.
    pub(super) fn calls<'a>(&self, jobs: &'a [Job]) -> Vec<Call<'a>> {
        let jobs = self.jobs.iter().map(|index| &jobs[*index]);
        match self.kind {
            Kind::Accept => {
                let new = jobs.filter_map(|job| match job {
                    Job::Accept(new, _) => Some(new),
                    _ => None,
                });
                vec![accept(&new.collect::<Vec<_>>())]
            }
            Kind::Claim => {
                let claims = jobs.filter_map(|job| match job {
                    Job::Claim(id, lease, _) => Some((&**id, lease)),
                    _ => None,
                });
                claim(&claims.collect::<Vec<_>>())
            }
            Kind::Append | Kind::Change | Kind::End => {
                let writes = jobs.filter_map(|job| match job {
                    Job::Change(write, change, _) => Some((write, change)),
                    _ => None,
                });
                vec![write(self.kind, &writes.collect::<Vec<_>>())]
            }
        }
    }

    /// Reads what the statements of [`Group::calls`] returned.
    pub(super) fn outcomes(
        &self,
        jobs: &[Job],
        results: &[Vec<Row>],
        outcomes: &mut [Option<Outcome>],
    ) -> Result<(), PgError> {
        let Some(first) = results.first() else {
            return Ok(());
        };
        let mut found: HashMap<&str, Outcome> = HashMap::new();
        match self.kind {
            Kind::Accept => {
                for row in first {
                    found.insert(row.try_get(0)?, Outcome::Accepted(Accepted::New));
                }
            }
            Kind::Claim => {
                let ids = first.iter().map(|row| row.try_get(0));
                let ids = ids.collect::<Result<HashSet<&str>, _>>()?;
                for row in results.iter().skip(1).flatten() {
                    let id: &str = row.try_get(1)?;
                    if ids.contains(id) {
                        found.insert(id, Outcome::Claimed(Box::new(claimed_run(row)?)));
                    }
                }
            }
            Kind::Append | Kind::Change | Kind::End => {
                for row in first {
                    let state: i16 = row.try_get(1)?;
                    let is_queued = state == state_number(RunState::Queued);
                    found.insert(row.try_get(0)?, Outcome::Changed(is_queued));
                }
            }
        }
        for index in &self.jobs {
            let id = kind_of(&jobs[*index]).map(|(_, id)| id);
            let missing = match self.kind {
                Kind::Accept => Outcome::Unsettled,
                _ => Outcome::Fenced,
            };
            outcomes[*index] = Some(id.and_then(|id| found.remove(id)).unwrap_or(missing));
        }
        Ok(())
    }
}

fn accept<'a>(new: &[&'a NewRun]) -> Call<'a> {
    let columns: Vec<Column<'a>> = vec![
        column(new, |new| &*new.id),
        column(new, |new| &*new.flow),
        column(new, |new| i64::from(new.version)),
        column(new, |new| new.definition.as_deref()),
        column(new, |new| lane_number(new.lane)),
        column(new, |new| new.deadline_ms.map(time)),
        column(new, |new| time(new.created_ms)),
        column(new, |new| &*new.token),
        column(new, |new| new.retry_of.as_deref()),
        column(new, |new| new.idempotency.as_ref().map(|(key, _)| &**key)),
        column(new, |new| new.idempotency.as_ref().map(|(_, hash)| &**hash)),
        column(new, |new| &*new.trigger),
        column(new, |new| new.journal.as_deref()),
        column(new, |new| shard_of(&new.id)),
        column(new, |new| new.trace.as_deref()),
    ];
    let text = ACCEPT.to_owned();
    Call { text, columns }
}

fn claim<'a>(claims: &[(&'a str, &'a Lease)]) -> Vec<Call<'a>> {
    let columns: Vec<Column<'a>> = vec![
        column(claims, |(id, _)| *id),
        column(claims, |(_, lease)| &*lease.worker),
        column(claims, |(_, lease)| time(lease.now_ms)),
        column(claims, |(_, lease)| time(lease.until_ms)),
    ];
    let claim = Call {
        text: CLAIM.to_owned(),
        columns,
    };
    // A statement of its own, which begins after the rows are locked: the snapshot of the first
    // may lack what the previous holder wrote just before.
    let read = Call {
        text: claimed_statement(),
        columns: vec![column(claims, |(id, _)| *id)],
    };
    vec![claim, read]
}

/// Claims one run, in the transaction of `connection`; `None` if it is not queued.
pub(super) async fn claim_one(
    connection: &Connection,
    id: &str,
    lease: &Lease,
) -> Result<Option<Claimed>, PgError> {
    let mut results = Vec::new();
    for call in claim(&[(id, lease)]) {
        let statement = connection.statement(&call.text).await?;
        results.push(connection.send_columns(&statement, &call.columns).await?);
    }
    match &*results {
        [claimed, read] if !claimed.is_empty() => read.first().map(claimed_run).transpose(),
        _ => Ok(None),
    }
}

fn claimed_run(row: &Row) -> Result<Claimed, PgError> {
    let (run, journal) = (run(row)?, list(row, 21)?);
    Ok(Claimed { run, journal })
}

fn write<'a>(kind: Kind, writes: &[(&'a Write, &'a Change)]) -> Call<'a> {
    let mut columns: Vec<Column<'a>> = vec![
        column(writes, |(write, _)| &*write.id),
        column(writes, |(write, _)| i64::from(write.epoch)),
        column(writes, |(write, _)| time(write.now_ms)),
        column(writes, |(write, _)| write.records.as_deref()),
    ];
    match kind {
        Kind::Change => columns.extend::<[Column<'a>; 3]>([
            column(writes, |(_, change)| match change {
                Change::Suspend(_) => 2_i16,
                Change::Release => 3,
                _ => 1,
            }),
            column(writes, |(_, change)| match change {
                Change::Answer(answer) => Some(&**answer),
                _ => None,
            }),
            column(writes, |(_, change)| match change {
                Change::Suspend(wake_ms) => wake_ms.map(time),
                _ => None,
            }),
        ]),
        Kind::End => columns.extend::<[Column<'a>; 3]>([
            column(writes, |(_, change)| match change {
                Change::End(ending) => Some(state_number(ending.state)),
                _ => None,
            }),
            column(writes, |(_, change)| match change {
                Change::End(ending) => ending.answer.as_deref(),
                _ => None,
            }),
            column(writes, |(_, change)| match change {
                Change::End(ending) => Some(&*ending.details),
                _ => None,
            }),
        ]),
        Kind::Accept | Kind::Claim | Kind::Append => {}
    }
    let text = match kind {
        Kind::Change => change_statement(),
        Kind::End => end_statement(),
        _ => append_statement(),
    };
    Call { text, columns }
}
