//! What may be shown of a message without asking for it: numbers, sizes, durations and ids.

use super::ids::is_id;

/// Units of sizes and durations.
const UNITS: [&str; 37] = [
    "b",
    "k",
    "m",
    "g",
    "t",
    "kb",
    "mb",
    "gb",
    "tb",
    "pb",
    "kib",
    "mib",
    "gib",
    "tib",
    "byte",
    "bytes",
    "ns",
    "us",
    "ms",
    "s",
    "sec",
    "secs",
    "second",
    "seconds",
    "min",
    "mins",
    "minute",
    "minutes",
    "h",
    "hour",
    "hours",
    "d",
    "day",
    "days",
    "milliseconds",
    "millis",
    "%",
];

/// A fact is no longer.
const LONGEST: usize = 80;

/// Whether a text is a number, a size, a duration or an id of a cluster.
#[must_use]
pub fn is_harmless(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.len() <= LONGEST && (is_quantity(text) || is_id(text))
}

/// `300`, `1024.1 MiB`, `-104`, `5,000 ms`, `12%`.
fn is_quantity(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let end = digits.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(digits.len());
    let (number, unit) = digits.split_at(end);
    let is_number = number.starts_with(|c: char| c.is_ascii_digit());
    let unit = unit.trim_start().to_ascii_lowercase();
    is_number && (unit.is_empty() || UNITS.contains(&unit.as_str()))
}

/// A template with the facts in place of their names in braces, and "…" for what may not be shown.
pub(crate) fn filled(template: &str, facts: &[(String, String)]) -> String {
    let mut parts = template.split('{');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('}') {
            Some((name, rest)) => {
                let known = facts.iter().find(|(known, _)| known == name);
                text += known.map_or("…", |(_, value)| value);
                text += rest;
            }
            None => text.extend(["{", part]),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_paths_and_secrets_are_no_facts() {
        for text in [
            "300",
            "1024.1 MiB",
            "-104",
            "5000ms",
            "12%",
            "5,000 ms",
            "application_1593014569456_34512",
            "container_e42_1_2_03_000001",
            "app-20260101000000-0001",
        ] {
            assert!(is_harmless(text), "{text}");
        }
        for text in [
            "",
            "jane",
            "10.0.0.1 host",
            "/user/jane",
            "4711 Smith",
            "AKIAIOSFODNN7EXAMPLE",
            "jane@example.com",
            "application_x",
            "192.168.0.1:80",
            "-",
        ] {
            assert!(!is_harmless(text), "{text}");
        }
    }

    #[test]
    fn facts_fill_the_template() {
        let facts = [("ms".to_owned(), "5000".to_owned())];
        assert_eq!(filled("waited {ms} ms for {lock}", &facts), "waited 5000 ms for …");
        assert_eq!(filled("a {b", &facts), "a {b");
    }
}
