//! Every kind of step ends with its own time, and with its run.

mod inputs;
mod requests;

use std::{
    net::TcpListener,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use platen_engine::{Data, Engine, Job, Origin, Product};
use platen_flow::{Entry, Finish};
use platen_fonts::FontSettings;
use platen_outbound::{Outbound, Settings, Trust};
use platen_script::Cancellation;
use serde_json::{Value as Json, json};

use super::{
    FlowRunner, Journal, Memory, NoJournal, OfficeConvert, Progress, Record, Report, RunOptions,
    Services, Smtp, Stop, Tools, load_flow,
};

/// Other sides that say nothing.
struct World {
    services: Arc<Services>,
    /// Conversions that were begun and are neither done nor dropped.
    converting: Arc<AtomicUsize>,
    http: TcpListener,
    _mail: TcpListener,
    _runtime: tokio::runtime::Runtime,
}

struct Converting(Arc<AtomicUsize>);

impl Drop for Converting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn world() -> World {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let converting = Arc::<AtomicUsize>::default();
    let count = Arc::clone(&converting);
    let convert = OfficeConvert::new(runtime.handle().clone(), move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        let converting = Converting(Arc::clone(&count));
        Box::pin(async move {
            std::future::pending::<()>().await;
            drop(converting);
            unreachable!("nothing ends it")
        })
    });
    let http = TcpListener::bind("127.0.0.1:0").unwrap();
    let mail = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("smtp://{}", mail.local_addr().unwrap());
    let smtp = Smtp::new(&url, "platen@example.com", &Trust::default()).unwrap();
    let services = Services {
        engine: Arc::new(Engine::new(&FontSettings::default())),
        scripts: Arc::new(|| Err("no sandbox".to_owned())),
        outbound: Arc::new(Outbound::new(&Settings {
            allowed_hosts: vec![http.local_addr().unwrap().to_string()],
            allow_private_addresses: true,
            ..Settings::default()
        })),
        tools: Tools {
            convert: Some(Arc::new(convert)),
            mail: Some(Arc::new(smtp)),
            ..Tools::default()
        },
    };
    World {
        services: Arc::new(services),
        converting,
        http,
        _mail: mail,
        _runtime: runtime,
    }
}

impl World {
    /// Steps of each kind that would go on for long.
    fn steps(&self) -> Vec<Json> {
        let url = format!("http://{}/", self.http.local_addr().unwrap());
        let file = json!({"$file": {"name": "a.docx", "mediaType": "", "base64": ""}});
        let table = json!({"key": "long", "name": "Long", "body": [{
            "type": "table", "rows": "rows", "as": "row",
            "columns": [{"header": "A", "value": "{{ row.a }}"}]}]});
        let rows: Vec<Json> = (0..100_000).map(|row| json!({"a": row})).collect();
        vec![
            json!({"type": "http", "url": url}),
            json!({"type": "piece", "piece": "http", "action": "request", "input": {"url": url}}),
            json!({"type": "convert", "file": file, "to": "pdf"}),
            json!({"type": "piece", "piece": "email", "action": "send",
                "input": {"to": "a@example.com", "subject": "A", "text": "A"}}),
            json!({"type": "render", "definition": table, "format": "pdf", "data": {"rows": rows}}),
        ]
    }

    fn run(&self, mut step: Json, cancel: &Cancellation, journal: &mut dyn Journal) -> Report {
        step["name"] = json!("one");
        let flow = json!({"kind": "flow", "key": "f", "name": "F", "trigger": {"type": "manual"},
            "steps": [step]});
        let options = RunOptions {
            cancel: cancel.clone(),
            ..RunOptions::default()
        };
        self.run_with(&flow, options, journal)
    }

    fn run_with(&self, flow: &Json, options: RunOptions, journal: &mut dyn Journal) -> Report {
        let flow = load_flow(flow.to_string().as_bytes()).unwrap();
        let memory = Memory::new(Box::new(|_| None));
        let runner = FlowRunner::new(Arc::clone(&self.services));
        runner.run(&flow, options, &memory, journal).unwrap()
    }
}

