//! The bytes of a file: objects in compressed streams, and a compressed table of them (7.5.7, 7.5.8),
//! or neither compressed (7.5.4). Objects are dropped as they are written: a large file is in memory
//! once, and not twice.

use std::{collections::BTreeMap, io::Write as _, mem::take};

use lopdf::{Dictionary, Document, Object, ObjectId, StringFormat};

use crate::{Error, flate::deflate, large::beginning};

/// Objects of an object stream: enough to compress well, few enough to be read for one of them.
const OBJECTS_OF_A_STREAM: usize = 200;
/// Entries of the trailer that are about the file as it was.
const STALE: [&[u8]; 11] = [
    b"Size",
    b"Prev",
    b"XRefStm",
    b"Type",
    b"W",
    b"Index",
    b"Filter",
    b"DecodeParms",
    b"Length",
    b"Encrypt",
    b"DL",
];

/// Compression of files that are to be small.
pub(crate) const SMALLEST: u32 = 9;

/// What stands behind the data of a stream.
pub(crate) const END_OF_STREAM: &[u8] = b"\nendstream";

/// Where objects begin, and their generations, by number.
pub(crate) type Places = BTreeMap<u32, (usize, u16)>;

/// Where an object is.
enum Place {
    At(usize, u16),
    In(u32, usize),
}

impl Place {
    fn generation(&self) -> u16 {
        match self {
            Self::At(_, generation) => *generation,
            Self::In(..) => 0,
        }
    }
}

/// Serializes a file that is not encrypted, and takes its objects; `level` is that of its compressed
/// objects, from 1 to 9.
pub(crate) fn compact(document: &mut Document, level: u32) -> Result<Vec<u8>, Error> {
    let mut objects = take(&mut document.objects);
    let version = match document.version.as_str() {
        older if older < "1.5" => "1.5",
        version => version,
    };
    let last = objects.keys().next_back().map_or(0, |id| id.0);
    let (mut file, first) = beginning(version, &mut objects);
    let mut places: Vec<(u32, Place)> = Vec::with_capacity(objects.len());
    let mut packed: Vec<(u32, Object)> = Vec::new();
    places.extend((first.into_iter()).map(|(at, id)| (id.0, Place::At(at, id.1))));
    for ((number, generation), object) in objects {
        if number == 0 || is_of_the_old_file(&object) {
            continue;
        }
        let is_open =
            matches!(object, Object::Stream(_)) || (level != SMALLEST && is_searched(&object));
        if generation == 0 && !is_open {
            packed.push((number, object));
            continue;
        }
        places.push((number, Place::At(file.len(), generation)));
        indirect(&mut file, (number, generation), &object);
    }
    let groups = packed.len().div_ceil(OBJECTS_OF_A_STREAM) as u32;
    // The streams and the table have the numbers behind it.
    if last.checked_add(groups + 1).is_none() {
        return Err(Error::Malformed("the numbers of its objects are too high"));
    }
    let mut next = last + 1;
    for group in packed.chunks(OBJECTS_OF_A_STREAM) {
        places.push((next, Place::At(file.len(), 0)));
        for (index, (number, _)) in group.iter().enumerate() {
            places.push((*number, Place::In(next, index)));
        }
        object_stream(&mut file, next, group, level)?;
        next += 1;
    }
    table(&mut file, next, places, &document.trailer)?;
    Ok(file)
}

/// Serializes a file without compressed objects, as PDF/A-1 is, and takes its objects.
pub(crate) fn plain(document: &mut Document) -> Vec<u8> {
    let mut objects = take(&mut document.objects);
    let (mut file, first) = beginning(&document.version, &mut objects);
    let mut places = Places::new();
    for (at, id) in first {
        put(&mut places, id, at);
    }
    for (id, object) in objects {
        if id.0 == 0 || is_of_the_old_file(&object) {
            continue;
        }
        put(&mut places, id, file.len());
        indirect(&mut file, id, &object);
    }
    plain_table(&mut file, &places, &document.trailer);
    file
}

