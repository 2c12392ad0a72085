//! What is done while nobody asks: memory is measured, idle children are probed and trimmed.

use std::{
    sync::{Arc, Weak, atomic::Ordering},
    time::Instant,
};

use crate::{kind::Kind, lease::Lease, metrics::Reason, stock::Stock, table::Table};

/// Runs as long as the pool is not closed.
pub(crate) async fn keep_up<K: Kind>(stock: Weak<Stock<K>>) {
    loop {
        let Some(pause) = stock.upgrade().map(|stock| stock.config.upkeep_every) else {
            return;
        };
        tokio::time::sleep(pause).await;
        let Some(stock) = stock.upgrade() else { return };
        if stock.state().closed {
            return;
        }
        measure(&stock).await;
        trim(&stock);
        probe(&stock);
        stock.fill();
    }
}

async fn measure<K: Kind>(stock: &Arc<Stock<K>>) {
    let children: Vec<_> = {
        let state = stock.state();
        let idle = state.idle.iter().filter_map(|inmate| {
            let process = inmate.process.as_ref()?;
            Some((process.handle().clone(), Arc::clone(&inmate.memory)))
        });
        let at_work = state.at_work.values();
        let at_work = at_work.map(|child| (child.process.clone(), Arc::clone(&child.memory)));
        idle.chain(at_work).collect()
    };
    if children.is_empty() {
        return;
    }
    let kill_above = stock.config.kill_memory_bytes;
    let measuring = tokio::task::spawn_blocking(move || {
        let table = Table::read();
        for (process, memory) in children {
            let bytes = table.memory_bytes(process.pid());
            memory.bytes.store(bytes, Ordering::Relaxed);
            process.measured(bytes);
            if kill_above > 0 && bytes > kill_above {
                memory.exceeded.notify_one();
            }
        }
    });
    let _ = measuring.await;
}

/// Removes idle children that are dead, hold too much memory, or are more than are kept.
fn trim<K: Kind>(stock: &Arc<Stock<K>>) {
    let config = &stock.config;
    let mut removed = Vec::new();
    {
        let mut state = stock.state();
        let mut index = 0;
        while index < state.idle.len() {
            let inmate = &state.idle[index];
            let bytes = inmate.memory.bytes.load(Ordering::Relaxed);
            let is_surplus = state.idle.len() > config.spares
                && inmate.idle_since.elapsed() > config.idle_timeout;
            let reason = if !stock.kind.is_alive(&inmate.child) {
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
    for (inmate, reason) in removed {
        stock.remove(inmate, reason);
    }
}

/// Probes the idle child that was not heard for the longest time, if that is long.
fn probe<K: Kind>(stock: &Arc<Stock<K>>) {
    let lease = {
        let mut state = stock.state();
        let now = Instant::now();
        let stale =
            state.idle.iter().enumerate().filter(|(_, inmate)| {
                now.duration_since(inmate.proved) >= stock.config.probe_after
            });
        let oldest = stale.min_by_key(|(_, inmate)| inmate.proved);
        let index = oldest.map(|(index, _)| index);
        let Some(inmate) = index.map(|index| state.idle.remove(index)) else {
            return;
        };
        Lease::new(stock, &mut state, inmate)
    };
    stock.runtime.spawn(async move {
        if let Some(lease) = lease.prove().await {
            lease.put_back();
        }
    });
}