#[test]
fn a_step_ends_at_its_own_time() {
    let world = world();
    for mut step in world.steps() {
        let kind = step["type"].clone();
        step["timeoutMs"] = json!(150);
        let report = world.run(step, &Cancellation::default(), &mut NoJournal);
        match report.progress.finish() {
            Some(Finish::Failed { error, .. }) => {
                assert_eq!(error.code, "timeout", "{kind}: {error:?}");
                assert_eq!(
                    error.facts.stage.as_deref(),
                    Some("step"),
                    "{kind}: {error:?}"
                );
            }
            other => panic!("{kind}: {other:?}"),
        }
    }
}

/// Cancels a run once its step has begun.
struct CancelOnStart {
    cancel: Cancellation,
    waiter: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl Journal for CancelOnStart {
    fn append(&mut self, record: Record) -> Result<(), Stop> {
        if let Entry::Started { .. } = record.entry {
            let cancel = self.cancel.clone();
            let waiter = std::thread::spawn(move || {
                // Models somebody who waits for a while: any instant of the step will do.
                std::thread::sleep(Duration::from_millis(50));
                cancel.cancel();
            });
            *self.waiter.lock().unwrap() = Some(waiter);
        }
        Ok(())
    }

    fn flush(&mut self, _: bool) -> Result<(), Stop> {
        Ok(())
    }

    fn respond(&mut self, _: &Json) -> Result<(), Stop> {
        Ok(())
    }
}

#[test]
fn a_step_ends_with_its_run() {
    let world = world();
    for step in world.steps() {
        let kind = step["type"].clone();
        let mut journal = CancelOnStart {
            cancel: Cancellation::default(),
            waiter: Mutex::default(),
        };
        let cancel = journal.cancel.clone();
        // That this returns is what is tested: each of the steps would take half a minute and more.
        let report = world.run(step, &cancel, &mut journal);
        let finish = report.progress.finish();
        assert_eq!(finish, Some(&Finish::Cancelled), "{kind}");
        let waiter = journal.waiter.lock().unwrap().take();
        waiter.unwrap().join().unwrap();
        assert_eq!(world.converting.load(Ordering::Relaxed), 0, "{kind}");
    }
}

#[test]
fn files_that_take_too_long_are_not_given() {
    let world = world();
    let page = json!({"key": "page", "name": "Page", "body": [{"type": "text", "content": "A"}]});
    let options = platen_render::RenderOptions::default();
    let engine = &world.services.engine;
    let template = engine.prepare(&page.to_string().into_bytes().into(), Origin::Owner);
    let made = engine.produce(Job {
        template: &template.unwrap(),
        data: Data::Value(json!({})),
        formats: &[platen_render::Format::Pdf],
        options: &options,
    });
    let Some(Product::Document(made)) = made.unwrap().pop() else {
        panic!("no document was made");
    };
    let file = super::file::document(&made, "a.pdf", None);
    let step = json!({"type": "merge", "files": vec![file; 200], "timeoutMs": 1});
    let report = world.run(step, &Cancellation::default(), &mut NoJournal);
    match report.progress.finish() {
        Some(Finish::Failed { error, .. }) => {
            assert_eq!(
                (&*error.code, error.facts.stage.as_deref()),
                ("timeout", Some("step"))
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_option_that_the_format_cannot_carry_is_in_the_record_of_the_run() {
    let world = world();
    let page = json!({"key": "page", "name": "Page", "body": [{"type": "text", "content": "A"}]});
    let step = json!({"type": "render", "definition": page, "format": "pdf",
        "options": {"dpi": 72}});
    let mut kept = Kept::default();
    let report = world.run(step, &Cancellation::default(), &mut kept);
    let finish = report.progress.finish();
    assert!(matches!(finish, Some(Finish::Succeeded(_))), "{finish:?}");
    let records = kept.0.iter();
    let logged = records.filter_map(|record| record.report.as_ref());
    let logged: Vec<_> = logged.flat_map(|report| &report.log).collect();
    assert_eq!(logged.len(), 1, "{logged:?}");
    assert_eq!(logged[0].level, "warn");
    assert!(logged[0].text.starts_with("unused-option /options/dpi: "));
    let output = kept.0.iter().find_map(|record| match &record.entry {
        Entry::Succeeded { output, .. } => Some(output),
        _ => None,
    });
    let warnings = &output.unwrap()["$file"]["warnings"];
    assert_eq!(warnings[0]["code"], "unused-option", "{warnings}");
}

/// Keeps the records.
#[derive(Default)]
struct Kept(Vec<Record>);

impl Journal for Kept {
    fn append(&mut self, record: Record) -> Result<(), Stop> {
        self.0.push(record);
        Ok(())
    }

    fn flush(&mut self, _: bool) -> Result<(), Stop> {
        Ok(())
    }

    fn respond(&mut self, _: &Json) -> Result<(), Stop> {
        Ok(())
    }
}

#[test]
fn the_time_of_a_run_counts_what_was_worked_before() {
    let world = world();
    let flow = json!({"kind": "flow", "key": "f", "name": "F", "trigger": {"type": "manual"},
        "timeoutMs": 600_000, "steps": [
            {"name": "one", "type": "piece", "piece": "math", "action": "add",
             "input": {"a": 1, "b": 2}},
            {"name": "two", "type": "respond", "body": "{{ steps.one.output }}"}]});
    let run = |worked_s: u64| {
        let options = RunOptions {
            worked: Duration::from_secs(worked_s),
            ..RunOptions::default()
        };
        let mut kept = Kept::default();
        let report = world.run_with(&flow, options, &mut kept);
        (report.progress.finish().cloned(), kept.0)
    };
    // Ten seconds for two steps that take microseconds.
    let (finish, records) = run(590);
    assert!(matches!(finish, Some(Finish::Succeeded(_))), "{finish:?}");
    assert!(records.iter().all(|record| record.worked_ms >= 590_000));
    assert_eq!(run(600).0, Some(Finish::TimedOut));
}

#[test]
fn a_long_pause_between_attempts_suspends_the_run() {
    const PAUSE_MS: u64 = 600_000;
    let world = world();
    let retry = json!({"attempts": 2, "backoffMs": PAUSE_MS, "maxBackoffMs": PAUSE_MS});
    let flow = json!({"kind": "flow", "key": "f", "name": "F", "trigger": {"type": "manual"},
        "steps": [{"name": "one", "type": "code", "source": "export default () => 1;",
            "retry": retry}]});
    let run = |journal: Vec<Entry>| {
        let options = RunOptions {
            journal,
            suspend_after: Some(Duration::from_secs(2)),
            ..RunOptions::default()
        };
        let mut kept = Kept::default();
        let report = world.run_with(&flow, options, &mut kept);
        let entries: Vec<Entry> = kept.0.into_iter().map(|record| record.entry).collect();
        (report.progress, entries)
    };
    // There is no sandbox, which may pass.
    let (progress, mut entries) = run(Vec::new());
    let Some(Entry::Failed { at_ms, .. }) = entries.last_mut() else {
        panic!("{entries:?}");
    };
    let Progress::Suspended(wake_ms) = progress else {
        panic!("{progress:?}");
    };
    assert_eq!(wake_ms, Some(*at_ms + PAUSE_MS));
    // Once the pause is over, the run goes on from its journal.
    *at_ms -= PAUSE_MS;
    let (progress, entries) = run(entries);
    let finish = progress.finish();
    assert!(matches!(finish, Some(Finish::Failed { .. })), "{finish:?}");
    let second = Entry::Started {
        path: "one".to_owned(),
        attempt: 2,
    };
    assert_eq!(entries.first(), Some(&second));
}

/// Runs a flow of these steps.
fn run_of(steps: &Json, trigger: Json) -> Option<Finish> {
    let flow = json!({"kind": "flow", "key": "f", "name": "F", "trigger": {"type": "manual"},
        "steps": steps});
    let options = RunOptions {
        trigger,
        ..RunOptions::default()
    };
    let report = world().run_with(&flow, options, &mut Kept::default());
    report.progress.finish().cloned()
}

#[test]
fn the_outputs_of_a_run_are_bounded_together() {
    let text = "x".repeat(10 << 20);
    let upper = json!({"name": "upper", "type": "piece", "piece": "text", "action": "upper",
        "input": {"text": "{{ trigger.text }}"}});
    let steps = json!([
        {"name": "each", "type": "loop", "items": "{{ trigger.items }}", "steps": [upper]},
        {"name": "done", "type": "respond", "body": "ok"}]);
    let trigger = |items: usize| json!({"text": text, "items": vec![0; items]});
    let ended = run_of(&steps, trigger(5));
    assert!(matches!(ended, Some(Finish::Succeeded(_))), "{ended:?}");
    let Some(Finish::Failed { error, .. }) = run_of(&steps, trigger(40)) else {
        panic!("it did not fail");
    };
    assert_eq!((&*error.code, error.retryable), ("too-large", false));
    assert!(
        error.message.contains("the outputs of the run"),
        "{}",
        error.message
    );
}

#[test]
fn loops_in_loops_take_no_more_threads_than_one() {
    let threads = || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    let (before, most) = (threads(), std::sync::atomic::AtomicUsize::new(0));
    let wait = json!({"name": "store", "type": "store", "operation": "put", "key": "k",
        "value": "{{ index }}"});
    let inner = json!({"name": "inner", "type": "loop", "items": "{{ trigger }}", "parallel": 64,
        "steps": [wait]});
    let steps = json!([{"name": "outer", "type": "loop", "items": "{{ trigger }}", "parallel": 64,
        "as": "row", "steps": [inner]}]);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| run_of(&steps, json!(vec![0; 40])));
        while !running.is_finished() {
            most.fetch_max(threads(), std::sync::atomic::Ordering::Relaxed);
        }
        let ended = running.join().expect("it does not panic");
        assert!(matches!(ended, Some(Finish::Succeeded(_))), "{ended:?}");
    });
    // Other tests of this process have threads, too.
    let most = most.into_inner();
    assert!(
        most < before + 400,
        "{before} threads before, {most} at most"
    );
}

/// A flow that adds, and then skips a step in each item of a loop in a loop. To skip it takes a sum of all items: with
/// thousands of them, the loops have too many items only after far more time than the tests give.
fn endless_walk(timeout_ms: u64) -> (Json, RunOptions) {
    let add = json!({"name": "add", "type": "piece", "piece": "math", "action": "add",
        "input": {"a": 1, "b": 2}});
    let skipped = json!({"name": "skipped", "type": "store", "operation": "put", "key": "k",
        "value": 1, "skipIf": "trigger|sum"});
    let inner = json!({"name": "inner", "type": "loop", "items": "trigger", "steps": [skipped]});
    let outer = json!({"name": "outer", "type": "loop", "items": "trigger", "as": "row",
        "steps": [inner]});
    let flow = json!({"kind": "flow", "key": "f", "name": "F", "trigger": {"type": "manual"},
        "timeoutMs": timeout_ms, "steps": [add, outer]});
    let options = RunOptions {
        trigger: json!(vec![1; 3_000]),
        ..RunOptions::default()
    };
    (flow, options)
}

#[test]
fn loops_whose_steps_are_skipped_end_with_the_time_of_their_run() {
    let (flow, options) = endless_walk(200);
    let report = world().run_with(&flow, options, &mut NoJournal);
    assert_eq!(report.progress.finish(), Some(&Finish::TimedOut));
}

#[test]
fn loops_whose_steps_are_skipped_end_with_their_run() {
    let mut journal = CancelOnStart {
        cancel: Cancellation::default(),
        waiter: Mutex::default(),
    };
    let (flow, mut options) = endless_walk(600_000);
    options.cancel = journal.cancel.clone();
    let report = world().run_with(&flow, options, &mut journal);
    assert_eq!(report.progress.finish(), Some(&Finish::Cancelled));
    let waiter = journal.waiter.lock().unwrap().take();
    waiter.unwrap().join().unwrap();
}

#[test]
fn an_answer_with_a_file_that_is_none_fails_its_step() {
    for (file, is_good) in [
        (
            json!({"name": "a", "mediaType": "text/plain", "base64": "eA=="}),
            true,
        ),
        (
            json!({"name": "a", "mediaType": "text/plain", "base64": "!!!"}),
            false,
        ),
    ] {
        let steps = json!([{"name": "reply", "type": "respond", "body": {"$file": file}}]);
        match run_of(&steps, Json::Null) {
            Some(Finish::Succeeded(_)) => assert!(is_good),
            Some(Finish::Failed { error, .. }) => {
                assert!(!is_good);
                assert_eq!(error.code, "invalid-input");
            }
            other => panic!("{other:?}"),
        }
    }
}
