//! The sections of the pack, in order.

use std::time::Instant;

use super::{
    Options,
    balance::balance,
    cells::{BATCH_ITEMS, CELLS, Kind, Spec, batch_request, find, request, seed},
};
use crate::{
    Cell, Error, Outcome, Progress, Sample,
    client::{Request, Target},
    interval::Basis,
    load::{Load, Mode, Run},
    name::{Document, Isolation, Packaging, RenderName, Topology, Until},
    program::{Program, find as find_program},
    recorder::Recorder,
    rounds::{Contender, in_turns},
};

/// Names of the sections.
pub const SECTIONS: [&str; 12] = [
    "cells",
    "serial",
    "chromium",
    "gotenberg",
    "open",
    "saturation",
    "isolation",
    "cold",
    "concurrency",
    "batch",
    "storage",
    "replicas",
];

/// Requests per batch, as in the model of slots.
pub const BATCH: usize = 5;
/// How long a page of the second model waits, in milliseconds: much longer than its processor time.
const WAIT_MS: u64 = 250;
const SWEEP: [usize; 5] = [5, 10, 16, 20, 32];
const SWEEP_SAMPLES: usize = 480;
const REPLICAS: [usize; 3] = [1, 2, 4];
/// Rates of the open loop, as shares of the closed loop's rate.
const OPEN_SHARES: [f64; 3] = [0.3, 0.6, 0.8];
/// A start counts as this many light renderings.
const COLD_WEIGHT: usize = 8;

/// The measurement, with its service.
pub(super) struct Measure<'a> {
    pub(super) options: &'a Options,
    progress: Progress<'a>,
    service: Option<Program>,
    pub(super) has_chromium: bool,
}

impl<'a> Measure<'a> {
    pub(super) fn new(options: &'a Options, progress: Progress<'a>) -> Result<Self, Error> {
        let service = match &options.url {
            Some(_) => None,
            None => Some(options.platen.serve(&[], &[])?),
        };
        let has_chromium = ["chromium-headless-shell", "chromium"]
            .into_iter()
            .any(|name| find_program(name).is_some())
            || std::env::var_os("CHROMIUM_PATH").is_some();
        let measure = Self {
            options,
            progress,
            service,
            has_chromium,
        };
        measure.seed(measure.target())?;
        Ok(measure)
    }

    fn target(&self) -> &Target {
        let service = self.service.as_ref().map(Program::target);
        service
            .or(self.options.url.as_ref())
            .expect("a service is started where none is given")
    }

    pub(super) fn key(&self) -> Option<&str> {
        self.options.key.as_deref()
    }

    fn seed(&self, target: &Target) -> Result<(), Error> {
        seed(target, self.key(), &self.options.examples).map(drop)
    }

    pub(super) fn request(&self, spec: &Spec, target: &Target) -> Result<Request, Error> {
        let key = self.options.render_key.as_deref().or(self.key());
        request(spec, target, key, &self.options.examples, None)
    }

    /// Says what is measured now.
    pub(super) fn says(&self, what: &str) {
        (self.progress)(what);
    }

    /// Starts another service with these settings, and stores the templates.
    pub(super) fn serve(&self, settings: &[(&str, &str)]) -> Result<Program, Error> {
        let service = self.options.platen.serve(settings, &[])?;
        self.seed(service.target())?;
        Ok(service)
    }

