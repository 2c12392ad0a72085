//! `platen convert`: Office files to other formats, several at a time.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Args;
use platen_fault::{Backend, Code};
use platen_office::{
    Config, Document, Error, ExportFilter, ExportFilters, Job, OPTIONS, Office, Options, Source,
    Target, is_address,
};
use platen_render::chain;
use platen_server::rendering::accessible::Accessible;
use tokio::{runtime::Runtime, task::JoinSet};

use super::{FontArguments, isolation};
use crate::{
    progress::Progress,
    report::{Failure, OutputArguments, print_line, say},
};

/// Arguments of `platen convert`.
#[derive(Debug, Args)]
#[command(after_help = options_help())]
pub struct Arguments {
    /// Documents to convert.
    #[arg(required_unless_present = "list_filters", value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// Output file; its extension selects the format. Only with a single document.
    #[arg(long, short, value_name = "OUT", conflicts_with_all = ["to", "out_dir"])]
    output: Option<PathBuf>,
    /// Output format; default: pdf.
    #[arg(long, value_name = "FORMAT", conflicts_with = "filter")]
    to: Option<String>,
    /// Output folder; default: next to each document.
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,
    /// Set an option, such as `pages=1-3` or `landscape`; repeatable.
    #[arg(long = "set", short = 's', value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// Export filter of LibreOffice, instead of a format; short for `--set filter=NAME`.
    #[arg(long, value_name = "NAME")]
    filter: Option<String>,
    /// Options of the export filter, such as `{"PageRange":"1-3"}`; short for `--set filter_data=JSON`.
    #[arg(long, value_name = "JSON")]
    filter_data: Option<String>,
    /// Options of an export filter that takes them as one text, such as `59,34,76` for CSV; short
    /// for `--set filter_options=TEXT`.
    #[arg(long, value_name = "TEXT")]
    filter_options: Option<String>,
    /// List the export filters of LibreOffice, and convert nothing.
    #[arg(long, conflicts_with_all = ["inputs", "output", "out_dir"])]
    list_filters: bool,
    /// How documents travel to LibreOffice, and results back: file, stream, stream-in or
    /// stream-out; short for `--set io=WAY`.
    #[arg(long, value_name = "WAY")]
    io: Option<String>,
    /// LibreOffice that others run, such as `tcp://host:2002`; repeatable. None is started here.
    #[arg(
        long,
        env = "OFFICE_REMOTE",
        value_name = "ADDRESS",
        value_delimiter = ','
    )]
    office: Vec<String>,
    /// Concurrent conversions, one LibreOffice process each; default: the number of cores.
    #[arg(long, short)]
    jobs: Option<usize>,
    /// Timeout for one document, in seconds.
    #[arg(long, default_value_t = 120)]
    timeout: u64,
    /// Path of LibreOffice's executable; default: the first one found.
    #[arg(long, env = "LIBREOFFICE_PATH", value_name = "PATH")]
    libreoffice: Option<PathBuf>,
    #[command(flatten)]
    fonts: FontArguments,
    /// Keep LibreOffice's timestamps and identifiers: the PDF is then not deterministic.
    #[arg(long)]
    volatile: bool,
}

fn options_help() -> String {
    let mut text = "Options for --set:".to_owned();
    for spec in OPTIONS {
        text.push_str(&format!("\n  {:<20} {}", spec.name, spec.about));
    }
    text
}

struct Task {
    input: PathBuf,
    output: PathBuf,
    target: Target,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let options = options(arguments)?;
    let addresses = addresses(&arguments.office)?;
    // What can be checked without LibreOffice is.
    let known = match (&options.filter, arguments.list_filters) {
        (None, false) => Some(tasks(arguments, None)?),
        _ => None,
    };
    let runtime = Runtime::new().map_err(|error| Failure::internal(&error))?;
    runtime.block_on(async {
        let office = start(arguments, addresses).await?;
        let timeout = Duration::from_secs(arguments.timeout);
        let exit_code = match (known, &options.filter) {
            (Some(tasks), _) => convert_all(arguments, tasks, options, &office, output).await,
            (None, Some(filter)) if !arguments.list_filters => {
                let listed = office.export_filters(timeout).await.map_err(failed)?;
                let filter = listed.find(filter).map_err(failed)?;
                let tasks = tasks(arguments, Some(filter))?;
                convert_all(arguments, tasks, options, &office, output).await
            }
            _ => {
                let listed = office.export_filters(timeout).await.map_err(failed)?;
                list(&listed, output);
                Ok(0)
            }
        };
        office.shutdown(Duration::ZERO).await;
        exit_code.map(ExitCode::from)
    })
}

