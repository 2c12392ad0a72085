//! Inside the cell: runs one job in QuickJS.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use platen_jail::{Channel, Worker};
use rquickjs::{
    CatchResultExt, CaughtError, Context, Ctx, Exception, Function, Module, Object, Persistent,
    Promise, Runtime, Value, WriteOptions,
    function::Rest,
    loader::{
        Loader,
        bundle::{Bundle, ScaBundleData},
    },
    module::Evaluated,
    promise::PromiseState,
};
use serde_json::value::RawValue;

use crate::{
    job::{BYTECODE, ExportCall, Failure, FailureKind, Job, Work},
    preparer,
    surrogates::well_formed,
};

/// The kind of worker that runs code steps.
pub const KIND: &str = "script";

/// Maximum stack of JavaScript calls, in bytes; a thread has 8 MiB.
const MAX_STACK_BYTES: usize = 1 << 20;

/// Code that does what most does, for [`Worker::rehearsal`].
const REHEARSAL: &str = "export default async (input, ctx) => {
    const total = input.items.map((item) => item.price).reduce((sum, price) => sum + price, 0);
    return { ...input, total, text: `${total.toFixed(2)} EUR`, at: new Date(0).toISOString() };
};";
/// Memory limit of that code, in bytes.
const REHEARSAL_BYTES: u64 = 16 << 20;

/// Runs one code step in a cell.
#[derive(Default)]
pub struct ScriptWorker {
    engine: Option<Engine>,
}

struct Engine {
    runtime: Runtime,
    context: Context,
    bootstrap: Persistent<Function<'static>>,
}

impl Engine {
    fn new() -> rquickjs::Result<Self> {
        let runtime = Runtime::new()?;
        runtime.set_max_stack_size(MAX_STACK_BYTES);
        let context = Context::full(&runtime)?;
        let bootstrap = context.with(|ctx| {
            let function: Function = ctx.eval(include_str!("bootstrap.js"))?;
            // The C library reads the time zone file at its first use; later, a cell may not read
            // files.
            ctx.eval::<(), _>("new Date(0).getHours(); undefined")?;
            Ok::<_, rquickjs::Error>(Persistent::save(&ctx, function))
        })?;
        Ok(Self {
            runtime,
            context,
            bootstrap,
        })
    }

    fn limit_memory(&self, bytes: u64) {
        self.runtime.set_memory_limit(bytes as usize);
        Bound::set(bytes);
    }
}

impl Worker for ScriptWorker {
    fn prepare(&mut self) {
        // Every cell gets its own copy by the fork. Without an engine, the job fails with an error.
        self.engine = Engine::new().ok();
    }