/// Whether programs look for an object that search the bytes of files instead of reading them, as
/// `file` and virus scanners do: the catalog, the number of pages, and what is attached.
pub(crate) fn is_searched(object: &Object) -> bool {
    object.as_dict().is_ok_and(|entries| {
        let is_root = entries.has_type(b"Pages") && !entries.has(b"Parent");
        is_root || entries.has_type(b"Catalog") || entries.has_type(b"Filespec")
    })
}

/// Notes that an object is `at` a place: the newest generation of a number is the object.
pub(crate) fn put(places: &mut Places, id: ObjectId, at: usize) {
    if places.get(&id.0).is_none_or(|(_, before)| *before < id.1) {
        places.insert(id.0, (at, id.1));
    }
}

/// The cross-reference table, and the end of the file.
pub(crate) fn plain_table(file: &mut Vec<u8>, places: &Places, trailer: &Dictionary) {
    let start = file.len();
    file.extend(b"xref\n0 1\n0000000000 65535 f \n");
    let numbers: Vec<u32> = places.keys().copied().collect();
    let last = numbers.last().copied().unwrap_or_default();
    let is_next = |one: &u32, other: &u32| one.checked_add(1) == Some(*other);
    for run in numbers.chunk_by(is_next) {
        let first = run.first().copied().unwrap_or_default();
        text(file, format_args!("{first} {}\n", run.len()));
        for number in run {
            let (at, generation) = places.get(number).copied().unwrap_or_default();
            text(file, format_args!("{at:010} {generation:05} n \n"));
        }
    }
    text(
        file,
        format_args!("trailer\n<</Size {}", u64::from(last) + 1),
    );
    for (key, value) in trailer {
        if key == b"Encrypt" || !STALE.contains(&key.as_slice()) {
            entry(file, key, value);
        }
    }
    text(file, format_args!(">>\nstartxref\n{start}\n%%EOF\n"));
}

/// The first lines of a file, with room for all of it.
pub(crate) fn head(version: &str, objects: &BTreeMap<ObjectId, Object>) -> Vec<u8> {
    let mut file = Vec::with_capacity(room_for(objects));
    // Four bytes that are not ASCII say that the file is binary (7.5.2).
    text(&mut file, format_args!("%PDF-{version}\n"));
    file.extend(b"%\xe2\xe3\xcf\xd3\n");
    file
}

/// About how many bytes objects take.
pub(crate) fn room_for(objects: &BTreeMap<ObjectId, Object>) -> usize {
    let sizes = objects.values().map(|object| match object {
        Object::Stream(stream) => stream.content.len() + 256,
        _ => 32,
    });
    sizes.sum()
}

pub(crate) fn is_of_the_old_file(object: &Object) -> bool {
    match object {
        Object::Stream(stream) => stream.dict.has_type(b"ObjStm") || stream.dict.has_type(b"XRef"),
        Object::Dictionary(dictionary) => dictionary.has(b"Linearized"),
        _ => false,
    }
}

pub(crate) fn indirect(file: &mut Vec<u8>, (number, generation): ObjectId, object: &Object) {
    text(file, format_args!("{number} {generation} obj\n"));
    write_object(file, object);
    file.extend(b"\nendobj\n");
}

fn object_stream(
    file: &mut Vec<u8>,
    number: u32,
    group: &[(u32, Object)],
    level: u32,
) -> Result<(), Error> {
    let mut body = Vec::new();
    let mut head = Vec::new();
    for (number, object) in group {
        text(&mut head, format_args!("{number} {} ", body.len()));
        write_object(&mut body, object);
        body.push(b'\n');
    }
    let first = head.len();
    head.append(&mut body);
    let data = deflate(&head, level, &|| {}).map_err(Error::NotWritten)?;
    text(
        file,
        format_args!(
            "{number} 0 obj\n<</Type/ObjStm/N {}/First {first}/Filter/FlateDecode/Length {}>>stream\n",
            group.len(),
            data.len(),
        ),
    );
    file.extend(data);
    file.extend(b"\nendstream\nendobj\n");
    Ok(())
}

