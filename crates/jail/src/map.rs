//! Files as memory: pages are read on first access, the system takes them back where it needs
//! memory, and they do not count against any memory limit.

use std::{fs::File, io, os::fd::AsRawFd, path::Path, ptr::NonNull};

/// The content of a file, without a copy of it.
///
/// If another process shortens the file, reading what is gone ends the process (`SIGBUS`): map files
/// without a name, which nobody else opens, or files of a process that works for one user alone.
#[derive(Debug)]
pub struct Mapped {
    address: NonNull<u8>,
    length: usize,
}

// SAFETY: the memory is only read, and belongs to the value.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// Maps the first `length` bytes of a file, of which all must be there.
    ///
    /// # Errors
    /// The file is no regular one, has fewer bytes, or cannot be mapped; `length` is 0.
    pub fn new(file: &File, length: usize) -> io::Result<Self> {
        let metadata = file.metadata()?;
        if !metadata.is_file() || length == 0 || metadata.len() < length as u64 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: creates a private mapping that nothing else refers to; the kernel checks the
        // descriptor.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ,
                libc::MAP_PRIVATE,
                file.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let address = NonNull::new(address.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { address, length })
    }
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the mapping has `length` readable bytes, is never written, and lives as long as
        // the value.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr(), self.length) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping is the value's own, and nobody refers to it any more.
        unsafe { libc::munmap(self.address.as_ptr().cast(), self.length) };
    }
}

/// Maps a file for the rest of the process's life. For zygotes, which map before they confine
/// themselves: all their cells share it.
///
/// # Errors
/// The file cannot be read, is empty, or is larger than `limit_bytes`.
pub fn map_file(path: &Path, limit_bytes: u64) -> io::Result<&'static [u8]> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    if size > limit_bytes {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let length = usize::try_from(size).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mapped: &'static Mapped = Box::leak(Box::new(Mapped::new(&file, length)?));
    Ok(mapped.as_ref())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_is_mapped_is_the_file() {
        let path = std::env::temp_dir().join(format!("platen-map-{}", std::process::id()));
        std::fs::write(&path, b"content").unwrap();
        assert_eq!(map_file(&path, 100).unwrap(), b"content");
        assert!(map_file(&path, 3).is_err());
        std::fs::write(&path, b"").unwrap();
        assert!(map_file(&path, 100).is_err());
        std::fs::remove_file(path).unwrap();
        assert!(map_file(&std::env::temp_dir(), 100).is_err());
    }

    #[test]
    fn a_file_without_a_name_is_mapped_and_released() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; 3 << 20]).unwrap();
        let mapped = Mapped::new(&file, 3 << 20).unwrap();
        let place = mapped.address.as_ptr() as usize;
        let is_mapped = || {
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
            maps.contains(&format!("{place:x}-{:x} r--p", place + (3 << 20)))
        };
        drop(file);
        assert!(mapped.as_ref().iter().all(|it| *it == 7) && is_mapped());
        drop(mapped);
        assert!(!is_mapped());
    }

    #[test]
    fn more_than_a_file_has_is_refused() {
        let mut file = tempfile::tempfile().unwrap();
        assert!(Mapped::new(&file, 0).is_err());
        file.write_all(b"content").unwrap();
        assert!(Mapped::new(&file, 8).is_err());
        assert_eq!(Mapped::new(&file, 4).unwrap().as_ref(), b"cont");
    }
}
