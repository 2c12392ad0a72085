//! LibreOffice and Chromium in containers. The image is this machine's own root.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{
    io::Read,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use process::{Service, docx, has_chromium, has_libreoffice, is_missing, paragraphs, walk};

const PLATEN: &str = env!("CARGO_BIN_EXE_platen");
/// Settings of every service here.
const BASE: [(&str, &str); 2] = [("RENDER_MODE", "container"), ("CONTAINER_ROOTFS", "/")];

/// True, and printed, if a runtime is not installed or cannot start containers here.
fn lacks_runtime(name: &str) -> bool {
    let folders = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/usr/local/sbin";
    let found = std::env::split_paths(&folders).any(|folder| folder.join(name).is_file());
    is_missing(name, found)
}

fn lacks_programs() -> bool {
    is_missing("LibreOffice", has_libreoffice()) || is_missing("Chromium", has_chromium())
}

fn serve(variables: &[(&str, &str)]) -> Service {
    Service::start(&[&BASE, variables].concat())
}

fn letter() -> Vec<u8> {
    docx(
        &paragraphs(3, "text"),
        &[],
        zip::CompressionMethod::Deflated,
    )
}

/// What runs for a service: numbers and command lines. That of a container's first process begins
/// with the program.
fn running_in(folder: &Path) -> Vec<(u32, String)> {
    let mark = format!("PLATEN_CHILD_FOLDER={}", folder.display());
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| read(*pid, "environ").contains(&mark))
        .map(|pid| (pid, read(pid, "cmdline")))
        .collect()
}

fn read(pid: u32, name: &str) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

/// The first processes of containers: those with number 1 inside.
fn programs(service: &Service) -> Vec<(u32, String)> {
    let all = running_in(service.folder.path()).into_iter();
    all.filter(|(pid, line)| {
        let status = read(*pid, "status");
        let numbers = status.lines().find(|line| line.starts_with("NSpid:"));
        let is_first = numbers.is_some_and(|line| line.ends_with("\t1"));
        is_first && !line.contains("--jail-zygote")
    })
    .collect()
}

#[test]
fn documents_are_made_in_containers_of_each_runtime() {
    if lacks_programs() {
        return;
    }
    for runtime in ["crun", "runc"] {
        if lacks_runtime(runtime) {
            continue;
        }
        let service = serve(&[("CONTAINER_RUNTIME", runtime)]);
        assert_eq!(service.print("<p>text"), "200", "{runtime}");
        assert_eq!(service.convert("a.docx", &letter()), "200", "{runtime}");
        for pool in ["libreoffice", "chromium"] {
            let label = format!("platen_pool_isolation{{pool=\"{pool}\",level=\"container\"}} 1");
            assert_eq!(service.metrics(&label).len(), 1, "{pool}");
        }
        let programs = programs(&service);
        for name in ["soffice.bin", "chrom"] {
            let found = programs.iter().find(|(_, line)| line.contains(name));
            let (pid, _) = found.unwrap_or_else(|| panic!("{name}: {programs:?}"));
            assert_shut_in(*pid);
        }
    }
}

/// A process that the kernel keeps away from everything else.
fn assert_shut_in(pid: u32) {
    for kind in ["net", "pid", "mnt", "ipc", "uts", "user"] {
        let of = |who: &str| std::fs::read_link(format!("/proc/{who}/ns/{kind}")).unwrap();
        assert_ne!(of(&pid.to_string()), of("self"), "{kind}");
    }
    let status = read(pid, "status");
    let has = |line: &str| status.lines().any(|one| one == line);
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert!(has(&format!("{set}:\t0000000000000000")), "{status}");
    }
    assert!(has("NoNewPrivs:\t1") && has("Seccomp:\t2"), "{status}");
    // Everything that can be written to is its own.
    for line in read(pid, "mountinfo").lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let (place, options) = (fields[4], fields[5]);
        let is_own = ["/dev", "/proc", "/tmp"]
            .iter()
            .any(|own| place.starts_with(own))
            || place.contains("/platen-pool-");
        let is_closed = options.split(',').any(|one| one == "ro");
        assert!(is_own || is_closed, "{line}");
    }
}

