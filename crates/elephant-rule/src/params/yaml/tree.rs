//! Parses text into trees, one per document.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::mistakes::{NESTED, cut_off_expression, explain};
use super::syntax_error::SyntaxError;
use super::unquoted::tagged;
use super::{Kind, Node, Span, Spanned};
use crate::params::work;

/// The maximum nesting in a rule file.
const MAX_DEPTH: usize = 32;
/// The maximum number of nodes that aliases copy. All others take room in the file.
const MAX_COPIES: usize = 200_000;

/// The non-empty documents of a text. After an error, reading continues with the next document.
#[must_use]
pub fn documents(text: &str) -> (Vec<Node>, Vec<SyntaxError>) {
    let mut found = Found::default();
    let all = Places::of(text);
    let mut from = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    while let Some(rest) = text.get(from..) {
        let Some(broken) = found.read((text, rest), &all.after(from)) else { break };
        let next = text.get(broken..).and_then(|tail| tail.find("\n---"));
        let Some(line) = next else { break };
        from = broken + line + 1;
    }
    (found.documents, found.errors)
}

/// The first place where a text nests deeper than a rule file may. Readers of YAML without such a bound take quadratic time
/// on it. `None` if there is none.
#[must_use]
pub fn too_deep(text: &str) -> Option<Span> {
    let all = Places::of(text);
    let places = all.after(0);
    let mut depth = 0_usize;
    for event in Parser::new_from_str(text) {
        // The parser gives up on very many, and on those that are not closed, before it tells of the first.
        let Ok((event, at)) = event else { return too_many_open(text) };
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
            Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Some(places.span(at));
        }
    }
    None
}

/// The first bracket that is too deep, in a text that is no YAML.
fn too_many_open(text: &str) -> Option<Span> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Some(at..at + 1);
        }
    }
    None
}

#[derive(Default)]
struct Found {
    documents: Vec<Node>,
    errors: Vec<SyntaxError>,
    /// Nodes that aliases copied.
    copies: usize,
}

impl Found {
    /// Reads documents up to an error, and returns the start of the document with the error. An error may
    /// be detected far after its cause. The parser gets the rest of the whole text.
    fn read(&mut self, (whole, text): (&str, &str), places: &PlacesAfter<'_>) -> Option<usize> {
        let mut builder = Builder::default();
        let mut parser = Parser::new_from_str(text);
        let mut begun = places.from;
        while let Some(event) = parser.next_event() {
            let (event, at) = match event {
                Ok((event, span)) => (event, places.span(span)),
                Err(error) => {
                    let at = places.byte(error.marker().index());
                    self.errors.push(explain(whole, at, error.info()));
                    return Some(begun);
                }
            };
            if matches!(event, Event::DocumentStart(_)) {
                begun = at.start;
            }
            if let Event::Scalar(word, ScalarStyle::Plain, ..) = &event {
                self.errors.extend(cut_off_expression(whole, word, &at));
            }
            // Without its text, the value would give a second error.
            if let Event::Scalar(_, ScalarStyle::Plain, _, Some(_)) = &event
                && let Some(error) = tagged(whole, at.start)
            {
                self.errors.push(error);
                return Some(begun);
            }
            let step = builder.take(event, at, &mut self.copies);
            self.errors.append(&mut builder.errors);
            if let Err(error) = step {
                self.errors.push(error);
                return Some(begun);
            }
            self.documents.extend(builder.done.take());
        }
        None
    }
}

/// The bytes of all characters of a text.
struct Places {
    /// `None` if all characters are single bytes.
    bytes: Option<Vec<usize>>,
    len: usize,
}

impl Places {
    fn of(text: &str) -> Self {
        work::count(text.len());
        let bytes = (!text.is_ascii()).then(|| text.char_indices().map(|(byte, _)| byte).collect());
        Self { bytes, len: text.len() }
    }

    /// For a parser of the text from this byte on.
    fn after(&self, from: usize) -> PlacesAfter<'_> {
        let bytes = self.bytes.as_ref();
        PlacesAfter {
            all: self,
            first: bytes.map_or(from, |bytes| bytes.partition_point(|byte| *byte < from)),
            from,
        }
    }
}

