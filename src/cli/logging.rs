//! What the tool does, step by step, for those who ask by `ELEPHANT_LOG` or `RUST_LOG`. Off by default.

use std::env;
use std::io::Write;

use env_logger::Builder;

use super::output::{complain, harmless};

/// The variables that hold a filter such as `debug` or `elephant_rs::input=debug`, the first one set wins.
const VARIABLES: [&str; 2] = [OWN, "RUST_LOG"];

/// The variable that nobody else reads.
const OWN: &str = "ELEPHANT_LOG";

/// Starts the log if a variable asks for it. Lines go to standard error.
pub(super) fn start() {
    let set = |name| Some((name, env::var(name).ok().filter(|text| !text.is_empty())?));
    let Some((variable, filter)) = VARIABLES.into_iter().find_map(set) else { return };
    // Other programs' parts may stand in RUST_LOG.
    if variable == OWN
        && let Some(word) = strange_word(&filter)
    {
        complain(
            "warning",
            &format!(
                "{OWN}: {word} is no level (off, error, warn, info, debug, trace) and no part of elephant_rs; it shows \
                 nothing"
            ),
        );
    }
    let mut builder = Builder::new();
    builder.parse_filters(&filter).format(|out, record| {
        let level = record.level().as_str().to_lowercase();
        writeln!(out, "elephant-rs: {level}: {}", harmless(&record.args().to_string()))
    });
    // Only a second start could fail, and the first one serves as well.
    let _ = builder.try_init();
}

/// The first word of a filter that selects nothing: a level that does not exist, or a module of no one here.
fn strange_word(filter: &str) -> Option<&str> {
    let directives = filter.split('/').next().unwrap_or_default();
    directives.split(',').map(str::trim).filter(|directive| !directive.is_empty()).find_map(|directive| {
        let is_level = |word: &str| word.trim().parse::<log::LevelFilter>().is_ok();
        match directive.split_once('=') {
            Some((_, level)) => (!level.trim().is_empty() && !is_level(level)).then_some(level.trim()),
            None => (!is_level(directive) && !directive.starts_with("elephant_rs")).then_some(directive),
        }
    })
}

/// Whether anything is logged: lines would tear a progress bar.
pub(super) fn is_on() -> bool {
    log::max_level() > log::LevelFilter::Off
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_select_nothing_are_found() {
        for fine in ["info", "DEBUG", "elephant_rs", "elephant_rs::input=debug,warn", "warn/text", "a=", ""] {
            assert_eq!(strange_word(fine), None, "{fine}");
        }
        for (filter, word) in
            [("infoo", "infoo"), ("debug, verbose", "verbose"), ("elephant_rs=loud", "loud")]
        {
            assert_eq!(strange_word(filter), Some(word));
        }
    }
}
