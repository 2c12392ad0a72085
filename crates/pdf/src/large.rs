//! Large streams, which are written in the memory that they have: a large file is often one picture or
//! attached file, which would be in memory twice.

use std::collections::BTreeMap;

use lopdf::{Object, ObjectId, Stream};

use crate::write::{
    END_OF_STREAM, head, indirect, is_of_the_old_file, is_searched, room_for, stream_head, text,
};

/// Room for what is not foreseen, in bytes: growing takes as much memory again.
const SPARE: usize = 64 << 10;
/// A stream is large from this size on, in bytes.
const LARGE: usize = 4 << 20;

/// The first lines of a file, and its largest stream, if that is a large one, with what stands where.
/// Some small objects precede it: readers parse the first one to see whether the file is linearized, and
/// programs that search the bytes of files find these without passing the stream.
pub(crate) fn beginning(
    version: &str,
    objects: &mut BTreeMap<ObjectId, Object>,
) -> (Vec<u8>, Vec<(usize, ObjectId)>) {
    let Some((id, stream)) = largest_stream(objects, LARGE) else {
        return (head(version, objects), Vec::new());
    };
    let mut lines = head(version, &BTreeMap::new());
    let mut places = Vec::new();
    let small = objects
        .iter()
        .filter(|(id, object)| id.0 != 0 && is_searched(object));
    for id in small.map(|(id, _)| *id).collect::<Vec<_>>() {
        if let Some(object) = objects.remove(&id) {
            places.push((lines.len(), id));
            indirect(&mut lines, id, &object);
        }
    }
    places.push((lines.len(), id));
    text(&mut lines, format_args!("{} {} obj\n", id.0, id.1));
    stream_head(&mut lines, &stream.dict, stream.content.len());
    let mut file = behind(&lines, stream.content, room_for(objects));
    file.extend(END_OF_STREAM);
    file.extend(b"\nendobj\n");
    (file, places)
}

/// Takes the stream with the most data out of the objects, if it has `least` bytes.
pub(crate) fn largest_stream(
    objects: &mut BTreeMap<ObjectId, Object>,
    least: usize,
) -> Option<(ObjectId, Stream)> {
    let sizes = objects.iter().filter_map(|(id, object)| match object {
        Object::Stream(stream) if id.0 != 0 && !is_of_the_old_file(object) => {
            Some((stream.content.len(), *id))
        }
        _ => None,
    });
    let (_, id) = sizes.max().filter(|(size, _)| *size >= least)?;
    match objects.remove(&id)? {
        Object::Stream(stream) => Some((id, stream)),
        _ => None,
    }
}

/// `lines` and what stands behind them, in the memory of the latter; `room` is for what follows both, in
/// bytes.
pub(crate) fn behind(lines: &[u8], mut content: Vec<u8>, room: usize) -> Vec<u8> {
    let length = content.len();
    content.reserve_exact(lines.len() + END_OF_STREAM.len() + room + SPARE);
    content.resize(length + lines.len(), 0);
    content.copy_within(..length, lines.len());
    content[..lines.len()].copy_from_slice(lines);
    content
}

#[cfg(test)]
mod tests {
    use lopdf::{Dictionary, Document, dictionary};

    use super::*;
    use crate::write::{compact, plain};

    fn stream(byte: u8, size: usize) -> Object {
        Object::Stream(Stream::new(Dictionary::new(), vec![byte; size]))
    }

    /// A file with a large stream in its middle, and a larger one, which a newer generation replaces.
    fn document() -> Document {
        let mut document = Document::with_version("1.5");
        document.objects.insert((1, 0), dictionary! {}.into());
        document.objects.insert((2, 0), stream(2, LARGE + 1));
        document.objects.insert((3, 0), stream(3, 9));
        document.objects.insert((4, 0), stream(4, LARGE + 2));
        document.objects.insert((4, 1), 7.into());
        document.trailer.set("Root", (1, 0));
        document.max_id = 4;
        document
    }

    #[test]
    fn files_with_large_streams_are_whole() {
        let old = plain(&mut document());
        let new = compact(&mut document(), 1).expect("a file");
        for file in [old, new] {
            let read = Document::load_mem(&file).expect("the same file");
            assert!(read.xref_recovery.is_none(), "its table is sound");
            for (number, size) in [(2, LARGE + 1), (3, 9)] {
                let found = read.get_object((number, 0)).and_then(Object::as_stream);
                let content = &found.expect("a stream").content;
                assert!(*content == vec![number as u8; size]);
            }
            assert_eq!(read.get_object((4, 1)).expect("it"), &7.into());
        }
    }

    #[test]
    fn a_large_stream_keeps_its_memory() {
        let mut objects = document().objects;
        objects.remove(&(4, 0));
        let Object::Stream(large) = objects.get_mut(&(2, 0)).expect("it") else {
            panic!("no stream");
        };
        // With room for all of the file, it does not even move.
        large.content.reserve_exact(1_000_000);
        let place = large.content.as_ptr();
        objects.insert((9, 0), dictionary! { "Type" => "Catalog" }.into());
        let (file, found) = beginning("1.5", &mut objects);
        // Behind a small object.
        let ids: Vec<ObjectId> = found.iter().map(|(_, id)| *id).collect();
        assert_eq!(ids, [(9, 0), (2, 0)]);
        assert!(file[found[1].0..].starts_with(b"2 0 obj\n"));
        assert_eq!(file.as_ptr(), place);
    }
}
