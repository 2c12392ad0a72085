//! The tables of the target, and what their columns are in the source. What the schemas have in
//! different forms is written in that of the target.

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `bigint`.
    Number,
    /// `smallint`.
    Small,
    /// `smallint`, made from a text.
    Shard,
    /// `boolean`.
    Flag,
    /// `text`.
    Text,
    /// `bytea`.
    Bytes,
}

impl Kind {
    pub(super) fn sql(self) -> &'static str {
        match self {
            Self::Number => "bigint",
            Self::Small | Self::Shard => "smallint",
            Self::Flag => "boolean",
            Self::Text => "text",
            Self::Bytes => "bytea",
        }
    }
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    /// In the target.
    pub name: &'static str,
    pub kind: Kind,
    /// The expression for it in the source.
    pub source: &'static str,
}

/// A table of the target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    pub name: &'static str,
    /// The table of the source.
    pub source: &'static str,
    /// Which of its rows.
    pub filter: &'static str,
    /// How many of the first columns are the primary key.
    pub keys: usize,
    pub columns: &'static [Column],
}

impl Table {
    /// The primary key.
    pub(super) fn key(&self) -> &'static [Column] {
        &self.columns[..self.keys]
    }

    /// The names of columns, or what they are in the source.
    pub(super) fn list(columns: &[Column], each: impl Fn(&Column) -> &'static str) -> String {
        let names: Vec<&str> = columns.iter().map(each).collect();
        names.join(", ")
    }
}

/// A column that is the same in both.
const fn same(name: &'static str, kind: Kind) -> Column {
    from(name, kind, name)
}

const fn from(name: &'static str, kind: Kind, source: &'static str) -> Column {
    Column { name, kind, source }
}

const DOCUMENTS: &[Column] = &[
    same("key", Kind::Text),
    same("current", Kind::Number),
    same("last", Kind::Number),
    same("generation", Kind::Number),
    same("labels", Kind::Text),
    same("labels_revision", Kind::Number),
];

const VERSIONS: &[Column] = &[
    same("key", Kind::Text),
    same("version", Kind::Number),
    same("generation", Kind::Number),
    same("name", Kind::Text),
    same("note", Kind::Text),
    same("restored_from", Kind::Number),
    same("created_unix_ms", Kind::Number),
    same("source", Kind::Bytes),
];

/// A table with the same name and all rows.
const fn whole(name: &'static str, keys: usize, columns: &'static [Column]) -> Table {
    Table {
        name,
        source: name,
        filter: "true",
        keys,
        columns,
    }
}

/// All tables, in the order in which they are moved. The unary plus keeps SQLite from an index that
/// is not in the order of the numbers.
pub(super) const TABLES: [Table; 15] = [
    whole("templates", 1, DOCUMENTS),
    whole("template_versions", 2, VERSIONS),
    whole("flows", 1, DOCUMENTS),
    whole("flow_versions", 2, VERSIONS),
    whole("assets", 1, DOCUMENTS),
    whole("asset_versions", 2, VERSIONS),
    whole(
        "published",
        1,
        &[
            same("flow", Kind::Text),
            same("version", Kind::Number),
            from("cursor", Kind::Bytes, "memory"),
        ],
    ),
    whole(
        "drafts",
        2,
        &[
            same("kind", Kind::Small),
            same("key", Kind::Text),
            same("name", Kind::Text),
            same("revision", Kind::Number),
            same("base", Kind::Number),
            same("updated_unix_ms", Kind::Number),
            same("source", Kind::Bytes),
        ],
    ),
    whole(
        "audit",
        1,
        &[
            same("number", Kind::Number),
            same("at_unix_ms", Kind::Number),
            same("actor", Kind::Text),
            same("action", Kind::Text),
            same("subject", Kind::Text),
            same("version", Kind::Number),
            same("request_id", Kind::Text),
            same("address", Kind::Text),
        ],
    ),
    whole(
        "api_keys",
        1,
        &[
            same("number", Kind::Number),
            same("id", Kind::Text),
            same("name", Kind::Text),
            same("hash", Kind::Bytes),
            same("roles", Kind::Text),
            same("scopes", Kind::Text),
            same("requests_per_minute", Kind::Number),
            same("created_by", Kind::Text),
            same("created_unix_ms", Kind::Number),
            same("expires_unix_ms", Kind::Number),
            same("last_used_unix_ms", Kind::Number),
        ],
    ),
    whole(
        "kept",
        2,
        &[
            same("flow", Kind::Text),
            same("key", Kind::Text),
            same("value", Kind::Bytes),
        ],
    ),
    whole(
        "runs",
        1,
        &[
            same("number", Kind::Number),
            same("version", Kind::Number),
            // An earlier version wrote times beyond its range as negative numbers.
            from(
                "deadline_ms",
                Kind::Number,
                "iif(deadline_ms < 0, 9223372036854775807, deadline_ms)",
            ),
            same("created_ms", Kind::Number),
            same("lane", Kind::Small),
            from("shard", Kind::Shard, "id"),
            same("id", Kind::Text),
            same("flow", Kind::Text),
            same("token", Kind::Text),
            same("retry_of", Kind::Text),
            same("trace", Kind::Text),
            same("idempotency_key", Kind::Text),
            same("request_hash", Kind::Bytes),
            same("definition", Kind::Bytes),
            same("trigger_payload", Kind::Bytes),
        ],
    ),
    Table {
        name: "open_runs",
        source: "runs",
        filter: "+state < 3",
        keys: 1,
        columns: &[
            same("number", Kind::Number),
            same("epoch", Kind::Number),
            from("worker_losses", Kind::Number, "deaths"),
            same("lease_until_ms", Kind::Number),
            from(
                "wake_ms",
                Kind::Number,
                "iif(wake_ms < 0, 9223372036854775807, wake_ms)",
            ),
            same("started_ms", Kind::Number),
            same("state", Kind::Small),
            from("shard", Kind::Shard, "id"),
            // SQLite marks the record of the callback instead.
            from(
                "called",
                Kind::Flag,
                "EXISTS (SELECT 1 FROM journal WHERE run = number AND journal.epoch = -1)",
            ),
            same("worker", Kind::Text),
            same("answer", Kind::Bytes),
        ],
    },
    Table {
        name: "ended_runs",
        source: "runs",
        filter: "+state >= 3",
        keys: 1,
        columns: &[
            same("number", Kind::Number),
            same("epoch", Kind::Number),
            from("worker_losses", Kind::Number, "deaths"),
            same("started_ms", Kind::Number),
            from("ended_ms", Kind::Number, "ifnull(ended_ms, created_ms)"),
            same("state", Kind::Small),
            same("worker", Kind::Text),
            same("answer", Kind::Bytes),
            from("details", Kind::Bytes, "ifnull(ending, X'')"),
        ],
    },
    whole(
        "journal",
        2,
        &[
            same("run", Kind::Number),
            same("position", Kind::Number),
            from("epoch", Kind::Number, "max(epoch, 0)"),
            same("records", Kind::Bytes),
        ],
    ),
];
