//! Faults of the server and of the network: operations heal within their time or say why not, and
//! what is acknowledged is there.

use std::{
    io::{Read, Write},
    sync::Arc,
    time::{Duration, SystemTime},
};

use platen_fault::{Backend, Code, Resource, What};
use platen_storage::blobs::{
    BlobError, BlobStore, Bucket, BucketBlobs, BucketSettings, ExpiringBlobs, ExpiringBucket,
    RequestBucket, RequestFiles, RequestLimits,
};

use super::{
    place::{Place, place},
    proxy::{Fault, Proxy},
    server::Server,
};

const DAY: Duration = Duration::from_secs(86_400);

fn later() -> SystemTime {
    SystemTime::now() + DAY
}

/// A bucket behind a proxy.
fn behind(timeout: Duration) -> Option<(Place, Proxy, Arc<Bucket>)> {
    let mut place = place()?;
    let proxy = Proxy::start(place.port);
    place.port = proxy.port;
    let settings = BucketSettings {
        timeout,
        ..place.settings()
    };
    let bucket = Arc::new(Bucket::new(&settings).unwrap());
    Some((place, proxy, bucket))
}

fn limits() -> RequestLimits {
    RequestLimits {
        max_requests: 1_000,
        max_bytes: 1 << 30,
        retention: DAY,
        done_retention: DAY,
    }
}

fn content_of(found: &platen_storage::blobs::Found) -> Vec<u8> {
    use std::os::unix::fs::FileExt;
    let mut bytes = vec![0; found.size_bytes as usize];
    found.file.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

#[track_caller]
fn unavailable<T: std::fmt::Debug>(result: Result<T, BlobError>) {
    let error = result.unwrap_err();
    assert!(matches!(error, BlobError::Unavailable(_)), "{error:?}");
    let code = error.code(Resource::Result, What::Results);
    assert_eq!(code, Code::BackendUnavailable(Backend::Bucket));
    assert_eq!((code.status(), code.fault().is_retryable()), (503, true));
}

#[test]
fn what_heals_in_time_is_not_noticed() {
    let Some((place, proxy, bucket)) = behind(Duration::from_secs(60)) else {
        return;
    };
    let results = ExpiringBucket::new(Arc::clone(&bucket), place.cache(), 1 << 30);
    let content = vec![7; 300_000];
    let ends = later();
    let all: &[&str] = &["PUT", "GET", "DELETE"];
    let faults = [
        (Fault::Answer(503, "SlowDown"), 2, all),
        (Fault::Answer(500, "InternalError"), 2, all),
        (Fault::Answer(409, "ConditionalRequestConflict"), 2, all),
        (Fault::Close, 2, all),
        (Fault::LoseAnswer, 2, all),
        (Fault::Cut(0), 2, &["GET"]),
        (Fault::Cut(100_000), 2, &["GET"]),
        (Fault::ChangeRequest, 2, &["PUT"]),
        // Models a server that is slow.
        (Fault::Delay(Duration::from_millis(300)), 1, all),
    ];
    for (index, (fault, times, methods)) in faults.into_iter().enumerate() {
        let unique = [&content[..], &[index as u8]].concat();
        for method in methods {
            proxy.next(method, fault.clone(), times);
        }
        let kept = results.put(&[&unique], ends).unwrap();
        // A cache that does not know the content.
        let reader = ExpiringBucket::new(Arc::clone(&bucket), place.cache(), 0);
        let found = reader.open(&kept.digest, ends).unwrap();
        assert_eq!(content_of(&found), unique, "{fault:?}");
        let swept = results.sweep(ends + DAY).unwrap();
        assert_eq!(swept.files, 1, "{fault:?}");
        assert!(proxy.is_done(), "{fault:?}");
    }
    // A change on the way back is noticed, and the content is asked for again.
    let kept = results.put(&[&content], ends).unwrap();
    proxy.next("GET", Fault::ChangeAnswer, 1);
    let reader = ExpiringBucket::new(Arc::clone(&bucket), place.cache(), 0);
    assert_eq!(
        content_of(&reader.open(&kept.digest, ends).unwrap()),
        content
    );
    assert!(proxy.is_done());
}

#[test]
fn what_does_not_heal_is_said() {
    let Some((place, proxy, bucket)) = behind(Duration::from_millis(400)) else {
        return;
    };
    let results = ExpiringBucket::new(Arc::clone(&bucket), place.cache(), 1 << 30);
    let names = BucketBlobs::new(Arc::clone(&bucket), place.cache(), 1 << 30);
    let requests = RequestBucket::new(Arc::clone(&bucket), place.cache(), limits());
    let ends = later();
    let digest = results.put(&[b"there"], ends).unwrap().digest;
    let reader = ExpiringBucket::new(Arc::clone(&bucket), place.cache(), 1 << 30);
    for fault in [Fault::Answer(503, "SlowDown"), Fault::Close, Fault::Silence] {
        proxy.next("", fault, usize::MAX);
        unavailable(results.put(&[b"one"], ends));
        let mut draft = results.begin().unwrap();
        draft.write(b"one").unwrap();
        unavailable(draft.finish(ends));
        unavailable(reader.open(&digest, ends));
        unavailable(results.sweep(ends + DAY));
        unavailable(names.put("a/b", b"one"));
        unavailable(names.digest("a/b"));
        let write = &mut |target: &mut dyn Write| target.write_all(b"one");
        unavailable(requests.put(3, write));
        let name = "abcdefghijklmnopqrstuv";
        unavailable(requests.open(name, Duration::from_millis(200)));
        assert!(bucket.respond().is_err());
        proxy.heal();
    }
    proxy.next("GET", Fault::Cut(2), usize::MAX);
    unavailable(reader.open(&digest, ends));
    proxy.heal();
    assert!(names.names("").unwrap().is_empty(), "nothing was stored");
    assert_eq!(content_of(&reader.open(&digest, ends).unwrap()), b"there");
    names.put("a/b", b"one").unwrap();
}

/// A server that is killed in the middle of writes: whatever was acknowledged is there afterwards,
/// and whole.
#[test]
fn a_killed_server_loses_nothing_that_it_acknowledged() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let place = Place::of(Arc::new(server));
    let settings = BucketSettings {
        timeout: Duration::from_secs(60),
        ..place.settings()
    };
    let bucket = Arc::new(Bucket::new(&settings).unwrap());
    let results = ExpiringBucket::new(Arc::clone(&bucket), place.cache(), 1 << 30);
    let (ends, content) = (later(), vec![b'x'; 400_000]);
    let kept: Vec<String> = std::thread::scope(|scope| {
        let writers = (0..4).map(|writer| {
            let (results, content) = (&results, &content);
            scope.spawn(move || {
                let one = |round: u32| {
                    let unique = format!("{writer} {round}");
                    let mut draft = results.begin().unwrap();
                    draft.write(unique.as_bytes()).unwrap();
                    draft.write(content).unwrap();
                    draft.finish(ends).unwrap().digest
                };
                (0..20).map(one).collect::<Vec<_>>()
            })
        });
        let writers: Vec<_> = writers.collect();
        for _ in 0..3 {
            // Models how long a server runs between two crashes.
            std::thread::sleep(Duration::from_millis(150));
            place.server.kill();
            place.server.run();
        }
        let kept = writers.into_iter().flat_map(|it| it.join().unwrap());
        kept.collect()
    });
    let reader = ExpiringBucket::new(Arc::clone(&bucket), place.cache(), 0);
    for digest in &kept {
        assert!(content_of(&reader.open(digest, ends).unwrap()).ends_with(&content));
    }
    assert_eq!(kept.len(), 80);
}

