//! Triggers that start flows without a request: schedules and polls.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use parking_lot::Mutex;
use platen_document::json_weight::of_text;
use platen_flow::model::{HttpRequest, Trigger};
use platen_outbound::{Error as Outside, Outbound};
use platen_render::chain;
use platen_storage::Error as StoreError;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use crate::{
    Dispatcher, Lane, Request,
    clock::now_ms,
    depth::is_too_deep,
    execution::{Schedule, body_of, headers_of},
    flow_cache::FlowVersion,
};

/// Interval between checks of the triggers. The finest schedule has minutes; a second keeps starts
/// on time at the cost of one pass over the published flows.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Items of an answer that are looked at; those beyond never start runs.
const MAX_ITEMS: usize = 10_000;
/// Items that a poll remembers: those of the last answer, and the newest of those before. Older
/// ones are forgotten and would start runs again.
const MAX_SEEN: usize = 2 * MAX_ITEMS;
/// What an answer may take in memory once it is read, as [`platen_document::json_weight`] counts it. Bytes.
const MAX_ANSWER_BYTES: u64 = 64 << 20;
/// Bytes of an item's name; a longer one is replaced by its hash.
const MAX_NAME_BYTES: usize = 64;
/// Polls that wait for an answer at a time. Each has a thread, which is not to be missed elsewhere.
const MAX_POLLS: usize = 16;
/// Polls at a time of flows whose last answer was [`SLOW`]: silent hosts do not hold back the others.
const MAX_SLOW_POLLS: usize = 4;
/// An answer that takes longer is slow.
const SLOW: Duration = Duration::from_secs(5);
/// Begins the idempotency keys of triggers: no header of a caller has this character.
const OWN: char = '\u{1}';

/// The polls that are under way: one of each flow, so that those of a silent host do not pile up.
struct Polls {
    under_way: Mutex<HashSet<String>>,
    /// Flows whose last answer was slow.
    slow: Mutex<HashSet<String>>,
    turns: Arc<Semaphore>,
    slow_turns: Arc<Semaphore>,
}

/// A poll that is under way, until this is dropped.
struct UnderWay(Arc<Polls>, String);

impl Polls {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            under_way: Mutex::default(),
            slow: Mutex::default(),
            turns: Arc::new(Semaphore::new(MAX_POLLS)),
            slow_turns: Arc::new(Semaphore::new(MAX_SLOW_POLLS)),
        })
    }

    /// Forgets what is known of flows that are not published any more.
    fn forget_all_but(&self, published: &[(String, u32)]) {
        let is_published = |flow: &String| published.iter().any(|(key, _)| key == flow);
        self.slow.lock().retain(is_published);
    }

    /// `None` if the flow's last poll is still under way.
    fn begin(self: &Arc<Self>, flow: &str) -> Option<UnderWay> {
        let is_new = self.under_way.lock().insert(flow.to_owned());
        is_new.then(|| UnderWay(Arc::clone(self), flow.to_owned()))
    }
}

impl UnderWay {
    /// Polls once it is the flow's turn.
    async fn poll(self, poll: impl Future<Output = ()>) {
        let Self(polls, flow) = &self;
        let turns = match polls.slow.lock().contains(flow) {
            true => Arc::clone(&polls.slow_turns),
            false => Arc::clone(&polls.turns),
        };
        let _turn = turns.acquire_owned().await;
        let begun = tokio::time::Instant::now();
        poll.await;
        let mut slow = polls.slow.lock();
        match begun.elapsed() > SLOW {
            true => slow.insert(flow.clone()),
            false => slow.remove(flow),
        };
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.lock().remove(&self.1);
    }
}

