//! The public API, one snapshot per room, so that a review shows what a change adds to it or takes away.
//!
//! The lint `unreachable_pub` ensures that everything declared `pub` can be reached from outside, so the declarations
//! in the source are the API: fields, variants and methods included. Derived traits, and variants that a macro lists
//! (`Counter`, `ConfKey`, `ExecutorMetric`), are left out.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Maximum number of public functions and methods.
const FUNCTIONS: usize = 150;

/// The declaration that starts at the first line, without its body or value.
fn declaration(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(line.trim());
        let is_open = |open: char, close: char| text.matches(open).count() > text.matches(close).count();
        let is_list = text.starts_with("pub use") && is_open('{', '}');
        if !is_list && !is_open('(', ')') && text.ends_with(['{', ';', ',', '}', ')']) {
            break;
        }
        text.push(' ');
    }
    let body = text.find(" {").filter(|_| !text.starts_with("pub use"));
    let value = text.find(" = ").filter(|_| text.starts_with("pub const") && !text.contains("const fn"));
    let end = body.or(value).unwrap_or(text.len());
    text[..end]
        .trim_end_matches([';', ','])
        .replace("( ", "(")
        .replace(", )", ")")
        .replace("{ ", "{")
        .replace(", }", "}")
}

/// The top-level item that a line belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Item {
    /// Its public members say so: a public struct, or an `impl`.
    Closed,
    /// All its members are public: a public enum or trait.
    Open,
    /// It is not public, or only tests see it.
    Hidden,
}

impl Item {
    fn of(line: &str) -> Self {
        match line {
            _ if ["pub enum", "pub trait"].iter().any(|open| line.starts_with(open)) => Self::Open,
            // Macros write public items, too.
            _ if ["pub struct", "impl", "macro_rules!"].iter().any(|closed| line.starts_with(closed)) => {
                Self::Closed
            }
            _ if line.contains("! {") => Self::Closed,
            _ => Self::Hidden,
        }
    }
}

/// The public declarations of a file, members indented below their item.
fn declarations(text: &str) -> Vec<String> {
    let code: Vec<&str> = text.lines().take_while(|line| *line != "mod tests {").collect();
    let mut found: Vec<String> = Vec::new();
    let mut item = Item::Hidden;
    let mut is_test = false;
    for (at, line) in code.iter().enumerate() {
        let (indent, line) = (line.len() - line.trim_start().len(), line.trim_start());
        if line.starts_with("//") || line.is_empty() {
            continue;
        }
        if line.starts_with('#') {
            is_test |= line.starts_with("#[cfg(test)]");
            if line == "#[non_exhaustive]" {
                found.push(format!("{:indent$}#[non_exhaustive]", ""));
            }
            continue;
        }
        let is_test = std::mem::take(&mut is_test);
        if indent == 0 {
            item = if is_test { Item::Hidden } else { Item::of(line) };
        }
        if is_test || (indent > 0 && item == Item::Hidden) {
            continue;
        }
        // Variants and their fields, and the functions of a trait, but not the bodies of the latter.
        let is_name = line.starts_with(|c: char| c.is_ascii_alphabetic());
        let is_field = indent == 8 && line.ends_with(',') && line.contains(": ") && !line.contains('(');
        let is_member = item == Item::Open && is_name && (indent == 4 || is_field);
        if indent == 0 && line.starts_with("impl") {
            found.push(line.trim_end_matches(" {").to_owned());
        } else if line.starts_with("pub ") || is_member {
            found.push(format!("{:indent$}{}", "", declaration(&code[at..])));
        }
    }
    // Headers of `impl` blocks without public members.
    let is_header = |line: &String| line.starts_with("impl");
    (0..found.len())
        .filter(|&at| !is_header(&found[at]) || found.get(at + 1).is_some_and(|next| next.starts_with(' ')))
        .map(|at| found[at].clone())
        .collect()
}

/// Whether the line declares a function or method: public, or of a trait.
fn is_function(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches("pub ").trim_start_matches("const ");
    line.starts_with("fn ")
}

#[test]
fn the_public_api_is_as_listed() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut rooms: BTreeMap<String, String> = BTreeMap::new();
    let mut functions = 0;
    for path in elephant_testing::files_below(&src) {
        let below = path.strip_prefix(&src).unwrap();
        let room = below.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        // A feature exports the first; only `cli::run` of the second can be reached, by the program.
        if ["internals", "cli", "main"].contains(&room) || path.ends_with("tests.rs") {
            continue;
        }
        let lines = declarations(&fs::read_to_string(&path).unwrap());
        functions += lines.iter().filter(|line| is_function(line)).count();
        if !lines.is_empty() {
            let list = rooms.entry(room.to_owned()).or_default();
            list.extend([&*format!("// {}\n", below.display()), &lines.join("\n"), "\n\n"]);
        }
    }
    assert!(functions > 50, "the list is not read as intended: {functions} functions");
    assert!(functions <= FUNCTIONS, "{functions} public functions; what do users need them for?");
    for (room, list) in rooms {
        elephant_testing::with_snapshots("api", || insta::assert_snapshot!(room, list.trim_end()));
    }
}