/// The cross-reference stream, whose number is `number`, and the end of the file.
fn table(
    file: &mut Vec<u8>,
    number: u32,
    mut places: Vec<(u32, Place)>,
    trailer: &Dictionary,
) -> Result<(), Error> {
    let start = file.len();
    places.push((number, Place::At(start, 0)));
    places.sort_by_key(|(number, place)| (*number, place.generation()));
    // The newest generation of a number is the object.
    places.reverse();
    places.dedup_by_key(|(number, _)| *number);
    places.reverse();
    let wide = (start.max(number as usize).ilog2() / 8 + 1) as usize;
    let mut rows = Vec::new();
    let mut sections: Vec<(u32, u32)> = vec![(0, 1)];
    row(&mut rows, wide, 0, 0, usize::from(u16::MAX));
    for (number, place) in places {
        match sections.last_mut() {
            Some((first, count)) if *first + *count == number => *count += 1,
            _ => sections.push((number, 1)),
        }
        match place {
            Place::At(at, generation) => row(&mut rows, wide, 1, at, generation.into()),
            Place::In(stream, index) => row(&mut rows, wide, 2, stream as usize, index),
        }
    }
    let data = deflate(&upward(&rows, wide + 3), 9, &|| {}).map_err(Error::NotWritten)?;
    text(
        file,
        format_args!(
            "{number} 0 obj\n<</Type/XRef/Size {}/W[1 {wide} 2]/Filter/FlateDecode\
             /DecodeParms<</Predictor 12/Columns {}>>/Length {}/Index[",
            u64::from(number) + 1,
            wide + 3,
            data.len(),
        ),
    );
    for (first, count) in sections {
        text(file, format_args!("{first} {count} "));
    }
    file.push(b']');
    for (key, value) in trailer {
        if !STALE.contains(&key.as_slice()) {
            entry(file, key, value);
        }
    }
    file.extend(b">>stream\n");
    file.extend(data);
    text(
        file,
        format_args!("\nendstream\nendobj\nstartxref\n{start}\n%%EOF\n"),
    );
    Ok(())
}

fn row(rows: &mut Vec<u8>, wide: usize, kind: u8, value: usize, rest: usize) {
    rows.push(kind);
    rows.extend(&(value as u64).to_be_bytes()[8 - wide..]);
    rows.extend(&(rest as u16).to_be_bytes());
}

/// Rows as differences to the row above (7.4.4.4).
fn upward(rows: &[u8], length: usize) -> Vec<u8> {
    let mut coded = Vec::with_capacity(rows.len() + rows.len() / length);
    let mut above = vec![0; length];
    for row in rows.chunks(length) {
        coded.push(2);
        coded.extend(
            row.iter()
                .zip(&above)
                .map(|(one, two)| one.wrapping_sub(*two)),
        );
        above.copy_from_slice(row);
    }
    coded
}

pub(crate) fn text(out: &mut Vec<u8>, arguments: std::fmt::Arguments<'_>) {
    // Writing to memory does not fail.
    let _ = out.write_fmt(arguments);
}

/// Serializes an object (7.3). Its depth is bounded by the parser, or by who made it.
pub(crate) fn write_object(out: &mut Vec<u8>, object: &Object) {
    match object {
        Object::Null => out.extend(b"null"),
        Object::Boolean(truth) => text(out, format_args!("{truth}")),
        Object::Integer(number) => text(out, format_args!("{number}")),
        // Neither an exponent nor what is not a number is allowed (7.3.3).
        Object::Real(number) if number.is_finite() => text(out, format_args!("{number}")),
        Object::Real(_) => out.push(b'0'),
        Object::Name(name) => write_name(out, name),
        Object::String(bytes, format) => write_string(out, bytes, format),
        Object::Array(array) => {
            out.push(b'[');
            for (index, object) in array.iter().enumerate() {
                if index > 0 {
                    out.push(b' ');
                }
                write_object(out, object);
            }
            out.push(b']');
        }
        Object::Dictionary(dictionary) => {
            out.extend(b"<<");
            for (key, value) in dictionary {
                entry(out, key, value);
            }
            out.extend(b">>");
        }
        Object::Stream(stream) => {
            stream_head(out, &stream.dict, stream.content.len());
            out.extend(&stream.content);
            out.extend(END_OF_STREAM);
        }
        Object::Reference((number, generation)) => {
            text(out, format_args!("{number} {generation} R"));
        }
    }
}

