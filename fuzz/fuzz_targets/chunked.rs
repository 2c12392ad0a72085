//! Any bytes as a chunked body, in one part or two: the result is the same, and nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, &[u8])| platen_delivery::fuzzing::read_chunks(input.1, input.0.into()));
