//! The folder of a job, with its document and its result. LibreOffice writes there too, and one that
//! a document took over could put links there to files of this process: no link is followed.

use std::{
    fs::File,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, Mode, OFlags, openat};

/// Its folder is removed on drop.
pub(crate) struct JobFolder {
    path: PathBuf,
    opened: OwnedFd,
}

impl JobFolder {
    pub(crate) fn create(path: PathBuf) -> io::Result<Self> {
        // An earlier job may have left what could not be removed then.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(CWD, &path, flags, Mode::empty())?;
        Ok(Self { path, opened })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A new file.
    pub(crate) fn create_file(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(&self.opened, name, flags, Mode::from_raw_mode(0o666))?;
        Ok(File::from(file))
    }

    /// A file that LibreOffice wrote.
    pub(crate) fn open_file(&self, name: &str) -> io::Result<File> {
        // Opening a pipe would wait for its other end.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&self.opened, name, flags, Mode::empty())?);
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

impl Drop for JobFolder {
    fn drop(&mut self) {
        // Anything left is removed together with the folder of the process.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Read, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn links_and_pipes_are_not_opened() {
        let place = tempfile::tempdir().unwrap();
        let secret = place.path().join("secret");
        fs::write(&secret, "secret").unwrap();
        let folder = JobFolder::create(place.path().join("job")).unwrap();
        symlink(&secret, folder.path().join("result")).unwrap();
        assert!(folder.open_file("result").is_err());
        assert!(folder.create_file("result").is_err());
        fs::create_dir(folder.path().join("folder")).unwrap();
        assert!(folder.open_file("folder").is_err());
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(CWD, &pipe, Mode::RWXU).unwrap();
        assert!(folder.open_file("pipe").is_err());
    }

    #[test]
    fn a_folder_that_is_exchanged_is_not_used() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("job");
        let folder = JobFolder::create(path.clone()).unwrap();
        folder.create_file("result").unwrap();
        fs::rename(&path, place.path().join("away")).unwrap();
        fs::create_dir(place.path().join("other")).unwrap();
        fs::write(place.path().join("other/result"), "secret").unwrap();
        symlink(place.path().join("other"), &path).unwrap();
        let mut read = String::new();
        let mut file = folder.open_file("result").unwrap();
        file.read_to_string(&mut read).unwrap();
        assert_eq!(read, "");
        drop(folder);
        assert!(place.path().join("other/result").exists());
        symlink(place.path().join("other"), &path).unwrap();
        let anew = JobFolder::create(path).unwrap();
        anew.create_file("result").unwrap();
        let kept = fs::read_to_string(place.path().join("other/result")).unwrap();
        assert_eq!(kept, "secret");
    }
}
