//! Connection counts of all processes, in a shared file: a process with more connections than
//! another leaves the next one to it.

use std::{fs::File, io, os::unix::fs::FileExt, path::Path, sync::Arc};

use parking_lot::Mutex;
use platen_delivery::AcceptPolicy;

use crate::ProcessGroup;

/// Size of one counter in bytes.
const BYTES: usize = size_of::<u32>();

/// The connection counters of all processes, one of them this process's own.
pub struct AcceptBalancer {
    file: File,
    index: usize,
    count: usize,
    own: Mutex<u32>,
}

impl AcceptBalancer {
    /// Opens the file of `group` and resets this process's counter to zero.
    pub fn open(group: &ProcessGroup) -> io::Result<Arc<Self>> {
        Self::at(&group.folder.join("load"), group.index, group.count)
    }

    fn at(path: &Path, index: u32, count: u32) -> io::Result<Arc<Self>> {
        let mut options = File::options();
        let file = options.read(true).write(true).create(true).truncate(false);
        let balancer = Self {
            file: file.open(path)?,
            index: index as usize,
            count: count as usize,
            own: Mutex::new(0),
        };
        balancer.change(|own| own);
        Ok(Arc::new(balancer))
    }

    /// Counts a closed connection.
    pub fn ended(&self) {
        self.change(|own| own.saturating_sub(1));
    }

    fn change(&self, change: impl FnOnce(u32) -> u32) {
        // Held until the write is done, so that the file never keeps an older count.
        let mut own = self.own.lock();
        *own = change(*own);
        // A failed write only makes the distribution less even.
        let _ = self
            .file
            .write_at(&own.to_le_bytes(), (self.index * BYTES) as u64);
    }
}

impl AcceptPolicy for AcceptBalancer {
    fn may_accept(&self) -> bool {
        let own = *self.own.lock();
        let mut bytes = vec![0; self.count * BYTES];
        if own == 0 || self.file.read_exact_at(&mut bytes, 0).is_err() {
            return true;
        }
        let (numbers, _) = bytes.as_chunks::<BYTES>();
        let mut others = numbers.iter().map(|bytes| u32::from_le_bytes(*bytes));
        others.all(|other| own <= other)
    }

    fn taken(&self) {
        self.change(|own| own.saturating_add(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_fewest_is_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("load");
        let balancers = [0, 1, 2].map(|index| AcceptBalancer::at(&path, index, 3).unwrap());
        let turns = || balancers.each_ref().map(|balancer| balancer.may_accept());
        assert_eq!(turns(), [true; 3]);
        balancers[0].taken();
        assert_eq!(turns(), [false, true, true]);
        balancers[1].taken();
        balancers[2].taken();
        assert_eq!(turns(), [true; 3]);
        balancers[2].taken();
        balancers[0].ended();
        assert_eq!(turns(), [true, false, false]);
        let again = AcceptBalancer::at(&path, 2, 3).unwrap();
        assert!(again.may_accept(), "a successor begins with nothing");
    }
}
