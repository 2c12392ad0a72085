//! What starts flows besides requests: times and news.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use platen_engine::flow::{
    Schedule,
    model::{HttpRequest, Trigger},
};
use platen_storage::Error as StoreError;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::{Dispatcher, Lane, Request, catalogue::Catalogued, identity::now_ms};

/// How often triggers are looked at.
const LOOK: Duration = Duration::from_secs(1);
/// Items of a poll that are known again.
const MAX_SEEN: usize = 10_000;

/// Starts flows until the process ends.
pub(crate) async fn run(dispatcher: Arc<Dispatcher>) {
    let mut due: HashMap<(String, u32), u64> = HashMap::new();
    loop {
        tokio::time::sleep(LOOK).await;
        let published = dispatcher.catalogue.all_published();
        due.retain(|known, _| published.contains(known));
        for key in published {
            let Ok(flow) = dispatcher.catalogue.get(&key.0, key.1).await else {
                continue;
            };
            if let Some(schedule) = flow.loaded.schedule() {
                let known = due.get(&key).copied();
                let next = keep_time(&dispatcher, &flow, schedule, known).await;
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

/// The next time of a schedule, as the store remembers it: a process that begins later knows what
/// fell due while there was none.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Plan {
    /// The schedule that the time is of.
    cron: String,
    time_zone: Option<String>,
    /// Milliseconds since 1970.
    due_ms: u64,
}

/// Starts the flow where its time has come; the time that is next. A run that cannot be accepted
/// now is tried again at the next look.
async fn keep_time(
    dispatcher: &Dispatcher,
    flow: &Arc<Catalogued>,
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
    // However many times have passed, this was the start that makes up for them.
    let next = schedule.next_ms(now_ms())?;
    match remember(dispatcher, flow, next).await {
        Ok(()) => Some(next),
        // The run of this time is known by its key: the next look changes nothing but the memory.
        Err(_) => Some(at),
    }
}

/// When a published flow starts next, remembered from now on where it was not; `None` where it has
/// no schedule, or the store cannot be asked.
pub(crate) async fn plan(dispatcher: &Dispatcher, flow: &Catalogued) -> Option<u64> {
    let schedule = flow.loaded.schedule()?;
    let Trigger::Schedule { cron, time_zone } = &flow.loaded.flow().trigger else {
        return None;
    };
    let memory = memory(dispatcher, &flow.loaded.flow().key).await.ok()?;
    let known: Option<Plan> = memory.and_then(|memory| serde_json::from_slice(&memory).ok());
    let known = known.filter(|known| known.cron == *cron && known.time_zone == *time_zone);
    if let Some(known) = known {
        return Some(known.due_ms);
    }
    let next = schedule.next_ms(now_ms())?;
    remember(dispatcher, flow, next).await.ok()?;
    Some(next)
}

async fn remember(
    dispatcher: &Dispatcher,
    flow: &Catalogued,
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
    store.remember(flow.key.clone(), Arc::from(plan)).await
}

/// What the trigger of a published flow remembers.
async fn memory(dispatcher: &Dispatcher, key: &str) -> Result<Option<Arc<[u8]>>, StoreError> {
    let published = dispatcher.store.published().await?;
    let known = published.into_iter().find(|known| known.flow == key);
    Ok(known.and_then(|known| known.memory))
}

/// Whether the run of that time is accepted, now or before.
async fn start_at(dispatcher: &Dispatcher, flow: &Arc<Catalogued>, at_ms: u64) -> bool {
    let at = Timestamp::from_millisecond(at_ms as i64).unwrap_or_default();
    let trigger = json!({"at": at.to_string()});
    // Two processes, or one that was started again, start it once.
    start(dispatcher, flow, &trigger, format!("schedule:{at}")).await
}

/// Whether the run was accepted.
async fn start(
    dispatcher: &Dispatcher,
    flow: &Arc<Catalogued>,
    trigger: &Json,
    key: String,
) -> bool {
    let request = Request {
        flow: Arc::clone(flow),
        lane: Lane::Async,
        trigger: Arc::from(trigger.to_string().into_bytes()),
        idempotency: Some((key, Json::Null)),
        patience_ms: None,
        arrived: Instant::now(),
    };
    dispatcher.accept(request).await.is_ok()
}

/// Asks for news, and starts a run for each item that was not there before.
async fn poll(dispatcher: Arc<Dispatcher>, flow: Arc<Catalogued>) {
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
    let Ok(memory) = memory(&dispatcher, &key).await else {
        return;
    };
    // The flow may have been one of another trigger before.
    let known = memory.and_then(|memory| serde_json::from_slice(&memory).ok());
    let first = known.is_none();
    let mut seen: VecDeque<String> = known.unwrap_or_default();
    for item in found.as_array().into_iter().flatten() {
        let name = match &item[&id] {
            Json::String(name) => name.clone(),
            Json::Null => continue,
            other => other.to_string(),
        };
        if seen.contains(&name) {
            continue;
        }
        // What was there when the flow was published is no news.
        if !first {
            let trigger = json!({"item": item});
            if !start(&dispatcher, &flow, &trigger, format!("poll:{name}")).await {
                // The queue is full: the next look finds the item again.
                continue;
            }
        }
        seen.push_back(name);
        if seen.len() > MAX_SEEN {
            seen.pop_front();
        }
    }
    let memory = serde_json::to_vec(&seen).unwrap_or_default();
    let _ = dispatcher.store.remember(key, Arc::from(memory)).await;
}

/// `status` and `body` of the answer, where it is JSON.
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
