//! Files that a zygote maps before it confines itself: all cells share them, pages are read on
//! first access, and they do not count against any memory limit.

use std::{fs::File, io, os::fd::AsRawFd, path::Path};

/// Maps a file for the rest of the process's life. For zygotes: if another process truncates the
/// file, reading it crashes the reader, which should therefore be a cell.
///
/// # Errors
/// The file cannot be read, is empty, or is larger than `limit_bytes`.
pub fn map_file(path: &Path, limit_bytes: u64) -> io::Result<&'static [u8]> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let size = metadata.len();
    if !metadata.is_file() || size == 0 || size > limit_bytes {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let length = usize::try_from(size).map_err(|_| io::ErrorKind::InvalidInput)?;
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
    // SAFETY: the mapping has `length` readable bytes and is never unmapped or written.
    Ok(unsafe { std::slice::from_raw_parts(address.cast::<u8>(), length) })
}

#[cfg(test)]
mod tests {
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
}
