//! Statements of SQL: keywords and functions stay, names and literals do not.

use crate::mask::Mask;
use crate::pseudonyms::Kind;
use crate::vocabulary::is_known;
use elephant_base::form;

const KEYWORDS: [&str; 100] = [
    "add",
    "all",
    "alter",
    "analyze",
    "and",
    "any",
    "as",
    "asc",
    "between",
    "bigint",
    "boolean",
    "by",
    "cache",
    "case",
    "cast",
    "cluster",
    "columns",
    "compute",
    "create",
    "cross",
    "current",
    "database",
    "date",
    "decimal",
    "delete",
    "desc",
    "describe",
    "directory",
    "distinct",
    "distribute",
    "double",
    "drop",
    "else",
    "end",
    "except",
    "exists",
    "explain",
    "external",
    "false",
    "fields",
    "first",
    "float",
    "following",
    "for",
    "format",
    "from",
    "full",
    "function",
    "group",
    "grouping",
    "having",
    "if",
    "in",
    "inner",
    "insert",
    "int",
    "intersect",
    "interval",
    "into",
    "is",
    "join",
    "last",
    "lateral",
    "left",
    "like",
    "limit",
    "location",
    "merge",
    "not",
    "null",
    "nulls",
    "offset",
    "on",
    "or",
    "order",
    "outer",
    "over",
    "overwrite",
    "parquet",
    "partition",
    "partitioned",
    "preceding",
    "range",
    "right",
    "rlike",
    "row",
    "rows",
    "select",
    "semi",
    "set",
    "sets",
    "show",
    "sort",
    "statistics",
    "stored",
    "string",
    "table",
    "temporary",
    "then",
    "timestamp",
];
const MORE_KEYWORDS: [&str; 22] = [
    "true",
    "truncate",
    "unbounded",
    "union",
    "update",
    "use",
    "using",
    "values",
    "varchar",
    "view",
    "when",
    "where",
    "window",
    "with",
    "orc",
    "csv",
    "json",
    "delta",
    "anti",
    "natural",
    "replace",
    "matched",
];

impl Mask {
    /// The replacement of a statement.
    pub(crate) fn sql(&mut self, text: &str) -> String {
        // Hive writes queries into settings as forms are sent.
        if !text.contains(char::is_whitespace) && text.contains(['+', '%']) {
            let decoded = form::decoded(text);
            return self.statement(&decoded).replace(' ', "+").replace('\n', "%0A");
        }
        self.statement(text)
    }

    fn statement(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let taken = match first {
                '\'' | '"' => self.literal(first, rest, &mut out),
                _ if is_of_name(first) => self.name_in_sql(rest, &mut out),
                _ => {
                    out.push(first);
                    first.len_utf8()
                }
            };
            rest = rest.get(taken..).unwrap_or_default();
        }
        out
    }

    /// A literal, up to the same quote, which doubles or a backslash escape.
    fn literal(&mut self, quote: char, text: &str, out: &mut String) -> usize {
        let mut escaped = false;
        let end = text.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == quote && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        let end = end.map_or(text.len(), |(at, _)| at);
        let inner = text.get(1..end).unwrap_or_default();
        out.push(quote);
        if !inner.is_empty() {
            out.push_str(&self.name(Kind::Name, inner));
        }
        out.push(quote);
        end + 1
    }

    fn name_in_sql(&mut self, text: &str, out: &mut String) -> usize {
        let len = text.find(|c| !is_of_name(c)).unwrap_or(text.len());
        let (word, after) = text.split_at(len);
        let is_keyword = |list: &[&str]| list.iter().any(|known| known.eq_ignore_ascii_case(word));
        let is_call = after.trim_start().starts_with('(') && is_known(word);
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            out.push_str(&if word.len() == 1 { word.to_owned() } else { self.digits(word) });
        } else if is_keyword(&KEYWORDS) || is_keyword(&MORE_KEYWORDS) || is_call {
            out.push_str(word);
        } else {
            out.push_str(&self.name(Kind::Name, word));
        }
        len
    }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{mask, shape};

    #[test]
    fn names_and_literals_are_replaced() {
        for (sql, expected) in [
            (
                "SELECT count(*), max(t.pay) FROM hr.staff t WHERE name = 'Alice O\\'Hara' AND id > 4711 ORDER BY pay",
                "SELECT count(*), max(name_*.name_*) FROM name_*.name_* name_* WHERE name_* = 'Name_*' AND name_* > N ORDER BY name_*",
            ),
            ("select+secret+from%0Astaff", "select+name_*+from%0Aname_*"),
            ("SELECT 'open", "SELECT 'name_*'"),
            ("SELECT `größe`", "SELECT `name_*`"),
        ] {
            let masked = shape(&mask().sql(sql));
            let digits = masked
                .split(|c: char| !c.is_ascii_digit())
                .find(|digits| digits.len() == 4)
                .unwrap_or("N")
                .to_owned();
            assert_eq!(masked.replace(&digits, "N"), expected);
            assert_ne!(digits, "4711");
        }
    }
}
