//! The servers: Platen, Puma, nginx, hyper, or one that is already running.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use super::{Options, bodies::body};
use crate::{
    Error,
    client::Target,
    name::{BodyKind, Route, Server as ServerName, SocketKind},
    program::{Program, find, folder, free_port},
};

/// Puma's rackup file.
const RACKUP: &str = include_str!("../../../../bench/http-peer/config.ru");

/// Version of hyper in the binary; a test compares it with `Cargo.lock`.
const HYPER_VERSION: &str = "1.12.0";

/// Servers to compare with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The installed Puma.
    Puma,
    /// nginx with files.
    Nginx,
    /// hyper alone, in this binary.
    Hyper,
    /// A server that is already running on this machine.
    Url(String),
}

impl Peer {
    /// Parses a name or URL.
    #[must_use]
    pub fn parse(name: &str) -> Self {
        match name {
            "puma" => Self::Puma,
            "nginx" => Self::Nginx,
            "hyper" => Self::Hyper,
            url => Self::Url(url.to_owned()),
        }
    }
}

/// A running server.
pub(super) struct Server {
    pub(super) name: ServerName,
    /// URL for wrk.
    pub(super) url: String,
    pub(super) target: Target,
    /// `None` if it was already running.
    pub(super) program: Option<Program>,
    /// Whether it can send bodies of unknown length.
    pub(super) has_chunks: bool,
    /// Folder of its files, if known.
    pub(super) folder: Option<PathBuf>,
    pub(super) what: What,
    /// Folder of its certificate and socket, which is removed with it.
    pub(super) _keeps: Option<TempDir>,
}

/// What a server is asked for.
pub(super) enum What {
    /// Every kind of body, with `Body-Conf`.
    Bodies,
    /// One kind, with a request for each number of kilobytes.
    Asks {
        route: Route,
        kind: BodyKind,
        asks: BTreeMap<usize, Ask>,
    },
}

/// A request of a body.
pub(super) struct Ask {
    pub(super) path: String,
    /// JSON to post, and the script with which wrk does it.
    pub(super) post: Option<(Vec<u8>, PathBuf)>,
}

impl Server {
    /// What is requested of it.
    pub(super) fn route(&self) -> Route {
        match self.what {
            What::Bodies => Route::Fixture,
            What::Asks { route, .. } => route,
        }
    }

    /// Whether it has bodies of this kind.
    pub(super) fn answers(&self, wanted: BodyKind) -> bool {
        match &self.what {
            What::Bodies => true,
            What::Asks { kind, .. } => *kind == wanted,
        }
    }

    /// The request of a body; `None` for one at `/` with `Body-Conf`.
    pub(super) fn ask(&self, kilobytes: usize) -> Option<&Ask> {
        match &self.what {
            What::Bodies => None,
            What::Asks { asks, .. } => asks.get(&kilobytes),
        }
    }

    /// The path of a body.
    pub(super) fn path(&self, kilobytes: usize) -> &str {
        self.ask(kilobytes).map_or("/", |ask| &ask.path)
    }
}

/// Where a server should listen.
pub(super) struct Place {
    /// In the notation of Puma and Platen.
    bind: String,
    pub(super) url: String,
    pub(super) target: Target,
    port: u16,
}

impl Place {
    /// The address in the notation of Platen, whose certificate is made in a folder.
    pub(super) fn of_platen(&self, kind: SocketKind, folder: &Path) -> Result<String, Error> {
        if !kind.is_tls() {
            return Ok(self.bind.clone());
        }
        let [key, certificate] = certificate(folder)?;
        let address = self.bind.trim_start_matches("ssl://");
        Ok(format!("tls://{address}?cert={certificate}&key={key}"))
    }
}

pub(super) fn place(kind: SocketKind, folder: &Path) -> Result<Place, Error> {
    let port = free_port()?;
    let (host, target) = match kind {
        SocketKind::Tcp6 | SocketKind::Ssl6 => (format!("[::1]:{port}"), None),
        SocketKind::Unix => (String::new(), Some(Target::Unix(folder.join("s")))),
        SocketKind::Aunix => {
            let name = format!("platen-bench-{}-{port}", std::process::id());
            (String::new(), Some(Target::Abstract(name)))
        }
        _ => (format!("127.0.0.1:{port}"), None),
    };
    let bind = match &target {
        Some(Target::Unix(path)) => format!("unix://{}", path.display()),
        Some(Target::Abstract(name)) => format!("unix://@{name}"),
        _ if kind.is_tls() => format!("ssl://{host}"),
        _ => format!("tcp://{host}"),
    };
    let scheme = if kind.is_tls() { "https" } else { "http" };
    Ok(Place {
        bind,
        url: format!("{scheme}://{host}"),
        target: target.unwrap_or(Target::Tcp(host)),
        port,
    })
}

