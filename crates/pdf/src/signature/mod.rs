//! Signatures in files (12.8): where they stand and which bytes they cover, room for new ones by an
//! incremental update, and what was changed since. What is signed by whom, and whether it holds, is
//! not known here.

mod changes;
mod evidence;
mod lock;
mod prepare;
mod read;
mod update;

pub(crate) use self::read::{is_signed, take_signatures};
use serde::{Deserialize, Serialize};

pub use self::{
    changes::{Change, changes_since},
    evidence::{Evidence, add_evidence, read_evidence},
    lock::FieldLock,
    prepare::{Appearance, NewSignature, Place as SignaturePlace, Prepared, prepare_signature},
    read::{Signature, read_signatures},
};

/// What may be changed after a certifying signature (table 254).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Certification {
    /// Nothing.
    Nothing,
    /// Form fields may be filled in, and signatures added.
    Filling,
    /// Comments as well.
    Comments,
}

impl Certification {
    const ALL: [(Self, i64); 3] = [(Self::Nothing, 1), (Self::Filling, 2), (Self::Comments, 3)];

    fn of_number(number: i64) -> Option<Self> {
        let found = Self::ALL.iter().find(|(_, it)| *it == number);
        found.map(|(one, _)| *one)
    }

    fn number(self) -> i64 {
        Self::ALL[self as usize].1
    }
}