    fn rehearsal(&self) -> Vec<Vec<u8>> {
        let input = RawValue::from_string(r#"{"items":[{"price":1.5},{"price":2}]}"#.to_owned());
        let job = Job {
            name: "rehearsal.js",
            code: REHEARSAL.into(),
            entry: "default",
            input: input.as_deref().unwrap_or(RawValue::NULL),
            run: RawValue::NULL,
            secrets: RawValue::NULL,
            seed: [1; 4],
            fixed_now_ms: None,
            memory_bytes: REHEARSAL_BYTES,
            work: Work::Run,
            again: false,
        };
        serde_json::to_vec(&job).into_iter().collect()
    }

    fn run(&mut self, job: Vec<u8>, channel: Channel) {
        let channel = Rc::new(RefCell::new(channel));
        let mut next = Some(job);
        while let Some(job) = next.take() {
            let job = serde_json::from_slice::<Job>(&job).ok();
            if let Some(job) = &job
                && job.work == Work::Prepare
            {
                let prepared = preparer::answer(job);
                let _ = channel.borrow_mut().send(&prepared);
                break;
            }
            if let (Some(job), Some(engine)) = (&job, self.engine.as_ref())
                && job.work == Work::Compile
            {
                let compiled = engine.context.with(|ctx| compile(&ctx, job));
                // If compilation fails, the owner gets an empty message and does without bytecode.
                let _ = channel.borrow_mut().send(&compiled.unwrap_or_default());
                break;
            }
            if let (Some(job), Some(engine)) = (&job, self.engine.as_ref())
                && job.work == Work::Serve
            {
                engine.limit_memory(job.memory_bytes);
                let bootstrap = engine.bootstrap.clone();
                engine
                    .context
                    .with(|ctx| serve(&ctx, job, bootstrap, &channel));
                break;
            }
            answer(&channel, self.execute(job.as_ref(), &channel));
            if job.is_some_and(|job| job.again) {
                next = channel.borrow_mut().receive().ok().flatten();
            }
        }
        // Dropping the engine would only cost time: the process exits here.
        std::mem::forget(self.engine.take());
    }
}

impl ScriptWorker {
    fn execute(
        &self,
        job: Option<&Job<'_>>,
        channel: &Rc<RefCell<Channel>>,
    ) -> Result<String, Failure> {
        let (Some(job), Some(engine)) = (job, self.engine.as_ref()) else {
            return Err(Failure {
                message: "the sandbox could not start the code".to_owned(),
                ..Failure::default()
            });
        };
        engine.limit_memory(job.memory_bytes);
        let bootstrap = engine.bootstrap.clone();
        let channel = Rc::clone(channel);
        engine
            .context
            .with(|ctx| execute(&ctx, job, bootstrap, channel))
    }
}

/// Compiles the code of a job; the result is [`BYTECODE`] and the bytecode.
fn compile(ctx: &Ctx<'_>, job: &Job<'_>) -> rquickjs::Result<Vec<u8>> {
    let module = Module::declare(ctx.clone(), job.name, job.code.as_bytes())?;
    let options = WriteOptions {
        strip_source: true,
        ..WriteOptions::default()
    };
    let mut bytes = module.write(options)?;
    bytes.insert(0, BYTECODE);
    Ok(bytes)
}

/// The code of a job as a module; loaded from bytecode if the owner has sent it.
fn module<'js>(
    ctx: &Ctx<'js>,
    job: &Job<'_>,
    channel: &Rc<RefCell<Channel>>,
) -> rquickjs::Result<Module<'js>> {
    if job.work != Work::Load {
        return Module::declare(ctx.clone(), job.name, job.code.as_bytes());
    }
    let received = channel.borrow_mut().receive();
    let bytes = received.ok().flatten().unwrap_or_default();
    // Leaked for the rest of the process's life, which is this job.
    let name: &'static str = Box::leak(job.name.to_owned().into_boxed_str());
    let bytes: &'static [u8] = Box::leak(bytes.into_boxed_slice());
    let table: ScaBundleData<&'static [u8]> = Box::leak(Box::new([(name, bytes)]));
    Bundle(table).load(ctx, name, None)
}

/// Sends the output as JSON, or the failure.
fn answer(channel: &Rc<RefCell<Channel>>, outcome: Result<String, Failure>) {
    let message = match outcome {
        Ok(output) => format!("{{\"done\":{}}}", well_formed(&output)),
        Err(failure) => failed(&failure),
    };
    let mut channel = channel.borrow_mut();
    if let Err(error) = channel.send(message.as_bytes())
        && error.kind() == std::io::ErrorKind::InvalidInput
    {
        let _ = channel.send(failed(&Failure::of(FailureKind::Output)).as_bytes());
    }
}

fn failed(failure: &Failure) -> String {
    let error = serde_json::to_string(failure).unwrap_or_else(|_| "{}".to_owned());
    format!("{{\"fail\":{error}}}")
}

