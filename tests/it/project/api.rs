//! The public API, one snapshot per room, so that a review shows what a change adds to it or takes away.
//!
//! The lint `unreachable_pub` holds that everything declared `pub` can be reached from outside, so the declarations in
//! the source are the API: fields, variants and methods included, derived traits left out.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common;

/// Maximum number of public functions and methods.
const FUNCTIONS: usize = 150;

/// A line is continued until its declaration ends: `{`, `;`, `,` or `}` outside parentheses.
fn declaration(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(line.trim());
        let open = text.matches('(').count() > text.matches(')').count();
        if !open && text.ends_with(['{', ';', ',', '}', ')']) && !text.ends_with("where") {
            break;
        }
        text.push(' ');
    }
    let body = text.find(" {").filter(|_| !text.starts_with("pub use"));
    let value = text.find(" = ").filter(|_| text.starts_with("pub const") && !text.contains("const fn"));
    let end = body.or(value).unwrap_or(text.len());
    text[..end].trim_end_matches([';', ',']).replace("( ", "(").replace(", )", ")")
}

/// The header of an item whose members can be public without saying so.
fn is_open(header: &str) -> bool {
    header.starts_with("pub enum") || header.starts_with("pub trait")
}

/// The public declarations of a file, members indented below their item.
fn declarations(text: &str) -> Vec<String> {
    let code: Vec<&str> = text.lines().take_while(|line| *line != "mod tests {").collect();
    let mut found: Vec<String> = Vec::new();
    let mut header = "";
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
        if std::mem::take(&mut is_test) {
            header = if indent == 0 { "" } else { header };
            continue;
        }
        if indent == 0 {
            header = line;
        }
        let is_member = indent == 4 && line.starts_with(|c: char| c.is_ascii_alphabetic()) && is_open(header);
        let in_closed_type = header.starts_with("pub(") || header.starts_with("struct");
        if indent == 0 && line.starts_with("impl") {
            found.push(line.trim_end_matches(" {").to_owned());
        } else if (line.starts_with("pub ") && !(indent > 0 && in_closed_type)) || is_member {
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

#[test]
fn the_public_api_is_as_listed() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut rooms: BTreeMap<String, String> = BTreeMap::new();
    let mut functions = 0;
    for path in common::files_below(&src) {
        let below = path.strip_prefix(&src).unwrap();
        let room = below.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        // A feature exports the first; only `cli::run` of the second can be reached, by the program.
        if ["internals", "cli", "main"].contains(&room) || path.ends_with("tests.rs") {
            continue;
        }
        let lines = declarations(&fs::read_to_string(&path).unwrap());
        functions += lines.iter().filter(|line| line.contains("pub ") && line.contains("fn ")).count();
        if !lines.is_empty() {
            let list = rooms.entry(room.to_owned()).or_default();
            list.extend([&*format!("// {}\n", below.display()), &lines.join("\n"), "\n\n"]);
        }
    }
    assert!(functions > 50, "the list is not read as intended: {functions} functions");
    assert!(functions <= FUNCTIONS, "{functions} public functions; what do users need them for?");
    for (room, list) in rooms {
        common::with_snapshots("api", || insta::assert_snapshot!(room, list.trim_end()));
    }
}
