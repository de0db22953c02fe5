//! The public API, one snapshot per module of `src/lib.rs`, so that a review shows what a change adds to it or takes away.
//!
//! `src/lib.rs` names the types and functions that users rely on. Their fields, variants and methods are listed here, but
//! not those that are `#[doc(hidden)]`: other crates of the workspace need them. Derived traits, and variants that a macro
//! lists (`Counter`, `ConfKey`, `ExecutorMetric`), are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use elephant_testing::{files_below, root, with_snapshots};

/// Maximum number of public functions and methods.
const FUNCTIONS: usize = 150;

/// The declaration that starts at the first line, without its body or value.
fn declaration(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(line.trim());
        let is_open = |open: char, close: char| text.matches(open).count() > text.matches(close).count();
        if !is_open('(', ')') && text.ends_with(['{', ';', ',', '}', ')']) {
            break;
        }
        text.push(' ');
    }
    let value = text.find(" = ").filter(|_| text.starts_with("pub const") && !text.contains("const fn"));
    let end = text.find(" {").or(value).unwrap_or(text.len());
    text[..end].trim_end_matches([';', ',']).replace("( ", "(").replace(", )", ")")
}

/// A top-level item that can be public, or an `impl` block, with the type that it belongs to.
struct Item<'t> {
    name: &'t str,
    lines: Vec<&'t str>,
    is_hidden: bool,
    is_non_exhaustive: bool,
}

/// The name after these words: "pub struct ", "impl<T> ".
fn name_of(line: &str) -> Option<&str> {
    let starts =
        ["pub struct ", "pub enum ", "pub trait ", "pub const fn ", "pub fn ", "pub const ", "impl "];
    let rest = starts.iter().find_map(|start| line.strip_prefix(start)).or_else(|| {
        line.strip_prefix("impl<").and_then(|rest| rest.split_once("> ")).map(|(_, rest)| rest)
    })?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    // `impl Trait for Type` has no functions that are not those of the trait.
    (!line.starts_with("impl") || !line.contains(" for ")).then_some(&rest[..end])
}

/// The items of a file, which is formatted: an item ends at a closing brace without indentation.
fn items(text: &str) -> Vec<Item<'_>> {
    let code: Vec<&str> = text.lines().take_while(|line| *line != "mod tests {").collect();
    let mut items = Vec::new();
    let mut attributes: Vec<&str> = Vec::new();
    for (at, line) in code.iter().enumerate() {
        if line.starts_with("#[") {
            attributes.push(line);
        } else if let Some(name) = name_of(line) {
            let is_whole = line.ends_with(['}', ';']);
            let len = code[at..].iter().position(|line| *line == "}" || line.ends_with(");"));
            let len = if is_whole { 1 } else { len.map_or(1, |len| len + 1) };
            items.push(Item {
                name,
                lines: code[at..at + len].to_vec(),
                is_hidden: attributes.contains(&"#[doc(hidden)]"),
                is_non_exhaustive: attributes.contains(&"#[non_exhaustive]"),
            });
            attributes.clear();
        } else if !line.starts_with("//") && !line.is_empty() {
            attributes.clear();
        }
    }
    items
}

/// What the item shows to users: its own declaration and those of its members, one per line.
fn shown(item: &Item<'_>) -> Vec<String> {
    let mut shown = Vec::new();
    let is_block = item.lines[0].starts_with("impl");
    if item.is_non_exhaustive {
        shown.push("#[non_exhaustive]".to_owned());
    }
    shown.push(declaration(&item.lines));
    let is_open = ["pub enum", "pub trait"].iter().any(|open| item.lines[0].starts_with(open));
    let mut is_hidden = false;
    for (at, line) in item.lines.iter().enumerate().skip(1) {
        let (indent, text) = (line.len() - line.trim_start().len(), line.trim_start());
        if text.starts_with("#[") || text.starts_with("//") || text.is_empty() {
            is_hidden |= text == "#[doc(hidden)]";
            continue;
        }
        let is_name = text.starts_with(|c: char| c.is_ascii_alphabetic());
        let is_field = indent == 8 && text.ends_with(',') && text.contains(": ") && !text.contains('(');
        let is_member = is_open && is_name && (indent == 4 || is_field);
        if (is_member || (text.starts_with("pub ") && indent == 4)) && !std::mem::take(&mut is_hidden) {
            shown.push(format!("{:indent$}{}", "", declaration(&item.lines[at..])));
        }
    }
    if is_block && shown.len() == 1 { Vec::new() } else { shown }
}

