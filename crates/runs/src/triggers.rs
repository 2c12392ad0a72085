//! Triggers that start flows without a request: schedules and polls.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use platen_flow::model::{HttpRequest, Trigger};
use platen_storage::Error as StoreError;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use crate::{
    Dispatcher, Lane, Request, clock::now_ms, execution::Schedule, flow_cache::FlowVersion,
};

/// Interval between checks of the triggers. The finest schedule has minutes; a second keeps starts
/// on time at the cost of one pass over the published flows.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Items of an answer that are looked at; those beyond never start runs.
const MAX_ITEMS: usize = 10_000;
/// Items that a poll remembers: those of the last answer, and the newest of those before. Older
/// ones are forgotten and would start runs again.
const MAX_SEEN: usize = 2 * MAX_ITEMS;
/// Bytes of an item's name; a longer one is replaced by its hash.
const MAX_NAME_BYTES: usize = 64;

/// Starts flows until the dispatcher closes.
pub(crate) async fn run(dispatcher: Arc<Dispatcher>) {
    let mut due: HashMap<(String, u32), u64> = HashMap::new();
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
                if at <= now_ms() {
                    due.insert(key, now_ms() + u64::from((*every_seconds).max(1)) * 1_000);
                    let poll = poll(Arc::clone(&dispatcher), Arc::clone(&flow));
                    tokio::spawn(poll);
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
    start(dispatcher, flow, &trigger, format!("schedule:{at}")).await
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
    let asked = tokio::task::spawn_blocking(move || ask(&outbound, &request)).await;
    let Ok(Some(answer)) = asked else { return };
    let found = items
        .split('.')
        .filter(|part| !part.is_empty())
        .fold(&answer, |value, part| &value[part]);
    let key = flow.loaded.flow().key.clone();
    let Ok(cursor) = load_cursor(&dispatcher, &key).await else {
        return;
    };
    // Unreadable if the flow had another trigger before.
    let known = cursor.and_then(|cursor| serde_json::from_slice(&cursor).ok());
    let first = known.is_none();
    let known: Vec<String> = known.unwrap_or_default();
    let seen: HashSet<&str> = known.iter().map(String::as_str).collect();
    let mut present: Vec<String> = Vec::new();
    let mut are_present = HashSet::new();
    for item in found.as_array().into_iter().flatten().take(MAX_ITEMS) {
        let Some(name) = name_of(&item[&id]) else {
            continue;
        };
        if are_present.contains(&name) {
            continue;
        }
        // Items present at the first poll do not start runs.
        if !first && !seen.contains(name.as_str()) {
            let trigger = json!({"item": item});
            if !start(&dispatcher, &flow, &trigger, format!("poll:{name}")).await {
                // The queue is full; the next poll finds the item again.
                continue;
            }
        }
        are_present.insert(name.clone());
        present.push(name);
    }
    let gone = known.iter().filter(|name| !are_present.contains(*name));
    let seen: Vec<&String> = gone.chain(&present).collect();
    let seen = &seen[seen.len().saturating_sub(MAX_SEEN)..];
    let cursor = serde_json::to_vec(seen).unwrap_or_default();
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
    let hash = Sha256::digest(name.as_bytes());
    Some(hash.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// `status` and `body` of the response; `None` for an error or a body that is not JSON.
fn ask(outbound: &platen_outbound::Outbound, request: &HttpRequest) -> Option<Json> {
    let headers: Vec<(String, String)> = request
        .headers
        .as_ref()
        .and_then(Json::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect();
    let body = request
        .body
        .as_ref()
        .map(Json::to_string)
        .unwrap_or_default();
    let answer = outbound
        .send(&request.method, &request.url, &headers, body.as_bytes())
        .ok()?;
    let body: Json = serde_json::from_slice(&answer.body).ok()?;
    (answer.status < 400).then(|| json!({"status": answer.status, "body": body}))
}
