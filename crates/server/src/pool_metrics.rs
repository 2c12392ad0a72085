//! Prometheus metrics of process pools.

use std::fmt::Write;

use platen_browser::{BOUNDS_SECONDS, HistogramSnapshot, Isolation, Processes, Snapshot};

/// Writes the metrics of a pool; `name` is its label.
pub(crate) fn write_pool(text: &mut String, name: &str, pool: &Snapshot) {
    let label = format!("pool=\"{name}\"");
    #[rustfmt::skip]
    let values = [
        ("queue_depth", "gauge", pool.waiting as u64, "Jobs that wait for a slot."),
        ("slots_in_use", "gauge", pool.in_use as u64, "Slots in use."),
        ("slots", "gauge", pool.slots as u64, "Slots."),
        ("children", "gauge", pool.children as u64, "Children, those being started and stopped included."),
        ("idle_children", "gauge", pool.idle as u64, "Children ready for a job."),
        ("starting_children", "gauge", pool.starting as u64, "Children being started."),
        ("memory_bytes", "gauge", pool.memory_bytes, "Memory of children with a process of their own."),
        ("starts_total", "counter", pool.starts, "Children started."),
        ("start_failures_total", "counter", pool.start_failures, "Starts that failed."),
        ("retries_total", "counter", pool.retries, "Jobs tried again because their child died."),
    ];
    for (metric, kind, value, about) in values {
        head(text, metric, kind, about);
        let _ = writeln!(text, "platen_pool_{metric}{{{label}}} {value}");
    }
    head(
        text,
        "replaced_total",
        "counter",
        "Children replaced, by reason.",
    );
    for (reason, count) in pool.replaced {
        let reason = reason.name();
        let _ = writeln!(
            text,
            "platen_pool_replaced_total{{{label},reason=\"{reason}\"}} {count}"
        );
    }
    head(text, "refused_total", "counter", "Jobs refused, by reason.");
    for (reason, count) in pool.refused {
        let reason = reason.name();
        let _ = writeln!(
            text,
            "platen_pool_refused_total{{{label},reason=\"{reason}\"}} {count}"
        );
    }
    histogram(
        text,
        "wait_seconds",
        "Wait for a slot and a child.",
        &label,
        &pool.waits,
    );
    histogram(
        text,
        "job_seconds",
        "Time of jobs on their child.",
        &label,
        &pool.jobs,
    );
    histogram(
        text,
        "start_seconds",
        "Time of starts.",
        &label,
        &pool.start_time,
    );
}

/// Writes how the processes of a pool are isolated.
pub(crate) fn write_isolation(text: &mut String, name: &str, isolation: Isolation) {
    let about = "1 for the level that children are shut in at: full, landlock, network or none.";
    head(text, "isolation", "gauge", about);
    for level in ["full", "landlock", "network", "none"] {
        let value = u8::from(level == isolation.name());
        let _ = writeln!(
            text,
            "platen_pool_isolation{{pool=\"{name}\",level=\"{level}\"}} {value}"
        );
    }
}

/// Writes the metrics of Chromium's processes, which its pages share.
pub(crate) fn write_processes(text: &mut String, processes: &Processes) {
    let label = "pool=\"chromium\"";
    let values = [
        (
            "process_starts_total",
            "counter",
            processes.starts,
            "Processes started.",
        ),
        (
            "process_memory_bytes",
            "gauge",
            processes.memory_bytes,
            "Memory of the current process and its family.",
        ),
    ];
    for (name, kind, value, about) in values {
        head(text, name, kind, about);
        let _ = writeln!(text, "platen_pool_{name}{{{label}}} {value}");
    }
    head(
        text,
        "process_replaced_total",
        "counter",
        "Processes replaced, by reason.",
    );
    for (reason, count) in processes.replaced {
        let reason = reason.name();
        let _ = writeln!(
            text,
            "platen_pool_process_replaced_total{{{label},reason=\"{reason}\"}} {count}"
        );
    }
}

fn head(text: &mut String, name: &str, kind: &str, about: &str) {
    let _ = writeln!(text, "# HELP platen_pool_{name} {about}");
    let _ = writeln!(text, "# TYPE platen_pool_{name} {kind}");
}

fn histogram(text: &mut String, name: &str, about: &str, label: &str, values: &HistogramSnapshot) {
    head(text, name, "histogram", about);
    let mut total = 0;
    for (bound, count) in BOUNDS_SECONDS.iter().zip(values.buckets) {
        total += count;
        let _ = writeln!(
            text,
            "platen_pool_{name}_bucket{{{label},le=\"{bound}\"}} {total}"
        );
    }
    let count = values.count;
    let _ = writeln!(
        text,
        "platen_pool_{name}_bucket{{{label},le=\"+Inf\"}} {count}"
    );
    let sum = values.sum.as_secs_f64();
    let _ = writeln!(text, "platen_pool_{name}_sum{{{label}}} {sum}");
    let _ = writeln!(text, "platen_pool_{name}_count{{{label}}} {count}");
}