/// Starts flows until the dispatcher closes.
pub(crate) async fn run(dispatcher: Arc<Dispatcher>) {
    let mut due: HashMap<(String, u32), u64> = HashMap::new();
    let polls = Polls::new();
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        if let Some(fleet) = &dispatcher.fleet
            && !fleet.has_triggers().await
        {
            // Due times are read again from the store when it is this one's turn.
            due.clear();
            continue;
        }
        let published = dispatcher.flow_cache.all_published();
        due.retain(|known, _| published.contains(known));
        polls.forget_all_but(&published);
        for key in published {
            let Ok(flow) = dispatcher.flow_cache.get(&key.0, key.1).await else {
                continue;
            };
            if let Some(schedule) = flow.loaded.schedule() {
                let known = due.get(&key).copied();
                let next = run_schedule(&dispatcher, &flow, schedule, known).await;
                due.extend(next.map(|next| (key, next)));
            } else if let Trigger::Poll { every_seconds, .. } = &flow.loaded.flow().trigger {
                let at = due.get(&key).copied().unwrap_or_default();
                if at <= now_ms()
                    && let Some(under_way) = polls.begin(&key.0)
                {
                    due.insert(key, now_ms() + u64::from((*every_seconds).max(1)) * 1_000);
                    let poll = poll(Arc::clone(&dispatcher), Arc::clone(&flow));
                    tokio::spawn(under_way.poll(poll));
                }
            }
        }
    }
}

/// The due time of a schedule, as the store keeps it: a process that starts later knows which times
/// it missed.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Plan {
    /// The schedule that the due time belongs to.
    cron: String,
    time_zone: Option<String>,
    /// Milliseconds since 1970.
    due_ms: u64,
}

/// Starts the flow if its time has come, and returns the next due time. A run that cannot be
/// accepted now is retried at the next poll.
async fn run_schedule(
    dispatcher: &Dispatcher,
    flow: &Arc<FlowVersion>,
    schedule: &Schedule,
    known: Option<u64>,
) -> Option<u64> {
    let at = match known {
        Some(at) => at,
        None => plan(dispatcher, flow).await?,
    };
    if at > now_ms() {
        return Some(at);
    }
    if !start_at(dispatcher, flow, at).await {
        return Some(at);
    }
    // One start makes up for all times that were missed.
    let next = schedule.next_ms(now_ms())?;
    match save_cursor(dispatcher, flow, next).await {
        Ok(()) => Some(next),
        // The idempotency key identifies the run of this time: a second attempt only writes the
        // cursor.
        Err(_) => Some(at),
    }
}

/// The next due time of a published flow, stored if it was not; `None` without a schedule or if the
/// store fails.
pub(crate) async fn plan(dispatcher: &Dispatcher, flow: &FlowVersion) -> Option<u64> {
    let schedule = flow.loaded.schedule()?;
    let Trigger::Schedule { cron, time_zone } = &flow.loaded.flow().trigger else {
        return None;
    };
    let cursor = load_cursor(dispatcher, &flow.loaded.flow().key)
        .await
        .ok()?;
    let known: Option<Plan> = cursor.and_then(|cursor| serde_json::from_slice(&cursor).ok());
    let known = known.filter(|known| known.cron == *cron && known.time_zone == *time_zone);
    if let Some(known) = known {
        return Some(known.due_ms);
    }
    let next = schedule.next_ms(now_ms())?;
    save_cursor(dispatcher, flow, next).await.ok()?;
    Some(next)
}

async fn save_cursor(
    dispatcher: &Dispatcher,
    flow: &FlowVersion,
    due_ms: u64,
) -> Result<(), StoreError> {
    let flow = flow.loaded.flow();
    let Trigger::Schedule { cron, time_zone } = &flow.trigger else {
        return Ok(());
    };
    let plan = Plan {
        cron: cron.clone(),
        time_zone: time_zone.clone(),
        due_ms,
    };
    let plan = serde_json::to_vec(&plan).unwrap_or_default();
    let store = &dispatcher.store;
    store.save_cursor(flow.key.clone(), Arc::from(plan)).await
}

