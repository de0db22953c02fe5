//! Reading the texts of plans (`simpleString`): lists in brackets, conditions, and the attributes that they name.

/// The comparisons of two sides. The longer ones come first: " < " is no part of " <= ".
const COMPARISONS: [&str; 10] =
    [" <=> ", " >= ", " <= ", " = ", " > ", " < ", " IN ", " INSET ", " LIKE ", " RLIKE "];

/// The contents of the lists in square brackets of a text.
pub(crate) fn lists(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('[') {
        let mut depth = 1;
        let end = after.char_indices().find(|(_, c)| {
            depth += match c {
                '[' => 1,
                ']' => -1,
                _ => 0,
            };
            depth == 0
        });
        let Some((end, _)) = end else { break };
        let (list, behind) = after.split_at(end);
        found.push(list);
        rest = behind.get(1..).unwrap_or_default();
    }
    found
}

/// The contents of the first list in square brackets.
pub(crate) fn first_list(text: &str) -> Option<&str> {
    lists(text).first().copied()
}

/// The items of a list, without those that Spark left out ("... 12 more fields").
pub(crate) fn items(list: &str) -> Vec<&str> {
    let parts = split(list, ",").into_iter().map(str::trim);
    parts.filter(|item| !item.is_empty() && !item.starts_with("... ")).collect()
}

/// The conditions that must all hold: "((a AND b) AND c)" is a, b and c.
pub(crate) fn conjuncts(condition: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut open = vec![condition];
    while let Some(condition) = open.pop() {
        let inner = without_brackets(condition);
        let parts = split(inner, " AND ");
        if parts.len() > 1 {
            open.extend(parts.into_iter().rev());
        } else {
            all.push(condition.trim());
        }
    }
    all
}

/// Both sides of a comparison.
pub(crate) fn sides(condition: &str) -> Option<(&str, &str)> {
    let inner = without_brackets(condition);
    COMPARISONS.iter().find_map(|comparison| {
        let parts = split(inner, comparison);
        let (left, _) = parts.split_first()?;
        let right = inner.get(left.len() + comparison.len()..)?;
        Some((*left, right))
    })
}

/// The names of the fields of a "struct<id:bigint,name:string>"; `None` if it is cut.
pub(crate) fn fields(schema: &str) -> Option<Vec<&str>> {
    let list = schema.trim().strip_prefix("struct<")?.strip_suffix('>')?;
    let fields = split_by(list, ",", step_of_type).into_iter();
    Some(fields.filter_map(|field| field.split_once(':').map(|(name, _)| name)).collect())
}

/// The arguments of a call: of "f(a, g(b))" a and g(b).
pub(crate) fn arguments(call: &str) -> Vec<&str> {
    let list = call.split_once('(').and_then(|(_, list)| list.trim_end().strip_suffix(')'));
    list.map(items).unwrap_or_default()
}

/// The attributes that a text names: "day#12", "id#3L".
pub(crate) fn attributes(text: &str) -> Vec<&str> {
    places(text).into_iter().map(|(_, name)| name).collect()
}

/// The attributes that a text names, each with its place.
fn places(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('#') {
        let (before, after) = text.split_at(at);
        let digits = after.bytes().skip(1).take_while(u8::is_ascii_digit).count();
        let name = before.bytes().rev().take_while(|byte| is_of_name(*byte)).count();
        if digits == 0 || name == 0 {
            continue;
        }
        let long = usize::from(after.as_bytes().get(1 + digits) == Some(&b'L'));
        found.extend(text.get(at - name..at + 1 + digits + long).map(|attribute| (at - name, attribute)));
    }
    found
}

/// A text with another name for an attribute.
pub(crate) fn renamed(text: &str, attribute: &str, name: &str) -> String {
    let mut told = text.to_owned();
    for (at, found) in places(text).into_iter().rev() {
        if found == attribute {
            told.replace_range(at..at + found.len(), name);
        }
    }
    told
}

/// Whether a text names an attribute.
pub(crate) fn mentions(text: &str, attribute: &str) -> bool {
    attributes(text).contains(&attribute)
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || !byte.is_ascii()
}

/// A text without the brackets around all of it.
fn without_brackets(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(inner) = text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        let mut depth = 0_i32;
        let closes_early = inner.bytes().any(|byte| {
            depth += step(byte);
            depth < 0
        });
        if closes_early {
            break;
        }
        text = inner.trim();
    }
    text
}

/// The parts between separators that are in no brackets.
fn split<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    split_by(text, separator, step)
}

fn split_by<'t>(text: &'t str, separator: &str, step: fn(u8) -> i32) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    for (at, byte) in text.bytes().enumerate() {
        depth += step(byte);
        let is_separator = depth == 0
            && at >= start
            && text.as_bytes().get(at..).is_some_and(|rest| rest.starts_with(separator.as_bytes()));
        if is_separator {
            parts.extend(text.get(start..at));
            start = at + separator.len();
        }
    }
    parts.extend(text.get(start..));
    parts
}

/// How a byte changes the depth of brackets.
const fn step(byte: u8) -> i32 {
    match byte {
        b'(' | b'[' => 1,
        b')' | b']' => -1,
        _ => 0,
    }
}

/// The same in the name of a type ("array<struct<a:int,b:decimal(9,2)>>").
const fn step_of_type(byte: u8) -> i32 {
    match byte {
        b'<' => 1,
        b'>' => -1,
        _ => step(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_divided_at_their_own_level() {
        let text = "(((isnotnull(a#1) AND (b#2 = 5)) AND ((c#3 > 1) OR (d#4 < 2))) AND NOT (e#5 = x AND y))";
        let expected = ["isnotnull(a#1)", "(b#2 = 5)", "((c#3 > 1) OR (d#4 < 2))", "NOT (e#5 = x AND y)"];
        assert_eq!(conjuncts(text), expected);
    }

    #[test]
    fn comparisons_have_two_sides() {
        assert_eq!(sides("(concat(a#1, b#2) >= 2026)"), Some(("concat(a#1, b#2)", "2026")));
        assert_eq!(sides("a#1 IN (1,2)"), Some(("a#1", "(1,2)")));
        assert_eq!(sides("StartsWith(a#1, b = c)"), None);
    }

    #[test]
    fn attributes_are_names_with_numbers() {
        assert_eq!(attributes("f(day#12, id#3L) = # a# #7"), ["day#12", "id#3L"]);
        assert!(mentions("(day#1 = 3)", "day#1") && !mentions("(day#12 = 3)", "day#1"));
        assert!(!mentions("(today#1 = 3)", "day#1"));
    }

    #[test]
    fn items_are_divided_at_commas_outside_of_brackets() {
        assert_eq!(items("a#1, f(b#2, c#3) AS d#4, ... 12 more fields"), ["a#1", "f(b#2, c#3) AS d#4"]);
        assert_eq!(fields("struct<a:array<struct<b:int,c:int>>,d:decimal(9,2)>"), Some(vec!["a", "d"]));
        assert_eq!(fields("struct<id:bigint,v:str"), None);
        assert_eq!(arguments("StartsWith(concat(a#1, b#2), x)"), ["concat(a#1, b#2)", "x"]);
        assert_eq!(renamed("f(a#1, a#12)", "a#1", "b"), "f(b, a#12)");
        assert_eq!(lists("Python [f(a#1)], [x#2], 200"), ["f(a#1)", "x#2"]);
    }
}
