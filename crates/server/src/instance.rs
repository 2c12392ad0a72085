//! The name of a service among those that share a database: a file in its data folder, so that a
//! service that restarts is known as the one before.

use std::{
    fs,
    hash::{BuildHasher, RandomState},
    io,
    path::Path,
};

/// File of the name.
pub(crate) const FILE: &str = "service.id";
/// Longest name, in bytes.
const MAX_BYTES: usize = 64;

/// The name in `folder`, which only this service uses; made on first use.
///
/// # Errors
/// The file cannot be read or written.
pub(crate) fn name(folder: &Path) -> io::Result<String> {
    let place = folder.join(FILE);
    match fs::read_to_string(&place) {
        Ok(name) if is_name(name.trim()) => return Ok(name.trim().to_owned()),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    // Random by the keys of the hasher, which the standard library draws from the system.
    let random = RandomState::new().hash_one(std::process::id());
    let name = format!("service-{random:016x}");
    let beside = place.with_extension("new");
    fs::write(&beside, &name)?;
    fs::rename(&beside, &place)?;
    Ok(name)
}

fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=MAX_BYTES).contains(&text.len()) && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_keeps_its_name_and_another_has_another() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let first = name(one.path()).unwrap();
        assert_eq!(name(one.path()).unwrap(), first);
        assert_ne!(name(other.path()).unwrap(), first);
        fs::write(one.path().join(FILE), "no name\0").unwrap();
        assert!(name(one.path()).unwrap().starts_with("service-"));
        fs::write(one.path().join(FILE), "berlin-1\n").unwrap();
        assert_eq!(name(one.path()).unwrap(), "berlin-1");
    }
}
