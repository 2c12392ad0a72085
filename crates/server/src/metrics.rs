//! Counters and histograms in the Prometheus text format 0.0.4.

use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use parking_lot::Mutex;

/// Upper bounds of the histogram buckets, in seconds.
const BOUNDS: [f64; 14] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
];

/// A histogram of durations.
#[derive(Clone, Debug, Default)]
struct Histogram {
    buckets: [u64; BOUNDS.len()],
    count: u64,
    sum_seconds: f64,
}

impl Histogram {
    fn add(&mut self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        self.count += 1;
        self.sum_seconds += seconds;
        if let Some(index) = BOUNDS.iter().position(|bound| seconds <= *bound) {
            self.buckets[index] += 1;
        }
    }

    fn write(&self, text: &mut String, name: &str, labels: &str) {
        let comma = if labels.is_empty() { "" } else { "," };
        let mut total = 0;
        for (bound, count) in BOUNDS.iter().zip(self.buckets) {
            total += count;
            let _ = writeln!(
                text,
                "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {total}"
            );
        }
        let count = self.count;
        let _ = writeln!(text, "{name}_bucket{{{labels}{comma}le=\"+Inf\"}} {count}");
        let _ = writeln!(text, "{name}_sum{{{labels}}} {}", self.sum_seconds);
        let _ = writeln!(text, "{name}_count{{{labels}}} {count}");
    }
}

/// Labels of requests. Routes and methods come from the route table, which bounds the number of
/// series.
type RequestLabels = (&'static str, &'static str, u16);

#[derive(Debug, Default)]
struct Inner {
    requests: BTreeMap<RequestLabels, u64>,
    durations: BTreeMap<(&'static str, &'static str), Histogram>,
    renders: BTreeMap<(&'static str, &'static str), u64>,
    stages: BTreeMap<&'static str, Histogram>,
    waits: Histogram,
    rejected: BTreeMap<&'static str, u64>,
}

/// All counters and histograms.
#[derive(Debug, Default)]
pub struct Metrics {
    inner: Mutex<Inner>,
    pages: AtomicU64,
    bytes: AtomicU64,
    compiled: AtomicU64,
    pub(crate) cache_hits: AtomicU64,
    pub(crate) cache_misses: AtomicU64,
    pub(crate) connections: AtomicU64,
}

/// Gauges that other components sample for the scrape.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauges {
    pub(crate) waiting: usize,
    pub(crate) in_use: usize,
    pub(crate) slots: usize,
    pub(crate) cached_templates: usize,
    pub(crate) cached_bytes: u64,
    pub(crate) log_dropped: u64,
    pub(crate) ready: bool,
}

