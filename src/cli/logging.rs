//! What the tool does, step by step, for those who ask by `ELEPHANT_LOG` or `RUST_LOG`. Off by default.

use std::env;
use std::io::Write;

use env_logger::Builder;

use super::output::harmless;

/// The variables that hold a filter such as `debug` or `elephant_rs::input=debug`, the first one set wins.
const VARIABLES: [&str; 2] = ["ELEPHANT_LOG", "RUST_LOG"];

/// Starts the log if a variable asks for it. Lines go to standard error.
pub(super) fn start() {
    let filter = VARIABLES.into_iter().find_map(|name| env::var(name).ok().filter(|text| !text.is_empty()));
    let Some(filter) = filter else { return };
    let mut builder = Builder::new();
    builder.parse_filters(&filter).format(|out, record| {
        let level = record.level().as_str().to_lowercase();
        writeln!(out, "elephant-rs: {level}: {}", harmless(&record.args().to_string()))
    });
    // Only a second start could fail, and the first one serves as well.
    let _ = builder.try_init();
}

/// Whether anything is logged: lines would tear a progress bar.
pub(super) fn is_on() -> bool {
    log::max_level() > log::LevelFilter::Off
}
