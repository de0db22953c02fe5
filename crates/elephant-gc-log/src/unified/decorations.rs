//! What stands in brackets in front of a message.

use crate::stamp::Stamp;

/// Levels of unified logging.
const LEVELS: [&str; 5] = ["info", "debug", "trace", "warning", "error"];

/// Longest decoration: a host name.
const LONGEST: usize = 256;

/// Most decorations of a line: the JVM has eleven.
const MOST: usize = 12;

/// Places in a line at which decorations are looked for, if other text stands in front.
const PLACES: usize = 4;

/// The decorations of a line.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Decorations {
    pub(super) stamp: Stamp,
    has_level: bool,
    /// Whether the last decoration is a list of tags, and one of them is `gc`.
    tags: Option<bool>,
}

impl Decorations {
    /// The decorations of a line and the message after them. Another program may have written text in front.
    pub(super) fn find(line: &str) -> Option<(Self, &str)> {
        let places = line.match_indices('[').map(|(at, _)| at);
        // Not the second bracket of text such as `[main] [0.1s]`.
        let starts =
            places.filter(|at| *at == 0 || !line.get(..*at).is_some_and(|before| before.ends_with(']')));
        starts.take(PLACES).find_map(|at| Self::at_start(line.get(at..)?))
    }

    fn at_start(line: &str) -> Option<(Self, &str)> {
        let mut found = Self::default();
        let mut rest = line;
        for _ in 0..MOST {
            let Some(inner) = rest.strip_prefix('[') else { break };
            let end = inner.bytes().take(LONGEST).position(|byte| byte == b']')?;
            let word = inner.get(..end)?.trim_end();
            rest = inner.get(end + 1..)?;
            if found.stamp.decorate(word) {
                continue;
            }
            if LEVELS.contains(&word) {
                found.has_level = true;
            } else if !rest.starts_with('[') && is_tags(word) {
                found.tags = Some(word.split(',').any(|tag| tag == "gc" || tag == "safepoint"));
            }
        }
        let is_log = !found.stamp.is_empty() || found.has_level || found.tags == Some(true);
        is_log.then(|| (found, rest.strip_prefix(' ').unwrap_or(rest)))
    }

    /// Whether the line may tell of a collection.
    pub(super) fn may_be_gc(&self) -> bool {
        self.tags.unwrap_or(true)
    }

    /// Whether no other program writes such decorations.
    pub(super) fn is_certain(&self) -> bool {
        self.tags == Some(true) || (self.has_level && !self.stamp.is_empty())
    }
}

/// Whether a word is a list of tags, such as `gc,heap`.
fn is_tags(word: &str) -> bool {
    !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b',')
        && word.starts_with(|first: char| first.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn find(line: &str) -> Option<(Option<Duration>, bool, &str)> {
        Decorations::find(line).map(|(found, rest)| (found.stamp.uptime, found.may_be_gc(), rest))
    }

    #[test]
    fn every_choice_of_decorations_is_read() {
        let uptime = Some(Duration::from_millis(123));
        for line in [
            "[2024-01-01T00:00:00.000+0000][0.123s][info][gc] GC(0) x",
            "[0.123s][info ][gc,start     ] GC(0) x",
            "[123ms][gc] GC(0) x",
            "[123000000ns] GC(0) x",
            "[2024-01-01T00:00:00.000+0000][2024-01-01T00:00:00.000+0000][0.123s][1704067200000ms][123ms][5123000000ns][123000000ns][my-host.example][4711][4712][info][gc,heap] GC(0) x",
            "Stage 3 is done[0.123s][info][gc] GC(0) x",
        ] {
            assert_eq!(find(line), Some((uptime, true, "GC(0) x")), "{line}");
        }
        assert_eq!(find("[gc] GC(0) x"), Some((None, true, "GC(0) x")));
        assert_eq!(find("[info][gc,heap] x"), Some((None, true, "x")));
        assert_eq!(find("[0.123s][info][class,load] x"), Some((uptime, false, "x")));
    }

    #[test]
    fn other_text_in_brackets_is_no_decoration() {
        for line in
            ["", "[", "[]", "[main] INFO x", "[Stage 0:> (0 + 2) / 2]", "GC(0) x", "[GC 5K->4K(8K)", "[é"]
        {
            assert_eq!(find(line), None, "{line}");
        }
    }
}
