//! The `elephant-rs` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    elephant_rs::cli::run()
}