fn failed(error: Error) -> Failure {
    let message = chain(&error);
    match &error {
        Error::BadOption { option, .. } if option == "filter" => {
            Failure::caller(message, "`platen convert --list-filters` lists the filters")
        }
        _ => Failure::new(error.code(), message),
    }
}

fn addresses(given: &[String]) -> Result<Vec<String>, Failure> {
    let given = given.iter().map(|text| text.trim());
    let given = given.filter(|text| !text.is_empty());
    let address = |text: &str| match text.strip_prefix("tcp://").unwrap_or(text) {
        address if is_address(address) => Ok(address.to_owned()),
        _ => {
            let message = format!("`{text}` is no address of LibreOffice");
            Err(Failure::caller(message, "use tcp://HOST:PORT"))
        }
    };
    given.map(address).collect()
}

/// Shows export filters.
fn list(filters: &ExportFilters, output: OutputArguments) {
    if output.json {
        let entry = |filter: &ExportFilter| {
            serde_json::json!({
                "name": filter.name,
                "label": filter.label,
                "documents": filter.family.name(),
                "extension": filter.format.extension,
                "mediaType": filter.format.media_type,
            })
        };
        let all: Vec<serde_json::Value> = filters.all.iter().map(entry).collect();
        let report = serde_json::json!({"libreofficeVersion": filters.version, "filters": all});
        print_line(&report.to_string());
        return;
    }
    for filter in &filters.all {
        let (documents, format) = (filter.family.name(), &filter.format);
        print_line(&format!(
            "{:<40} {documents:<14} {:<5} {}",
            filter.name, format.extension, filter.label
        ));
    }
}

/// The documents, with the places of results. With a filter, extensions only name files.
fn tasks(arguments: &Arguments, filter: Option<&ExportFilter>) -> Result<Vec<Task>, Failure> {
    let target = |extension: &str| match filter {
        Some(_) => Ok(Target::Pdf),
        None => target(extension),
    };
    if let Some(output) = &arguments.output {
        let [input] = &arguments.inputs[..] else {
            let hint = "with several documents use --to FORMAT and --out-dir DIR";
            return Err(Failure::caller("-o takes one document", hint));
        };
        let extension = output.extension().unwrap_or_default().to_string_lossy();
        return Ok(vec![Task {
            input: input.clone(),
            output: output.clone(),
            target: target(&extension)?,
        }]);
    }
    let extension = match (filter, &arguments.to) {
        (Some(filter), None) => &*filter.format.extension,
        (Some(_), Some(to)) => {
            let message = format!("`--to {to}` and a filter exclude each other");
            return Err(Failure::caller(message, "name the result with -o"));
        }
        (None, to) => to.as_deref().unwrap_or("pdf"),
    };
    let target = target(extension)?;
    let place = |input: &Path| {
        let name = input.with_extension(extension.to_ascii_lowercase());
        match &arguments.out_dir {
            Some(folder) => folder.join(name.file_name().unwrap_or_default()),
            None => name,
        }
    };
    let mut tasks: Vec<Task> = Vec::new();
    for input in &arguments.inputs {
        let task = Task {
            input: input.clone(),
            output: place(input),
            target,
        };
        if tasks.iter().any(|other| other.output == task.output) || task.output == *input {
            let name = task.output.display();
            let hint = "use --out-dir, or convert them one by one with -o";
            return Err(Failure::caller(
                format!("`{name}` would be overwritten"),
                hint,
            ));
        }
        tasks.push(task);
    }
    Ok(tasks)
}

fn target(extension: &str) -> Result<Target, Failure> {
    Target::from_extension(extension).ok_or_else(|| {
        let known: Vec<&str> = Target::all().map(Target::extension).collect();
        let message = format!("`{extension}` is not a supported target format");
        let hint = format!("one of {}; or a filter: --filter", known.join(", "));
        Failure::caller(message, hint)
    })
}

fn options(arguments: &Arguments) -> Result<Options, Failure> {
    let mut options = Options::default();
    let mut set = |name: &str, value: &str| {
        options.set(name, value).map_err(|error| {
            let hint = "`platen convert --help` lists the options";
            Failure::caller(error.to_string(), hint)
        })
    };
    for text in &arguments.options {
        let (name, value) = text.split_once('=').unwrap_or((text, "true"));
        set(name, value)?;
    }
    for (name, value) in [
        ("filter", &arguments.filter),
        ("filter_data", &arguments.filter_data),
        ("filter_options", &arguments.filter_options),
        ("io", &arguments.io),
    ] {
        if let Some(value) = value {
            set(name, value)?;
        }
    }
    Ok(options)
}