/// Runs the job; returns its output as JSON.
fn execute<'js>(
    ctx: &Ctx<'js>,
    job: &Job<'_>,
    bootstrap: Persistent<Function<'static>>,
    channel: Rc<RefCell<Channel>>,
) -> Result<String, Failure> {
    let run = || -> rquickjs::Result<(Object<'js>, Promise<'js>)> {
        let input = ctx.json_parse(job.input.get())?;
        let (host, context, module) = load(ctx, job, bootstrap, &channel)?;
        let main: Option<Value> = module.get(job.entry).ok();
        let Some(main) = main.and_then(Value::into_function) else {
            let message = match job.entry {
                "default" => "the code must `export default` a function".to_owned(),
                entry => format!("the code must export a function `{entry}`"),
            };
            return Err(Exception::throw_type(ctx, &message));
        };
        let returned: Value = main.call((input, context))?;
        Ok((host, promise_of(ctx, returned)?))
    };
    let (host, promise) = run().catch(ctx).map_err(failure)?;
    result(ctx, &host, &channel, &promise)
}

/// Evaluates the module of a job. Returns the host object, which delivers answers to calls, and
/// `ctx`.
fn load<'js>(
    ctx: &Ctx<'js>,
    job: &Job<'_>,
    bootstrap: Persistent<Function<'static>>,
    channel: &Rc<RefCell<Channel>>,
) -> rquickjs::Result<(Object<'js>, Object<'js>, Module<'js, Evaluated>)> {
    let sender = Rc::clone(channel);
    let send = Function::new(ctx.clone(), move |ctx: Ctx<'js>, text: String| {
        sender
            .borrow_mut()
            .send(well_formed(&text).as_bytes())
            .map_err(|_| Exception::throw_range(&ctx, "the message is too long"))
    });
    let host: Object = bootstrap.restore(ctx)?.call((send?,))?;
    let start: Function = host.get("start")?;
    let seed = serde_json::to_string(&job.seed).unwrap_or_default();
    let fixed = job.fixed_now_ms.map(|now| now as f64);
    let context: Object = start.call((seed, fixed, job.run.get(), job.secrets.get()))?;
    let (module, evaluated) = module(ctx, job, channel)?.eval()?;
    settle(ctx, &host, channel, &evaluated)?;
    evaluated.finish::<Value>()?;
    Ok((host, context, module))
}

/// Wraps a value that is not a promise in one.
fn promise_of<'js>(ctx: &Ctx<'js>, returned: Value<'js>) -> rquickjs::Result<Promise<'js>> {
    let promise: Object = ctx.globals().get("Promise")?;
    let resolve: Function = promise.get("resolve")?;
    let this = rquickjs::function::This(promise);
    resolve.call((this, returned))
}

/// Waits for the promise; returns its result as JSON.
fn result<'js>(
    ctx: &Ctx<'js>,
    host: &Object<'js>,
    channel: &Rc<RefCell<Channel>>,
    promise: &Promise<'js>,
) -> Result<String, Failure> {
    settle(ctx, host, channel, promise)
        .catch(ctx)
        .map_err(failure)?;
    let Some(result) = promise.result::<Value>() else {
        return Err(Failure::of(FailureKind::Stuck));
    };
    let output = result.catch(ctx).map_err(failure)?;
    let json = ctx.json_stringify(output).catch(ctx).map_err(failure)?;
    match json {
        Some(json) => json.to_string().catch(ctx).map_err(failure),
        None => Ok("null".to_owned()),
    }
}

/// Loads the module, then calls its exports for as long as the owner sends calls.
fn serve<'js>(
    ctx: &Ctx<'js>,
    job: &Job<'_>,
    bootstrap: Persistent<Function<'static>>,
    channel: &Rc<RefCell<Channel>>,
) {
    let loaded = load(ctx, job, bootstrap, channel).catch(ctx);
    let (host, module) = match loaded.map_err(failure) {
        Ok((host, _, module)) => (host, module),
        Err(failure) => return answer(channel, Err(failure)),
    };
    answer(channel, Ok("null".to_owned()));
    loop {
        let received = channel.borrow_mut().receive();
        let Ok(Some(message)) = received else { return };
        let Ok(call) = serde_json::from_slice::<ExportCall<'_>>(&message) else {
            return;
        };
        let begin = || -> rquickjs::Result<Promise<'js>> {
            let export: Option<Value> = module.get(call.name).ok();
            let Some(export) = export.and_then(Value::into_function) else {
                let message = format!("`{}` is not a function", call.name);
                return Err(Exception::throw_type(ctx, &message));
            };
            let arguments: Vec<Value> = ctx.json_parse(call.arguments.get())?.get()?;
            promise_of(ctx, export.call((Rest(arguments),))?)
        };
        let begun = begin().catch(ctx).map_err(failure);
        answer(
            channel,
            begun.and_then(|promise| result(ctx, &host, channel, &promise)),
        );
    }
}