/// Creates a self-signed certificate and its key.
fn certificate(folder: &Path) -> Result<[String; 2], Error> {
    let paths = ["key.pem", "cert.pem"].map(|name| folder.join(name).display().to_string());
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
        ])
        .args(["-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args([
            "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1",
        ])
        .args(["-keyout", &paths[0], "-out", &paths[1]])
        .output()
        .map_err(|_| Error::Missing {
            program: "openssl".to_owned(),
            hint: "apt-get install openssl; it makes the certificate of `-s ssl`".to_owned(),
        })?;
    match made.status.success() {
        true => Ok(paths),
        false => {
            let text = String::from_utf8_lossy(&made.stderr).into_owned();
            Err(Error::program("openssl", text))
        }
    }
}

fn begin(
    name: ServerName,
    command: Command,
    folder: TempDir,
    place: Place,
    has_chunks: bool,
) -> Result<Server, Error> {
    let Place { url, target, .. } = place;
    let mut program = Program::start(&name.to_string(), command, folder, target.clone())?;
    program.wait_listening()?;
    Ok(Server {
        name,
        url,
        target,
        folder: Some(program.folder().to_owned()),
        program: Some(program),
        has_chunks,
        what: What::Bodies,
        _keeps: None,
    })
}

/// Platen's HTTP transport alone.
pub(super) fn ours(options: &Options) -> Result<Server, Error> {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    fixture(options, ServerName::Transport { version }, &[])
}

/// The fixture in this binary, by Platen's transport or by hyper.
fn fixture(options: &Options, name: ServerName, arguments: &[&str]) -> Result<Server, Error> {
    let folder = folder()?;
    let place = place(options.socket, folder.path())?;
    let bind = place.of_platen(options.socket, folder.path())?;
    let mut command = Command::new(&options.platen.program);
    command
        .args(["bench", "http-server", "--bind", &bind])
        .args(["-w", &options.workers.to_string()])
        .args(arguments)
        .env("TMPDIR", folder.path());
    begin(name, command, folder, place, true)
}

/// Starts one of the other servers.
pub(super) fn peer(options: &Options, peer: &Peer) -> Result<Server, Error> {
    match peer {
        Peer::Puma => puma(options),
        Peer::Nginx => nginx(options),
        Peer::Hyper => {
            let version = HYPER_VERSION.to_owned();
            fixture(options, ServerName::Hyper { version }, &["--hyper"])
        }
        Peer::Url(url) => {
            let target = Target::parse(url)?.on_this_machine()?;
            Ok(Server {
                name: ServerName::Address(url.clone()),
                url: url.trim_end_matches('/').to_owned(),
                target,
                program: None,
                has_chunks: true,
                folder: None,
                what: What::Bodies,
                _keeps: None,
            })
        }
    }
}

/// Writes files of all sizes, as requested by `i`.
fn write_files(options: &Options, folder: &Path) -> Result<(), Error> {
    for kilobytes in &options.bodies.kilobytes {
        let path = folder.join(format!("body_io_{kilobytes:04}.txt"));
        let content = body(std::process::id(), *kilobytes);
        fs::write(&path, content).map_err(Error::file("write", path))?;
    }
    Ok(())
}

fn version(program: &str, argument: &str) -> String {
    let output = Command::new(program).arg(argument).output();
    let text = output.map(|it| [it.stdout, it.stderr].concat());
    let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
    let mut words = text.split(|it: char| it.is_whitespace() || it == '/');
    let is_version = |word: &&str| word.starts_with(|it: char| it.is_ascii_digit());
    words.find(is_version).unwrap_or("?").to_owned()
}

