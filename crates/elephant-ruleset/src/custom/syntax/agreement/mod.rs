//! Tests that the crate `cel` and our parser read the same tree, or both reject the text.
//!
//! There are three deliberate differences, which `compare` accounts for:
//! - `cel` expands macros while it parses. It rejects `has(x)` if `x` is not a field, and `list.all(x, …)`
//!   and similar calls if `x` is not a name. Here they stay calls, which the compiler rejects with its own
//!   message.
//! - Our limits on length and depth.
//! - `cel` reads the bytes of `b"…"`. We do not keep them, because no rule can use them, so their content
//!   is not compared.

mod form;
mod generated;

use std::collections::BTreeSet;
use std::path::Path;

/// Handwritten expressions, one per line.
const READ: &str = include_str!("read.txt");

/// Texts that are not expressions, one per line.
const REFUSED: &str = include_str!("refused.txt");

/// Texts with several lines.
const LINES: [&str; 15] = [
    "a // one\n+ // two\n b",
    "a //",
    "//\na",
    "a\r\n+\tb\x0c",
    "a\x0b+ b",
    "a\u{a0}+ b",
    "'a\nb'",
    "\"a\rb\"",
    "'''a\nb'''",
    "\"\"\"a\r\nb\rc\n\"\"\"",
    "r'''a\r\nb\\\rc'''",
    "r'a\nb'",
    "'''a\\\nb'''",
    "b'''a\r\n'''",
    "a\0b",
];

/// How the results of the two parsers compare.
#[derive(Debug, PartialEq, Eq)]
enum Agreement {
    /// The same tree.
    Tree,
    /// Both rejected the text.
    Refused,
    /// Our parser has a limit that `cel` does not have.
    Limit,
}

/// Parses a text with both parsers.
fn compare(source: &str) -> Result<Agreement, String> {
    let theirs = cel::parser::Parser::new().parse(source).map(|tree| form::of_theirs(&tree));
    match (super::parse(source), theirs) {
        (Err(mistake), Ok(_)) if mistake.help.as_deref() == Some(super::mistakes::SPLIT) => {
            Ok(Agreement::Limit)
        }
        (Err(_), Err(_)) => Ok(Agreement::Refused),
        (Ok(tree), Err(_)) if form::of_ours(&tree).is_none() => Ok(Agreement::Refused),
        (Ok(tree), Ok(theirs)) if form::of_ours(&tree).as_ref() == Some(&theirs) => Ok(Agreement::Tree),
        (ours, theirs) => {
            let ours = ours.map(|tree| form::of_ours(&tree));
            Err(format!("{source}\nours:   {ours:?}\ntheirs: {theirs:?}\n"))
        }
    }
}

/// Runs a test with enough stack for `cel`, which needs 150 KB per bracket.
fn with_much_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(test).unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// The texts that both read as the same tree, and those that both reject.
fn agree_on_all<'a>(sources: impl IntoIterator<Item = &'a str>) -> [Vec<&'a str>; 2] {
    let (mut trees, mut refused, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    for source in sources {
        match compare(source) {
            Ok(Agreement::Tree) => trees.push(source),
            Ok(Agreement::Refused) => refused.push(source),
            Ok(Agreement::Limit) => {}
            Err(difference) => wrong.push(difference),
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    [trees, refused]
}

#[test]
fn both_agree_on_corner_cases() {
    with_much_stack(|| {
        let none = Vec::<&str>::new();
        let [_, refused] = agree_on_all(READ.lines());
        assert_eq!(refused, none);
        let [trees, _] = agree_on_all(REFUSED.lines());
        assert_eq!(trees, none);
        agree_on_all(LINES);
    });
}

#[test]
fn both_agree_on_all_texts_in_the_repository() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut found = BTreeSet::new();
    for (folder, ending) in [
        ("rules", "yaml"),
        ("docs", "md"),
        ("crates/elephant-ruleset/tests/it/custom", "rs"),
        ("crates/elephant-ruleset/src/custom", "rs"),
    ] {
        for entry in walkdir::WalkDir::new(root.join(folder)) {
            let path = entry.unwrap().into_path();
            if path.extension().is_some_and(|extension| extension == ending) {
                expressions(&std::fs::read_to_string(path).unwrap(), &mut found);
            }
        }
    }
    expressions(&std::fs::read_to_string(root.join("README.md")).unwrap(), &mut found);
    with_much_stack(move || {
        let [trees, refused] = agree_on_all(found.iter().map(String::as_str));
        println!("{} agree, {} are rejected by both", trees.len(), refused.len());
        assert!(trees.len() > 300, "{}", trees.len());
    });
}

/// Everything that may be an expression: lines, values of keys, and text in quotes, ticks or braces. Most
/// of it is something else, which does no harm.
fn expressions(text: &str, found: &mut BTreeSet<String>) {
    let text = text.replace("\\\"", "\"").replace("\\\\", "\\");
    let mut add = |part: &str| {
        let part = part.trim();
        // `cel` takes seconds for some long texts that are not expressions.
        let brackets = part.matches(['(', '[', '{']).count();
        if !part.is_empty() && part.len() < 200 && brackets < 12 {
            found.insert(part.to_owned());
        }
    };
    for line in text.lines() {
        add(line);
        let value = line.split_once(": ").map_or(line, |(_, value)| value).trim();
        add(value);
        for quote in ['"', '\'', '`'] {
            add(value.trim_matches(quote));
            line.split(quote).for_each(&mut add);
            if let (Some(first), Some(last)) = (line.find(quote), line.rfind(quote)) {
                add(line.get(first..last).unwrap_or_default().trim_start_matches(quote));
            }
        }
        for part in line.split('{').skip(1) {
            add(part.split('}').next().unwrap_or_default());
        }
    }
}
