//! The layouts of log lines: what comes before the message. Lines may be nested, as a launcher logs the lines of its child.

/// The importance of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Low,
    Warning,
    Error,
}

/// The words that logging libraries write for levels.
const LEVELS: [(&str, Level); 10] = [
    ("TRACE", Level::Low),
    ("DEBUG", Level::Low),
    ("INFO", Level::Low),
    ("NOTICE", Level::Low),
    ("WARN", Level::Warning),
    ("WARNING", Level::Warning),
    ("ERROR", Level::Error),
    ("SEVERE", Level::Error),
    ("FATAL", Level::Error),
    ("CRITICAL", Level::Error),
];

/// A line without its layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stripped<'l> {
    /// The highest level of the nested layouts; `None` without any, or if a layout states none.
    pub(crate) level: Option<Level>,
    /// The innermost logger.
    pub(crate) logger: Option<&'l str>,
    /// Whether there was a layout.
    pub(crate) has_layout: bool,
    /// The message. Its indentation is kept: it tells a frame from a sentence.
    pub(crate) message: &'l str,
}

/// A launcher may log lines of a child that logs lines of a child.
const NESTED: usize = 4;
/// Words between the time and the level: a thread, a host, the name of a job.
const WORDS: usize = 4;
/// A logger's name and what belongs to it is no longer.
const LOGGER: usize = 160;

/// A line without its layouts.
pub(crate) fn stripped(line: &str) -> Stripped<'_> {
    let mut known = Stripped { level: None, logger: None, has_layout: false, message: line };
    for _ in 0..NESTED {
        let Some(inner) = one(known.message) else { break };
        known =
            Stripped { level: inner.level.max(known.level), logger: inner.logger.or(known.logger), ..inner };
    }
    known
}

/// A line without its outermost layout.
fn one(line: &str) -> Option<Stripped<'_>> {
    let stamped = stamp(line);
    let (level, rest) = match stamped {
        Some((rest, is_bracketed)) => match level_within(rest) {
            Some(found) => found,
            // `[2020-01-24 21:28:46.848]Exception from container-launch.` is the layout of diagnostics.
            None if is_bracketed => {
                return Some(Stripped { level: None, logger: None, has_layout: true, message: rest });
            }
            None => return None,
        },
        None => leading_level(line)?,
    };
    let (logger, message) = logger(rest);
    // Without a time, only a level with a logger is a layout: "ERROR: no such table" is a message.
    (stamped.is_some() || logger.is_some()).then_some(Stripped {
        level: Some(level),
        logger,
        has_layout: true,
        message,
    })
}

/// What follows the time that a line begins with, and whether the time is in brackets.
fn stamp(line: &str) -> Option<(&str, bool)> {
    let (text, is_bracketed) = match line.strip_prefix('[') {
        Some(text) => (text, true),
        None => (line, false),
    };
    let mut rest = date(text).unwrap_or(text);
    rest = rest.strip_prefix([' ', 'T']).unwrap_or(rest);
    rest = clock(rest)?;
    if is_bracketed {
        return Some((rest.trim_start_matches(' ').strip_prefix(']')?, true));
    }
    let rest = zone(rest);
    (rest.is_empty() || rest.starts_with([' ', '\t', ':'])).then_some((rest, false))
}

/// What follows a date: `2022-07-09`, `22/07/09`, `01-04-2020`, `09.07.2022`.
fn date(text: &str) -> Option<&str> {
    let (first, rest) = digits(text, 2, 4)?;
    let separator = rest.chars().next().filter(|c| matches!(c, '-' | '/' | '.'))?;
    let (_, rest) = digits(rest.strip_prefix(separator)?, 1, 2)?;
    let (last, rest) = digits(rest.strip_prefix(separator)?, 1, 4)?;
    (first != 3 && last != 3).then_some(rest)
}

/// What follows a time of day: `15:28:27,475`, `15:28:27`.
fn clock(text: &str) -> Option<&str> {
    let (_, rest) = digits(text, 1, 2)?;
    let (_, rest) = digits(rest.strip_prefix(':')?, 2, 2)?;
    let (_, rest) = digits(rest.strip_prefix(':')?, 2, 2)?;
    Some(rest.strip_prefix([',', '.']).and_then(|part| digits(part, 1, 9)).map_or(rest, |(_, rest)| rest))
}

