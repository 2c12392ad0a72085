//! `platen flow`.

use std::{
    collections::BTreeMap,
    io::IsTerminal,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use clap::{Args, Subcommand};
use platen_engine::Engine;
use platen_fault::{Backend, CODES, Code, Stage};
use platen_flow::{Finish, StepError, schema as flow_schema};
use platen_fonts::FontSettings;
use platen_jail::{Jail, Level, Options};
use platen_outbound::{Outbound, Settings};
use platen_render::StoredAssets;
use platen_runs::execution::{
    File, FlowRunner, LoadedFlow, Memory, NoJournal, Pieces, Report, RunOptions, Services, Tools,
    load_flow,
};
use platen_script::{KIND, Runner, RunnerSource};
use serde_json::{Value as Json, json};

use super::{FontArguments, chromium, read, read_json, signature_keys, tools, write};
use crate::report::{Failure, OutputArguments, print_line, say};

/// Sandbox levels, the weakest first.
pub const LEVELS: [&str; 3] = ["process-only", "no-namespaces", "full"];

/// Arguments of `platen flow`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Run a flow locally and print its steps.
    Run(Box<RunArguments>),
    /// Check a flow and the code of its steps.
    Validate {
        /// Flow: a JSON file.
        flow: PathBuf,
    },
    /// Print the JSON Schema of the flow format.
    Schema,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen flow run flow.json --input order.json\n  \
    platen flow run invoice.json --input order.json -o invoice.pdf\n  \
    platen flow run flow.json --allow-host api.example.com --secret token=abc\n  \
    platen flow run flow.json --templates templates --json")]
struct RunArguments {
    /// Flow: a JSON file.
    flow: PathBuf,
    /// Trigger payload: a JSON file, or `-` for standard input.
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Output file for the flow's answer, or `-` for standard output: a file as its bytes,
    /// anything else as JSON.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Template folder: `KEY.json` or `KEY/template.json`.
    #[arg(long, value_name = "DIR")]
    templates: Option<PathBuf>,
    /// Asset folder; default: the --templates folder.
    #[arg(long, value_name = "DIR")]
    assets: Option<PathBuf>,
    /// Folder of custom actions: `NAME/piece.json` or `NAME/VERSION/piece.json` with its bundle.
    #[arg(long, value_name = "DIR")]
    pieces: Option<PathBuf>,
    /// Host that steps may reach, `example.com` or `*.example.com`; repeatable.
    #[arg(long = "allow-host", value_name = "HOST")]
    hosts: Vec<String>,
    /// Allow private IP addresses for the allowed hosts.
    #[arg(long)]
    allow_private_addresses: bool,
    /// Secret available to code steps; repeatable.
    #[arg(long = "secret", value_name = "NAME=VALUE", value_parser = pair)]
    secrets: Vec<(String, String)>,
    /// Minimum sandbox level for code.
    #[arg(long, value_name = "LEVEL", default_value = "no-namespaces", env = "SANDBOX_LEVEL",
          value_parser = LEVELS)]
    sandbox: String,
    #[command(flatten)]
    fonts: FontArguments,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    match &arguments.action {
        Action::Run(arguments) => run_flow(arguments, output),
        Action::Validate { flow } => validate(flow, output),
        Action::Schema => {
            print_line(&format!("{:#}", flow_schema()));
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Reads and checks a flow.
pub fn load(path: &Path) -> Result<LoadedFlow, Failure> {
    load_flow(&read(path)?).map_err(|found| Failure::mistakes(Code::InvalidFlow, found))
}

fn validate(path: &Path, output: OutputArguments) -> Result<ExitCode, Failure> {
    let found = load_flow(&read(path)?).err().unwrap_or_default();
    if output.json {
        let report = json!({"valid": found.is_empty(), "diagnostics": found});
        print_line(&report.to_string());
    } else {
        for diagnostic in &found {
            say(format_args!("{diagnostic}"));
        }
        if found.is_empty() && !output.quiet {
            say(format_args!("{}: valid", path.display()));
        }
    }
    Ok(ExitCode::from(u8::from(!found.is_empty())))
}

fn run_flow(arguments: &RunArguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let flow = load(&arguments.flow)?;
    let trigger = arguments.input.as_deref().map(read_json).transpose()?;
    let secrets = secrets(arguments, &flow)?;
    let here = surroundings(arguments);
    let memory = here.memory();
    let runner = FlowRunner::new(Arc::new(here.services()?));
    let options = RunOptions {
        trigger: trigger.unwrap_or_default(),
        id: "local".to_owned(),
        secrets,
        ..RunOptions::default()
    };
    let report = runner
        .run(&flow, options, &memory, &mut NoJournal)
        .map_err(|stop| Failure::internal(&stop))?;
    let given = match (&report.answer, report.progress.finish()) {
        (Some(answer), _) => answer["body"].clone(),
        (None, Some(Finish::Succeeded(last))) => last.clone(),
        _ => Json::Null,
    };
    if !output.json && !output.quiet {
        table(&report);
    }
    match &arguments.output {
        Some(path) if !given.is_null() => write(path, &as_bytes(&given))?,
        None if !output.json && !given.is_null() => show(given),
        _ => {}
    }
    let is_free = arguments.output.as_deref() != Some(Path::new("-"));
    if output.json && is_free {
        print_line(&as_json(&report).to_string());
    }
    Ok(match report.progress.finish() {
        Some(Finish::Succeeded(_)) => ExitCode::SUCCESS,
        Some(Finish::Failed { path, error }) => {
            if !output.json {
                say(format_args!(
                    "error: step `{path}` failed: {}",
                    error.message
                ));
            }
            ExitCode::from(exit_code(error))
        }
        _ => {
            say(format_args!("error: the run took too long"));
            ExitCode::from(Code::Timeout(Stage::Run).fault().exit_code())
        }
    })
}

/// The exit code of a failed step, from the fault of its code.
fn exit_code(error: &StepError) -> u8 {
    let known = CODES.iter().find(|entry| entry.name == error.code);
    known.map_or(2, |entry| entry.fault.exit_code())
}

/// A file as its bytes, anything else as JSON.
fn as_bytes(given: &Json) -> Vec<u8> {
    match File::of_value(given) {
        Ok(file) => file.bytes,
        Err(_) => format!("{given:#}\n").into_bytes(),
    }
}

/// Prints what a flow gives; for people without the content of files.
fn show(mut given: Json) {
    if std::io::stdout().is_terminal() {
        leave_content_out(&mut given);
    }
    print_line(&format!("{given:#}"));
}

fn leave_content_out(value: &mut Json) {
    match value {
        Json::Object(fields) => {
            if let Some(content) = fields
                .get_mut("$file")
                .and_then(|file| file.get_mut("base64"))
            {
                *content = "… (--output FILE writes it)".into();
            }
            fields.values_mut().for_each(leave_content_out);
        }
        Json::Array(values) => values.iter_mut().for_each(leave_content_out),
        _ => {}
    }
}

/// What a run on this machine may use.
#[derive(Default)]
pub struct Surroundings {
    /// Minimum sandbox level for code.
    pub least: Option<Level>,
    /// Folder of templates.
    pub templates: Option<PathBuf>,
    /// Asset folder for templates.
    pub assets: Option<PathBuf>,
    /// Stored assets for templates.
    pub stored: Option<Arc<dyn StoredAssets>>,
    /// Where pieces of users come from.
    pub pieces: Option<Arc<dyn Pieces>>,
    /// What steps may reach.
    pub outbound: Settings,
    /// Fonts of rendered documents.
    pub fonts: FontSettings,
}

impl Surroundings {
    /// Starts what steps need.
    ///
    /// # Errors
    /// Where the host does not allow the sandbox that is demanded.
    pub fn services(self) -> Result<Services, Failure> {
        let jail = Jail::start(Options {
            least: self.least.unwrap_or(Level::NoNamespaces),
            ..Options::new(KIND)
        });
        let jail = jail.map_err(|error| match error {
            platen_jail::Error::Level { .. } => {
                let hint = "allow user namespaces, or lower --sandbox for trusted code";
                let code = Code::BackendUnavailable(Backend::Sandbox);
                Failure::new(code, error.to_string()).with_hint(hint)
            }
            other => Failure::internal(&other),
        })?;
        let scripts = Runner::new(Arc::new(jail));
        let scripts: Arc<RunnerSource> = Arc::new(move || Ok(scripts.clone()));
        let engine = Engine::new(&self.fonts)
            .with_helpers(Arc::clone(&scripts))
            .with_signatures(signature_keys::signatures()?);
        let print = chromium::print(self.fonts.clone())
            .map_err(|message| Failure::new(Code::InvalidOption, message))?;
        Ok(Services {
            engine: Arc::new(engine),
            scripts,
            outbound: Arc::new(Outbound::new(&self.outbound)),
            tools: Tools {
                convert: tools::convert(&self.fonts),
                print: Some(print),
                mail: tools::mail()?,
                pieces: self.pieces,
                replay: None,
                assets: self.assets,
                stored: self.stored,
            },
        })
    }

    /// What runs keep between them, and their templates.
    pub fn memory(&self) -> Memory {
        let folder = self.templates.clone();
        Memory::new(Box::new(move |key| template(folder.as_deref()?, key)))
    }
}

fn surroundings(arguments: &RunArguments) -> Surroundings {
    Surroundings {
        pieces: arguments.pieces.as_deref().map(tools::folder_pieces),
        least: Level::parse(&arguments.sandbox),
        templates: arguments.templates.clone(),
        assets: arguments
            .assets
            .as_ref()
            .or(arguments.templates.as_ref())
            .cloned(),
        stored: None,
        outbound: Settings {
            allowed_hosts: arguments.hosts.clone(),
            allow_private_addresses: arguments.allow_private_addresses,
            ..Settings::default()
        },
        fonts: arguments.fonts.settings(),
    }
}

/// The secrets that the flow names.
fn secrets(
    arguments: &RunArguments,
    flow: &LoadedFlow,
) -> Result<BTreeMap<String, String>, Failure> {
    let given: BTreeMap<String, String> = arguments.secrets.iter().cloned().collect();
    let wanted = flow.flow().secrets.iter();
    wanted
        .map(|name| match given.get(name) {
            Some(value) => Ok((name.clone(), value.clone())),
            None => Err(Failure::caller(
                format!("the flow needs the secret `{name}`"),
                "pass it with --secret NAME=VALUE",
            )),
        })
        .collect()
}

fn template(folder: &Path, key: &str) -> Option<Vec<u8>> {
    if !platen_document::is_key(key) {
        return None;
    }
    std::fs::read(folder.join(format!("{key}.json")))
        .or_else(|_| std::fs::read(folder.join(key).join("template.json")))
        .ok()
}

fn milliseconds(duration: Duration) -> String {
    format!("{:.2}", duration.as_secs_f64() * 1e3)
}

/// The steps with their times, on standard error.
fn table(report: &Report) {
    let width = report.steps.iter().map(|step| step.path.chars().count());
    let width = width.max().unwrap_or(0).max(4);
    say(format_args!(
        "{:width$}  attempt  start ms  sandbox ms   time ms  outcome",
        "step"
    ));
    for step in &report.steps {
        let outcome = match &step.error {
            None => "ok".to_owned(),
            Some(error) => format!("{}: {}", error.code, error.message),
        };
        say(format_args!(
            "{:width$}  {:7}  {:>8}  {:>10}  {:>8}  {outcome}",
            step.path,
            step.attempt,
            milliseconds(Duration::from_micros(step.started_us)),
            milliseconds(Duration::from_micros(step.sandbox_us)),
            milliseconds(Duration::from_micros(step.duration_us)),
        ));
        for line in &step.log {
            say(format_args!("{:width$}  {}: {}", "", line.level, line.text));
        }
    }
    say(format_args!(
        "{:width$}  {} ms in total",
        "",
        milliseconds(report.duration)
    ));
}

fn as_json(report: &Report) -> Json {
    let (status, output, error) = match report.progress.finish() {
        Some(Finish::Succeeded(output)) => ("succeeded", output.clone(), Json::Null),
        Some(Finish::Failed { path, error }) => {
            ("failed", Json::Null, json!({"path": path, "error": error}))
        }
        Some(Finish::Cancelled) => ("cancelled", Json::Null, Json::Null),
        Some(Finish::TimedOut) | None => {
            let error = StepError::new(Code::Timeout(Stage::Run), "the run took too long");
            ("timed-out", Json::Null, json!({"error": error}))
        }
    };
    json!({
        "status": status,
        "output": output,
        "error": error,
        "answer": report.answer,
        "durationUs": report.duration.as_micros() as u64,
        "steps": report.steps,
    })
}
