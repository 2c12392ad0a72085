//! Prometheus metrics of process pools.

use std::fmt::Write;

use platen_browser::{BOUNDS_SECONDS, HistogramSnapshot, Isolation, Processes, Snapshot};

/// Writes the metrics of a pool; `name` is its label.
pub(crate) fn write_pool(text: &mut String, name: &str, pool: &Snapshot) {
    let label = format!("pool=\"{name}\"");
    #[rustfmt::skip]
    let values = [
        ("queue_depth", "gauge", pool.waiting as u64, "Jobs waiting for a slot."),
        ("slots_in_use", "gauge", pool.in_use as u64, "Slots in use."),
        ("slots", "gauge", pool.slots as u64, "Slots."),
        ("children", "gauge", pool.children as u64, "Child processes, including those starting and stopping."),
        ("idle_children", "gauge", pool.idle as u64, "Idle child processes."),
        ("starting_children", "gauge", pool.starting as u64, "Child processes being started."),
        ("memory_bytes", "gauge", pool.memory_bytes, "Memory of child processes."),
        ("starts_total", "counter", pool.starts, "Child processes started."),
        ("start_failures_total", "counter", pool.start_failures, "Failed starts of child processes."),
        ("retries_total", "counter", pool.retries, "Jobs retried because their child process exited."),
    ];
    for (metric, kind, value, about) in values {
        head(text, metric, kind, about);
        let _ = writeln!(text, "platen_pool_{metric}{{{label}}} {value}");
    }
    head(
        text,
        "replaced_total",
        "counter",
        "Child processes replaced, by reason.",
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
        "Time spent waiting for a slot and a child process.",
        &label,
        &pool.waits,
    );
    histogram(
        text,
        "job_seconds",
        "Duration of jobs in the child process.",
        &label,
        &pool.jobs,
    );
    histogram(
        text,
        "start_seconds",
        "Duration of starts.",
        &label,
        &pool.start_time,
    );
}

/// Writes how the processes of a pool are isolated.
pub(crate) fn write_isolation(text: &mut String, name: &str, isolation: Isolation) {
    let about =
        "1 for the isolation level of the child processes: full, landlock, network or none.";
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
            "Memory of the current process and its descendants.",
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
