//! Every kind of address, and inherited sockets.

use std::{
    io::Write,
    net::TcpStream,
    os::{
        fd::{AsFd, OwnedFd},
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener, UnixStream},
    },
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use platen_delivery::{AcceptPolicy, Bind, Listener, Sharing, pass_fds, receive_fds, serve};

use crate::server::{Routes, Seen, Server, get, limits, making, rest};

fn bind(text: &str) -> Bind {
    text.parse().unwrap()
}

fn ask(mut stream: UnixStream) -> String {
    stream.write_all(&get("/hello")).unwrap();
    rest(&mut stream)
}

#[test]
fn several_addresses_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("platen.sock");
    let name = format!("platen-test-{}", std::process::id());
    let binds = [
        bind("tcp4://localhost:0"),
        bind(&format!("unix://{}?mode=600", path.display())),
        bind(&format!("unix://@{name}")),
    ];
    let mut server = Server::on(&binds, limits());
    assert!(server.send(&get("/hello")).ends_with("hello"));
    assert!(ask(UnixStream::connect(&path).unwrap()).ends_with("hello"));
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    assert!(ask(UnixStream::connect_addr(&address).unwrap()).ends_with("hello"));
    server.stop();
    assert!(!path.exists());
}

#[test]
fn ipv6_is_listened_on_where_there_is_any() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        println!("SKIP: this machine has no IPv6");
        assert!(std::env::var("REQUIRE_ALL").as_deref() != Ok("1"));
        return;
    }
    let server = Server::on(&[bind("tcp6://[::1]:0")], limits());
    assert!(server.address().is_ipv6());
    assert!(server.send(&get("/hello")).ends_with("hello"));
}

#[tokio::test]
async fn a_port_is_one_socket_s_unless_it_is_shared() {
    let listen = |text: &str, sharing| Listener::bind(&bind(text), sharing);
    let first = listen("127.0.0.1:0", Sharing::Alone).unwrap();
    let same = first[0].address().unwrap().to_string();
    let error = listen(&same, Sharing::Alone).unwrap_err();
    assert!(error.to_string().contains(&same), "{error}");
    let shared = listen("127.0.0.1:0", Sharing::Port).unwrap();
    let same = shared[0].address().unwrap().to_string();
    assert!(listen(&same, Sharing::Port).is_ok());
}

#[tokio::test]
async fn sockets_are_handed_down() {
    let listener = Listener::bind(&bind("127.0.0.1:0"), Sharing::Alone).unwrap();
    let (ours, theirs) = UnixStream::pair().unwrap();
    pass_fds(&ours, &[listener[0].as_fd()]).unwrap();
    let mut sockets = receive_fds(&theirs).unwrap();
    assert_eq!(sockets.len(), 1);
    let again = Listener::from_socket(sockets.remove(0), &bind("127.0.0.1:0")).unwrap();
    assert_eq!(again.address(), listener[0].address());
    drop(ours);
    assert!(receive_fds(&theirs).is_err());
    let (connected, _other) = UnixStream::pair().unwrap();
    assert!(Listener::from_socket(OwnedFd::from(connected), &bind("unix://@x")).is_err());
}

/// A policy under which another process always has fewer connections.
#[derive(Default)]
struct Crowded(AtomicUsize);

impl AcceptPolicy for Crowded {
    fn may_accept(&self) -> bool {
        false
    }

    fn taken(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_else_takes_is_taken_out_of_turn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let binds = [
        bind("127.0.0.1:0"),
        bind(&format!("unix://{}", path.display())),
    ];
    let policy = Arc::new(Crowded::default());
    let mut listeners = Vec::new();
    for bind in &binds {
        listeners.extend(Listener::bind(bind, Sharing::Alone).unwrap());
    }
    for listener in &mut listeners {
        listener
            .share_accepts(Arc::clone(&policy) as Arc<dyn AcceptPolicy>)
            .unwrap();
    }
    let address = listeners[0].address().unwrap();
    let seen = Arc::new(Seen::default());
    let make = making(Routes(Arc::clone(&seen)));
    let (stop, stopped) = tokio::sync::watch::channel(());
    let serving = tokio::spawn(serve(listeners, limits(), seen, make, stopped));
    let asking = tokio::task::spawn_blocking(move || {
        for _ in 0..20 {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(&get("/hello")).unwrap();
            assert!(rest(&mut stream).ends_with("hello"));
            assert!(ask(UnixStream::connect(&path).unwrap()).ends_with("hello"));
        }
    });
    asking.await.unwrap();
    assert_eq!(policy.0.load(Ordering::SeqCst), 40);
    drop(stop);
    serving.await.unwrap();
}

/// Runs this test program again as a service manager would: with a socket as descriptor 3.
#[test]
fn sockets_of_the_service_manager_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("activated.sock");
    let listener = UnixListener::bind(&path).unwrap();
    // The shell moves the socket from standard input to descriptor 3 and keeps its process id.
    let script = "exec 3<&0 </dev/null; export LISTEN_FDS=1 LISTEN_FDNAMES=web LISTEN_PID=$$; exec \"$0\" \"$@\"";
    let mut child = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "binds::activated_child"])
        .stdin(Stdio::from(OwnedFd::from(listener)))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let answer = ask(UnixStream::connect(&path).unwrap());
    let _ = child.kill();
    let _ = child.wait();
    assert!(answer.ends_with("hello"), "{answer}");
}

#[test]
#[ignore = "the other half of `sockets_of_the_service_manager_are_taken`"]
fn activated_child() {
    if std::env::var_os("LISTEN_FDS").is_none() {
        return;
    }
    let _server = Server::on(&[bind("systemd://web")], limits());
    // The other half kills this process; if it cannot, the process ends by itself.
    std::thread::sleep(std::time::Duration::from_secs(600));
}