/// A folder that containers see at the same place, as `/tmp` is their own.
fn seen_folder() -> tempfile::TempDir {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = tempfile::tempdir_in(place).unwrap();
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), all).unwrap();
    folder
}

/// A program in place of another.
fn script(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// What a program in the place of LibreOffice tries, and writes to its folder: what harms nobody where
/// it succeeds, and the rest.
const LOOKS: &str = r#"
    (</dev/tcp/127.0.0.1/PORT) && echo "connected"
    [ -e SECRET ] && echo "saw the secret"
"#;
const ATTEMPTS: &str = r#"
    for place in / /usr /etc /var /home SHARED; do
        (echo x >"$place/written") && echo "wrote $place"
    done
    (echo x >/tmp/written) && echo "wrote own tmp"
    tail -n +3 /proc/net/dev | grep -v lo: && echo "interfaces"
    [ "$(ls -d /proc/[0-9]* | wc -l)" -lt 12 ] && echo "own processes"
    (echo 0 >/proc/sys/kernel/domainname) && echo "changed the kernel"
    unshare --user true && echo "nested"
"#;

/// A script that does this.
fn attempting(what: &str) -> String {
    format!(
        "#!/bin/bash\ncase \"$*\" in *--version*) exit 0;; esac\nexec 2>/dev/null\n\
         {{\n{what}\necho end\n}} >\"$HOME/result\"\nexec sleep 600\n"
    )
}

#[test]
fn a_program_in_a_container_reaches_nothing_outside() {
    if lacks_runtime("crun") || is_missing("bash", Path::new("/bin/bash").exists()) {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let (folder, hidden) = (seen_folder(), tempfile::tempdir().unwrap());
    let secret = hidden.path().join("secret");
    std::fs::write(&secret, "secret").unwrap();
    let fill = |text: &str| {
        let text = text.replace("PORT", &port);
        let text = text.replace("SECRET", secret.to_str().unwrap());
        text.replace("SHARED", folder.path().to_str().unwrap())
    };
    let program = folder.path().join("soffice");
    script(&program, "#!/bin/sh\n");
    // As it is, the script finds what it looks for.
    let outside = tempfile::tempdir().unwrap();
    let free = folder.path().join("free");
    script(&free, &attempting(&fill(LOOKS)));
    let mut free = Command::new(free)
        .env("HOME", outside.path())
        .spawn()
        .unwrap();
    let result = result_below(outside.path());
    let _ = free.kill();
    let _ = free.wait();
    assert_eq!(result, "connected\nsaw the secret\nend\n");

    let all = fill(&format!("{LOOKS}{ATTEMPTS}"));
    script(&folder.path().join("soffice.bin"), &attempting(&all));
    let service = serve(&[
        ("LIBREOFFICE_PATH", program.to_str().unwrap()),
        ("SHUTDOWN_TIMEOUT_MS", "100"),
    ]);
    let address = service.address.clone();
    std::thread::spawn(move || {
        // It is never answered: the program is not LibreOffice.
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let head = "POST /convert?filename=a.txt HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\n\r\nx";
        let _ = std::io::Write::write_all(&mut stream, head.as_bytes());
        let _ = stream.read(&mut [0; 100]);
    });
    let result = result_below(service.folder.path());
    let expected = ["wrote own tmp", "own processes", "end"];
    assert_eq!(result.lines().collect::<Vec<_>>(), expected, "{result}");
}

/// The result of the script in some folder below, once it is complete.
fn result_below(folder: &Path) -> String {
    let begin = Instant::now();
    loop {
        let found = files_named(folder, "result");
        let texts = found.iter().map(std::fs::read_to_string);
        if let Some(text) = texts.flatten().find(|text| text.ends_with("end\n")) {
            return text;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "no result");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn files_named(folder: &Path, name: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => files_named(&entry.path(), name),
            _ if entry.file_name() == name => vec![entry.path()],
            _ => Vec::new(),
        })
        .collect()
}

#[test]
fn each_document_has_a_container_of_its_own_if_that_is_asked_for() {
    if lacks_programs() || lacks_runtime("crun") {
        return;
    }
    let service = serve(&[("PROCESS_MAX_JOBS", "1"), ("OFFICE_SLOTS", "1")]);
    let mut seen = std::collections::BTreeSet::new();
    for count in 1..=3 {
        let office = |(_, line): &(u32, String)| line.contains("soffice.bin");
        assert_eq!(service.convert("a.docx", &letter()), "200");
        assert_eq!(service.print("<p>text"), "200");
        // The spare for the next document.
        let running = || programs(&service).into_iter().filter(office);
        service.wait_until("a spare starts", || {
            running().any(|it| !seen.contains(&it.0))
        });
        seen.extend(running().map(|it| it.0));
        assert!(seen.len() >= count, "{seen:?}");
    }
}

#[test]
fn nothing_is_left_of_a_service_that_was_killed() {
    if lacks_programs() || lacks_runtime("crun") {
        return;
    }
    let shared = tempfile::tempdir().unwrap();
    let temporary = [("TMPDIR", shared.path().to_str().unwrap())];
    let is_left = || !running_in(shared.path()).is_empty();
    for with_its_watchers in [false, true] {
        let mut service = serve(&temporary);
        assert_eq!(service.convert("a.docx", &letter()), "200");
        assert_eq!(service.print("<p>text"), "200");
        let running = running_in(shared.path());
        assert!(running.len() > 6, "{running:?}");
        service.process.kill().unwrap();
        if with_its_watchers {
            let watchers = running.iter().filter(|(_, line)| line.contains("contain "));
            let numbers = watchers.map(|(pid, _)| pid.to_string());
            let _ = Command::new("kill").arg("-9").args(numbers).status();
        }
        service.process.wait().unwrap();
        service.wait_until("its containers end", || !is_left());
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        assert!(
            !mounts.contains(shared.path().to_str().unwrap()),
            "{mounts}"
        );
        assert!(!walk(shared.path()).is_empty(), "its folders are left");
    }
    // The next one removes what is left, also where it does not get any further.
    let mut service = serve(&temporary);
    assert_eq!(service.convert("a.docx", &letter()), "200");
    let folders = || std::fs::read_dir(shared.path()).unwrap().flatten();
    let own = format!("-{}-", service.process.id());
    let pools = folders().filter(|it| it.file_name().to_string_lossy().starts_with("platen-pool"));
    let names: Vec<_> = pools
        .map(|it| it.file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().all(|name| name.contains(&own)), "{names:?}");
    service.terminate();
    assert!(!is_left());
    let left = folders().filter(|it| it.file_name().to_string_lossy().starts_with("platen-pool"));
    assert_eq!(left.count(), 0);
}

/// What a service says that does not start.
fn refused(variables: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut process = Command::new(PLATEN)
        .args(["serve", "--bind", "127.0.0.1:0", "--data-dir"])
        .arg(folder.path().join("data"))
        .env("TMPDIR", folder.path())
        .envs(variables.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while process.try_wait().unwrap().is_none() {
        if begin.elapsed() > Duration::from_secs(30) {
            process.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    process.wait_with_output().unwrap()
}

#[test]
fn a_service_that_can_have_no_containers_does_not_start() {
    let empty = tempfile::tempdir().unwrap();
    let folder = seen_folder();
    let forbidden = folder.path().join("crun");
    script(
        &forbidden,
        "#!/bin/sh\necho 'clone: Operation not permitted' >&2\nexit 1\n",
    );
    let forbidden = forbidden.to_str().unwrap();
    let mode = ("RENDER_MODE", "container");
    let cases: [(&[(&str, &str)], &str); 8] = [
        (
            &[("RENDER_MODE", "jail")],
            "child-process, socket or container",
        ),
        (&[mode], "CONTAINER_ROOTFS is not set"),
        (
            &[mode, ("CONTAINER_ROOTFS", "/no/such/image")],
            "CONTAINER_ROOTFS is `/no/such/image`",
        ),
        (
            &[
                mode,
                ("CONTAINER_ROOTFS", "/"),
                ("CONTAINER_RUNTIME", "no-such-runtime"),
            ],
            "no-such-runtime is not installed: install crun",
        ),
        (
            &[mode, ("CONTAINER_ROOTFS", empty.path().to_str().unwrap())],
            "has neither LibreOffice nor Chromium",
        ),
        (
            &[
                mode,
                ("CONTAINER_ROOTFS", "/"),
                ("CHROMIUM_PATH", "/no/such/program"),
            ],
            "has no Chromium where CHROMIUM_PATH says",
        ),
        (
            &[
                mode,
                ("CONTAINER_ROOTFS", "/"),
                ("CONTAINER_RUNTIME", forbidden),
            ],
            "clone: Operation not permitted",
        ),
        (
            &[
                mode,
                ("CONTAINER_ROOTFS", "/"),
                ("CONTAINER_MEMORY_BYTES", "1000"),
            ],
            "container_memory_bytes is less than 128 MiB",
        ),
    ];
    for (variables, part) in cases {
        let of_image = part.contains("CHROMIUM_PATH") || part.contains("Operation");
        if of_image && lacks_programs() || part.contains("neither") && lacks_runtime("crun") {
            continue;
        }
        let output = refused(variables);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{part}: {said}");
        assert!(said.contains(part), "{part}: {said}");
        assert!(!said.contains("listening"), "{part}: {said}");
    }
}

/// Folders of the control groups of containers.
fn groups() -> Vec<PathBuf> {
    let mut open = vec![PathBuf::from("/sys/fs/cgroup")];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("platen-") && name.ends_with("-container") {
                found.push(entry.path());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
    }
    found
}

#[test]
fn limits_are_those_of_a_control_group_which_ends_with_the_container() {
    if lacks_programs() || lacks_runtime("crun") {
        return;
    }
    let is_split = Path::new("/sys/fs/cgroup/memory/cgroup.procs").exists();
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    if is_missing("root and control groups of version 1", is_split && is_root) {
        return;
    }
    let limits = [
        ("CONTAINER_MEMORY_BYTES", "1073741824"),
        ("CONTAINER_PROCESSORS", "0.5"),
    ];
    let mut service = serve(&limits);
    assert_eq!(service.convert("a.docx", &letter()), "200");
    let (pid, _) = programs(&service)
        .into_iter()
        .find(|(_, line)| line.contains("soffice.bin"))
        .unwrap();
    let lines = read(pid, "cgroup");
    let group_of = |controller: &str| {
        let mut fields = lines
            .lines()
            .map(|line| line.splitn(3, ':').collect::<Vec<_>>());
        let found = fields.find(|fields| fields[1] == controller).unwrap();
        let inner = found[2].trim_start_matches('/').to_owned();
        let name = inner.rsplit('/').next().unwrap().to_owned();
        groups()
            .into_iter()
            .find(|path| path.ends_with(&name) && path.to_string_lossy().contains(controller))
            .unwrap_or_else(|| panic!("{inner}"))
    };
    let value = |folder: PathBuf, file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let memory = group_of("memory");
    assert_eq!(
        value(memory.clone(), "memory.limit_in_bytes").trim(),
        "1073741824"
    );
    let processors = group_of("cpu");
    assert_eq!(
        value(processors.clone(), "cpu.cfs_quota_us").trim(),
        "50000"
    );
    service.terminate();
    for group in [memory, processors] {
        assert!(!group.exists(), "{}", group.display());
    }
}

#[test]
fn a_controller_starts_containers_if_it_is_told_to() {
    if lacks_programs() || lacks_runtime("crun") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let mut controller = Command::new(PLATEN)
        .args(["controller", "--socket", socket.to_str().unwrap()])
        .env("TMPDIR", folder.path())
        .envs(BASE)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    process::waiting::wait_until("the controller listens", || socket.exists());
    let own = [
        ("RENDER_MODE", "socket"),
        ("CONTROLLER_SOCKET", socket.to_str().unwrap()),
    ];
    let service = Service::start(&own);
    assert_eq!(service.convert("a.docx", &letter()), "200");
    assert_eq!(service.print("<p>text"), "200");
    let label = "platen_pool_isolation{pool=\"libreoffice\",level=\"container\"} 1";
    assert_eq!(service.metrics(label).len(), 1);
    drop(service);
    controller.kill().unwrap();
    controller.wait().unwrap();
    process::waiting::wait_until("its containers end", || {
        running_in(folder.path()).is_empty()
    });
}
