//! The two text formats of counters in Hadoop 0.18 to 1.
//!
//! Source: `org.apache.hadoop.mapred.Counters.makeEscapedCompactString` (from 0.19 on) and
//! `makeCompactString` (0.18).

use std::borrow::Cow;

use memchr::memchr;
use nom::character::complete::char;
use nom::{IResult, Parser};

use super::lexer::{between, skip_until, unescape_until};
use crate::counter_names::{CounterNames, GroupIndex};
use elephant_model::model::Interner;
use elephant_model::model::counters::CounterSet;

/// Groups whose display name marks where the group ends and the counter's name (which may contain dots)
/// starts.
const FLAT_GROUPS: [&str; 3] = ["Map-Reduce Framework", "File Systems", "Job Counters "];

/// Receives counters one by one.
pub(super) trait CounterSink {
    /// The next counters belong to the group with this name.
    fn group(&mut self, name: &str);
    /// A counter of the group.
    fn counter(&mut self, name: &str, value: i64);
    /// A counter of the group whose value cannot be read.
    fn unreadable(&mut self, name: &str);
    /// The rest cannot be read; it may have contained any counter.
    fn rest_unreadable(&mut self);
}

/// Records counters into a [`CounterSet`].
pub(super) struct Recorder<'a> {
    names: &'a mut CounterNames,
    strings: &'a mut Interner,
    set: &'a mut CounterSet,
    group: Option<GroupIndex>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(
        names: &'a mut CounterNames,
        strings: &'a mut Interner,
        set: &'a mut CounterSet,
    ) -> Self {
        Self { names, strings, set, group: None }
    }
}

impl CounterSink for Recorder<'_> {
    fn group(&mut self, name: &str) {
        self.group = Some(self.names.group(name));
    }

    fn counter(&mut self, name: &str, value: i64) {
        if let Some(group) = self.group {
            self.names.record(group, name, value, self.set, self.strings);
        }
    }

    fn unreadable(&mut self, name: &str) {
        if let Some(group) = self.group {
            self.names.mark_unreadable(group, name, self.set, self.strings);
        }
    }

    fn rest_unreadable(&mut self) {
        self.set.mark_nameless_unreadable();
    }
}

/// Parses the value of a record's `COUNTERS`.
pub(super) fn read(text: &str, sink: &mut impl CounterSink) {
    let text = text.trim_start();
    let whole = if text.starts_with('{') { read_escaped(text, sink) } else { read_flat(text, sink) };
    if whole.is_none() {
        sink.rest_unreadable();
    }
}

/// `{(group)(display name)[(name)(display name)(value)]…}…`; `None` if it cannot be read to the end.
fn read_escaped(text: &str, sink: &mut impl CounterSink) -> Option<()> {
    let mut rest = text;
    while !rest.trim_start().is_empty() {
        let (behind, name) = group_head(rest.trim_start()).ok()?;
        sink.group(&name);
        rest = behind;
        while let Ok((behind, (name, value))) = counter(rest) {
            match value.trim().parse() {
                Ok(value) => sink.counter(&name, value),
                Err(_) => sink.unreadable(&name),
            }
            rest = behind;
        }
        rest = rest.strip_prefix('}')?;
    }
    Some(())
}

fn group_head(input: &str) -> IResult<&str, Cow<'_, str>> {
    let (rest, (_, name, ())) = (char('{'), parenthesised, display_name).parse(input)?;
    Ok((rest, name))
}

fn counter(input: &str) -> IResult<&str, (Cow<'_, str>, Cow<'_, str>)> {
    between(input, ['[', ']'], |rest| {
        let (rest, name) = parenthesised(rest)?;
        let (rest, ()) = display_name(rest)?;
        let (rest, value) = parenthesised(rest)?;
        Ok((rest, (name, value)))
    })
}

fn display_name(input: &str) -> IResult<&str, ()> {
    between(input, ['(', ')'], |rest| skip_until(rest, b')'))
}

