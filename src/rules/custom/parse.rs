//! Text into a syntax tree, by the grammar of the Common Expression Language.
//!
//! Of the language's library only the parser is used: its evaluator knows neither units nor what is unknown, and a
//! rule runs over each of a hundred thousand tasks.

use cel::common::ast::{IdedExpr, SourceInfo};
use cel::parser::Parser;

/// The longest expression in bytes.
pub(super) const MAX_LENGTH: usize = 2000;
/// How deep brackets may nest: the parser takes some 150 KB of stack for each when it is not optimised.
pub(super) const MAX_NESTING: usize = 10;
/// How many negations and choices an expression has at most.
const MAX_PREFIXES: usize = 24;

/// How many operators an expression has at most: `a + b + c` nests as well.
const MAX_OPERATORS: usize = 100;
/// How many dots it has at most: so does `a.b.c`.
const MAX_DOTS: usize = 200;

/// Something wrong with an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    /// Where it starts in the expression, in bytes.
    pub(super) at: usize,
    /// How many bytes it takes.
    pub(super) len: usize,
    /// What is wrong.
    pub(super) message: String,
    /// What to write instead.
    pub(super) help: Option<String>,
}

impl Mistake {
    /// A mistake at a place.
    pub(super) fn new(at: usize, len: usize, message: impl Into<String>) -> Self {
        Self { at, len, message: message.into(), help: None }
    }

    /// The same with what to write instead.
    #[must_use]
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// A syntax tree and where its parts stand.
pub(super) struct Parsed {
    /// The tree.
    pub(super) tree: IdedExpr,
    /// Places by the ids of the parts.
    pub(super) places: SourceInfo,
}

/// Parses an expression.
///
/// # Errors
/// Every mistake that the parser finds.
pub(super) fn parse(source: &str) -> Result<Parsed, Vec<Mistake>> {
    if source.trim().is_empty() {
        return Err(vec![Mistake::new(0, 0, "the expression is empty")]);
    }
    if source.len() > MAX_LENGTH {
        let message = format!("the expression has {} bytes, {MAX_LENGTH} are allowed", source.len());
        return Err(vec![Mistake::new(0, 0, message).help("name a part of it as a value of its own")]);
    }
    if let Some(at) = too_deep(source) {
        let message = "the expression nests too deeply, or has too many operators";
        return Err(vec![Mistake::new(at, 1, message).help("name a part of it as a value of its own")]);
    }
    Parser::new()
        .parse_with_source_info(source)
        .map(|(tree, places)| Parsed { tree, places })
        .map_err(|errors| mistakes(source, &errors))
}

/// Where there is too much for the stack of the parser and of what walks its tree: brackets within each other,
/// negations and choices, operators in a row, parts of parts. What stands in a text counts, too: that is on the safe
/// side.
fn too_deep(source: &str) -> Option<usize> {
    let (mut open, mut prefixes, mut operators, mut dots) = (0usize, 0usize, 0usize, 0usize);
    let (mut previous, mut before) = (b' ', b' ');
    for (at, byte) in source.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            b'?' => prefixes += 1,
            b'!' | b'-' if !previous.is_ascii_alphanumeric() => prefixes += 1,
            b'.' => dots += 1,
            // `&&` is one operator.
            b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' | b'&' | b'|' if byte != before => {
                operators += 1;
            }
            _ => {}
        }
        // Each list element and index has a bracket or a comma.
        operators += usize::from(byte == b'[');
        if open > MAX_NESTING || prefixes > MAX_PREFIXES || operators > MAX_OPERATORS || dots > MAX_DOTS {
            return Some(at);
        }
        before = byte;
        if !byte.is_ascii_whitespace() {
            previous = byte;
        }
    }
    None
}

fn mistakes(source: &str, errors: &cel::ParseErrors) -> Vec<Mistake> {
    let mut mistakes: Vec<Mistake> = Vec::new();
    for error in &errors.errors {
        let at = place(source, error.pos);
        // One slip makes the parser stumble several times.
        if mistakes.iter().any(|earlier| earlier.at <= at) && !mistakes.is_empty() {
            break;
        }
        mistakes.push(mistake(source, at, &error.msg));
    }
    if mistakes.is_empty() {
        mistakes.push(Mistake::new(0, source.len(), "this is no expression"));
    }
    mistakes
}