/// What follows a time zone, if there is one: `Z`, `+02:00`, ` PDT`.
fn zone(text: &str) -> &str {
    if let Some(rest) = text.strip_prefix('Z') {
        return rest;
    }
    if let Some((_, rest)) = text.strip_prefix(['+', '-']).and_then(|rest| digits(rest, 2, 4)) {
        return rest
            .strip_prefix(':')
            .and_then(|minutes| digits(minutes, 2, 2))
            .map_or(rest, |(_, rest)| rest);
    }
    let Some(word) = text.strip_prefix(' ') else { return text };
    let end = word.find(' ').unwrap_or(word.len());
    let (name, rest) = word.split_at(end);
    let is_zone = (2..=5).contains(&end) && name.bytes().all(|byte| byte.is_ascii_uppercase());
    if is_zone && level_of(name).is_none() { rest } else { text }
}

/// The number of digits that a text begins with, and what follows them.
fn digits(text: &str, least: usize, most: usize) -> Option<(usize, &str)> {
    let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let rest = text.get(count..)?;
    (count >= least && !rest.starts_with(|c: char| c.is_ascii_digit())).then_some((count, rest))
}

fn level_of(word: &str) -> Option<Level> {
    LEVELS.iter().find(|(name, _)| *name == word).map(|(_, level)| *level)
}

/// The level among the first words, and what follows it.
fn level_within(text: &str) -> Option<(Level, &str)> {
    let mut rest = text;
    for _ in 0..=WORDS {
        rest = rest.trim_start_matches([' ', ':']);
        if let Some(found) = leading_level(rest) {
            return Some(found);
        }
        // A thread in brackets may have spaces in its name.
        rest = match rest.strip_prefix('[').and_then(|inside| inside.split_once(']')) {
            Some((inside, after)) if inside.len() <= LOGGER => after,
            _ => rest.split_once(' ').map(|(_, after)| after)?,
        };
    }
    None
}

/// The level that a text begins with, in brackets or not, and what follows it.
fn leading_level(text: &str) -> Option<(Level, &str)> {
    let bare = text.strip_prefix('[').unwrap_or(text);
    let end = bare.find(|c: char| !c.is_ascii_uppercase()).unwrap_or(bare.len());
    let (word, rest) = bare.split_at_checked(end)?;
    let level = level_of(word)?;
    let rest = if bare.len() < text.len() { rest.trim_start_matches(' ').strip_prefix(']')? } else { rest };
    (rest.is_empty() || rest.starts_with([' ', '\t', ':'])).then_some((level, rest))
}

/// The logger after a level, and the message. The class of an exception is no logger: some drivers log only
/// `INFO org.apache.spark.SparkException: …`.
fn logger(text: &str) -> (Option<&str>, &str) {
    let mut rest = text.trim_start_matches([' ', ':']);
    while let Some((inside, after)) = rest.strip_prefix('[').and_then(|inside| inside.split_once(']')) {
        if inside.len() > LOGGER {
            break;
        }
        rest = after.trim_start_matches(' ');
    }
    // Azkaban: `INFO - <tab>at …`.
    if let Some(message) = rest.strip_prefix("- ") {
        return (None, message);
    }
    named(rest).map_or((None, rest), |(logger, message)| (Some(logger), message))
}

/// `executor.Executor: …`, `NativeCodeLoader:62 - …`, `org.apache.x.Configuration 2670 loadProperty - …`.
fn named(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !is_of_name(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end)?;
    let is_name = end > 0 && end <= LOGGER && name.starts_with(|c: char| c.is_ascii_alphabetic());
    if !is_name || super::head::is_exception(name) {
        return None;
    }
    if let Some(message) = rest.strip_prefix(": ").or_else(|| rest.strip_prefix(":\t").map(|_| rest)) {
        return Some((name, message.strip_prefix(':').unwrap_or(message)));
    }
    if rest == ":" {
        return Some((name, ""));
    }
    let near = rest.char_indices().nth(LOGGER).map_or(rest, |(end, _)| rest.get(..end).unwrap_or(rest));
    let at = near.find(" - ")?;
    let between = near.get(..at)?;
    let is_between = |c: char| is_of_name(c) || matches!(c, ' ' | ':' | '(' | ')');
    (between.chars().all(is_between) && between.split_whitespace().count() <= 2)
        .then(|| rest.get(at + 3..))
        .flatten()
        .map(|message| (name, message))
}

const fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$' | '-' | '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> (Option<Level>, Option<&str>, &str) {
        let Stripped { level, logger, message, .. } = stripped(line);
        (level, logger, message)
    }

    #[test]
    fn the_layouts_of_spark_hadoop_and_schedulers_are_known() {
        let (low, warning, error) = (Some(Level::Low), Some(Level::Warning), Some(Level::Error));
        for (line, expected) in [
            (
                "23/06/08 19:24:12 ERROR executor.Executor: Exception in task 0.0",
                (error, Some("executor.Executor"), "Exception in task 0.0"),
            ),
            (
                "2022-07-09 15:28:27,475 INFO server.AccessManager: disabled",
                (low, Some("server.AccessManager"), "disabled"),
            ),
            (
                "2020-02-05 02:52:22 WARN  NativeCodeLoader:62 - Unable to load",
                (warning, Some("NativeCodeLoader"), "Unable to load"),
            ),
            (
                "2022-02-22 11:02:28.492 WARN  [Thread-112] org.apache.hadoop.conf.Configuration 2670 loadProperty - an attempt",
                (warning, Some("org.apache.hadoop.conf.Configuration"), "an attempt"),
            ),
            (
                "2019-01-01 00:00:00,001 ERROR [IPC Server handler 3 on 80] org.apache.hadoop.mapred.Task: failed: x",
                (error, Some("org.apache.hadoop.mapred.Task"), "failed: x"),
            ),
            (
                "01-04-2020 14:51:15 PDT overwriter-reminder2 INFO - \tat a.B.c(D.java:1)",
                (low, None, "\tat a.B.c(D.java:1)"),
            ),
            ("2026-01-01T10:00:00.123Z ERROR a.B: c", (error, Some("a.B"), "c")),
            ("2026-01-01T10:00:00.123+02:00 ERROR a.B: c", (error, Some("a.B"), "c")),
            (
                "[2020-01-24 21:28:46.848]Exception from container-launch.",
                (None, None, "Exception from container-launch."),
            ),
            ("ERROR  Executor:91 - Exception in task", (error, Some("Executor"), "Exception in task")),
            ("[2026-01-01 10:00:00] [main] plain", (None, None, " [main] plain")),
            ("2022-02-22 11:02:27.002 INFO Your job is scheduled", (low, None, "Your job is scheduled")),
        ] {
            assert_eq!(told(line), expected, "{line}");
        }
    }

    #[test]
    fn a_line_within_a_line_counts_by_its_highest_level() {
        let line = "2022-07-09 15:29:32,074 INFO utils.LineBufferedStream: 2022-07-09 15:29:32,071 ERROR spark.SparkContext: Error initializing.";
        assert_eq!(told(line), (Some(Level::Error), Some("spark.SparkContext"), "Error initializing."));
    }

    #[test]
    fn the_class_of_an_exception_is_no_logger() {
        let line = "23/06/08 19:24:12 INFO org.apache.spark.SparkException: Job aborted: x";
        assert_eq!(told(line), (Some(Level::Low), None, "org.apache.spark.SparkException: Job aborted: x"));
    }

    #[test]
    fn other_lines_have_no_layout() {
        for line in [
            "",
            "ERROR: no such table",
            "at a.B.c(D.java:1)",
            "12:00",
            "2022-07-09",
            "INFO",
            "[0.005s][info][gc] Using G1",
            "3.5/7 x",
            "2026-01-01 10:00:00 nothing here has a level of its own",
        ] {
            assert!(!stripped(line).has_layout, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_line_makes_it_fail(line in "[0-9:/\\- \\[\\]A-Zaé.$\t]{0,60}") {
            let message = stripped(&line).message;
            proptest::prop_assert!(line.ends_with(message));
        }
    }
}
