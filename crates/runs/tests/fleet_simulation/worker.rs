//! A worker: it speaks the protocol and lets time pass for each run.

use std::{sync::Arc, time::Duration};

use platen_runs::protocol::{self, Assign, Change, PROTOCOL, ToApp, ToWorker, WriteFrame};
use platen_storage::runs::RunState;
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream},
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::sleep,
};

use crate::observer::Observer;

/// What a worker tells the service.
type Frames = mpsc::UnboundedSender<ToApp>;

/// Executes runs until the service disconnects. When the future is dropped, so is all work.
pub async fn serve(connection: &mut DuplexStream, worker: usize, observer: &Arc<Observer>) {
    let (mut reader, mut writer) = tokio::io::split(connection);
    let hello = ToApp::Hello {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL,
        name: format!("worker-{worker}"),
        slots: 1,
    };
    if protocol::write(&mut writer, &hello).await.is_err() {
        return;
    }
    let Ok(Some(ToWorker::Welcome { heartbeat_ms, .. })) = protocol::read(&mut reader).await else {
        return;
    };
    observer.connected(worker);
    let (frames, unwritten) = mpsc::unbounded_channel();
    let heartbeats = async {
        while frames.send(ToApp::Heartbeat).is_ok() {
            sleep(Duration::from_millis(heartbeat_ms)).await;
        }
    };
    tokio::select! {
        () = execute(&mut reader, &frames, worker, observer) => {}
        () = write(&mut writer, unwritten) => {}
        () = heartbeats => {}
    }
    observer.disconnected(worker);
}

async fn write(writer: &mut (impl AsyncWrite + Unpin), mut frames: mpsc::UnboundedReceiver<ToApp>) {
    while let Some(frame) = frames.recv().await {
        if protocol::write(writer, &frame).await.is_err() {
            return;
        }
    }
}

async fn execute(
    reader: &mut (impl AsyncRead + Unpin),
    frames: &Frames,
    worker: usize,
    observer: &Arc<Observer>,
) {
    let mut runs = JoinSet::new();
    // It has one slot, so one answer is awaited at most.
    let mut awaited: Option<oneshot::Sender<bool>> = None;
    while let Ok(Some(message)) = protocol::read(reader).await {
        match message {
            ToWorker::Assign(assign) => {
                let (answer, answered) = oneshot::channel();
                awaited = Some(answer);
                let (frames, observer) = (frames.clone(), Arc::clone(observer));
                runs.spawn(run(*assign, frames, answered, worker, observer));
            }
            ToWorker::Answer { refusal, .. } => {
                if let Some(answer) = awaited.take() {
                    let _ = answer.send(refusal.is_none());
                }
            }
            // It would stop at its next step, and the simulated run has one.
            ToWorker::Cancel { .. } => {}
            ToWorker::Welcome { .. } | ToWorker::Refused { .. } => return,
        }
    }
}

async fn run(
    assign: Assign,
    frames: Frames,
    answered: oneshot::Receiver<bool>,
    worker: usize,
    observer: Arc<Observer>,
) {
    let executing = Observer::start(&observer, worker, &assign.run);
    let milliseconds = assign.trigger["ms"].as_u64().unwrap_or_default();
    sleep(Duration::from_millis(milliseconds)).await;
    let succeeded = RunState::ALL
        .iter()
        .position(|state| *state == RunState::Succeeded);
    let finish = ToApp::Change {
        number: Some(1),
        write: WriteFrame {
            run: assign.run.clone(),
            epoch: assign.epoch,
            records: None,
        },
        change: Change::Finish {
            state: succeeded.unwrap_or_default(),
            answer: None,
            details: RawValue::NULL.to_owned(),
        },
    };
    let _ = frames.send(finish);
    if answered.await == Ok(false) {
        observer.refused();
    }
    drop(executing);
    let (run, epoch) = (assign.run, assign.epoch);
    let _ = frames.send(ToApp::Done { run, epoch });
}
