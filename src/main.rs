//! The `elephant-rs` command.

use std::process::ExitCode;

/// Many small values are kept for each stage. With the allocator of glibc they take a sixth of the time, with that of musl,
/// which the static executables have, more.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    elephant_rs::cli::run()
}
