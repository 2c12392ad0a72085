//! Requests of a worker that are never answered.

use super::*;

/// A client that sends its frames to the test, or nowhere.
fn client(frames: mpsc::Sender<Vec<u8>>) -> Client {
    Client {
        runtime: Handle::current(),
        frames,
        answers: Mutex::default(),
        runs: Mutex::default(),
        numbers: AtomicU64::new(0),
        gone: AtomicBool::new(false),
        leaving: AtomicBool::new(false),
        left: Notify::new(),
    }
}

fn question(number: u64) -> ToApp {
    ToApp::Ask {
        number,
        run: "r".to_owned(),
        epoch: 1,
        question: Question::Template {
            key: "t".to_owned(),
        },
    }
}

async fn ask(client: &Arc<Client>) -> Answered {
    let client = Arc::clone(client);
    let asked = tokio::task::spawn_blocking(move || client.ask(question));
    asked.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_not_answered_leaves_nothing() {
    let (frames, unwritten) = mpsc::channel(4);
    let silent = Arc::new(client(frames));
    let asking = tokio::spawn({
        let silent = Arc::clone(&silent);
        async move { ask(&silent).await }
    });
    while lock(&silent.answers).is_empty() {
        tokio::task::yield_now().await;
    }
    // The connection ends; after that, sending fails as well.
    silent.abandon();
    drop(unwritten);
    assert!(asking.await.unwrap().is_err());
    assert!(lock(&silent.answers).is_empty());
    assert!(ask(&silent).await.is_err());
    silent.gone.store(false, Ordering::Release);
    assert!(ask(&silent).await.is_err());
    assert!(lock(&silent.answers).is_empty());
    // The same happens when the answer times out.
    let (sender, _receiver) = oneshot::channel();
    drop(silent.expect(7, sender));
    assert!(lock(&silent.answers).is_empty());
}
