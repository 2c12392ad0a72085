//! Objects that are encrypted while they are written (ISO 32000-2, 7.6): strings, and the data of
//! streams, with AES-256 in CBC mode, each with an initialization vector of its own.

use std::{collections::BTreeMap, iter::repeat, mem::take};

use aes::{
    Aes256,
    cipher::{BlockModeEncrypt, KeyIvInit, block_padding::Pkcs7},
};
use cbc::Encryptor;
use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use crate::{
    Error,
    large::{behind, largest_stream},
    open::{filters, value},
    write::{
        END_OF_STREAM, Places, head, indirect, is_of_the_old_file, plain_table, put, room_for,
        stream_head, text,
    },
};

/// Size of a block, and of an initialization vector, in bytes.
const BLOCK: usize = 16;
/// Random bytes that are fetched at a time: a system call for each short string would cost more than
/// its encryption.
const RANDOM_BYTES: usize = 4_096;

/// Encrypts the objects of one file.
pub(crate) struct Cipher {
    key: [u8; 32],
    /// The object that says how the file is encrypted, which stays as it is.
    dictionary: ObjectId,
    random: [u8; RANDOM_BYTES],
    used: usize,
}

impl Cipher {
    pub(crate) fn new(key: [u8; 32], dictionary: ObjectId) -> Self {
        Self {
            key,
            dictionary,
            random: [0; RANDOM_BYTES],
            used: RANDOM_BYTES,
        }
    }

    /// Encrypts what is in an object, except for the data of a stream.
    fn encrypt(&mut self, id: ObjectId, object: &mut Object) -> Result<(), Error> {
        match id == self.dictionary {
            true => Ok(()),
            false => self.strings(object),
        }
    }

    /// Encrypts all strings of an object. Its depth is bounded by the parser, or by who made it.
    fn strings(&mut self, object: &mut Object) -> Result<(), Error> {
        match object {
            Object::String(bytes, _) => {
                let mut made = Vec::with_capacity(encrypted_length(bytes.len()));
                self.append(&mut made, bytes)?;
                *bytes = made;
                Ok(())
            }
            Object::Array(list) => list.iter_mut().try_for_each(|it| self.strings(it)),
            Object::Dictionary(entries) => self.strings_of(entries),
            Object::Stream(stream) => self.strings_of(&mut stream.dict),
            _ => Ok(()),
        }
    }

    fn strings_of(&mut self, entries: &mut Dictionary) -> Result<(), Error> {
        // What a signature consists of is read without a password (7.6.2).
        let is_signature = entries.has_type(b"Sig")
            || entries.has_type(b"DocTimeStamp")
            || (entries.has(b"ByteRange") && entries.has(b"Contents"));
        for (key, value) in entries.iter_mut() {
            if !(is_signature && key == b"Contents") {
                self.strings(value)?;
            }
        }
        Ok(())
    }

    /// An initialization vector.
    fn vector(&mut self) -> Result<[u8; BLOCK], Error> {
        if self.used + BLOCK > RANDOM_BYTES {
            self.random = random()?;
            self.used = 0;
        }
        let mut vector = [0; BLOCK];
        vector.copy_from_slice(&self.random[self.used..self.used + BLOCK]);
        self.used += BLOCK;
        Ok(vector)
    }

    /// Appends `plain`, encrypted.
    fn append(&mut self, out: &mut Vec<u8>, plain: &[u8]) -> Result<(), Error> {
        let vector = self.vector()?;
        out.extend(vector);
        let from = out.len();
        out.extend(plain);
        self.encrypt_rest(out, from, &vector)
    }

    /// Encrypts what stands in `out` from `from` on, where it is.
    fn encrypt_rest(
        &self,
        out: &mut Vec<u8>,
        from: usize,
        vector: &[u8; BLOCK],
    ) -> Result<(), Error> {
        let length = out.len() - from;
        out.resize(from + encrypted_length(length) - BLOCK, 0);
        Encryptor::<Aes256>::new(&self.key.into(), &(*vector).into())
            .encrypt_padded::<Pkcs7>(&mut out[from..], length)
            .map_err(|error| Error::NotWritten(std::io::Error::other(error)))?;
        Ok(())
    }
}

/// Length of the vector and the encrypted bytes of so many, in bytes: there is padding always.
fn encrypted_length(length: usize) -> usize {
    BLOCK + (length / BLOCK + 1) * BLOCK
}