/// What stands in front of the data of a stream, which have `length` bytes.
pub(crate) fn stream_head(out: &mut Vec<u8>, entries: &Dictionary, length: usize) {
    out.extend(b"<<");
    for (key, value) in entries {
        if key != b"Length" {
            entry(out, key, value);
        }
    }
    text(out, format_args!("/Length {length}>>stream\n"));
}

fn entry(out: &mut Vec<u8>, key: &[u8], value: &Object) {
    write_name(out, key);
    let delimited = matches!(
        value,
        Object::Name(_)
            | Object::String(..)
            | Object::Array(_)
            | Object::Dictionary(_)
            | Object::Stream(_)
    );
    if !delimited {
        out.push(b' ');
    }
    write_object(out, value);
}

fn write_name(out: &mut Vec<u8>, name: &[u8]) {
    out.push(b'/');
    for byte in name {
        match byte {
            b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%' | b'#' => {
                text(out, format_args!("#{byte:02X}"));
            }
            b'!'..=b'~' => out.push(*byte),
            _ => text(out, format_args!("#{byte:02X}")),
        }
    }
}

fn write_string(out: &mut Vec<u8>, bytes: &[u8], format: &StringFormat) {
    if matches!(format, StringFormat::Hexadecimal) {
        out.push(b'<');
        for byte in bytes {
            text(out, format_args!("{byte:02X}"));
        }
        out.push(b'>');
        return;
    }
    out.push(b'(');
    for byte in bytes {
        match byte {
            b'(' | b')' | b'\\' => out.extend([b'\\', *byte]),
            b'\r' => out.extend(b"\\r"),
            _ => out.push(*byte),
        }
    }
    out.push(b')');
}

#[cfg(test)]
mod tests {
    use lopdf::dictionary;

    use super::*;

    #[test]
    fn numbers_that_leave_no_room_are_refused() {
        let mut document = Document::with_version("1.7");
        let root = document.add_object(dictionary! {});
        document.trailer.set("Root", root);
        document.objects.insert((u32::MAX - 2, 0), 7.into());
        assert!(compact(&mut document.clone(), 1).is_ok());
        document.objects.insert((u32::MAX - 1, 0), 7.into());
        let refused = compact(&mut document, 1);
        assert!(matches!(refused, Err(Error::Malformed(_))), "{refused:?}");
    }

    #[test]
    fn objects_are_read_as_they_were_written() {
        let mut document = Document::with_version("1.3");
        let values = dictionary! {
            "Na me#" => Object::Name(b"a/(b".to_vec()),
            "S" => Object::string_literal(b"(a\\\r\n)\xff((".to_vec()),
            "H" => Object::String(vec![0, 255], StringFormat::Hexadecimal),
            "R" => vec![Object::Real(-0.25), Object::Real(f32::NAN), 7.into(), Object::Null, true.into()],
        };
        let value = document.add_object(values.clone());
        document.objects.insert((400, 0), vec![value.into()].into());
        document.objects.insert((500, 3), 7.into());
        document.trailer.set("Root", value);
        document.trailer.set("Prev", 1);
        let old = plain(&mut document.clone());
        let new = compact(&mut document, 9).expect("a file");
        let mut expected = values;
        expected.set(
            "R",
            vec![
                Object::Real(-0.25),
                0.into(),
                7.into(),
                Object::Null,
                true.into(),
            ],
        );
        for (bytes, version) in [(old, "1.3"), (new, "1.5")] {
            let read = Document::load_mem(&bytes).expect("a file");
            assert_eq!(read.version, version);
            assert!(read.xref_recovery.is_none(), "its table is sound");
            assert!(!read.trailer.has(b"Prev"));
            assert_eq!(read.get_dictionary(value).expect("it"), &expected);
            assert_eq!(read.get_object((500, 3)).expect("it"), &7.into());
            assert!(read.has_object((400, 0)));
        }
    }
}