    fn chosen(&self) -> impl Iterator<Item = &'static Spec> {
        CELLS.iter().filter(|spec| {
            let wanted = &self.options.cells;
            let is_wanted =
                wanted.is_empty() || wanted.iter().any(|it| it == spec.document.as_str());
            is_wanted && (self.has_chromium || spec.kind != Kind::Chromium)
        })
    }

    /// Measures all requested sections, in the order of their dependencies.
    pub(super) fn all(&self, recorder: &mut Recorder) -> Result<(), Error> {
        if !self.has_chromium {
            recorder.note("Chromium is not installed: its cells are left out.");
        }
        type Section<'a> = fn(&Measure<'a>, &mut Recorder) -> Result<(), Error>;
        let sections: [(&str, Section<'a>); 12] = [
            ("cells", Self::cells),
            ("serial", Self::serial),
            ("chromium", Self::chromium),
            ("gotenberg", Self::gotenberg),
            ("open", Self::open),
            ("saturation", Self::saturation),
            ("isolation", Self::isolation),
            ("cold", Self::cold),
            ("concurrency", Self::concurrency),
            ("batch", Self::batch),
            ("storage", Self::storage),
            ("replicas", Self::replicas),
        ];
        for (name, measure) in sections {
            if self.options.wants(name) {
                measure(self, recorder)?;
            }
        }
        Ok(())
    }

    /// Measures one cell on one service.
    fn one(
        &self,
        cell: Cell,
        load: Load,
        request: &Request,
        service: (&Target, Option<u32>),
        recorder: &mut Recorder,
    ) -> Result<(), Error> {
        (self.progress)(&cell.id());
        let contender = contender(cell, load, request, service);
        in_turns(self.options.effort, vec![contender], recorder)
    }

    pub(super) fn here(&self) -> (&Target, Option<u32>) {
        (self.target(), self.service.as_ref().map(Program::pid))
    }

    /// The main cells of the pack.
    pub(super) fn cells(&self, recorder: &mut Recorder) -> Result<(), Error> {
        for spec in self.chosen() {
            let mut load = self.options.load(spec, self.options.concurrency);
            if self.options.is_strict {
                load = load.with(Mode::Batches);
                // Only whole batches.
                load.samples = load.samples.next_multiple_of(load.concurrency);
            }
            let request = self.request(spec, self.target())?;
            let document = spec.document;
            let cell = Cell::new(RenderName::Cells { document }, &load);
            self.one(cell, load, &request, self.here(), recorder)?;
        }
        Ok(())
    }

    /// One request at a time: the time of a rendering when nothing waits.
    fn serial(&self, recorder: &mut Recorder) -> Result<(), Error> {
        for spec in self.chosen() {
            let load = self.options.load(spec, 1);
            let request = self.request(spec, self.target())?;
            let document = spec.document;
            let cell = Cell::new(RenderName::Serial { document }, &load);
            self.one(cell, load, &request, self.here(), recorder)?;
        }
        Ok(())
    }

    /// The same documents by Platen and by Chromium, interleaved.
    fn chromium(&self, recorder: &mut Recorder) -> Result<(), Error> {
        if !self.has_chromium {
            return Ok(());
        }
        for (ours, theirs) in Document::PAIRS {
            let documents = [ours, theirs];
            let requests: Vec<Request> = documents
                .iter()
                .map(|document| self.request(find(*document), self.target()))
                .collect::<Result<_, _>>()?;
            let mut contenders = Vec::new();
            for (document, request) in documents.into_iter().zip(&requests) {
                let load = self.options.round(find(document), 1);
                let cell = Cell::new(RenderName::Chromium { document }, &load);
                contenders.push(contender(cell, load, request, self.here()));
            }
            (self.progress)(&format!("{theirs}, interleaved with {ours}"));
            in_turns(self.options.effort, contenders, recorder)?;
        }
        Ok(())
    }

    /// A fixed rate, as a share of what the closed loop has reached.
    fn open(&self, recorder: &mut Recorder) -> Result<(), Error> {
        let spec = find(Document::Pdf1p);
        let request = self.request(spec, self.target())?;
        let load = self.options.load(spec, self.options.concurrency);
        let (target, _) = self.here();
        let probe = load.run(|| {
            let mut connection = target.connect()?;
            let request = &request;
            Ok(move || connection.send(request))
        })?;
        let reached = probe.samples.len() as f64 / probe.elapsed.as_secs_f64();
        for share in OPEN_SHARES {
            let rate = (reached * share).max(1.0).round();
            // Enough connections that one is always free; requests wait in the service, not here.
            let load = Load {
                concurrency: 64,
                warmup: 64,
                ..load.with(Mode::Open(rate))
            };
            let name = RenderName::Open {
                document: spec.document,
                share_percent: (share * 100.0_f64).round() as u32,
            };
            let cell = Cell::new(name, &load);
            self.one(cell, load, &request, self.here(), recorder)?;
        }
        Ok(())
    }

    /// Strict batches of five on four slots and on five.
    fn saturation(&self, recorder: &mut Recorder) -> Result<(), Error> {
        let mut kinds = vec![(Document::Pdf1p, 0)];
        if self.has_chromium {
            kinds.extend([(Document::Chromium1p, 0), (Document::Chromium1p, WAIT_MS)]);
        }
        for (slots, reserved) in [(4, "1"), (5, "0")] {
            let service = self.serve(&[
                ("MAX_CONCURRENT_PAGES", "5"),
                ("RENDER_PREVIEW_RESERVED_SLOTS", reserved),
                ("CHROMIUM_SPARE_PAGES", "5"),
            ])?;
            for (document, wait_ms) in kinds.iter().copied() {
                let spec = find(document);
                let examples = &self.options.examples;
                let wait = Some(wait_ms).filter(|it| *it > 0);
                let request = request(spec, service.target(), self.key(), examples, wait)?;
                let mut load = self.options.load(spec, BATCH).with(Mode::Batches);
                // Only whole batches.
                load.samples = load.samples.next_multiple_of(BATCH).max(20);
                let at = (service.target(), Some(service.pid()));
                let alone = Load::closed(1, BATCH, load.samples.min(50));
                let name = RenderName::SaturationSerial {
                    document,
                    slots,
                    wait_ms,
                };
                let cell = Cell::new(name, &alone);
                self.one(cell, alone, &request, at, recorder)?;
                let name = RenderName::Saturation {
                    document,
                    slots,
                    wait_ms,
                };
                let cell = Cell::new(name, &load);
                self.one(cell, load, &request, at, recorder)?;
                predict(slots, recorder);
            }
        }
        Ok(())
    }

    /// Renderings in the service, and in a sandbox per document.
    fn isolation(&self, recorder: &mut Recorder) -> Result<(), Error> {
        let services: Vec<(Isolation, Program)> = [Isolation::Inline, Isolation::Jail]
            .into_iter()
            .map(|kind| Ok((kind, self.serve(&[("RENDER_ISOLATION", kind.as_str())])?)))
            .collect::<Result<_, Error>>()?;
        let (one, ten) = (Document::Pdf1p, Document::Pdf10p);
        for (document, concurrency) in [(one, 1), (one, BATCH), (ten, 1)] {
            let spec = find(document);
            let request = self.request(spec, services[0].1.target())?;
            let mut contenders = Vec::new();
            for (kind, service) in &services {
                let load = self.options.round(spec, concurrency);
                let name = RenderName::Isolation {
                    document,
                    isolation: *kind,
                };
                let cell = Cell::new(name, &load);
                let at = (service.target(), Some(service.pid()));
                contenders.push(contender(cell, load, &request, at));
            }
            (self.progress)(&format!("isolation/{document} c{concurrency}"));
            in_turns(self.options.effort, contenders, recorder)?;
        }
        Ok(())
    }

    /// From the start of the process until it is ready, and until the first document is complete.
    fn cold(&self, recorder: &mut Recorder) -> Result<(), Error> {
        let mut documents = vec![Document::Pdf1p];
        documents.extend(self.has_chromium.then_some(Document::Chromium1p));
        for document in documents {
            (self.progress)(&format!("cold/{document}"));
            let spec = find(document);
            let request = self.request(spec, self.target())?;
            let starts = self.options.effort.samples.div_ceil(COLD_WEIGHT);
            let mut runs = [Run::default(), Run::default()];
            for _ in 0..starts {
                let begun = Instant::now();
                let mut service = self.options.platen.begin_alone()?;
                service.wait_ready("/health/ready")?;
                let ready = begun.elapsed();
                self.seed(service.target())?;
                let begun = Instant::now();
                let outcome = service.target().connect()?.send(&request);
                let first = ready + begun.elapsed();
                let good = Outcome {
                    is_good: true,
                    status: 200,
                    ..Outcome::default()
                };
                for (run, (took, outcome)) in runs.iter_mut().zip([(ready, good), (first, outcome)])
                {
                    run.elapsed += took;
                    run.samples.push(Sample {
                        start_us: 0,
                        client_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
                        outcome,
                    });
                }
            }
            let load = Load::closed(1, 0, starts);
            for (until, run) in [Until::Ready, Until::FirstDocument].into_iter().zip(runs) {
                let mut cell = Cell::new(RenderName::Cold { document, until }, &load);
                cell.take(std::slice::from_ref(&run), Basis::Requests);
                recorder.add(cell, &[run]);
            }
        }
        Ok(())
    }

    /// A growing number of clients.
    fn concurrency(&self, recorder: &mut Recorder) -> Result<(), Error> {
        for document in [Document::Pdf1p, Document::Pdf10p] {
            let spec = find(document);
            let request = self.request(spec, self.target())?;
            let mut contenders = Vec::new();
            for concurrency in SWEEP {
                let mut load = self.options.round(spec, concurrency);
                // A common multiple of the numbers of clients: no round ends with a part of a batch.
                load.samples = SWEEP_SAMPLES;
                let cell = Cell::new(RenderName::Concurrency { document }, &load);
                contenders.push(contender(cell, load, &request, self.here()));
            }
            (self.progress)(&format!("concurrency/{document}"));
            in_turns(self.options.effort, contenders, recorder)?;
        }
        Ok(())
    }

    /// A batch of invoices in one request, as JSON, as lines and as a ZIP file.
    fn batch(&self, recorder: &mut Recorder) -> Result<(), Error> {
        let document = Document::Pdf1p;
        let spec = find(document);
        let requests: Vec<(Packaging, Request)> = Packaging::ALL
            .into_iter()
            .map(|packaging| {
                let examples = &self.options.examples;
                let request = batch_request(spec, packaging, self.key(), examples)?;
                Ok((packaging, request))
            })
            .collect::<Result<_, Error>>()?;
        let mut contenders = Vec::new();
        for (packaging, request) in &requests {
            let mut load = self.options.round(spec, 1);
            load.samples = load.samples.div_ceil(BATCH_ITEMS);
            load.warmup = load.warmup.div_ceil(BATCH_ITEMS);
            let name = RenderName::Batch {
                document,
                packaging: *packaging,
            };
            contenders.push(contender(
                Cell::new(name, &load),
                load,
                request,
                self.here(),
            ));
        }
        (self.progress)("batch, interleaved");
        in_turns(self.options.effort, contenders, recorder)
    }

    /// One service with several processes, and several services behind nginx.
    fn replicas(&self, recorder: &mut Recorder) -> Result<(), Error> {
        let document = Document::Pdf10p;
        let spec = find(document);
        let request = self.request(spec, self.target())?;
        for count in REPLICAS {
            let service = self.serve(&[("PLATEN_WORKERS", &count.to_string())])?;
            for concurrency in [BATCH, 16] {
                let load = self.options.load(spec, concurrency);
                let name = RenderName::Replicas {
                    document,
                    topology: Topology::Processes,
                    count,
                };
                let cell = Cell::new(name, &load);
                self.one(cell, load, &request, (service.target(), None), recorder)?;
            }
        }
        if find_program("nginx").is_none() {
            recorder.note("nginx is not installed: replicas are left out.");
            return Ok(());
        }
        for count in REPLICAS {
            let services: Vec<Program> = (0..count)
                .map(|_| self.serve(&[]))
                .collect::<Result<_, _>>()?;
            let targets: Vec<&Target> = services.iter().map(Program::target).collect();
            let nginx = balance(&targets)?;
            for concurrency in [BATCH, 16] {
                let load = self.options.load(spec, concurrency);
                let name = RenderName::Replicas {
                    document,
                    topology: Topology::Services,
                    count,
                };
                let cell = Cell::new(name, &load);
                self.one(cell, load, &request, (nginx.target(), None), recorder)?;
            }
        }
        Ok(())
    }
}

pub(super) fn contender<'a>(
    cell: Cell,
    load: Load,
    request: &'a Request,
    (target, pid): (&'a Target, Option<u32>),
) -> Contender<'a> {
    Contender::new(cell, load, pid, move || {
        let mut connection = target.connect()?;
        Ok(move || connection.send(request))
    })
}

/// Adds the rates to the last cell that slots, and slots limited by cores, predict from the time of
/// a single request: `batch / (ceil(batch / slots) * p50)`.
fn predict(slots: usize, recorder: &mut Recorder) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cells = recorder.cells_mut();
    let [.., alone, cell] = cells else { return };
    let Some(p50) = alone.client.as_ref().map(|times| times.p50) else {
        return;
    };
    let predicted = |slots: usize| {
        let waves = BATCH.div_ceil(slots) as f64;
        BATCH as f64 * 1e3 / (waves * p50)
    };
    let values = [
        ("serialP50", p50),
        ("predictedRps", predicted(slots)),
        ("predictedByCoresRps", predicted(slots.min(cores))),
    ];
    cell.values
        .extend(values.map(|(name, value)| (name.to_owned(), value)));
}
