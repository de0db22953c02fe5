//! Call sites, and descriptions that users or Spark gave instead.

use crate::mask::Mask;
use crate::pseudonyms::Kind;
use crate::vocabulary::is_known;

/// Words that begin statements of SQL.
const STATEMENTS: [&str; 27] = [
    "select", "insert", "create", "with", "merge", "update", "delete", "drop", "alter", "show", "describe",
    "desc", "cache", "uncache", "refresh", "analyze", "explain", "truncate", "load", "msck", "vacuum",
    "optimize", "use", "copy", "replace", "from", "values",
];

impl Mask {
    /// The replacement of a call site (`save at Report.scala:12`), of SQL, or of a description.
    pub(crate) fn site(&mut self, text: &str) -> String {
        if let Some((call, place)) = text.rsplit_once(" at ").filter(|(_, place)| is_place(place)) {
            let call = if is_known(call) { call.to_owned() } else { self.message(call) };
            return format!("{call} at {}", self.place(place));
        }
        if is_sql(text) { self.sql(text) } else { self.message(text) }
    }

    fn place(&mut self, place: &str) -> String {
        match place.rsplit_once(':') {
            Some((file, line)) if file.starts_with('<') => {
                if is_known(file) {
                    format!("{file}:{line}")
                } else {
                    format!("<{}>:{line}", self.name(Kind::File, file))
                }
            }
            Some((file, line)) if file.contains('/') => format!("{}:{line}", self.path(file)),
            Some((file, line)) => {
                let known = self.source_line(place);
                known.unwrap_or_else(|| format!("{}:{line}", self.folder(file, "")))
            }
            None => self.folder(place, ""),
        }
    }
}

fn is_place(place: &str) -> bool {
    let line = place.rsplit(':').next().unwrap_or_default();
    place.contains(':')
        && !line.is_empty()
        && line.len() <= 7
        && line.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is a statement of SQL, by its first word.
pub(crate) fn is_sql(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| c == '(' || c.is_whitespace());
    let word = text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let is_longer = text.len() > word.len();
    is_longer && STATEMENTS.iter().any(|known| known.eq_ignore_ascii_case(word))
        || text.starts_with("--")
        || text.starts_with("/*")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{mask, shape};

    #[test]
    fn call_sites_keep_the_method_and_the_line() {
        for (site, expected) in [
            ("save at Payroll.scala:12", "save at File-*.scala:12"),
            ("count at <console>:33", "count at <console>:33"),
            (
                "showString at NativeMethodAccessorImpl.java:0",
                "showString at NativeMethodAccessorImpl.java:0",
            ),
            ("collect at /home/bob/q.py:7", "collect at /home/user-*/file-*.py:7"),
            ("Streaming job running receiver 0", "Streaming job running receiver 0"),
            (
                "Listing leaf files and directories for 3 paths:",
                "Listing leaf files and directories for 3 paths:",
            ),
            ("SELECT pay FROM staff", "SELECT name_* FROM name_*"),
            ("monthly payroll", "word-* word-*"),
        ] {
            assert_eq!(shape(&mask().site(site)), expected);
        }
    }
}
