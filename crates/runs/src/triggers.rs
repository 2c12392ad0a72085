//! What starts flows besides requests: times and news.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use cronexpr::Crontab;
use jiff::Timestamp;
use platen_engine::flow::model::{HttpRequest, Trigger};
use serde_json::{Value as Json, json};

use crate::{Dispatcher, Lane, Request, catalogue::Catalogued, identity::now_ms};

/// How often triggers are looked at.
const LOOK: Duration = Duration::from_secs(1);
/// Items of a poll that are known again.
const MAX_SEEN: usize = 10_000;
/// A schedule that was missed for longer, as nobody was here, is not made up for. Milliseconds.
const MAX_LATE_MS: u64 = 60_000;

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
            match &flow.loaded.flow().trigger {
                Trigger::Schedule { cron, time_zone } => {
                    let zone = time_zone.as_deref().unwrap_or("UTC");
                    let next = next_time(cron, zone, now_ms());
                    let Some(at) = due.get(&key).copied() else {
                        due.extend(next.map(|next| (key, next)));
                        continue;
                    };
                    if at <= now_ms() {
                        due.remove(&key);
                        due.extend(next.map(|next| (key, next)));
                        if now_ms() - at <= MAX_LATE_MS {
                            start_at(&dispatcher, &flow, at).await;
                        }
                    }
                }
                Trigger::Poll { every_seconds, .. } => {
                    let at = due.get(&key).copied().unwrap_or_default();
                    if at <= now_ms() {
                        due.insert(key, now_ms() + u64::from((*every_seconds).max(1)) * 1_000);
                        let poll = poll(Arc::clone(&dispatcher), Arc::clone(&flow));
                        tokio::spawn(poll);
                    }
                }
                Trigger::Webhook { .. } | Trigger::Manual { .. } => {}
            }
        }
    }
}

/// The first instant of a schedule after `after_ms`, in milliseconds since 1970.
fn next_time(cron: &str, zone: &str, after_ms: u64) -> Option<u64> {
    let crontab: Crontab = cronexpr::parse_crontab(&format!("{cron} {zone}")).ok()?;
    let after = Timestamp::from_millisecond(i64::try_from(after_ms).ok()?).ok()?;
    let next = crontab.find_next(after.to_string().as_str());
    let next = next.ok()?.timestamp().as_millisecond();
    u64::try_from(next).ok()
}

async fn start_at(dispatcher: &Dispatcher, flow: &Arc<Catalogued>, at_ms: u64) {
    let at = Timestamp::from_millisecond(at_ms as i64).unwrap_or_default();
    let trigger = json!({"at": at.to_string()});
    // Two processes, or one that was started again, start it once.
    let _ = start(dispatcher, flow, &trigger, format!("schedule:{at}")).await;
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
    let Ok(published) = dispatcher.store.published().await else {
        return;
    };
    let memory = published.into_iter().find(|known| known.flow == key);
    let memory = memory.and_then(|known| known.memory);
    let first = memory.is_none();
    let mut seen: VecDeque<String> = memory
        .and_then(|memory| serde_json::from_slice(&memory).ok())
        .unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_keep_their_time_zone() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond() as u64;
        let next = |cron, zone, after| next_time(cron, zone, at(after)).unwrap();
        let five = next("*/5 * * * *", "UTC", "2026-11-21T14:31:10Z");
        assert_eq!(five, at("2026-11-21T14:35:00Z"));
        // Nine o'clock in Berlin is eight in winter, seven in summer.
        let winter = next("0 9 * * *", "Europe/Berlin", "2026-11-21T14:31:10Z");
        assert_eq!(winter, at("2026-11-22T08:00:00Z"));
        let summer = next("0 9 * * *", "Europe/Berlin", "2026-07-21T14:31:10Z");
        assert_eq!(summer, at("2026-07-22T07:00:00Z"));
        assert_eq!(next_time("61 * * * *", "UTC", 0), None);
    }
}
