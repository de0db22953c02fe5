//! The crate `cel` and our parser read the same tree, or both refuse the text.
//!
//! There are three deliberate differences, and `compare` knows them:
//! - `cel` expands macros while it parses, and refuses `has(x)` where `x` is not a field, and `list.all(x, …)` and its
//!   like where `x` is not a name. Here they stay calls, which the compiler refuses with a message of its own.
//! - Our limits of length and depth.
//! - `cel` makes bytes of `b"…"`. Here they are not kept, as no rule can use them; their content is not compared.

mod form;
mod generated;

use std::collections::BTreeSet;
use std::path::Path;

/// Expressions by hand, one in each line.
const READ: &str = include_str!("read.txt");

/// Texts that are no expressions, one in each line.
const REFUSED: &str = include_str!("refused.txt");

/// Texts with lines in them.
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

/// What the two parsers made of a text.
#[derive(Debug, PartialEq, Eq)]
enum Agreement {
    /// The same tree.
    Tree,
    /// Both refused it.
    Refused,
    /// Ours has a limit that `cel` has not.
    Limit,
}

/// Lets both parsers read a text.
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

/// Runs a test where `cel` has enough stack: it takes 150 KB for each bracket.
fn with_much_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(test).unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// The texts that both read as the same tree, and those that both refuse.
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
fn both_agree_on_all_that_the_repository_holds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    for (folder, ending) in
        [("rules", "yaml"), ("docs", "md"), ("tests/internal/rules/custom", "rs"), ("src/rules/custom", "rs")]
    {
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
        println!("{} are read alike, {} are refused by both", trees.len(), refused.len());
        assert!(trees.len() > 300, "{}", trees.len());
    });
}

/// All that may be an expression: lines, values of keys, and whatever stands in quotes, ticks or braces. It does no harm
/// that most of it is something else.
fn expressions(text: &str, found: &mut BTreeSet<String>) {
    let text = text.replace("\\\"", "\"").replace("\\\\", "\\");
    let mut add = |part: &str| {
        let part = part.trim();
        // `cel` takes seconds for some texts that are long and no expressions.
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
