//! Copies of the database for backups, and the version of its schema.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::database::{BUSY_TIMEOUT, FILE, MIGRATIONS};
use crate::{Error, SchemaVersions};

/// Writes a consistent copy of the database in `folder` to the new file `target`, while other
/// processes may read and write. Source: <https://sqlite.org/lang_vacuum.html#vacuuminto>.
pub(super) fn copy(folder: &Path, target: &Path) -> Result<u32, Error> {
    let connection = open(&folder.join(FILE))?;
    // One read transaction, so the copy is a state that was committed. It also leaves out what was
    // deleted.
    let target = target.to_string_lossy();
    connection.execute("VACUUM INTO ?1", [&*target])?;
    drop(connection);
    check(Path::new(&*target))
}

/// Checks that the file at `path` is an intact database, and returns the version of its schema.
pub(super) fn check(path: &Path) -> Result<u32, Error> {
    let connection = open(path)?;
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if found != "ok" {
        return Err(Error::Damaged(found));
    }
    version(&connection)
}

/// The version of the schema in `folder`; 0 if there is no database.
pub(super) fn versions(folder: &Path) -> Result<SchemaVersions, Error> {
    let path = folder.join(FILE);
    let found = match path.try_exists()? {
        true => version(&open(&path)?)?,
        false => 0,
    };
    Ok(SchemaVersions {
        found,
        known: MIGRATIONS.len() as u32,
    })
}

/// Opens the database at `path` for reading.
pub(super) fn open(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

fn version(connection: &Connection) -> Result<u32, Error> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}