/// Whether the line declares a function or method: public, or of a trait.
fn is_function(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches("pub ").trim_start_matches("const ");
    line.starts_with("fn ")
}

/// The modules of `src/lib.rs`: the paths that each exports names from.
fn exports() -> BTreeMap<String, Vec<(String, BTreeSet<String>)>> {
    let text = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let mut modules: BTreeMap<String, Vec<(String, BTreeSet<String>)>> = BTreeMap::new();
    let mut path: Vec<&str> = Vec::new();
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if let Some(module) = line.strip_prefix("pub mod ") {
            path.push(module.trim_end_matches(" {"));
        } else if line == "}" {
            path.pop();
        } else if let Some(start) = line.strip_prefix("pub use ") {
            let mut tree = start.to_owned();
            while !tree.ends_with(';') {
                tree.push_str(lines.next().unwrap());
            }
            let (from, names) =
                tree.trim_end_matches(';').split_once("::{").or_else(|| tree.rsplit_once("::")).unwrap();
            let names = names.trim_end_matches(['}', ';']).split(',').map(|name| name.trim().to_owned());
            let names = names.filter(|name| !name.is_empty()).collect();
            modules.entry(path.join("-")).or_default().push((from.to_owned(), names));
        }
    }
    modules
}

/// The part of the sources where an item of this path is most likely declared: the crate, and the module in it.
fn closeness(file: &str, from: &str) -> usize {
    let wanted: Vec<String> = from.split("::").map(|part| part.replace('_', "-")).collect();
    let file = file.replace('_', "-");
    wanted.iter().filter(|part| file.split(['/', '.']).any(|place| place == part.as_str())).count()
}

#[test]
fn the_public_api_is_as_listed() {
    let mut sources: Vec<(String, String)> = Vec::new();
    for path in files_below(&root().join("crates")) {
        let below = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        let is_source = below.contains("/src/")
            && path.extension().is_some_and(|it| it == "rs")
            && !below.ends_with("tests.rs");
        if is_source && !path.is_symlink() {
            sources.push((below, fs::read_to_string(&path).unwrap()));
        }
    }
    let files: Vec<(&str, Vec<Item<'_>>)> =
        sources.iter().map(|(path, text)| (path.as_str(), items(text))).collect();
    let mut functions = 0;
    for (module, exports) in exports() {
        let mut list = String::new();
        for (from, names) in exports {
            for name in names {
                let declares = |item: &&Item<'_>| item.name == name && !item.lines[0].starts_with("impl");
                let homes = files.iter().filter(|(_, items)| items.iter().any(|item| declares(&item)));
                let home = homes.max_by_key(|(path, _)| (closeness(path, &from), std::cmp::Reverse(*path)));
                // Macros declare the rest.
                let Some((home, _)) = home else {
                    list.extend(["// by a macro: ", &name, "\n\n"]);
                    continue;
                };
                let room = home.rsplit_once('/').unwrap().0;
                let of_type = files.iter().filter(|(path, _)| path.starts_with(room));
                let items = of_type.flat_map(|(path, items)| items.iter().map(move |item| (path, item)));
                let items = items.filter(|(path, item)| {
                    item.name == name
                        && !item.is_hidden
                        && (item.lines[0].starts_with("impl") || *path == home)
                });
                let lines: Vec<String> = items.flat_map(|(_, item)| shown(item)).collect();
                functions += lines.iter().filter(|line| is_function(line)).count();
                list.extend([&*lines.join("\n"), "\n\n"]);
            }
        }
        with_snapshots("api", || insta::assert_snapshot!(module, list.trim_end()));
    }
    assert!(functions > 50, "the list is not read as intended: {functions} functions");
    assert!(functions <= FUNCTIONS, "{functions} public functions; what do users need them for?");
}
