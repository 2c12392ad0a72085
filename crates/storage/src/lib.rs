//! Records and blobs of Platen behind traits: SQLite and the file system.
