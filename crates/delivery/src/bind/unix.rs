//! UNIX sockets in the file system. A socket file left by a service that has crashed is removed;
//! any other file at that path is left alone.

use std::{
    fs, io,
    os::unix::{
        fs::{FileTypeExt, MetadataExt, PermissionsExt},
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
};

/// The file of a socket. Dropping it removes the file, unless the file has been replaced.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    identity: Identity,
}

/// Device, inode and change time: file systems reuse inode numbers.
type Identity = (u64, u64, i64, i64);

fn identity(found: &fs::Metadata) -> Identity {
    (found.dev(), found.ino(), found.ctime(), found.ctime_nsec())
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let same =
            fs::symlink_metadata(&self.path).is_ok_and(|found| identity(&found) == self.identity);
        if same {
            let _ = fs::remove_file(&self.path);
        }
    }
}

pub(super) fn bind(path: &Path, mode: Option<u32>) -> io::Result<(UnixListener, SocketFile)> {
    remove_stale(path)?;
    let listener = UnixListener::bind(path)?;
    if let Some(mode) = mode {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    let metadata = fs::symlink_metadata(path)?;
    let file = SocketFile {
        path: path.to_owned(),
        identity: identity(&metadata),
    };
    Ok((listener, file))
}

fn remove_stale(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !found.file_type().is_socket() {
        let message = "a file that is not a socket exists there";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(io::ErrorKind::AddrInUse.into()),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dead_sockets_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let (listener, file) = bind(&path, Some(0o600)).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(
            bind(&path, None).unwrap_err().kind(),
            io::ErrorKind::AddrInUse
        );
        drop(listener);
        // The file stays, as after a kill; the next service replaces it.
        let (again, newer) = bind(&path, None).unwrap();
        drop(file);
        assert!(
            path.exists(),
            "an older service must not remove a newer one's file"
        );
        drop((again, newer));
        assert!(!path.exists());
        fs::write(&path, "precious").unwrap();
        assert_eq!(
            bind(&path, None).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        assert_eq!(fs::read(&path).unwrap(), b"precious");
    }
}
