//! Logging, which `ELEPHANT_LOG` or `RUST_LOG` turns on.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::env;
use std::io::{self, Write};

use log::{LevelFilter, Log, Metadata, Record};

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
    let filter = Filter::parse(&filter);
    let level = filter.most();
    // This fails only if a logger is already set, which serves as well.
    if log::set_boxed_logger(Box::new(StandardError(filter))).is_ok() {
        log::set_max_level(level);
    }
}

/// Writes the messages that pass the filter to standard error, one line each.
struct StandardError(Filter);

impl Log for StandardError {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.0.lets_pass(metadata)
    }

    // Standard error may be closed.
    fn log(&self, record: &Record<'_>) {
        if self.0.lets_pass(record.metadata()) {
            let level = record.level().as_str().to_lowercase();
            let message = printable(&record.args().to_string());
            let _ = writeln!(io::stderr(), "elephant-rs: {level}: {message}");
        }
    }

    fn flush(&self) {}
}

/// Which messages are logged: levels of modules, the longest name first. An empty name holds for all modules.
struct Filter(Vec<(String, LevelFilter)>);

impl Filter {
    /// Reads words such as `debug`, `elephant_rs::input=debug` and `elephant_rs::input`, separated by commas. Other words
    /// have no effect.
    fn parse(text: &str) -> Self {
        let mut levels: Vec<(String, LevelFilter)> = words(text)
            .filter_map(|word| match word.split_once('=') {
                Some((module, "")) => Some((module.to_owned(), LevelFilter::Trace)),
                Some((module, level)) => Some((module.trim().to_owned(), level.trim().parse().ok()?)),
                None => match word.parse() {
                    Ok(level) => Some((String::new(), level)),
                    Err(_) => Some((word.to_owned(), LevelFilter::Trace)),
                },
            })
            .collect();
        levels.sort_by_key(|(module, _)| Reverse(module.len()));
        Self(levels)
    }

    /// The level of the most detailed messages that pass for any module.
    fn most(&self) -> LevelFilter {
        self.0.iter().map(|(_, level)| *level).max().unwrap_or(LevelFilter::Off)
    }

    fn lets_pass(&self, metadata: &Metadata<'_>) -> bool {
        let target = name_for_users(metadata.target());
        let level = self.0.iter().find(|(module, _)| target.starts_with(module.as_str()));
        level.is_some_and(|(_, level)| metadata.level() <= *level)
    }
}

/// Users know one program, not its crates: `elephant_input::window` is `elephant_rs::input::window` to them.
fn name_for_users(target: &str) -> Cow<'_, str> {
    match target.strip_prefix("elephant_") {
        Some(rest) if !target.starts_with("elephant_rs") => format!("elephant_rs::{rest}").into(),
        _ => target.into(),
    }
}

fn words(filter: &str) -> impl Iterator<Item = &str> {
    filter.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// The first word of a filter that has no effect: an unknown level, or a module of another program.
fn ineffective_word(filter: &str) -> Option<&str> {
    words(filter).find_map(|word| {
        let is_level = |word: &str| word.trim().parse::<LevelFilter>().is_ok();
        match word.split_once('=') {
            Some((_, level)) => (!level.trim().is_empty() && !is_level(level)).then_some(level.trim()),
            None => (!is_level(word) && !word.starts_with("elephant_rs")).then_some(word),
        }
    })
}

/// Whether anything is logged. Log lines would break up a progress bar.
pub(super) fn is_on() -> bool {
    log::max_level() > LevelFilter::Off
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ineffective_words_are_found() {
        for fine in ["info", "DEBUG", "elephant_rs", "elephant_rs::input=debug,warn", "a=", ""] {
            assert_eq!(ineffective_word(fine), None, "{fine}");
        }
        for (filter, word) in
            [("infoo", "infoo"), ("debug, verbose", "verbose"), ("elephant_rs=loud", "loud")]
        {
            assert_eq!(ineffective_word(filter), Some(word));
        }
    }

    #[test]
    fn the_longest_name_of_a_module_decides() {
        use log::Level::{Debug, Info, Trace, Warn};

        let passes = |filter: &str, target: &str, level: log::Level| {
            let metadata = Metadata::builder().target(target).level(level).build();
            Filter::parse(filter).lets_pass(&metadata)
        };
        let filter = "warn, elephant_rs::input=debug, elephant_rs::input::tar=off";
        assert!(passes(filter, "elephant_rs::input::zip", Debug));
        assert!(!passes(filter, "elephant_rs::input::zip", Trace));
        assert!(!passes(filter, "elephant_rs::input::tar", Warn));
        assert!(passes(filter, "elephant_rs::engine", Warn) && !passes(filter, "elephant_rs::engine", Info));
        assert!(passes("elephant_rs::engine", "elephant_rs::engine", Trace));
        assert!(passes(filter, "elephant_input::zip", Debug) && !passes(filter, "elephant_input::tar", Warn));
        assert!(!passes("loud", "elephant_rs", Warn) && !passes("", "elephant_rs", Warn));
        assert_eq!(Filter::parse(filter).most(), LevelFilter::Debug);
        assert_eq!(Filter::parse("").most(), LevelFilter::Off);
    }
}