/// The cursor of a flow's trigger.
async fn load_cursor(dispatcher: &Dispatcher, key: &str) -> Result<Option<Arc<[u8]>>, StoreError> {
    let published = dispatcher.store.published().await?;
    let known = published.into_iter().find(|known| known.flow == key);
    Ok(known.and_then(|known| known.cursor))
}

/// Starts the run of that time. True if it is accepted, now or before.
async fn start_at(dispatcher: &Dispatcher, flow: &Arc<FlowVersion>, at_ms: u64) -> bool {
    let at = Timestamp::from_millisecond(at_ms as i64).unwrap_or_default();
    let trigger = json!({"at": at.to_string()});
    // The idempotency key makes two processes, or one that restarted, start the run once.
    start(dispatcher, flow, &trigger, format!("{OWN}schedule:{at}")).await
}

/// Starts a run. True if it was accepted.
async fn start(
    dispatcher: &Dispatcher,
    flow: &Arc<FlowVersion>,
    trigger: &Json,
    key: String,
) -> bool {
    let request = Request {
        flow: Arc::clone(flow),
        lane: Lane::Async,
        trigger: Arc::from(trigger.to_string().into_bytes()),
        idempotency: Some((key, Json::Null)),
        queue_timeout_ms: None,
        arrived: Instant::now(),
    };
    dispatcher.accept(request).await.is_ok()
}

/// What a poll remembers, as the store keeps it.
#[derive(Serialize, Deserialize)]
struct Cursor {
    /// The source of the items, see [`source_of`].
    source: String,
    /// Names of items.
    seen: Vec<String>,
}

/// What a poll asks and where it finds items and their names: items of another source are not known.
fn source_of(request: &HttpRequest, items: &str, id: &str) -> String {
    let source = json!([request, items, id]).to_string();
    hex(&Sha256::digest(source.as_bytes())[..8])
}

