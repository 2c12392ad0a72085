//! `platen controller`: starts LibreOffice and Chromium for services that must not start programs themselves.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use platen_browser::{
    Bounds, Greeting, Image, Mode, Process, Program, Programs, Server, StartError, choose_origin,
};
use platen_fault::{Backend, Code};
use platen_office::find_libreoffice_in;
use platen_render::chain;
use platen_server::CONTROLLER_SOCKET;
use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};

use super::{FontArguments, isolation};
use crate::report::{Failure, OutputArguments, say};

/// Arguments of `platen controller`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen controller                                for services of the same user\n  \
    platen controller --allow-user platen            as another user than theirs\n  \
    RENDER_MODE=socket platen serve                  the service\n  \
    RENDER_MODE=container platen controller          in containers (CONTAINER_ROOTFS)\n\n\
    A service names a program, nothing else: how it starts is said here, by these flags, \
    CHILD_ISOLATION and the fonts. A process ends with the connection of the service that asked \
    for it.")]
pub struct Arguments {
    /// Unix socket to listen on. Who reaches its folder may connect; --allow-user says who is served.
    #[arg(long, value_name = "PATH", env = "CONTROLLER_SOCKET", default_value = CONTROLLER_SOCKET)]
    socket: PathBuf,
    /// User whose services are served, by name or number; repeatable; default: the controller's own.
    #[arg(
        long,
        value_name = "USER",
        env = "CONTROLLER_ALLOW_USER",
        value_delimiter = ','
    )]
    allow_user: Vec<String>,
    /// Processes at once, of all services.
    #[arg(
        long,
        value_name = "COUNT",
        env = "CONTROLLER_MAX_PROCESSES",
        default_value_t = 32
    )]
    max_processes: u32,
    /// Memory of one process with all of its children, in MiB; above it is killed, whatever the
    /// service does.
    #[arg(
        long,
        value_name = "MIB",
        env = "CONTROLLER_MAX_MEMORY_MB",
        default_value_t = 4096
    )]
    max_memory_mb: u32,
    /// Path of Chromium's executable; default: the first one found.
    #[arg(long, env = "CHROMIUM_PATH", value_name = "PATH")]
    chromium: Option<PathBuf>,
    /// Path of LibreOffice's executable; default: the first one found.
    #[arg(long, env = "LIBREOFFICE_PATH", value_name = "PATH")]
    libreoffice: Option<PathBuf>,
    #[command(flatten)]
    fonts: FontArguments,
}

/// LibreOffice and Chromium as this machine has them.
struct Installed {
    chromium: platen_browser::Starter,
    libreoffice: platen_office::Starter,
    greeting: Greeting,
}

impl Programs for Installed {
    async fn start(&self, program: Program) -> Result<Process, StartError> {
        let started = match program {
            Program::Chromium => self.chromium.start().await,
            Program::LibreOffice => self.libreoffice.start().await,
        };
        started.inspect_err(|error| self.say(format!("{program:?}: {}", chain(error))))
    }

    fn greeting(&self) -> Greeting {
        self.greeting.clone()
    }

    fn say(&self, text: String) {
        say(format_args!("{text}"));
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let users = users(&arguments.allow_user)?;
    if arguments.max_processes == 0 || arguments.max_processes > 10_000 {
        let hint = "32 suit a service with 16 slots";
        let message = "--max-processes must be between 1 and 10000";
        return Err(Failure::caller(message, hint));
    }
    let bounds = Bounds {
        users,
        max_processes: arguments.max_processes as usize,
        max_memory_bytes: u64::from(arguments.max_memory_mb) << 20,
    };
    let runtime = Runtime::new().map_err(|error| Failure::internal(&error))?;
    runtime.block_on(serve(arguments, bounds, output))
}

async fn serve(
    arguments: &Arguments,
    bounds: Bounds,
    output: OutputArguments,
) -> Result<ExitCode, Failure> {
    let failed = |error: &std::io::Error| Failure::internal(error);
    // Before the programs are tried out, so that a signal meanwhile ends what they have started.
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| failed(&error))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| failed(&error))?;
    let stop = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    tokio::pin!(stop);
    let installed = tokio::select! {
        installed = try_out(arguments, output.quiet) => installed?,
        () = &mut stop => return Ok(ExitCode::SUCCESS),
    };
    let place = arguments.socket.display().to_string();
    if !output.quiet {
        let greeting = &installed.greeting;
        let found = [
            ("Chromium", &greeting.chromium),
            ("LibreOffice", &greeting.libreoffice),
        ];
        for (name, found) in found {
            match found {
                Ok(version) => say(format_args!("{name}: {version}")),
                Err(reason) => say(format_args!("no {name}: {reason}")),
            }
        }
    }
    let server = Server::listen(&arguments.socket, installed, bounds);
    let server = server.map_err(|error| {
        Failure::file("listen on", &place, &error)
            .with_hint("its folder must exist, and no other controller may listen there")
    })?;
    if !output.quiet {
        say(format_args!("controller on {place}"));
    }
    server.run(stop).await;
    Ok(ExitCode::SUCCESS)
}

