//! Connections that are lost at any moment: what was acknowledged is there, once, and what was
//! refused is not.

use std::{sync::Arc, time::Duration};

use platen_storage::{
    Error, PostgresOptions, PostgresStore, RunState, RunStore, ServiceLock, Share, runs::Accepted,
};
use tokio::sync::oneshot;

use super::{
    bytes, ending, lease, new, options,
    proxy::{Fault, Proxy},
    server::{self, Server},
    write,
};

/// A store behind a proxy, and one that is connected directly.
struct Bench {
    server: Arc<Server>,
    name: String,
    proxy: Proxy,
    store: Arc<dyn RunStore>,
    direct: Arc<dyn RunStore>,
}

async fn bench() -> Option<Bench> {
    let server = server::shared().await?;
    let name = server.database_name().await;
    let proxy = Proxy::start(server.port).await;
    let open = async |port: u16| {
        let url = server.url_at(port, &name);
        let store = PostgresStore::open(&url, &options()).await.unwrap();
        store.runs()
    };
    let (store, direct) = (open(proxy.port).await, open(server.port).await);
    Some(Bench {
        server,
        name,
        proxy,
        store,
        direct,
    })
}

impl Bench {
    /// Accepts runs, each of which meets the fault that `fault` makes; then ends them, where each
    /// commit meets it again.
    async fn lives(&self, label: &str, mut fault: impl FnMut() -> Fault) {
        for index in 0..5 {
            let id = format!("{label}-{index}");
            self.proxy.next(fault());
            let accepted = self.store.accept(new(&id)).await.unwrap();
            assert_eq!(accepted, Accepted::New);
            assert!(self.proxy.is_done());
            self.proxy.next(fault());
            let claimed = self.store.claim(id.clone(), lease("w")).await.unwrap();
            assert_eq!((claimed.run.epoch, &claimed.run.id), (1, &id));
            self.proxy.next(fault());
            self.store.append(write(&id, 1, "[1]")).await.unwrap();
            self.proxy.next(fault());
            let finished = self.store.finish(write(&id, 1, "[2]"), ending()).await;
            finished.unwrap();
            assert!(self.proxy.is_done());
            let again = self.store.finish(write(&id, 1, "[3]"), ending()).await;
            assert!(matches!(again, Err(Error::Fenced)));
            let run = self.direct.get(id.clone()).await.unwrap();
            assert_eq!(run.state, RunState::Succeeded);
            let journal = self.direct.journal(id).await.unwrap();
            assert_eq!(journal, [bytes("[1]"), bytes("[2]")]);
        }
        let count = format!("SELECT count(*) FROM runs WHERE id LIKE '{label}-%'");
        assert_eq!(self.server.number(&self.name, &count).await, 5);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_of_a_commit_is_read_back() {
    let Some(bench) = bench().await else { return };
    bench.lives("answer", || Fault::LoseAnswer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_commit_is_repeated() {
    let Some(bench) = bench().await else { return };
    bench.lives("commit", || Fault::LoseCommit).await;
}

/// The commit of the lost connection reaches the server after the write was repeated.
#[tokio::test(flavor = "multi_thread")]
async fn a_late_commit_changes_nothing() {
    let Some(bench) = bench().await else { return };
    let mut late = Vec::new();
    let hold = || {
        let (go, wait) = oneshot::channel();
        late.push(go);
        Fault::HoldCommit(wait)
    };
    bench.lives("late", hold).await;
    drop(late);
    let count = "SELECT count(*) FROM runs";
    assert_eq!(bench.server.number(&bench.name, count).await, 5);
    for index in 0..5 {
        let journal = bench.direct.journal(format!("late-{index}")).await.unwrap();
        assert_eq!(journal, [bytes("[1]"), bytes("[2]")]);
    }
}

/// How a life went, as its caller knows it.
struct Life {
    id: String,
    accepted: bool,
    finished: bool,
}

/// `None` if the store says that it does not know; anything else but success would be a lie.
fn certain<T>(id: &str, result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Error::Unavailable(_)) => None,
        Err(error) => panic!("{id}: {error:?}"),
    }
}

async fn live(store: &dyn RunStore, id: String) -> Life {
    let mut life = Life {
        accepted: false,
        finished: false,
        id: id.clone(),
    };
    let Some(accepted) = certain(&id, store.accept(new(&id)).await) else {
        return life;
    };
    assert_eq!(accepted, Accepted::New);
    life.accepted = true;
    let Some(claimed) = certain(&id, store.claim(id.clone(), lease("w")).await) else {
        return life;
    };
    assert_eq!(claimed.run.epoch, 1);
    let read = certain(&id, store.get(id.clone()).await);
    assert!(read.is_none_or(|run| run.state == RunState::Running));
    let appended = certain(&id, store.append(write(&id, 1, "[1]")).await);
    if appended.is_none() {
        return life;
    }
    life.finished = certain(&id, store.finish(write(&id, 1, "[2]"), ending()).await).is_some();
    life
}

async fn check(direct: &dyn RunStore, life: Life) {
    let run = match direct.get(life.id.clone()).await {
        Err(Error::NotFound) => {
            assert!(!life.accepted, "{} was acknowledged and is lost", life.id);
            return;
        }
        run => run.unwrap(),
    };
    let journal = direct.journal(life.id.clone()).await.unwrap();
    if life.finished {
        assert_eq!(run.state, RunState::Succeeded, "{}", life.id);
        assert_eq!(journal, [bytes("[1]"), bytes("[2]")], "{}", life.id);
    }
    let whole = [bytes("[1]"), bytes("[2]")];
    assert!(whole.starts_with(&journal), "{}: {journal:?}", life.id);
    assert_eq!(run.state.is_end(), journal.len() == 2, "{}", life.id);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_lost_at_random_moments_lose_nothing() {
    let Some(bench) = bench().await else { return };
    bench.proxy.set_rough(true);
    let callers: Vec<_> = (0..8)
        .map(|caller| {
            let store = Arc::clone(&bench.store);
            tokio::spawn(async move {
                let mut lives = Vec::new();
                for index in 0..60 {
                    lives.push(live(&*store, format!("{caller}-{index}")).await);
                }
                lives
            })
        })
        .collect();
    let mut known = 0;
    for caller in callers {
        for life in caller.await.unwrap() {
            known += usize::from(life.finished);
            check(&*bench.direct, life).await;
        }
    }
    assert!(known > 240, "the store hardly ever knows: {known}");
}

/// A lost connection that does not come back in time.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_settled_is_reported_as_unknown() {
    let Some(server) = server::shared().await else {
        return;
    };
    let name = server.database_name().await;
    let proxy = Proxy::start(server.port).await;
    let mut impatient = options();
    impatient.connect_within = Duration::from_millis(300);
    let url = server.url_at(proxy.port, &name);
    let store = loop {
        // A loaded machine may need longer than this to connect.
        if let Ok(store) = PostgresStore::open(&url, &impatient).await {
            break store.runs();
        }
    };
    let direct = PostgresStore::open(&server.url(&name), &options()).await;
    let direct = direct.unwrap().runs();
    while store.accept(new("before")).await.is_err() {}
    proxy.set_refusing(true);
    proxy.next(Fault::LoseAnswer);
    let answer = store.accept(new("before-2")).await;
    assert!(matches!(answer, Err(Error::Unavailable(_))), "{answer:?}");
    // The server has it, or not, by the lane that it went through.
    let there = direct.get("before-2".into()).await.is_ok();
    assert_eq!(there, proxy.is_done());
    proxy.set_refusing(false);
    let again = loop {
        match store.accept(new("before-2")).await {
            Err(Error::Unavailable(_)) => {}
            other => break other.unwrap(),
        }
    };
    assert_eq!(again, Accepted::New, "the same run is accepted once");
}

/// The network forgets a connection without a word, as after the loss of a router: its session, and
/// the lock that it holds, live on at the server.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_does_not_take_its_own_lost_session_for_a_rival() {
    let Some(server) = server::shared().await else {
        return;
    };
    let name = server.database_name().await;
    let proxy = Proxy::start(server.port).await;
    let url = server.url_at(proxy.port, &name);
    let options = PostgresOptions {
        statement_timeout: Duration::from_secs(1),
        ..options()
    };
    let acquire = |patience| ServiceLock::acquire(&url, &options, Share::Exclusive, patience);
    let lock = acquire(Duration::ZERO).await.unwrap();
    let holder = "SELECT coalesce(max(pid), 0)::bigint FROM pg_locks
         WHERE locktype = 'advisory' AND granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let before = server.number(&name, holder).await;
    assert!(before > 0);
    let lost = tokio::spawn(lock.lost());
    proxy.silence();
    let safety_net = std::time::Instant::now() + Duration::from_secs(60);
    loop {
        assert!(!lost.is_finished(), "it gave up its own lock");
        let now = server.number(&name, holder).await;
        if now != 0 && now != before {
            break;
        }
        assert!(std::time::Instant::now() < safety_net);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(matches!(acquire(Duration::ZERO).await, Err(Error::InUse)));
    assert!(!lost.is_finished());
}