/// Converts positions in characters, which the parser reports, into bytes.
struct PlacesAfter<'p> {
    all: &'p Places,
    /// The number of characters before the parser's text.
    first: usize,
    from: usize,
}

impl PlacesAfter<'_> {
    fn byte(&self, character: usize) -> usize {
        let character = self.first + character;
        match &self.all.bytes {
            Some(bytes) => bytes.get(character).copied().unwrap_or(self.all.len),
            None => character.min(self.all.len),
        }
    }

    fn span(&self, span: saphyr_parser::Span) -> Span {
        let start = self.byte(span.start.index());
        start..self.byte(span.end.index()).max(start)
    }
}

/// An unfinished list or mapping.
struct Open {
    span: Span,
    anchor: usize,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Node>),
    Map { entries: Vec<(Spanned<String>, Node)>, known: BTreeSet<String>, key: Option<Spanned<String>> },
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    anchors: BTreeMap<usize, Node>,
    errors: Vec<SyntaxError>,
    done: Option<Node>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span, copies: &mut usize) -> Result<(), SyntaxError> {
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let plain = style == ScalarStyle::Plain;
                self.put(Node { span, kind: Kind::Scalar { text: text.into_owned(), plain } }, anchor)
            }
            Event::SequenceStart(anchor, _) => self.start(span, anchor, OpenKind::List(Vec::new())),
            Event::MappingStart(anchor, _) => {
                let kind = OpenKind::Map { entries: Vec::new(), known: BTreeSet::new(), key: None };
                self.start(span, anchor, kind)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(&span),
            Event::Alias(anchor) => {
                let Some(known) = self.anchors.get(&anchor) else {
                    return Err(error(span, "the alias occurs before its anchor or inside it"));
                };
                let mut node = known.clone();
                *copies += count(&node);
                if *copies > MAX_COPIES {
                    return Err(error(span, "aliases copy more values than a rule file may have"));
                }
                // An error in the value is shown where the alias is used.
                node.span = span;
                self.put(node, 0)
            }
            Event::DocumentStart(_) => {
                self.anchors.clear();
                Ok(())
            }
            Event::DocumentEnd | Event::Nothing | Event::StreamStart | Event::StreamEnd => Ok(()),
        }
    }

    fn start(&mut self, span: Span, anchor: usize, kind: OpenKind) -> Result<(), SyntaxError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(error(span, NESTED));
        }
        self.open.push(Open { span, anchor, kind });
        Ok(())
    }

    fn end(&mut self, at: &Span) -> Result<(), SyntaxError> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let (kind, last) = match open.kind {
            OpenKind::List(items) => {
                let last = items.last().map(|item| item.span.end);
                (Kind::List(items), last)
            }
            OpenKind::Map { entries, .. } => {
                let last = entries.last().map(|(_, value)| value.span.end);
                (Kind::Map(entries), last)
            }
        };
        // A block ends where the next token starts; the text between is not part of it.
        let end = if at.is_empty() { last.unwrap_or(at.end) } else { at.end };
        let span = open.span.start..end.max(open.span.start);
        self.put(Node { span, kind }, open.anchor)
    }

    fn put(&mut self, node: Node, anchor: usize) -> Result<(), SyntaxError> {
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut().map(|open| &mut open.kind) {
            None => self.done = Some(node).filter(|node| !is_empty(node)),
            Some(OpenKind::List(items)) => items.push(node),
            Some(OpenKind::Map { entries, known, key }) => match (key.take(), &node.kind) {
                (Some(key), _) => {
                    if known.insert(key.value.clone()) {
                        entries.push((key, node));
                    } else {
                        let message = format!("the key \"{}\" occurs twice", key.value);
                        self.errors.push(SyntaxError { span: key.span, message, help: None });
                    }
                }
                (None, Kind::Scalar { text, .. }) => {
                    *key = Some(Spanned { value: text.clone(), span: node.span });
                }
                (None, _) => return Err(error(node.span, "a key must be a word")),
            },
        }
        Ok(())
    }
}

