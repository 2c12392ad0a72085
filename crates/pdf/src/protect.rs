//! Encryption (ISO 32000-2, 7.6): AES-256, revision 6, the only kind that is written.

use std::{collections::BTreeMap, sync::Arc};

use lopdf::{
    Document, EncryptionState, EncryptionVersion, Object, Permissions, StringFormat,
    encryption::crypt_filters::{Aes256CryptFilter, CryptFilter},
};

use crate::{
    Error, Limits,
    encrypt::{Cipher, encrypted, random},
    open::{array, resolve, save, with_password},
    page_form::says_archival,
    signature::is_signed,
};

/// Maximum length of a password, in bytes: what is beyond it would not count (7.6.4.3.3).
const MAX_PASSWORD: usize = 127;

/// How a file is protected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protection {
    /// Opens the file; anyone can open it where this is empty.
    pub user_password: String,
    /// Lifts the restrictions. Without it, nobody can if there are any, or else the user password is it.
    pub owner_password: String,
    /// What readers allow those who open the file with the user password.
    pub allowed: Allowed,
}

/// What readers allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Printing: not at all, in low quality, or in full.
    pub printing: Printing,
    /// Changing the content.
    pub modifying: bool,
    /// Copying text and pictures.
    pub copying: bool,
    /// Adding comments.
    pub annotating: bool,
    /// Filling in forms.
    pub filling: bool,
    /// Inserting, deleting and turning pages.
    pub assembling: bool,
}

/// How a file may be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printing {
    /// Not at all.
    None,
    /// In low quality.
    Low,
    /// In full quality.
    Full,
}

impl Default for Allowed {
    /// Everything.
    fn default() -> Self {
        Self {
            printing: Printing::Full,
            modifying: true,
            copying: true,
            annotating: true,
            filling: true,
            assembling: true,
        }
    }
}

impl Allowed {
    fn permissions(self) -> Permissions {
        // Screen readers may always read (ISO 32000-2, table 22).
        let mut permissions = Permissions::COPYABLE_FOR_ACCESSIBILITY;
        for (given, flag) in [
            (self.printing != Printing::None, Permissions::PRINTABLE),
            (
                self.printing == Printing::Full,
                Permissions::PRINTABLE_IN_HIGH_QUALITY,
            ),
            (self.modifying, Permissions::MODIFIABLE),
            (self.copying, Permissions::COPYABLE),
            (self.annotating, Permissions::ANNOTABLE),
            (self.filling, Permissions::FILLABLE),
            (self.assembling, Permissions::ASSEMBLABLE),
        ] {
            permissions.set(flag, given);
        }
        permissions
    }
}

/// Serializes `document` encrypted, and takes its objects. The key and the initialization vectors are
/// random: the same input does not give the same bytes.
pub(crate) fn protect(document: &mut Document, protection: &Protection) -> Result<Vec<u8>, Error> {
    if says_archival(document) {
        return Err(Error::Archival);
    }
    let user = &protection.user_password;
    // Readers that know a file by its owner password lift the restrictions: the user password must not be
    // it, then.
    let unknown = hexadecimal(random()?);
    let owner = match protection.owner_password.as_str() {
        "" if user.is_empty() || protection.allowed == Allowed::default() => user.as_str(),
        "" => unknown.as_str(),
        owner => owner,
    };
    if user.is_empty() && owner.is_empty() {
        return Err(Error::BadPassword("is empty"));
    }
    for password in [user.as_str(), owner] {
        if password.len() > MAX_PASSWORD {
            return Err(Error::BadPassword("has more than 127 bytes"));
        }
        // Readers normalize passwords (RFC 4013); some characters have no normal form.
        if password.chars().any(char::is_control) {
            return Err(Error::BadPassword("has control characters"));
        }
    }
    let key: [u8; 32] = random()?;
    let id = file_id(document)?;
    document.trailer.set("ID", id);
    let filter: Arc<dyn CryptFilter> = Arc::new(Aes256CryptFilter);
    let name = b"StdCF".to_vec();
    let version = EncryptionVersion::V5 {
        encrypt_metadata: true,
        crypt_filters: BTreeMap::from([(name.clone(), filter)]),
        file_encryption_key: &key,
        stream_filter: name.clone(),
        string_filter: name,
        owner_password: owner,
        user_password: user,
        permissions: protection.allowed.permissions(),
    };
    let state = EncryptionState::try_from(version)
        .map_err(|_| Error::BadPassword("has characters that no reader can compare"))?;
    let how = state.encode().map_err(lopdf::Error::from)?;
    let number = document.try_new_object_id()?;
    document.objects.insert(number, how.into());
    document.trailer.set("Encrypt", number);
    document.version = "2.0".to_owned();
    encrypted(document, &mut Cipher::new(key, number))
}

fn hexadecimal(bytes: [u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What tells the file apart, which encrypted files need: direct strings, as those of other objects are
/// encrypted (7.5.5).
fn file_id(document: &Document) -> Result<Vec<Object>, Error> {
    let said = array(document, document.trailer.get(b"ID").ok()).iter();
    let said: Vec<Object> = said
        .filter_map(|it| resolve(document, it))
        .filter(|it| matches!(it, Object::String(..)))
        .cloned()
        .collect();
    if said.len() == 2 {
        return Ok(said);
    }
    let id: [u8; 16] = random()?;
    let id = Object::String(id.to_vec(), StringFormat::Hexadecimal);
    Ok(vec![id.clone(), id])
}

/// Opens an encrypted file with a password of it and writes it without encryption. A file without
/// encryption stays as it is.
///
/// # Errors
/// The file cannot be read, or the password is wrong.
pub fn unprotect(file: &[u8], password: &str, limits: &Limits) -> Result<Vec<u8>, Error> {
    let (mut document, was_encrypted) = with_password(file, limits, password)?;
    if !was_encrypted {
        return Ok(file.to_vec());
    }
    if is_signed(&document) {
        return Err(Error::Signed);
    }
    save(&mut document, true)
}