/// The converter; nothing is started yet.
async fn start(arguments: &Arguments, remote: Vec<String>) -> Result<Arc<Office>, Failure> {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let count = arguments.inputs.len().max(1);
    let slots = arguments.jobs.unwrap_or(cores).clamp(1, count);
    let config = Config {
        remote,
        program: arguments.libreoffice.clone(),
        fonts: arguments.fonts.settings(),
        slots,
        reserved: 0,
        max_queue: count,
        // No process more than is needed.
        spares: 0,
        ..Config::default()
    };
    let chosen = isolation::origin().await;
    let chosen = chosen.map_err(|error| {
        Failure::new(
            Code::BackendUnavailable(Backend::Sandbox),
            error.to_string(),
        )
    })?;
    let office = Office::new(config, chosen.origin, std::env::temp_dir());
    let office = office.map_err(|error| Failure::internal(&error))?;
    if let Err(error) = office.check_installed() {
        let code = Code::BackendMissing(Backend::LibreOffice);
        return Err(Failure::new(code, error.to_string()));
    }
    Ok(Arc::new(office))
}

/// Converts the documents, and returns the exit code.
async fn convert_all(
    arguments: &Arguments,
    tasks: Vec<Task>,
    options: Options,
    office: &Arc<Office>,
    output: OutputArguments,
) -> Result<u8, Failure> {
    if let Some(folder) = &arguments.out_dir {
        let made = std::fs::create_dir_all(folder);
        made.map_err(|error| Failure::file("make", &folder.display().to_string(), &error))?;
    }
    let count = tasks.len();
    let progress = Progress::start("converting", count, output.quiet || output.json);
    let mut running = JoinSet::new();
    for task in tasks {
        let (office, options) = (Arc::clone(office), options.clone());
        // Documents wait for those before them, which may take as long as they may.
        let timeout = Duration::from_secs(arguments.timeout) * u32::try_from(count).unwrap_or(1);
        let stable = !arguments.volatile;
        running.spawn(async move {
            let start = Instant::now();
            let done = convert(&office, &task, options, timeout, stable).await;
            (task, done, start.elapsed())
        });
    }
    let mut exit_code = 0;
    let mut reports = Vec::new();
    while let Some(joined) = running.join_next().await {
        let (task, done, elapsed) = joined.map_err(|error| Failure::internal(&error))?;
        progress.advance();
        exit_code = exit_code.max(done.as_ref().map_or_else(Failure::exit_code, |_| 0));
        reports.push((task, done, elapsed));
    }
    drop(progress);
    tell(&reports, output);
    Ok(exit_code)
}

async fn convert(
    office: &Office,
    task: &Task,
    options: Options,
    timeout: Duration,
    stable: bool,
) -> Result<u64, Failure> {
    let unreadable = |error| Failure::file("read", &task.input.display().to_string(), &error);
    let input = task.input.canonicalize().map_err(unreadable)?;
    let mut job = Job::new(Source::Path(input), task.target);
    job.options = options;
    job.timeout = timeout;
    job.deterministic = stable;
    let accessible = Accessible::of(&job);
    let document = office.convert(job).await;
    let mut document = document.map_err(failed)?;
    if let Some(accessible) = accessible {
        let finished = accessible.finish(document);
        document = finished.map_err(|problem| Failure::new(problem.code, problem.detail))?;
    }
    let size = document.size_bytes;
    let unwritable = |error| Failure::file("write", &task.output.display().to_string(), &error);
    write(&document, &task.output).map_err(unwritable)?;
    Ok(size)
}

fn write(document: &Document, path: &Path) -> std::io::Result<()> {
    document.body.write_to(&mut std::fs::File::create(path)?)
}

fn tell(reports: &[(Task, Result<u64, Failure>, Duration)], output: OutputArguments) {
    if output.json {
        let all = reports.iter().map(|(task, done, elapsed)| {
            let mut report = match done {
                Ok(size_bytes) => serde_json::json!({"ok": true, "sizeBytes": size_bytes}),
                Err(failure) => failure.to_json(),
            };
            report["input"] = task.input.display().to_string().into();
            report["output"] = task.output.display().to_string().into();
            report["durationMs"] = (elapsed.as_secs_f64() * 1e3).into();
            report
        });
        let all: Vec<serde_json::Value> = all.collect();
        let ok = reports.iter().all(|(_, done, _)| done.is_ok());
        print_line(&serde_json::json!({"ok": ok, "documents": all}).to_string());
        return;
    }
    for (task, done, _) in reports {
        match done {
            Ok(size) if !output.quiet => {
                say(format_args!("{}: {size} bytes", task.output.display()));
            }
            Ok(_) => {}
            Err(failure) => {
                let message = failure.message();
                say(format_args!("error: {}: {message}", task.input.display()));
            }
        }
    }
}
