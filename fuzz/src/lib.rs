//! Shared parts of all fuzz programs: the targets, a single thread, and a memory limit.

use std::alloc::System;

use cap::Cap;
pub use elephant_fuzzing as targets;

/// Memory that one input may use. Block decoders take up to 32 MiB, and so do the buffers before them.
const MEMORY: usize = 512 << 20;

/// Stops the fuzzer if a length in the input becomes a large allocation, even if the memory is never touched.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, MEMORY);

/// Makes the fuzzer's own thread the only one, which avoids a thread switch per input.
pub fn init() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("the pool is built once");
}

/// Defines the program of one target.
#[macro_export]
macro_rules! fuzz {
    ($target:path) => {
        libfuzzer_sys::fuzz_target!(init: $crate::init(), |bytes: &[u8]| $target(bytes));
    };
}
