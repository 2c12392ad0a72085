//! Prometheus metrics of process pools.

use std::fmt::Write;

use platen_browser::{BOUNDS_SECONDS, HistogramSnapshot, Isolation, Processes, Snapshot};

/// A pool: its label, its state, and how its processes are isolated.
pub(crate) type Pool<'a> = (&'static str, &'a Snapshot, Isolation);

/// A value of a pool: name, kind, what it is of a pool, description.
type Value = (
    &'static str,
    &'static str,
    fn(&Snapshot) -> u64,
    &'static str,
);

#[rustfmt::skip]
const VALUES: [Value; 10] = [
    ("queue_depth", "gauge", |pool| pool.waiting as u64, "Jobs waiting for a slot."),
    ("slots_in_use", "gauge", |pool| pool.in_use as u64, "Slots in use."),
    ("slots", "gauge", |pool| pool.slots as u64, "Slots."),
    ("children", "gauge", |pool| pool.children as u64, "Child processes, including those starting and stopping."),
    ("idle_children", "gauge", |pool| pool.idle as u64, "Idle child processes."),
    ("starting_children", "gauge", |pool| pool.starting as u64, "Child processes being started."),
    ("memory_bytes", "gauge", |pool| pool.memory_bytes, "Memory of child processes."),
    ("starts_total", "counter", |pool| pool.starts, "Child processes started."),
    ("start_failures_total", "counter", |pool| pool.start_failures, "Failed starts of child processes."),
    ("retries_total", "counter", |pool| pool.retries, "Jobs retried because their child process exited."),
];

/// Writes the metrics of all pools. The text format wants all lines of a metric together, under one
/// description, so the pools of a metric follow each other.
pub(crate) fn write_pools(text: &mut String, pools: &[Pool<'_>]) {
    if pools.is_empty() {
        return;
    }
    for (metric, kind, value, about) in VALUES {
        head(text, metric, kind, about);
        for (name, pool, _) in pools {
            let value = value(pool);
            let _ = writeln!(text, "platen_pool_{metric}{{pool=\"{name}\"}} {value}");
        }
    }
    write_reasons(text, pools);
    histogram(
        text,
        "wait_seconds",
        "Time spent waiting for a slot and a child process.",
        pools,
        |pool| &pool.waits,
    );
    histogram(
        text,
        "job_seconds",
        "Duration of jobs in the child process.",
        pools,
        |pool| &pool.jobs,
    );
    histogram(
        text,
        "start_seconds",
        "Duration of starts.",
        pools,
        |pool| &pool.start_time,
    );
    write_isolation(text, pools);
}

fn write_reasons(text: &mut String, pools: &[Pool<'_>]) {
    let about = "Child processes replaced, by reason.";
    head(text, "replaced_total", "counter", about);
    for (name, pool, _) in pools {
        for (reason, count) in pool.replaced {
            let labels = format!("pool=\"{name}\",reason=\"{}\"", reason.name());
            let _ = writeln!(text, "platen_pool_replaced_total{{{labels}}} {count}");
        }
    }
    head(text, "refused_total", "counter", "Jobs refused, by reason.");
    for (name, pool, _) in pools {
        for (reason, count) in pool.refused {
            let labels = format!("pool=\"{name}\",reason=\"{}\"", reason.name());
            let _ = writeln!(text, "platen_pool_refused_total{{{labels}}} {count}");
        }
    }
}

fn write_isolation(text: &mut String, pools: &[Pool<'_>]) {
    let about = "1 for the isolation level of the child processes: container, full, landlock, network, remote or none.";
    head(text, "isolation", "gauge", about);
    for (name, _, isolation) in pools {
        for level in ["container", "full", "landlock", "network", "remote", "none"] {
            let value = u8::from(level == isolation.name());
            let labels = format!("pool=\"{name}\",level=\"{level}\"");
            let _ = writeln!(text, "platen_pool_isolation{{{labels}}} {value}");
        }
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

fn histogram(
    text: &mut String,
    name: &str,
    about: &str,
    pools: &[Pool<'_>],
    values: fn(&Snapshot) -> &HistogramSnapshot,
) {
    head(text, name, "histogram", about);
    for (label, pool, _) in pools {
        let (values, label) = (values(pool), format!("pool=\"{label}\""));
        let mut total = 0;
        for (bound, count) in BOUNDS_SECONDS.iter().zip(values.buckets) {
            total += count;
            let labels = format!("{label},le=\"{bound}\"");
            let _ = writeln!(text, "platen_pool_{name}_bucket{{{labels}}} {total}");
        }
        let (count, sum) = (values.count, values.sum.as_secs_f64());
        let _ = writeln!(
            text,
            "platen_pool_{name}_bucket{{{label},le=\"+Inf\"}} {count}"
        );
        let _ = writeln!(text, "platen_pool_{name}_sum{{{label}}} {sum}");
        let _ = writeln!(text, "platen_pool_{name}_count{{{label}}} {count}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_of_two_pools_has_one_description() {
        let pool = Snapshot::default();
        let mut text = String::new();
        let isolation = Isolation::default();
        write_pools(
            &mut text,
            &[("a", &pool, isolation), ("b", &pool, isolation)],
        );
        let mut described: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# TYPE "))
            .collect();
        let count = described.len();
        described.sort_unstable();
        described.dedup();
        assert_eq!(described.len(), count, "{text}");
        let slots = "platen_pool_slots{pool=\"a\"} 0\nplaten_pool_slots{pool=\"b\"} 0\n";
        assert!(text.contains(slots), "{text}");
    }
}