fn puma(options: &Options) -> Result<Server, Error> {
    let program = find("puma").ok_or_else(|| Error::Missing {
        program: "puma".to_owned(),
        hint: "apt-get install puma, or gem install puma".to_owned(),
    })?;
    let folder = folder()?;
    write_files(options, folder.path())?;
    let rackup = match &options.puma.rackup {
        Some(rackup) => rackup.clone(),
        None => {
            let rackup = folder.path().join("config.ru");
            fs::write(&rackup, RACKUP).map_err(Error::file("write", &rackup))?;
            rackup
        }
    };
    let place = place(options.socket, folder.path())?;
    let bind = match options.socket.is_tls() {
        true => {
            let [key, certificate] = certificate(folder.path())?;
            format!(
                "{}?key={key}&cert={certificate}&verify_mode=none",
                place.bind
            )
        }
        false => place.bind.clone(),
    };
    let threads = format!("{0}:{0}", options.threads);
    let yjit = if options.puma.has_yjit { " +YJIT" } else { "" };
    let name = ServerName::Puma {
        version: version("puma", "--version"),
        ruby: version("ruby", "--version") + yjit,
    };
    let mut command = Command::new(program);
    command
        .args(["-q", "-e", "production", "-b", &bind, "-C"])
        .arg(options.puma.config.as_deref().unwrap_or(Path::new("-")))
        .args(["-w", &options.workers.to_string(), "-t", &threads])
        .arg(&rackup)
        .env("BODY_FOLDER", folder.path())
        .env("TMPDIR", folder.path())
        .current_dir(folder.path());
    if options.puma.has_yjit {
        command.env("RUBYOPT", "--yjit");
    }
    begin(name, command, folder, place, true)
}

/// nginx sends the same files for every kind of body: it has no strings and always knows the
/// length.
fn nginx(options: &Options) -> Result<Server, Error> {
    let program = find("nginx").ok_or_else(|| Error::Missing {
        program: "nginx".to_owned(),
        hint: "apt-get install nginx-light".to_owned(),
    })?;
    let folder = folder()?;
    write_files(options, folder.path())?;
    let place = place(options.socket, folder.path())?;
    let listen = match options.socket {
        SocketKind::Unix => format!("unix:{}", folder.path().join("s").display()),
        SocketKind::Tcp6 => format!("[::1]:{}", place.port),
        SocketKind::Ssl => format!("127.0.0.1:{} ssl", place.port),
        SocketKind::Ssl6 => format!("[::1]:{} ssl", place.port),
        _ => format!("127.0.0.1:{}", place.port),
    };
    let tls = match options.socket.is_tls() {
        true => {
            let [key, certificate] = certificate(folder.path())?;
            format!("ssl_certificate {certificate};\nssl_certificate_key {key};")
        }
        false => String::new(),
    };
    let text = nginx_text(options, folder.path(), &listen, &tls);
    let file = folder.path().join("nginx.conf");
    fs::write(&file, text).map_err(Error::file("write", &file))?;
    let mut command = Command::new(&program);
    command.arg("-c").arg(&file).arg("-p").arg(folder.path());
    let name = ServerName::Nginx {
        version: version(&program.display().to_string(), "-v"),
    };
    begin(name, command, folder, place, false)
}

fn nginx_text(options: &Options, folder: &Path, listen: &str, tls: &str) -> String {
    let root = folder.display();
    let files: String = options
        .bodies
        .kilobytes
        .iter()
        .map(|kilobytes| format!("~^[acsi]?{kilobytes}$ /body_io_{kilobytes:04}.txt;\n"))
        .collect();
    let headers: String = (0..25)
        .map(|number| {
            let digits = format!("{number:x}").repeat(50);
            format!("add_header x-my-header-{number} {};\n", &digits[..50])
        })
        .collect();
    let workers = options.workers.max(1);
    // A master that runs as root drops its privileges: its workers must be able to read the folder.
    let user = match rustix::process::geteuid().is_root() {
        true => "user root;",
        false => "",
    };
    format!(
        "{user}
worker_processes {workers};
daemon off;
pid {root}/nginx.pid;
error_log {root}/error.log;
events {{ worker_connections 2048; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    open_file_cache max=100;
    default_type text/plain;
    types {{ text/plain txt; }}
    charset utf-8;
    client_body_temp_path {root}/body;
    proxy_temp_path {root}/proxy;
    fastcgi_temp_path {root}/fastcgi;
    uwsgi_temp_path {root}/uwsgi;
    scgi_temp_path {root}/scgi;
    map $http_body_conf $body_file {{ default /body_io_0001.txt;\n{files} }}
    server {{
        listen {listen};
        {tls}
        root {root};
        {headers}
        location / {{ try_files $body_file =404; }}
    }}
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_hyper_is_the_one_that_is_built_in() {
        let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
        let lock = fs::read_to_string(lock).unwrap();
        let wanted = format!("name = \"hyper\"\nversion = \"{HYPER_VERSION}\"\n");
        assert!(
            lock.contains(&wanted),
            "HYPER_VERSION is not that of Cargo.lock"
        );
    }

    #[test]
    fn peers_are_named_or_addresses() {
        assert_eq!(Peer::parse("hyper"), Peer::Hyper);
        let url = "http://127.0.0.1:40001";
        assert_eq!(Peer::parse(url), Peer::Url(url.to_owned()));
    }
}