/// Takes out of all streams how they were encrypted before (7.4.10): that would name what the file does
/// not have any more, or leave data open.
fn forget_crypt_filters(document: &mut Document) {
    let found = document.objects.iter().filter_map(|(id, object)| {
        let stream = object.as_stream().ok()?;
        let names = filters(document, stream)?;
        if !names.iter().any(|name| name == b"Crypt") {
            return None;
        }
        let parameters = match value(document, &stream.dict, b"DecodeParms") {
            Some(Object::Array(list)) => list.clone(),
            Some(one) => vec![one.clone()],
            None => Vec::new(),
        };
        let parameters = parameters.into_iter().chain(repeat(Object::Null));
        let kept = names.into_iter().zip(parameters);
        let kept = kept.filter(|(name, _)| name != b"Crypt");
        Some((*id, kept.collect::<Vec<_>>()))
    });
    for (id, kept) in found.collect::<Vec<_>>() {
        let (names, parameters): (Vec<_>, Vec<_>) = kept
            .into_iter()
            .map(|(name, parameters)| (Object::Name(name), parameters))
            .unzip();
        if let Some(Object::Stream(stream)) = document.objects.get_mut(&id) {
            stream.dict.remove(b"Filter");
            stream.dict.remove(b"DecodeParms");
            if !names.is_empty() {
                stream.dict.set("Filter", names);
                stream.dict.set("DecodeParms", parameters);
            }
        }
    }
}

/// Serializes a file, encrypts it, and takes its objects. None of them is compressed: streams of
/// objects would be encrypted, too, and smaller by little.
pub(crate) fn encrypted(document: &mut Document, cipher: &mut Cipher) -> Result<Vec<u8>, Error> {
    forget_crypt_filters(document);
    let mut objects = take(&mut document.objects);
    objects.retain(|id, object| id.0 != 0 && !is_of_the_old_file(object));
    let mut file = head(&document.version, &BTreeMap::new());
    let mut places = Places::new();
    if let Some((id, largest)) = largest_stream(&mut objects, 0) {
        // A small object precedes it: readers parse the first one to see whether the file is linearized.
        let small = objects
            .iter()
            .find(|(_, object)| object.as_stream().is_err());
        if let Some((id, object)) = small
            .map(|(id, _)| *id)
            .and_then(|id| objects.remove_entry(&id))
        {
            put(&mut places, id, file.len());
            indirect_encrypted(&mut file, id, object, cipher)?;
        }
        put(&mut places, id, file.len());
        file = beginning_with(file, id, largest, room_for(&objects), cipher)?;
    }
    for (id, object) in objects {
        put(&mut places, id, file.len());
        indirect_encrypted(&mut file, id, object, cipher)?;
    }
    plain_table(&mut file, &places, &document.trailer);
    Ok(file)
}

/// A file of its first lines and one stream, in the memory of that stream. `room` is for what follows, in
/// bytes.
fn beginning_with(
    mut file: Vec<u8>,
    id: ObjectId,
    stream: Stream,
    room: usize,
    cipher: &mut Cipher,
) -> Result<Vec<u8>, Error> {
    let Stream { dict, content, .. } = stream;
    let length = content.len();
    let mut entries = Object::Dictionary(dict);
    cipher.encrypt(id, &mut entries)?;
    text(&mut file, format_args!("{} {} obj\n", id.0, id.1));
    if let Object::Dictionary(entries) = &entries {
        stream_head(&mut file, entries, encrypted_length(length));
    }
    let vector = cipher.vector()?;
    file.extend(vector);
    let from = file.len();
    let mut file = behind(&file, content, encrypted_length(0) + room);
    cipher.encrypt_rest(&mut file, from, &vector)?;
    file.extend(END_OF_STREAM);
    file.extend(b"\nendobj\n");
    Ok(file)
}

fn indirect_encrypted(
    file: &mut Vec<u8>,
    id: ObjectId,
    mut object: Object,
    cipher: &mut Cipher,
) -> Result<(), Error> {
    cipher.encrypt(id, &mut object)?;
    let Object::Stream(stream) = &object else {
        indirect(file, id, &object);
        return Ok(());
    };
    text(file, format_args!("{} {} obj\n", id.0, id.1));
    stream_head(file, &stream.dict, encrypted_length(stream.content.len()));
    cipher.append(file, &stream.content)?;
    file.extend(END_OF_STREAM);
    file.extend(b"\nendobj\n");
    Ok(())
}