/// Starts each program once: says now what is wrong, and prepares what the first real start would
/// wait for.
async fn try_out(arguments: &Arguments, is_quiet: bool) -> Result<Installed, Failure> {
    let demand = isolation::demand().map_err(|text| Failure::new(Code::InvalidOption, text))?;
    // A controller that was told of another controller is one itself.
    let mode = match isolation::mode().map_err(|text| Failure::new(Code::InvalidOption, text))? {
        Mode::Socket(_) => Mode::ChildProcess,
        other => other,
    };
    let chosen = choose_origin(&mode, demand).await;
    let chosen = chosen.map_err(|error| {
        Failure::new(
            Code::BackendUnavailable(Backend::Sandbox),
            error.to_string(),
        )
    })?;
    if let Some(reason) = chosen.reason.filter(|_| !is_quiet) {
        let level = chosen.origin.isolation().name();
        say(format_args!("isolation `{level}`: {reason}"));
    }
    let parent = std::env::temp_dir();
    let folder_failed = |error| Failure::file("make", &parent.display().to_string(), &error);
    let config = platen_browser::Config {
        program: arguments.chromium.clone(),
        fonts: arguments.fonts.settings(),
        ..platen_browser::Config::default()
    };
    let origin = chosen.origin.clone();
    let chromium = platen_browser::Starter::new(config, origin, &parent).map_err(folder_failed)?;
    let config = platen_office::Config {
        program: arguments.libreoffice.clone(),
        fonts: arguments.fonts.settings(),
        ..platen_office::Config::default()
    };
    let isolation = chosen.origin.isolation().into();
    let image = chosen.origin.image();
    let libreoffice =
        platen_office::Starter::new(config, chosen.origin, &parent).map_err(folder_failed)?;
    let (tried_chromium, tried_libreoffice) = tokio::join!(
        chromium.try_out(),
        try_out_libreoffice(arguments, &image, &libreoffice)
    );
    let greeting = Greeting {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        isolation,
        chromium: tried_chromium
            .map(|(version, sandbox)| match sandbox {
                true => version,
                false => format!("{version} without its own sandbox"),
            })
            .map_err(|error| chain(&error)),
        libreoffice: tried_libreoffice.map_err(|error| chain(&error)),
        max_processes: arguments.max_processes as usize,
    };
    if let (Err(one), Err(other)) = (&greeting.chromium, &greeting.libreoffice) {
        let text = format!("nothing to start: {one}; {other}");
        return Err(Failure::new(Code::BackendMissing(Backend::Chromium), text));
    }
    Ok(Installed {
        chromium,
        libreoffice,
        greeting,
    })
}

async fn try_out_libreoffice(
    arguments: &Arguments,
    image: &Image,
    starter: &platen_office::Starter,
) -> Result<String, StartError> {
    let installation = find_libreoffice_in(image, arguments.libreoffice.as_deref())?;
    starter.start().await?;
    Ok(installation.version)
}

/// The users that are served; none for the controller's own.
fn users(names: &[String]) -> Result<Vec<u32>, Failure> {
    let file = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let number = |name: &String| user(&file, name.trim()).ok_or_else(|| unknown(name));
    names.iter().map(number).collect()
}

fn unknown(name: &str) -> Failure {
    Failure::caller(
        format!("--allow-user: there is no user `{name}`"),
        "use a name of /etc/passwd, or a number",
    )
}

/// The number of a user: given as such, or found in the text of `/etc/passwd`.
fn user(file: &str, name: &str) -> Option<u32> {
    if let Ok(number) = name.parse() {
        return Some(number);
    }
    let mut users = file.lines().map(|line| line.split(':'));
    users.find_map(|mut fields| match fields.next() {
        Some(known) if known == name => fields.nth(1)?.parse().ok(),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_names_or_numbers() {
        let file = "root:x:0:0:root:/root:/bin/sh\nplaten:x:998:997::/:/bin/false\n";
        assert_eq!(user(file, "platen"), Some(998));
        assert_eq!(user(file, "1234"), Some(1234));
        assert_eq!(user(file, "plate"), None);
        assert_eq!(user(file, ""), None);
    }
}