fn parenthesised(input: &str) -> IResult<&str, Cow<'_, str>> {
    between(input, ['(', ')'], |rest| unescape_until(rest, b')'))
}

/// `group.name:value,group.name:value`, display names only; `None` if it cannot be read to the end.
fn read_flat(text: &str, sink: &mut impl CounterSink) -> Option<()> {
    let mut rest = text;
    let mut last_group = None;
    while !rest.trim().is_empty() {
        let (mut entry, value, behind) = flat_entry(rest)?;
        // An entry whose value is not a number looks like the start of the next entry's name.
        while let Some((broken, next)) = broken_entry(entry) {
            let (group, name) = split_flat_name(broken);
            sink.group(group);
            last_group = Some(group);
            sink.unreadable(name.split_once(':').map_or(name, |(name, _)| name));
            entry = next;
        }
        let (group, name) = split_flat_name(entry);
        if last_group != Some(group) {
            sink.group(group);
            last_group = Some(group);
        }
        sink.counter(name, value);
        rest = behind;
    }
    Some(())
}

/// Splits off a broken entry that was taken for the start of the name of the next Hadoop counter.
fn broken_entry(entry: &str) -> Option<(&str, &str)> {
    let mut commas = entry.match_indices(',').map(|(at, _)| at);
    let starts = |text: &str| {
        FLAT_GROUPS.iter().any(|group| text.strip_prefix(group).is_some_and(|rest| rest.starts_with('.')))
    };
    let at = commas.find(|at| entry.get(at + 1..).is_some_and(starts))?;
    entry.get(..at).zip(entry.get(at + 1..))
}

/// Name and value of the first entry, and the rest. An entry ends with the first `:number` before a comma or
/// the end, because names may contain commas and colons.
fn flat_entry(text: &str) -> Option<(&str, i64, &str)> {
    let mut from = 0;
    loop {
        let colon = from + memchr(b':', text.as_bytes().get(from..)?)?;
        let behind = text.get(colon + 1..)?;
        let digits = behind.bytes().take_while(|b| b.is_ascii_digit() || *b == b'-').count();
        let (value, rest) = behind.split_at_checked(digits)?;
        let rest = rest.strip_prefix(',').or_else(|| rest.trim().is_empty().then_some(""));
        if let (Ok(value), Some(rest)) = (value.parse(), rest) {
            return Some((text.get(..colon)?, value, rest));
        }
        from = colon + 1;
    }
}

