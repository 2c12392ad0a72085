//! Any bytes as the head of a request, in one part or two: the same is read, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, &[u8])| platen_delivery::fuzzing::read_head(input.1, input.0.into()));