fn error(span: Span, message: impl Into<Cow<'static, str>>) -> SyntaxError {
    SyntaxError { span, message: message.into().into_owned(), help: None }
}

/// Whether a document contains only comments.
fn is_empty(node: &Node) -> bool {
    matches!(&node.kind, Kind::Scalar { text, plain: true } if text.is_empty() || text == "~" || text == "null")
}

fn count(node: &Node) -> usize {
    1 + match &node.kind {
        Kind::Scalar { .. } => 0,
        Kind::List(items) => items.iter().map(count).sum(),
        Kind::Map(entries) => entries.iter().map(|(_, value)| count(value)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown<'t>(text: &'t str, node: &Node) -> &'t str {
        text.get(node.span.clone()).unwrap_or_default()
    }

    #[test]
    fn every_part_has_its_position() {
        let text = "# Überschrift\nrule: a\nlist: [1, 'zwei', 3.5]\nblock:\n  - x\n  - y   # why\n---\n# nothing\n---\nrule: b\n";
        let (documents, errors) = documents(text);
        assert_eq!((documents.len(), errors.len()), (2, 0));
        let Kind::Map(entries) = &documents[0].kind else { panic!() };
        let keys: Vec<_> = entries.iter().map(|(key, _)| &text[key.span.clone()]).collect();
        assert_eq!(keys, ["rule", "list", "block"]);
        assert_eq!(shown(text, &entries[1].1), "[1, 'zwei', 3.5]");
        let Kind::List(items) = &entries[1].1.kind else { panic!() };
        assert_eq!(items.iter().map(|item| shown(text, item)).collect::<Vec<_>>(), ["1", "'zwei'", "3.5"]);
        assert_eq!(shown(text, &entries[2].1), "- x\n  - y");
    }

    #[test]
    fn reading_continues_after_an_error() {
        let text = "rule: a\nx: [1, 2\n---\nrule: b\nrule: c\n---\nrule: d\n";
        let (documents, errors) = documents(text);
        assert_eq!(documents.len(), 2, "{documents:?}");
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(errors[1].message.contains("occurs twice"), "{errors:?}");
    }

    #[test]
    fn alias_bombs_and_deep_nesting_are_rejected() {
        let deep = format!("x: {}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(documents(&deep).1[0].message.contains("nested"), "{:?}", documents(&deep).1);
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let below = format!("*a{}, ", level - 1).repeat(10);
            bomb = format!("{bomb}a{level}: &a{level} [{below}]\n");
        }
        assert!(documents(&bomb).1[0].message.contains("more values"), "{:?}", documents(&bomb).1);
        assert!(documents("a: &a [*a]").1[0].message.contains("alias"));
    }

    #[test]
    fn the_first_place_that_is_too_deep_is_found_without_reading_on() {
        let nested = |levels: usize| format!("a: 1\nx: {}{}\n", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(too_deep(&nested(MAX_DEPTH - 1)), None);
        assert_eq!(too_deep(&nested(200_000)).map(|at| at.start), Some("a: 1\nx: ".len() + MAX_DEPTH));
        assert_eq!(too_deep(&"{a: ".repeat(100_000)).map(|at| at.start), Some(4 * MAX_DEPTH));
        assert_eq!(too_deep(&"[".repeat(100_000)).map(|at| at.start), Some(MAX_DEPTH));
        assert_eq!(too_deep("a: [1, 2"), None);
    }

    #[test]
    fn odd_texts_never_panic() {
        for text in [
            "",
            "\u{feff}",
            "---",
            "...",
            "~",
            "\u{feff}rule: x",
            "? [a]\n: b",
            "\t",
            "a: b: c",
            "%YAML 9.9\n---\n",
            "\u{0}",
        ] {
            let _ = documents(text);
        }
        assert_eq!(documents("\u{feff}rule: x").0.len(), 1);
    }
}