impl Metrics {
    fn inner(&self) -> parking_lot::MutexGuard<'_, Inner> {
        self.inner.lock()
    }

    pub(crate) fn answered(
        &self,
        method: &'static str,
        route: &'static str,
        status: u16,
        duration: Duration,
    ) {
        let mut inner = self.inner();
        *inner.requests.entry((route, method, status)).or_default() += 1;
        inner
            .durations
            .entry((route, method))
            .or_default()
            .add(duration);
    }

    /// Counts a rendering; `outcome` is `ok` or the code of a problem.
    pub fn rendered(&self, format: &'static str, outcome: &'static str) {
        *self.inner().renders.entry((format, outcome)).or_default() += 1;
    }

    pub(crate) fn produced(
        &self,
        pages: Option<u32>,
        bytes: usize,
        stages: &[(&'static str, Duration)],
    ) {
        self.pages
            .fetch_add(u64::from(pages.unwrap_or(0)), Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        let mut inner = self.inner();
        for (name, duration) in stages {
            inner.stages.entry(name).or_default().add(*duration);
        }
    }

    /// Counts code that was compiled ahead of its first run.
    pub(crate) fn compiled(&self, count: usize) {
        self.compiled.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(crate) fn waited(&self, duration: Duration) {
        self.inner().waits.add(duration);
    }

    /// Counts a rejected request; `reason` is a label of `platen_rejected_total`.
    pub fn rejected(&self, reason: &'static str) {
        *self.inner().rejected.entry(reason).or_default() += 1;
    }

    /// The Prometheus text of all metrics.
    pub(crate) fn to_text(&self, gauges: Gauges) -> String {
        let mut text = String::with_capacity(16 << 10);
        self.write_requests(&mut text);
        self.write_renders(&mut text);
        self.write_values(&mut text, gauges);
        write_process(&mut text);
        text
    }

    fn write_requests(&self, text: &mut String) {
        let inner = self.inner();
        head(text, "http_requests_total", "counter", "Answered requests.");
        for ((route, method, status), count) in &inner.requests {
            let labels = format!("route=\"{route}\",method=\"{method}\",status=\"{status}\"");
            let _ = writeln!(text, "platen_http_requests_total{{{labels}}} {count}");
        }
        let name = "http_request_duration_seconds";
        head(text, name, "histogram", "Time to the head of the response.");
        for ((route, method), histogram) in &inner.durations {
            let labels = format!("route=\"{route}\",method=\"{method}\"");
            histogram.write(text, &format!("platen_{name}"), &labels);
        }
        head(
            text,
            "rejected_total",
            "counter",
            "Requests refused, by reason.",
        );
        for (reason, count) in &inner.rejected {
            let _ = writeln!(text, "platen_rejected_total{{reason=\"{reason}\"}} {count}");
        }
    }

    fn write_renders(&self, text: &mut String) {
        let inner = self.inner();
        head(
            text,
            "renders_total",
            "counter",
            "Renderings by format and outcome.",
        );
        for ((format, outcome), count) in &inner.renders {
            let labels = format!("format=\"{format}\",outcome=\"{outcome}\"");
            let _ = writeln!(text, "platen_renders_total{{{labels}}} {count}");
        }
        let name = "render_stage_duration_seconds";
        head(text, name, "histogram", "Time of renderings by stage.");
        for (stage, histogram) in &inner.stages {
            histogram.write(
                text,
                &format!("platen_{name}"),
                &format!("stage=\"{stage}\""),
            );
        }
        let name = "render_queue_wait_seconds";
        head(
            text,
            name,
            "histogram",
            "Time spent waiting for a render slot.",
        );
        inner.waits.write(text, &format!("platen_{name}"), "");
    }

    fn write_values(&self, text: &mut String, gauges: Gauges) {
        let load = |value: &AtomicU64| value.load(Ordering::Relaxed);
        #[rustfmt::skip]
        let values = [
            ("render_pages_total", "counter", load(&self.pages), "Pages rendered."),
            ("render_bytes_total", "counter", load(&self.bytes), "Bytes rendered."),
            ("code_compiled_ahead_total", "counter", load(&self.compiled), "Flow code and custom actions compiled before their first run."),
            ("template_cache_hits_total", "counter", load(&self.cache_hits), "Template cache hits."),
            ("template_cache_misses_total", "counter", load(&self.cache_misses), "Template cache misses."),
            ("template_cache_items", "gauge", gauges.cached_templates as u64, "Compiled templates in the cache."),
            ("template_cache_bytes", "gauge", gauges.cached_bytes, "Source bytes of the templates in the cache."),
            ("render_queue_depth", "gauge", gauges.waiting as u64, "Renderings waiting for a slot."),
            ("render_slots_in_use", "gauge", gauges.in_use as u64, "Render slots in use."),
            ("render_slots", "gauge", gauges.slots as u64, "Slots."),
            ("connections", "gauge", load(&self.connections), "Open connections."),
            ("log_lines_dropped_total", "counter", gauges.log_dropped, "Log lines dropped because the buffer was full."),
            ("trace_spans_dropped_total", "counter", platen_trace::dropped(), "Spans that did not reach the collector of traces."),
            ("ready", "gauge", u64::from(gauges.ready), "1 if the service is ready."),
        ];
        for (name, kind, value, about) in values {
            head(text, name, kind, about);
            let _ = writeln!(text, "platen_{name} {value}");
        }
    }
}

/// Writes the HELP and TYPE lines of a metric.
pub(crate) fn head(text: &mut String, name: &str, kind: &str, about: &str) {
    let _ = writeln!(text, "# HELP platen_{name} {about}");
    let _ = writeln!(text, "# TYPE platen_{name} {kind}");
}

/// Memory and CPU time from Linux's `/proc` (proc(5)); nothing on other systems.
fn write_process(text: &mut String) {
    /// `USER_HZ`, which Linux fixes at 100 for programs.
    const TICKS_PER_SECOND: f64 = 100.0;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.trim().strip_suffix("kB"))
        .and_then(|number| number.trim().parse::<u64>().ok());
    if let Some(kilobytes) = resident {
        text.push_str("# TYPE process_resident_memory_bytes gauge\n");
        let _ = writeln!(text, "process_resident_memory_bytes {}", kilobytes * 1024);
    }
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit_once(')')
        .map_or_else(Vec::new, |(_, rest)| rest.split_whitespace().collect());
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    if let (Some(user), Some(system)) = (ticks(11), ticks(12)) {
        text.push_str("# TYPE process_cpu_seconds_total counter\n");
        let seconds = (user + system) / TICKS_PER_SECOND;
        let _ = writeln!(text, "process_cpu_seconds_total {seconds}");
    }
}