/// The byte behind the parser's line and column, both counted from 1.
fn place(source: &str, (line, column): (isize, isize)) -> usize {
    let line = usize::try_from(line).unwrap_or(1).max(1);
    let column = usize::try_from(column).unwrap_or(1).max(1);
    let start: usize = source.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let rest = source.get(start..).unwrap_or_default();
    let within = rest.char_indices().nth(column - 1).map_or(rest.len(), |(at, _)| at);
    (start + within).min(source.len())
}

/// The parser's words in the words of a reader who does not know its grammar.
fn mistake(source: &str, at: usize, message: &str) -> Mistake {
    let rest = source.get(at..).unwrap_or_default();
    let next = rest.chars().next();
    let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let len = if word.is_empty() { next.map_or(0, char::len_utf8) } else { word.len() };
    let here = |message: String| Mistake::new(at, len, message);
    match next {
        None => here("something is missing at the end".to_owned()),
        Some('=') if !rest.starts_with("==") => {
            here("\"=\" alone compares nothing".to_owned()).help("write ==")
        }
        Some(quote @ ('"' | '\'')) => {
            here(format!("the text that starts here has no closing {quote}, or an unknown \\ sequence"))
        }
        Some('%') => here("there is no unit % in expressions".to_owned()).help("write 5% as 0.05"),
        _ if message.starts_with("invalid ") => here(message.to_owned()),
        _ if word.starts_with(|c: char| c.is_ascii_alphabetic())
            && source.get(..at).is_some_and(|before| before.ends_with(|c: char| c.is_ascii_digit())) =>
        {
            here(format!("a number with the unit \"{word}\" is no number here"))
                .help("write time(\"5min\") or size(\"64MB\")")
        }
        _ if !word.is_empty() => here(format!("\"{word}\" is not expected here")),
        Some(other) => here(format!("{other:?} is not expected here")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mistake(source: &str) -> Mistake {
        parse(source).err().unwrap().remove(0)
    }

    #[test]
    fn mistakes_stand_at_their_place() {
        assert_eq!(mistake("1 +").at, 3);
        assert_eq!(mistake("a = b").help.as_deref(), Some("write =="));
        assert_eq!(mistake("a > 5min").at, 5);
        assert!(mistake("a > 5min").help.unwrap().contains("time("));
        assert!(mistake("x == 'abc").message.contains("closing"));
        assert_eq!(mistake("x == 'é' é").at, 10);
        assert_eq!(mistake("a\n+\n b b").at, 7);
        assert!(mistake("  ").message.contains("empty"));
        assert!(mistake("99999999999999999999").message.contains("invalid int literal"));
    }

    #[test]
    fn nothing_goes_too_deep() {
        for (open, middle, close, most) in [
            ("(", "1", ")", 10),
            ("f(", "1", ")", 10),
            ("!", "a", "", 24),
            ("-", "a", "", 24),
            ("a?b:", "c", "", 24),
        ] {
            for times in [most, most + 1, 300] {
                let source = format!("{}{middle}{}", open.repeat(times), close.repeat(times));
                assert_eq!(parse(&source).is_ok(), times == most, "{source}");
            }
        }
        for (part, between, most) in [("1", "+", 100), ("a", "&&", 100), ("b", ".", 200), ("a", "<", 100)] {
            let chain = |parts: usize| vec![part; parts].join(between);
            assert!(parse(&chain(most + 1)).is_ok(), "{between}");
            assert!(parse(&chain(most + 2)).is_err(), "{between}");
        }
        assert!(parse(&format!("a{}", "[0]".repeat(99))).is_ok());
        assert!(parse(&format!("a{}", "[0]".repeat(600))).is_err());
        // A raw text does not hide what follows it.
        assert!(parse(&format!("r'\\'{}", "(".repeat(900))).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

        #[test]
        fn no_text_makes_the_parser_panic(source in ".{0,60}") {
            let _ = parse(&source);
        }

        #[test]
        fn no_heap_of_symbols_makes_the_parser_panic(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "a", "b.c", "1", "0x", "1e9", "'", "\"", "(", ")", "[", "]", "{", "}", ",", ".", "?", ":", "!",
                    "-", "+", "*", "/", "%", "==", "<", "&&", "||", " in ", "null", "has(", "\\", "`", "é", "\n", "r'",
                    "b'", ".map(x,", ".all(", "@", "\0", "u", "//",
                ]),
                0..25,
            )
        ) {
            let _ = parse(&parts.concat());
        }
    }
}