/// Runs pending jobs and waits for the owner's answers until `promise` is settled, or until nothing
/// can settle it any more.
fn settle<'js>(
    ctx: &Ctx<'js>,
    host: &Object<'js>,
    channel: &Rc<RefCell<Channel>>,
    promise: &Promise<'js>,
) -> rquickjs::Result<()> {
    let waiting: Function = host.get("waiting")?;
    let deliver: Function = host.get("deliver")?;
    loop {
        while ctx.execute_pending_job() {}
        if promise.state() != PromiseState::Pending {
            return Ok(());
        }
        let open: u32 = waiting.call(())?;
        if open == 0 {
            return Ok(());
        }
        let Ok(Some(message)) = channel.borrow_mut().receive() else {
            return Ok(());
        };
        let text = String::from_utf8_lossy(&message);
        deliver.call::<_, ()>((text.as_ref(),))?;
    }
}

/// Error message for a thrown `null` when memory was not short.
const NULL: &str = "null: thrown by the code, or no memory was left for an error";

thread_local! {
    static BOUND: Cell<Bound> = const { Cell::new(Bound { before: 0, limit: 0 }) };
}

/// Memory limit of the code. The engine throws `null` when no memory is left for an error object,
/// but code can throw `null` too; the peak memory of the process tells the two apart.
#[derive(Clone, Copy)]
struct Bound {
    /// Peak memory before the code started, in bytes.
    before: u64,
    /// Memory limit of the code, in bytes.
    limit: u64,
}

impl Bound {
    fn set(limit: u64) {
        let before = platen_jail::peak_of_process();
        BOUND.set(Self { before, limit });
    }

    /// Whether the peak has reached at least half of the limit.
    fn was_near() -> bool {
        let Self { before, limit } = BOUND.get();
        platen_jail::peak_of_process().saturating_sub(before) >= limit / 2
    }
}

fn failure(error: CaughtError<'_>) -> Failure {
    let kind = |out_of_memory: bool| match out_of_memory {
        true => FailureKind::Memory,
        false => FailureKind::Thrown,
    };
    match error {
        CaughtError::Exception(exception) => {
            let message = exception.message().unwrap_or_default();
            let name: Option<String> = exception.as_object().get("name").ok();
            Failure {
                kind: kind(message == "out of memory"),
                name: name.unwrap_or_else(|| "Error".to_owned()),
                stack: exception.stack().unwrap_or_default(),
                message,
            }
        }
        CaughtError::Value(value) => {
            let text = value.as_string().and_then(|text| text.to_string().ok());
            let json = || {
                let ctx = value.ctx().clone();
                let json = ctx.json_stringify(value.clone()).ok().flatten();
                json.and_then(|json| json.to_string().ok())
            };
            let message = match value.is_null() {
                true => Some(NULL.to_owned()),
                false => text.or_else(json),
            };
            Failure {
                kind: kind(value.is_null() && Bound::was_near()),
                name: "Thrown".to_owned(),
                message: message.unwrap_or_else(|| "a value that has no text".to_owned()),
                ..Failure::default()
            }
        }
        // A module whose own promise is open when there is nothing left to do.
        CaughtError::Error(rquickjs::Error::WouldBlock) => Failure::of(FailureKind::Stuck),
        CaughtError::Error(error) => Failure {
            name: "Error".to_owned(),
            message: error.to_string(),
            kind: kind(matches!(error, rquickjs::Error::Allocation)),
            ..Failure::default()
        },
    }
}