/// Two services that write, read, delete and sweep while every third request meets a fault.
#[test]
fn a_rough_network_loses_and_doubles_nothing() {
    let Some((place, proxy, bucket)) = behind(Duration::from_secs(60)) else {
        return;
    };
    proxy.set_rough(true);
    let ends = later();
    std::thread::scope(|scope| {
        for service in 0..2 {
            let (place, bucket) = (&place, &bucket);
            scope.spawn(move || {
                let results = ExpiringBucket::new(Arc::clone(bucket), place.cache(), 1 << 30);
                let names = BucketBlobs::new(Arc::clone(bucket), place.cache(), 1 << 30);
                let requests = RequestBucket::new(Arc::clone(bucket), place.cache(), limits());
                for round in 0..15 {
                    let own = format!("{service} {round} ").repeat(5_000);
                    let kept = results.put(&[own.as_bytes()], ends).unwrap();
                    let reader = ExpiringBucket::new(Arc::clone(bucket), place.cache(), 0);
                    let found = reader.open(&kept.digest, ends).unwrap();
                    assert_eq!(content_of(&found), own.as_bytes());
                    let name = format!("pieces/{service}/{round}");
                    let (digest, _) = names.put(&name, own.as_bytes()).unwrap();
                    assert_eq!(digest, kept.digest);
                    let size_bytes = own.len() as u64;
                    let write = &mut |target: &mut dyn Write| target.write_all(own.as_bytes());
                    let name = requests.put(size_bytes, write).unwrap();
                    let mut file = requests.open(&name, Duration::from_secs(60)).unwrap();
                    let mut read = String::new();
                    file.read_to_string(&mut read).unwrap();
                    assert!(read == own);
                    results.sweep(SystemTime::now()).unwrap();
                    requests.end(&name, false);
                }
            });
        }
    });
    proxy.heal();
    let names = BucketBlobs::new(Arc::clone(&bucket), place.cache(), 1 << 30);
    assert_eq!(names.names("").unwrap().len(), 30);
    let results = ExpiringBucket::new(bucket, place.cache(), 1 << 30);
    results.sweep(SystemTime::now()).unwrap();
    assert_eq!(results.usage().files, 30);
}

#[test]
fn readiness_asks_once_for_many() {
    let Some((_place, proxy, bucket)) = behind(Duration::from_secs(1)) else {
        return;
    };
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| bucket.respond().unwrap());
        }
    });
    assert!(proxy.requests() < 20, "{}", proxy.requests());
}
