//! The `elephant-rs` command.

use std::process::ExitCode;

/// For static executables, because musl's allocator takes one lock for all threads. glibc's allocator is slower than
/// this one, too, but it grows large tables in place.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    elephant_rs::cli::run()
}
