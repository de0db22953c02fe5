//! Logging, which `ELEPHANT_LOG` or `RUST_LOG` turns on.

use std::env;
use std::io::{self, Write};

use env_filter::{Builder, Filter};
use log::{Log, Metadata, Record};

use super::output::{print_message, printable};

/// Variables that contain a filter such as `debug` or `elephant_rs::input=debug`. The first one that is set wins.
const VARIABLES: [&str; 2] = [OWN, "RUST_LOG"];

/// The variable that no other program reads.
const OWN: &str = "ELEPHANT_LOG";

/// Starts the log if a variable asks for it. Lines go to standard error.
pub(super) fn start() {
    let set = |name| Some((name, env::var(name).ok().filter(|text| !text.is_empty())?));
    let Some((variable, filter)) = VARIABLES.into_iter().find_map(set) else { return };
    // RUST_LOG may name modules of other programs, so it is not checked.
    if variable == OWN
        && let Some(word) = ineffective_word(&filter)
    {
        print_message(
            "warning",
            &format!(
                "{OWN}: {word} is not a level (off, error, warn, info, debug, trace) or a module of elephant_rs; it \
                 has no effect"
            ),
        );
    }
    let filter = Builder::new().parse(&filter).build();
    let level = filter.filter();
    // This fails only if a logger is already set, which serves as well.
    if log::set_boxed_logger(Box::new(StandardError(filter))).is_ok() {
        log::set_max_level(level);
    }
}

/// Writes the messages that pass the filter to standard error, one line each.
struct StandardError(Filter);

impl Log for StandardError {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.0.enabled(metadata)
    }

    // Standard error may be closed.
    #[allow(clippy::let_underscore_must_use)]
    fn log(&self, record: &Record<'_>) {
        if self.0.matches(record) {
            let level = record.level().as_str().to_lowercase();
            let message = printable(&record.args().to_string());
            let _ = writeln!(io::stderr(), "elephant-rs: {level}: {message}");
        }
    }

    fn flush(&self) {}
}

/// The first word of a filter that has no effect: an unknown level, or a module of another program.
fn ineffective_word(filter: &str) -> Option<&str> {
    let directives = filter.split('/').next().unwrap_or_default();
    directives.split(',').map(str::trim).filter(|directive| !directive.is_empty()).find_map(|directive| {
        let is_level = |word: &str| word.trim().parse::<log::LevelFilter>().is_ok();
        match directive.split_once('=') {
            Some((_, level)) => (!level.trim().is_empty() && !is_level(level)).then_some(level.trim()),
            None => (!is_level(directive) && !directive.starts_with("elephant_rs")).then_some(directive),
        }
    })
}

/// Whether anything is logged. Log lines would break up a progress bar.
pub(super) fn is_on() -> bool {
    log::max_level() > log::LevelFilter::Off
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ineffective_words_are_found() {
        for fine in ["info", "DEBUG", "elephant_rs", "elephant_rs::input=debug,warn", "warn/text", "a=", ""] {
            assert_eq!(ineffective_word(fine), None, "{fine}");
        }
        for (filter, word) in
            [("infoo", "infoo"), ("debug, verbose", "verbose"), ("elephant_rs=loud", "loud")]
        {
            assert_eq!(ineffective_word(filter), Some(word));
        }
    }
}