/// Bytes that nobody can predict.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    let filled = getrandom::fill(&mut bytes);
    filled.map_err(|error| Error::NotWritten(std::io::Error::other(error)))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use lopdf::{LoadOptions, StringFormat, dictionary};

    use super::*;
    use crate::protect::{Protection, protect};

    fn stream(entries: Dictionary, content: &[u8]) -> Object {
        Object::Stream(Stream::new(entries, content.to_vec()))
    }

    fn secret() -> Object {
        Object::string_literal("secret")
    }

    /// Objects that were encrypted, and how they are when they were read with the password.
    fn written_and_read(document: &mut Document) -> (Vec<u8>, Document) {
        let protection = Protection {
            user_password: "word".to_owned(),
            ..Protection::default()
        };
        let file = protect(document, &protection).expect("a file");
        let options = LoadOptions::with_password("word");
        let read = Document::load_mem_with_options(&file, options).expect("the same file");
        assert!(read.xref_recovery.is_none(), "its table is sound");
        (file, read)
    }

    #[test]
    fn all_is_encrypted_but_what_readers_need_without_the_password() {
        let signature = dictionary! {
            "Type" => "Sig",
            "Contents" => Object::String(b"open contents".to_vec(), StringFormat::Literal),
            "Reason" => secret(),
        };
        let mut document = Document::with_version("1.4");
        let objects = [
            vec![
                secret(),
                dictionary! { "A" => vec![secret()] }.into(),
                7.into(),
            ]
            .into(),
            signature.into(),
            stream(
                dictionary! { "S" => secret() },
                &b"secret of the longest stream ".repeat(9),
            ),
            stream(dictionary! {}, b"a short secret"),
            stream(dictionary! {}, b""),
            stream(dictionary! {}, b"sixteen bytes it"),
        ];
        let ids: Vec<ObjectId> = objects.map(|it| document.add_object(it)).to_vec();
        document.trailer.set("Root", ids[0]);
        let before = document.objects.clone();
        let (file, read) = written_and_read(&mut document);
        let has = |text: &[u8]| file.windows(text.len()).any(|it| it == text);
        assert!(!has(b"secret") && !has(b"sixteen"));
        assert!(has(b"open contents"));
        for id in ids {
            let (mut expected, mut found) = (before[&id].clone(), read.objects[&id].clone());
            for object in [&mut expected, &mut found] {
                if let Object::Stream(stream) = object {
                    stream.dict.remove(b"Length");
                    stream.start_position = None;
                }
            }
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn filters_that_encrypted_before_are_taken_out() {
        let mut document = Document::with_version("1.4");
        let identity = dictionary! { "Name" => "Identity" };
        let parameters =
            document.add_object(vec![identity.into(), dictionary! { "K" => 1 }.into()]);
        let listed = dictionary! {
            "Filter" => vec!["Crypt".into(), "ASCIIHexDecode".into()],
            "DecodeParms" => parameters,
        };
        let own = dictionary! {
            "Filter" => "Crypt",
            "DecodeParms" => dictionary! { "Name" => "Own" },
        };
        let listed = document.add_object(stream(listed, b"73656372657420>"));
        let own = document.add_object(stream(own, b"secret of 16 byt"));
        document.trailer.set("Root", parameters);
        let (file, read) = written_and_read(&mut document);
        for open in [&b"secret"[..], b"73656372", b"Crypt/", b"/Own"] {
            assert!(!file.windows(open.len()).any(|it| it == open));
        }
        let found = |id| read.get_object(id).and_then(Object::as_stream).expect("it");
        assert_eq!(found(own).content, b"secret of 16 byt");
        assert!(!found(own).dict.has(b"Filter") && !found(own).dict.has(b"DecodeParms"));
        let dict = &found(listed).dict;
        assert_eq!(found(listed).content, b"73656372657420>");
        assert_eq!(
            dict.get(b"Filter").expect("it"),
            &vec!["ASCIIHexDecode".into()].into()
        );
        let expected = vec![dictionary! { "K" => 1 }.into()];
        assert_eq!(dict.get(b"DecodeParms").expect("it"), &expected.into());
    }

    #[test]
    fn the_newest_generation_of_a_number_is_the_object() {
        let mut document = Document::with_version("1.4");
        let old = stream(dictionary! {}, b"the longest, which is replaced");
        document.objects.insert((5, 0), old);
        document
            .objects
            .insert((5, 1), stream(dictionary! {}, b"new"));
        document.objects.insert((7, 2), 7.into());
        document.max_id = 7;
        document.trailer.set("Root", (5, 1));
        let (_, read) = written_and_read(&mut document);
        let content = &read
            .get_object((5, 1))
            .and_then(Object::as_stream)
            .expect("it")
            .content;
        assert_eq!(content, b"new");
        assert_eq!(read.get_object((7, 2)).expect("it"), &7.into());
    }

    #[test]
    fn no_two_vectors_are_the_same() {
        let mut cipher = Cipher::new([0; 32], (1, 0));
        let made: Vec<_> = (0..1000).map(|_| cipher.vector().expect("one")).collect();
        let mut different = made.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), made.len());
    }
}
