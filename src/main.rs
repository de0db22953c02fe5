//! The `elephant-rs` command.

mod allocator;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: allocator::BySize = allocator::BySize;

fn main() -> ExitCode {
    elephant_cli::run()
}
