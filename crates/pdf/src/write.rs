//! The bytes of a file: objects in compressed streams, and a compressed table of them (7.5.7, 7.5.8).

use std::io::Write as _;

use lopdf::{Dictionary, Document, Object, ObjectId, StringFormat};

use crate::{Error, flate::deflate};

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

/// Where an object is.
enum Place {
    At(usize, u16),
    In(u32, usize),
}

/// Serializes a file that is not encrypted; `level` is that of its compressed objects, from 1 to 9.
pub(crate) fn compact(document: &Document, level: u32) -> Result<Vec<u8>, Error> {
    let size = (document.objects.values())
        .map(|object| match object {
            Object::Stream(stream) => stream.content.len() + 256,
            _ => 32,
        })
        .sum();
    let mut file = Vec::with_capacity(size);
    let version = match document.version.as_str() {
        older if older < "1.5" => "1.5",
        version => version,
    };
    file.extend(format!("%PDF-{version}\n%\u{e2}\u{e3}\u{cf}\n").into_bytes());
    let mut places: Vec<(u32, Place)> = Vec::with_capacity(document.objects.len());
    let mut packed: Vec<(u32, &Object)> = Vec::new();
    for (&(number, generation), object) in &document.objects {
        if number == 0 || is_of_the_old_file(object) {
            continue;
        }
        if generation == 0 && !matches!(object, Object::Stream(_)) {
            packed.push((number, object));
            continue;
        }
        places.push((number, Place::At(file.len(), generation)));
        indirect(&mut file, (number, generation), object);
    }
    let last = document.objects.keys().next_back().map_or(0, |id| id.0);
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

fn is_of_the_old_file(object: &Object) -> bool {
    match object {
        Object::Stream(stream) => stream.dict.has_type(b"ObjStm") || stream.dict.has_type(b"XRef"),
        Object::Dictionary(dictionary) => dictionary.has(b"Linearized"),
        _ => false,
    }
}

fn indirect(file: &mut Vec<u8>, (number, generation): ObjectId, object: &Object) {
    text(file, format_args!("{number} {generation} obj\n"));
    write_object(file, object);
    file.extend(b"\nendobj\n");
}

fn object_stream(
    file: &mut Vec<u8>,
    number: u32,
    group: &[(u32, &Object)],
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
    places.sort_by_key(|(number, _)| *number);
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

fn text(out: &mut Vec<u8>, arguments: std::fmt::Arguments<'_>) {
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
            out.extend(b"<<");
            for (key, value) in &stream.dict {
                if key != b"Length" {
                    entry(out, key, value);
                }
            }
            text(
                out,
                format_args!("/Length {}>>stream\n", stream.content.len()),
            );
            out.extend(&stream.content);
            out.extend(b"\nendstream");
        }
        Object::Reference((number, generation)) => {
            text(out, format_args!("{number} {generation} R"));
        }
    }
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
        assert!(compact(&document, 1).is_ok());
        document.objects.insert((u32::MAX - 1, 0), 7.into());
        let refused = compact(&document, 1);
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
        let bytes = compact(&document, 9).expect("a file");
        let read = Document::load_mem(&bytes).expect("a file");
        assert_eq!(read.version, "1.5");
        assert!(!read.trailer.has(b"Prev"));
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
        assert_eq!(read.get_dictionary(value).expect("it"), &expected);
        assert_eq!(read.get_object((500, 3)).expect("it"), &7.into());
        assert!(read.has_object((400, 0)));
    }
}
