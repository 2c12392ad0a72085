//! Processes that a controller starts for a service, both ends in this process.

use std::{
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use platen_pool::{
    Bounds, Command, Controller, Demand, Greeting, Isolation, Mode, Origin, Pipes, Plain, Process,
    Program, Programs, Server, Spawner, StartError, choose_origin,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::oneshot,
    task::JoinHandle,
};

use crate::child::{child_folders, eventually};

/// Programs of a controller: `cat` for Chromium, and no LibreOffice.
struct Cats(Spawner);

impl Programs for Cats {
    async fn start(&self, program: Program) -> Result<Process, StartError> {
        if program == Program::LibreOffice {
            return Err(StartError::NotInstalled {
                program: "LibreOffice".to_owned(),
                hint: "install it".to_owned(),
            });
        }
        // A child of its own, so that there is a family.
        let script = "sleep 1000 & cat; exit 7";
        let command = Command::new("sh").args(["-c", script]);
        self.0
            .spawn(command.pipes(Pipes::Standard), self.0.folder()?)
    }

    fn greeting(&self) -> Greeting {
        Greeting {
            version: "1".to_owned(),
            isolation: Isolation::default().into(),
            chromium: Ok("cat".to_owned()),
            libreoffice: Err("not installed".to_owned()),
            max_processes: 2,
        }
    }

    fn say(&self, _: String) {}
}

struct Running {
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
    folder: PathBuf,
}

impl Running {
    async fn stop(mut self) {
        drop(self.stop.take());
        self.task.await.unwrap();
    }
}

fn serve_with(socket: &Path, bounds: Bounds) -> Running {
    let folder = socket.with_extension("pools");
    let spawner = Spawner::new("cats", Arc::new(Plain), &folder).unwrap();
    let server = Server::listen(socket, Cats(spawner), bounds).unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(server.run(async move {
        let _ = stopped.await;
    }));
    Running {
        stop: Some(stop),
        task,
        folder,
    }
}

fn bounds() -> Bounds {
    Bounds {
        users: vec![rustix::process::getuid().as_raw()],
        max_processes: 2,
        max_memory_bytes: 1 << 30,
    }
}

async fn echo(process: &mut Process) -> String {
    let (input, output) = (
        process.input.as_mut().unwrap(),
        process.output.as_mut().unwrap(),
    );
    input.write_all(b"hello").await.unwrap();
    let mut answer = [0; 5];
    output.read_exact(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_is_used_through_its_descriptors_and_ends_as_its_owner_wants() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let server = serve_with(&socket, bounds());
    let pools = server.folder.clone();
    let controller = Controller::new(&socket, Demand::Auto);
    assert_eq!(controller.greet().await.unwrap().chromium.unwrap(), "cat");
    // It ends by itself, with a status.
    let mut process = controller.start(Program::Chromium).await.unwrap();
    assert_eq!(echo(&mut process).await, "hello");
    let handle = process.handle().clone();
    eventually("its family was told", || handle.members().len() >= 2).await;
    assert!(handle.memory_bytes() > 0);
    drop(process.input.take());
    assert_eq!(handle.exited().await.unwrap().code(), Some(7));
    handle.gone().await;
    // It is dropped, or one of its family is killed.
    let mut process = controller.start(Program::Chromium).await.unwrap();
    let handle = process.handle().clone();
    echo(&mut process).await;
    let is_cat = |line: &str| line.starts_with("cat");
    let cat = || {
        handle
            .members()
            .into_iter()
            .find(|it| is_cat(&it.command_line))
    };
    eventually("its family was told", || cat().is_some()).await;
    handle.kill_member(cat().unwrap().pid);
    assert_eq!(handle.exited().await.unwrap().code(), Some(7));
    let process = controller.start(Program::Chromium).await.unwrap();
    let handle = process.handle().clone();
    handle.kill();
    assert_eq!(handle.exited().await.unwrap().signal(), Some(9));
    handle.gone().await;
    eventually("nothing is left", || child_folders(&pools) == 0).await;
    server.stop().await;
    assert!(!socket.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_or_too_much_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let server = serve_with(&socket, bounds());
    let controller = Controller::new(&socket, Demand::Auto);
    let missing = controller.start(Program::LibreOffice).await.unwrap_err();
    assert!(missing.is_permanent(), "{missing}");
    let first = controller.start(Program::Chromium).await.unwrap();
    let _second = controller.start(Program::Chromium).await.unwrap();
    let third = controller.start(Program::Chromium).await.unwrap_err();
    assert!(third.to_string().contains("--max-processes"), "{third}");
    let handle = first.handle().clone();
    drop(first);
    handle.gone().await;
    // A sandbox is demanded that the controller does not have. The place of a process becomes free a
    // moment after its service knows of its end.
    let strict = Controller::new(&socket, Demand::Required);
    let refused = loop {
        let refused = strict.start(Program::Chromium).await.unwrap_err();
        if !refused.to_string().contains("--max-processes") {
            break refused;
        }
        tokio::task::yield_now().await;
    };
    assert!(refused.to_string().contains("CHILD_ISOLATION"), "{refused}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_users_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let own = rustix::process::getuid().as_raw();
    let users = vec![own + 1];
    let server = serve_with(&socket, Bounds { users, ..bounds() });
    let controller = Controller::new(&socket, Demand::Auto);
    let error = controller.greet().await.unwrap_err().to_string();
    assert!(error.contains("is not served"), "{error}");
    let error = controller.start(Program::Chromium).await.unwrap_err();
    assert!(error.to_string().contains("is not served"), "{error}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_above_the_memory_limit_is_killed_whatever_its_service_does() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let max_memory_bytes = 1;
    let server = serve_with(
        &socket,
        Bounds {
            max_memory_bytes,
            ..bounds()
        },
    );
    let controller = Controller::new(&socket, Demand::Auto);
    let process = controller.start(Program::Chromium).await.unwrap();
    let status = process.handle().exited().await.unwrap();
    assert_eq!(status.signal(), Some(9));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_controller_a_process_counts_as_killed_and_the_next_one_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let mode = Mode::Socket(socket.clone());
    let chosen = choose_origin(&mode, Demand::Auto).await.unwrap();
    let Origin::Controller(controller) = chosen.origin else {
        panic!("a controller was chosen");
    };
    let absent = controller.start(Program::Chromium).await.unwrap_err();
    assert!(absent.to_string().contains("platen controller"), "{absent}");
    let server = serve_with(&socket, bounds());
    let process = controller.start(Program::Chromium).await.unwrap();
    let pid = process.handle().pid();
    server.stop().await;
    assert!(process.handle().exited().await.is_some());
    process.handle().gone().await;
    let is_there = || Path::new(&format!("/proc/{pid}/cwd")).exists();
    eventually("the process has ended", || !is_there()).await;
    let server = serve_with(&socket, bounds());
    let mut process = controller.start(Program::Chromium).await.unwrap();
    assert_eq!(echo(&mut process).await, "hello");
    server.stop().await;
}