/// The names that a cursor has of a source; `None` if it has none, as before the first poll.
fn known_of(cursor: &[u8], source: &str) -> Option<Vec<String>> {
    match serde_json::from_slice(cursor) {
        Ok(Cursor {
            source: known,
            seen,
        }) => (known == source).then_some(seen),
        // 0.1.0 wrote only names. Unreadable if the flow had another trigger before.
        Err(_) => serde_json::from_slice(cursor).ok(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Sends the poll's request, and starts a run for each new item.
async fn poll(dispatcher: Arc<Dispatcher>, flow: Arc<FlowVersion>) {
    let Trigger::Poll {
        request, items, id, ..
    } = flow.loaded.flow().trigger.clone()
    else {
        return;
    };
    let Some(outbound) = dispatcher.settings.outbound.clone() else {
        return;
    };
    let source = source_of(&request, &items, &id);
    let key = flow.loaded.flow().key.clone();
    let asked = tokio::task::spawn_blocking(move || ask(&outbound, &request)).await;
    let answer = match asked.unwrap_or_else(|error| Err(error.to_string())) {
        Ok(answer) => answer,
        Err(reason) => {
            tracing::warn!(flow = key, reason, "a poll got no answer that it can use");
            return;
        }
    };
    let found = items
        .split('.')
        .filter(|part| !part.is_empty())
        .fold(&answer, |value, part| &value[part]);
    let Some(found) = found.as_array() else {
        // It may be there the next time, and what it has then may be old.
        tracing::warn!(flow = key, items, "the answer to a poll has no such list");
        return;
    };
    let Ok(cursor) = load_cursor(&dispatcher, &key).await else {
        return;
    };
    let known = cursor.and_then(|cursor| known_of(&cursor, &source));
    let first = known.is_none();
    let known: Vec<String> = known.unwrap_or_default();
    let seen: HashSet<&str> = known.iter().map(String::as_str).collect();
    let mut present: Vec<String> = Vec::new();
    let mut are_present = HashSet::new();
    for item in found.iter().take(MAX_ITEMS) {
        let Some(name) = name_of(&item[&id]) else {
            continue;
        };
        if are_present.contains(&name) {
            continue;
        }
        // Items present at the first poll do not start runs.
        let is_news = !first && !seen.contains(name.as_str());
        if is_news && is_too_deep(item) {
            tracing::warn!(
                flow = key,
                name,
                "an item is nested too deep to start a run"
            );
        } else if is_news {
            let trigger = json!({"item": item});
            let key = format!("{OWN}poll:{source}:{name}");
            if !start(&dispatcher, &flow, &trigger, key).await {
                // The queue is full; the next poll finds the item again.
                continue;
            }
        }
        are_present.insert(name.clone());
        present.push(name);
    }
    let gone = known.iter().filter(|name| !are_present.contains(*name));
    let mut seen: Vec<String> = gone.chain(&present).cloned().collect();
    seen.drain(..seen.len().saturating_sub(MAX_SEEN));
    let cursor = serde_json::to_vec(&Cursor { source, seen }).unwrap_or_default();
    let _ = dispatcher.store.save_cursor(key, Arc::from(cursor)).await;
}

/// The name by which a poll remembers an item; `None` if it has none.
fn name_of(id: &Json) -> Option<String> {
    let name = match id {
        Json::String(name) => name.clone(),
        Json::Null => return None,
        other => other.to_string(),
    };
    if name.len() <= MAX_NAME_BYTES {
        return Some(name);
    }
    Some(hex(&Sha256::digest(name.as_bytes())))
}

/// JSON that does not take too much memory once it is read; a byte may become seventy.
fn read(body: &[u8]) -> Result<Json, String> {
    if of_text(body) > MAX_ANSWER_BYTES {
        let most = MAX_ANSWER_BYTES >> 20;
        let message = format!("the answer takes more than {most} MiB of memory");
        return Err(message);
    }
    serde_json::from_slice(body).map_err(|error| format!("the answer is no JSON: {error}"))
}

/// `status` and `body` of the response to the request, which is sent as an `http` step sends it.
///
/// # Errors
/// Why there is no response that a poll can use.
pub(crate) fn ask(outbound: &Outbound, request: &HttpRequest) -> Result<Json, String> {
    let input = serde_json::to_value(request).map_err(|error| error.to_string())?;
    let mut headers = headers_of(&input);
    let body = body_of(&input, &mut headers);
    let sent = outbound.send(&request.method, &request.url, &headers, &body);
    let answer = sent.map_err(|error| match error {
        // The address may have a secret in it.
        Outside::NotAllowed(_) => "the host is not in FLOW_ALLOWED_HOSTS".to_owned(),
        error => chain(&error),
    })?;
    if answer.status >= 400 {
        return Err(format!("the answer has the status {}", answer.status));
    }
    let mut found = json!({"status": answer.status});
    found["body"] = read(&answer.body)?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_many_small_values_are_not_read() {
        let list = |count: usize| format!("[{}0]", "0,".repeat(count));
        let read = |count| read(list(count).as_bytes()).is_ok();
        assert!(read(100_000) && !read(2_000_000));
    }

    #[tokio::test(start_paused = true)]
    async fn silent_hosts_hold_back_each_other_only() {
        let polls = Polls::new();
        let silent = |number: usize| {
            let poll = polls.begin(&format!("silent-{number}")).unwrap();
            tokio::spawn(poll.poll(tokio::time::sleep(Duration::from_secs(30))))
        };
        for poll in (0..MAX_POLLS).map(silent).collect::<Vec<_>>() {
            poll.await.unwrap();
        }
        let again: Vec<_> = (0..MAX_POLLS).map(silent).collect();
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(polls.begin("silent-0").is_none());
        let begun = tokio::time::Instant::now();
        polls.begin("quick").unwrap().poll(async {}).await;
        assert_eq!(begun.elapsed(), Duration::ZERO);
        for poll in again {
            poll.await.unwrap();
        }
    }
}
