//! Sockets by paths of any length.

use std::{io, os::fd::AsRawFd as _, path::Path};

use tokio::net::UnixStream;

/// Maximum length of a socket's path, in bytes (`sun_path` of unix(7), with its end).
const MAX_PATH: usize = 107;

/// Connects to the socket at `path`, which a long `TMPDIR` makes longer than a socket's path may be:
/// then by way of its open folder.
pub(crate) async fn connect(path: &Path) -> io::Result<UnixStream> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    if path.as_os_str().len() <= MAX_PATH {
        return UnixStream::connect(path).await;
    }
    let folder = std::fs::File::open(folder)?;
    let open = format!("/proc/self/fd/{}", folder.as_raw_fd());
    UnixStream::connect(Path::new(&open).join(name)).await
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[tokio::test]
    async fn a_long_path_is_connected_to() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a".repeat(120));
        std::fs::create_dir(&deep).unwrap();
        // Bound where the path is short, as LibreOffice sees it in its sandbox.
        let short = folder.path().join("s");
        let _listener = UnixListener::bind(&short).unwrap();
        std::fs::rename(&short, deep.join("s")).unwrap();
        assert!(UnixStream::connect(deep.join("s")).await.is_err());
        assert!(connect(&deep.join("s")).await.is_ok());
        assert!(connect(&deep.join("none")).await.is_err());
    }
}
