//! The ready queue without slots.

use std::sync::Arc;

use super::*;

fn run(id: &str) -> ReadyRun {
    ReadyRun {
        queued: Queued {
            number: 0,
            id: id.to_owned(),
            flow: "f".to_owned(),
            lane: Lane::Async,
            deadline_ms: None,
        },
        just_accepted: None,
    }
}

fn just_accepted() -> JustAccepted {
    let source = br#"{"kind": "flow", "key": "f", "name": "F", "trigger": {"type": "webhook"},
        "steps": [{"name": "reply", "type": "respond", "body": "{{ trigger }}"}]}"#;
    JustAccepted {
        flow: Arc::new(FlowVersion::read(Arc::from(&source[..]), 1).unwrap()),
        trace: None,
        trigger: Arc::from(&b"{}"[..]),
        created_ms: 0,
        token: String::new(),
        ingress_us: 0,
        accepted: std::time::Instant::now(),
    }
}

#[test]
fn a_reserved_run_is_queued_by_its_acceptor_only() {
    let queue = ReadyQueue::default();
    let reservation = queue.reserve("a");
    // The row is durable, and a refill reads it before the acceptor goes on.
    queue.push(run("a"));
    assert_eq!(queue.depth().asynchronous, 0);
    reservation.push(run("a"));
    queue.push(run("a"));
    assert_eq!(queue.depth().asynchronous, 1);
    assert!(!queue.needs_refill());
}

#[tokio::test]
async fn a_run_waits_unless_a_slot_waits_for_it() {
    let queue = ReadyQueue::default();
    assert_eq!(queue.push(run("a")), Pushed::Waits);
    assert_eq!(queue.push(run("a")), Pushed::NotAdded);
    assert_eq!(queue.waiting(9), ["a"]);
    queue.forget(&HashSet::from(["a".to_owned()]));
    let mut slot = Box::pin(queue.take(Takes::Flows, |_| None));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(slot.as_mut().poll(&mut context).is_pending());
    assert_eq!(queue.free_slots(), 1);
    assert_eq!(queue.push(run("a")), Pushed::Taken);
    assert_eq!(queue.push(run("b")), Pushed::Waits);
    assert_eq!(slot.await.queued.id, "a");
    assert_eq!(queue.free_slots(), 0);
}

#[tokio::test]
async fn a_run_whose_slot_took_another_is_offered() {
    let queue = ReadyQueue::new(true);
    let mut slot = Box::pin(queue.take(Takes::Flows, |_| None));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(slot.as_mut().poll(&mut context).is_pending());
    assert_eq!(queue.push(run("a")), Pushed::Taken);
    assert!(queue.broken_promises().is_empty());
    let mut synchronous = run("b");
    synchronous.queued.lane = Lane::Sync;
    queue.push(synchronous);
    assert_eq!(slot.await.queued.id, "b");
    assert_eq!(queue.broken_promises(), ["a"]);
    assert!(queue.broken_promises().is_empty());
}

#[test]
fn a_run_that_is_held_back_waits_for_another_try() {
    let queue = ReadyQueue::default();
    queue.push(run("a"));
    let next = || queue.state().next(Takes::Flows, &|_: &str| Some(1));
    let taken = next().unwrap();
    queue.claimed("a");
    queue.hold_back(taken);
    assert!(next().is_none() && queue.depth().parked == 1);
    queue.retry_parked(|_| Some(1));
    assert_eq!(next().unwrap().queued.id, "a");
}

#[test]
fn deferred_requests_go_to_their_own_slots() {
    let queue = ReadyQueue::default();
    let mut deferred = run("a");
    deferred.queued.flow = DEFERRED_FLOW.to_owned();
    queue.push(deferred);
    let next = |takes| queue.state().next(takes, &|_: &str| None);
    assert!(next(Takes::Flows).is_none() && next(Takes::Synchronous).is_none());
    queue.push(run("b"));
    assert_eq!(next(Takes::Deferred).unwrap().queued.id, "a");
    assert!(next(Takes::Deferred).is_none());
    assert_eq!(next(Takes::Flows).unwrap().queued.id, "b");
}

#[test]
fn a_run_whose_client_disconnected_is_looked_for_in_the_store() {
    let queue = ReadyQueue::default();
    drop(queue.reserve("a"));
    assert!(queue.needs_refill() && !queue.needs_refill());
    queue.push(run("a"));
    assert_eq!(queue.depth().asynchronous, 1);
}

#[test]
fn runs_that_are_held_back_count_and_hold_no_payload() {
    let queue = ReadyQueue::default();
    for (id, lane) in [
        ("a", Lane::Async),
        ("b", Lane::Async),
        ("c", Lane::Sync),
        ("d", Lane::Sync),
    ] {
        let mut run = run(id);
        run.queued.lane = lane;
        run.just_accepted = Some(just_accepted());
        queue.push(run);
    }
    let next = || queue.state().next(Takes::Flows, &|_: &str| Some(1));
    let first = next().unwrap();
    assert!(first.just_accepted.is_some());
    assert!(next().is_none());
    let depth = queue.depth();
    assert_eq!((depth.parked, depth.parked_asynchronous), (3, 2));
    assert_eq!((depth.sync, depth.asynchronous), (0, 0));
    let is_kept = |run: &ReadyRun| run.just_accepted.is_some();
    assert!(!queue.state().parked["f"].iter().any(is_kept));
    for _ in 0..3 {
        queue.done("f");
        assert!(next().unwrap().just_accepted.is_none());
    }
    assert_eq!(queue.depth(), Depth::default());
}
