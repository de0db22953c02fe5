//! What all fuzz programs share: the targets, one thread, and a limit to memory.

#[path = "../../tests/fuzz_targets/mod.rs"]
pub mod targets;

use std::alloc::System;

use cap::Cap;

/// What one input may make the program hold. Decoders of blocks take up to 32 MiB, buffers in front of them as much.
const MEMORY: usize = 512 << 20;

/// Stops the fuzzer where a length in an input becomes an allocation, even if nobody touches it.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, MEMORY);

/// Makes the fuzzer's own thread the only one, which spares a change of threads for each input.
pub fn init() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("the first pool");
}

/// The program of one target.
#[macro_export]
macro_rules! fuzz {
    ($target:path) => {
        libfuzzer_sys::fuzz_target!(init: $crate::init(), |bytes: &[u8]| $target(bytes));
    };
}
