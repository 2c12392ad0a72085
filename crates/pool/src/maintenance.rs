//! Periodic maintenance: measures memory, trims and probes idle children.

use std::{
    sync::{Arc, Weak, atomic::Ordering},
    time::Instant,
};

use crate::{driver::Driver, lease::Lease, metrics::Reason, process_set::ProcessSet, table::Table};

/// Runs until the pool closes. Holds only a weak reference, so that it does not keep the pool
/// alive.
pub(crate) async fn maintain<K: Driver>(processes: Weak<ProcessSet<K>>) {
    loop {
        let Some(pause) = processes
            .upgrade()
            .map(|processes| processes.config.maintenance_interval)
        else {
            return;
        };
        tokio::time::sleep(pause).await;
        let Some(processes) = processes.upgrade() else {
            return;
        };
        if processes.state().closed {
            return;
        }
        measure(&processes).await;
        trim(&processes);
        probe(&processes);
        processes.fill();
    }
}

/// Measures the memory of all children and signals the jobs whose child exceeds the kill limit.
async fn measure<K: Driver>(processes: &Arc<ProcessSet<K>>) {
    let children: Vec<_> = {
        let state = processes.state();
        let idle = state.idle.iter().filter_map(|pooled| {
            let process = pooled.process.as_ref()?;
            Some((process.handle().clone(), Arc::clone(&pooled.memory)))
        });
        let busy = state.busy.values();
        let busy = busy.map(|child| (child.process.clone(), Arc::clone(&child.memory)));
        idle.chain(busy).collect()
    };
    if children.is_empty() {
        return;
    }
    let kill_above = processes.config.kill_memory_bytes;
    // Reads every entry of /proc: too slow for an async thread.
    let measuring = tokio::task::spawn_blocking(move || {
        let table = Table::read();
        for (process, memory) in children {
            let bytes = process.memory_in(&table);
            memory.bytes.store(bytes, Ordering::Relaxed);
            process.measured(bytes);
            if kill_above > 0 && bytes > kill_above {
                memory.exceeded.notify_one();
            }
        }
    });
    let _ = measuring.await;
}

/// Removes idle children that are dead, hold too much memory, or are surplus for too long.
fn trim<K: Driver>(processes: &Arc<ProcessSet<K>>) {
    let config = &processes.config;
    let mut removed = Vec::new();
    {
        let mut state = processes.state();
        let mut index = 0;
        while index < state.idle.len() {
            let pooled = &state.idle[index];
            let bytes = pooled.memory.bytes.load(Ordering::Relaxed);
            let is_surplus = state.idle.len() > config.spares
                && pooled.idle_since.elapsed() > config.idle_timeout;
            let reason = if !processes.driver.is_alive(&pooled.child) {
                Some(Reason::Crashed)
            } else if config.recycle_memory_bytes > 0 && bytes > config.recycle_memory_bytes {
                Some(Reason::RecycledMemory)
            } else if is_surplus {
                Some(Reason::Idle)
            } else {
                None
            };
            match reason {
                Some(reason) => removed.push((state.idle.remove(index), reason)),
                None => index += 1,
            }
        }
    }
    for (pooled, reason) in removed {
        processes.remove(pooled, reason);
    }
}

/// Probes the idle child whose proof of health is oldest, if it is too old. One child per round, so
/// that probes never occupy all of them.
fn probe<K: Driver>(processes: &Arc<ProcessSet<K>>) {
    let lease = {
        let mut state = processes.state();
        let now = Instant::now();
        let stale = state.idle.iter().enumerate().filter(|(_, pooled)| {
            now.duration_since(pooled.proved) >= processes.config.probe_after
        });
        let oldest = stale.min_by_key(|(_, pooled)| pooled.proved);
        let index = oldest.map(|(index, _)| index);
        let Some(pooled) = index.map(|index| state.idle.remove(index)) else {
            return;
        };
        Lease::new(processes, &mut state, pooled)
    };
    processes.runtime.spawn(async move {
        if let Some(lease) = lease.prove().await {
            lease.put_back();
        }
    });
}