fn split_flat_name(name: &str) -> (&str, &str) {
    let known =
        FLAT_GROUPS.iter().find_map(|group| Some((*group, name.strip_prefix(group)?.strip_prefix('.')?)));
    known.or_else(|| name.rsplit_once('.')).unwrap_or(("", name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::counters::Counter;
    use proptest::prelude::*;

    /// The group, the counters, and the names of lost counters.
    #[derive(Default)]
    struct List(String, Vec<(String, String, i64)>, Vec<String>);

    impl CounterSink for List {
        fn group(&mut self, name: &str) {
            name.clone_into(&mut self.0);
        }
        fn counter(&mut self, name: &str, value: i64) {
            self.1.push((self.0.clone(), name.to_owned(), value));
        }
        fn unreadable(&mut self, name: &str) {
            self.2.push(name.to_owned());
        }
        fn rest_unreadable(&mut self) {
            self.2.push("*".to_owned());
        }
    }

    fn all(text: &str) -> (Vec<String>, Vec<(String, String, i64)>) {
        let mut list = List::default();
        read(text, &mut list);
        (list.2, list.1)
    }

    fn entry(group: &str, name: &str, value: i64) -> (String, String, i64) {
        (group.to_owned(), name.to_owned(), value)
    }

    #[test]
    fn escaped_counters() {
        let text =
            r"{(g\(1\))(G)[(A\[id\]:x)(a)(10)][(B\\\{\})(Physical memory \(bytes\) snapshot)(-1)]}{(h)(h)}";
        let expected = vec![entry("g(1)", "A[id]:x", 10), entry("g(1)", r"B\{}", -1)];
        assert_eq!(all(text), (vec![], expected));
        assert_eq!(all(""), (vec![], vec![]));
    }

    #[test]
    fn flat_counters() {
        let text = "File Systems.HDFS bytes read:123,Map-Reduce Framework.Map input v1.2 records:456,\
                    Job Counters .Launched map tasks:9,org.x.Y$Z.a, b:c:7,nogroup:1,";
        let expected = vec![
            entry("File Systems", "HDFS bytes read", 123),
            entry("Map-Reduce Framework", "Map input v1.2 records", 456),
            entry("Job Counters ", "Launched map tasks", 9),
            entry("org.x.Y$Z", "a, b:c", 7),
            entry("", "nogroup", 1),
        ];
        assert_eq!(all(text), (vec![], expected));
    }

    #[test]
    fn damaged_counters_keep_what_was_read() {
        for (text, count, lost) in [
            ("{(g)(g)[(a)(a)(1)][(b)(b)(x)][(c)(c)(3)]}", 2, "b"),
            ("{(g)(g)[(a)(a)(1)][(b)(b)(99999999999999999999)]}", 1, "b"),
            ("{(g)(g)[(a)(a)(1)][(b)(b)", 1, "*"),
            ("{(g)(g)[(a)(a)(1)]", 1, "*"),
            ("{(g)", 0, "*"),
            ("g.a:1,g.b:", 1, "*"),
            ("garbage", 0, "*"),
            ("File Systems.a:1,File Systems.b:x,File Systems.c:,File Systems.d:2", 2, "b c"),
        ] {
            let (all_lost, list) = all(text);
            assert_eq!((all_lost.join(" "), list.len()), (lost.to_owned(), count), "{text}");
        }
    }

    #[test]
    fn both_texts_fill_the_same_typed_counters() {
        let texts = [
            "{(org.apache.hadoop.mapred.Task$Counter)(Map-Reduce Framework)[(SPILLED_RECORDS)(Spilled Records)(7)]}",
            "Map-Reduce Framework.Spilled Records:7",
        ];
        for text in texts {
            let (mut names, mut strings) = (CounterNames::default(), Interner::default());
            let mut set = CounterSet::default();
            read(text, &mut Recorder::new(&mut names, &mut strings, &mut set));
            assert!(!set.is_damaged());
            assert_eq!(set.get(Counter::SpilledRecords), Some(7), "{text}");
            assert!(set.others.is_empty());
        }
    }

    /// A second implementation of how `Counters.makeEscapedCompactString` escapes names.
    fn escape(text: &str) -> String {
        text.chars().fold(String::new(), |mut out, c| {
            if "\\{}[]()".contains(c) {
                out.push('\\');
            }
            out.push(c);
            out
        })
    }

    proptest! {
        #[test]
        fn any_name_survives_escaping(
            groups in prop::collection::vec((".{0,8}|[\\\\(){}\\[\\]]{1,6}",
                prop::collection::vec((".{0,8}|[\\\\(){}\\[\\]]{1,6}", any::<i64>()), 0..4)), 0..4),
        ) {
            let mut text = String::new();
            let mut expected = Vec::new();
            for (group, counters) in &groups {
                text.extend(["{(", &escape(group), ")(display)"]);
                for (name, value) in counters {
                    let name_text = escape(name);
                    text.extend(["[(", &name_text, ")(", &name_text, ")(", &value.to_string(), ")]"]);
                    expected.push(entry(group, name, *value));
                }
                text += "}";
            }
            prop_assert_eq!(all(&text), (vec![], expected));
        }

        #[test]
        fn no_text_panics(text in ".{0,60}|[{}()\\[\\]\\\\:.,0-9é-]{0,60}") {
            let _ = all(&text);
        }
    }
}
