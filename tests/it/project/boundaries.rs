//! Imports go only from rooms to rooms below them, according to the table in CONTRIBUTING.md, and never in a circle
//! of files.
//!
//! A room is a folder or file directly below `src`. Test code may import anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of `src` and their text by module path (`["input", "codec"]` for `src/input/codec/mod.rs`).
struct Tree(BTreeMap<Vec<String>, String>);

/// An import: from one module to another, and the path as written.
struct Import {
    from: Vec<String>,
    to: Vec<String>,
    written: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

impl Tree {
    fn read() -> Self {
        let src = root().join("src");
        let mut files = BTreeMap::new();
        collect(&src, &mut |path| {
            let below = path.strip_prefix(&src).unwrap().with_extension("");
            let mut module: Vec<String> =
                below.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            if module.last().is_some_and(|last| last == "mod") {
                module.pop();
            }
            files.insert(module, fs::read_to_string(path).unwrap());
        });
        let tests = test_modules(&files);
        files.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
        for text in files.values_mut() {
            *text = without_comments_and_tests(text);
        }
        files.retain(|module, _| !matches!(module.as_slice(), [only] if only == "lib" || only == "main"));
        Self(files)
    }

    fn imports(&self) -> Vec<Import> {
        let reexports = self.reexports();
        let mut imports = Vec::new();
        for (module, text) in &self.0 {
            for path in paths(text) {
                let Some(mut target) = resolve(module, &path) else { continue };
                // The file that defines the item, not those that only export it again.
                while let Some(origin) = self.module_of(&target).and_then(|to| {
                    let (name, rest) = target[to.len()..].split_first()?;
                    let origin = reexports.get(&(to.to_vec(), name.clone()))?;
                    Some(origin.iter().chain(rest).cloned().collect())
                }) {
                    target = origin;
                }
                if let Some(to) = self.module_of(&target).filter(|to| *to != module.as_slice()) {
                    imports.push(Import { from: module.clone(), to: to.to_vec(), written: path.join("::") });
                }
            }
        }
        imports
    }

    /// The longest prefix of the path that is a module; the rest names an item in it.
    fn module_of<'p>(&self, path: &'p [String]) -> Option<&'p [String]> {
        (1..=path.len()).rev().map(|len| &path[..len]).find(|part| self.0.contains_key(*part))
    }

    /// Items that a module exports again from its submodules, with their full paths.
    fn reexports(&self) -> BTreeMap<(Vec<String>, String), Vec<String>> {
        let mut reexports = BTreeMap::new();
        for (module, text) in &self.0 {
            for statement in text.split(';').filter_map(|item| item.trim_start().strip_prefix("pub")) {
                let Some((_, path)) =
                    statement.split_once("use ").filter(|(before, _)| !before.contains('{'))
                else {
                    continue;
                };
                let mut found = Vec::new();
                tree(path, &mut Vec::new(), &mut found);
                for path in found {
                    let child: Vec<String> = module.iter().chain(&path).cloned().collect();
                    let is_child = self.module_of(&child).is_some_and(|to| to.len() > module.len());
                    if let Some(name) = path.last().filter(|_| is_child) {
                        reexports.insert((module.clone(), name.clone()), child);
                    }
                }
            }
        }
        reexports
    }
}

fn collect(folder: &Path, take: &mut impl FnMut(&Path)) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            collect(&entry, take);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            take(&entry);
        }
    }
}

/// Modules declared with `#[cfg(test)]`.
fn test_modules(files: &BTreeMap<Vec<String>, String>) -> Vec<Vec<String>> {
    let mut tests = Vec::new();
    for (module, text) in files {
        let mut rest = text.as_str();
        while let Some(at) = rest.find("#[cfg(test)]") {
            rest = &rest[at + "#[cfg(test)]".len()..];
            let item = rest.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("#["));
            let name = item.and_then(|item| item.split_once("mod ")?.1.strip_suffix(';'));
            if let Some(name) = name {
                let parent: &[String] = if module == &["lib"] { &[] } else { module };
                tests.push(parent.iter().cloned().chain([name.to_owned()]).collect());
            }
        }
    }
    tests
}

/// The text without comments, without inline `#[cfg(test)]` modules, which are the last in a file, and without
/// `#[cfg(test)]` items.
fn without_comments_and_tests(text: &str) -> String {
    let lines = text.lines().map(|line| match line.find("//") {
        Some(at) if !line[..at].contains('"') => &line[..at],
        _ => line,
    });
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    let mut kept = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = &rest[end_of_item(rest)..];
    }
    kept + rest
}

/// The end of the first item of `text`: its closing brace or, without one, its semicolon.
fn end_of_item(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth <= 1 => return at + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Every path that starts with `crate`, `super` or `self`, with `{…}` expanded.
fn paths(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        let mut from = 0;
        while let Some(at) = text[from..].find(start).map(|at| from + at) {
            from = at + start.len();
            let before = text[..at].chars().next_back().unwrap_or(' ');
            if before.is_alphanumeric() || before == '_' || before == ':' {
                continue;
            }
            tree(&text[at..], &mut Vec::new(), &mut found);
        }
    }
    found
}

/// Reads one path or import tree from the start of `text`; returns the number of bytes read.
fn tree(text: &str, prefix: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    let word = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let mut taken = word;
    if word > 0 {
        prefix.push(text[..word].to_owned());
    }
    if text[taken..].starts_with("::") {
        taken += 2;
        taken += tree(&text[taken..], prefix, found);
    } else if text[taken..].starts_with('{') {
        taken += 1;
        loop {
            taken += text[taken..].len() - text[taken..].trim_start_matches([' ', '\n', ',']).len();
            if text[taken..].starts_with('}') || taken >= text.len() {
                taken += 1;
                break;
            }
            let len = prefix.len();
            let step = tree(&text[taken..], prefix, found);
            prefix.truncate(len);
            // An alias, or something that is not a path.
            let skip = text[taken + step..].find([',', '}']).unwrap_or(0);
            taken += step.max(1) + if step > 0 { skip } else { 0 };
        }
    } else {
        found.push(prefix.clone());
    }
    if word > 0 {
        prefix.pop();
    }
    taken
}

/// A path as modules from the root; `None` if it leaves the crate.
fn resolve(module: &[String], path: &[String]) -> Option<Vec<String>> {
    let mut place: Vec<String> = module.to_vec();
    let mut parts = path.iter().peekable();
    match parts.next()?.as_str() {
        "crate" => place.clear(),
        "super" => {
            place.pop()?;
            while parts.next_if(|part| *part == "super").is_some() {
                place.pop()?;
            }
        }
        _ => {}
    }
    place.extend(parts.filter(|part| *part != "self").cloned());
    Some(place)
}

/// The rooms in the table of CONTRIBUTING.md, from bottom to top.
fn rooms() -> Vec<String> {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let table = text.split("## Where things are").nth(1).expect("CONTRIBUTING.md has a table of rooms");
    let table = table.split("\n## ").next().unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `src/")?.split_once('`'));
    rows.map(|(room, _)| room.trim_end_matches(".rs").to_owned()).collect()
}

#[test]
fn every_room_is_in_the_table_once() {
    let rooms = rooms();
    let there: BTreeSet<String> =
        Tree::read().0.into_keys().filter_map(|module| module.first().cloned()).collect();
    assert_eq!(rooms.iter().cloned().collect::<BTreeSet<_>>(), there);
    assert_eq!(rooms.len(), there.len(), "a room is in the table twice");
}

#[test]
fn imports_point_to_lower_rooms() {
    let rooms = rooms();
    let floor = |room: &String| rooms.iter().position(|known| known == room);
    let imports = Tree::read().imports();
    assert!(imports.len() > 1000, "only {} imports were found", imports.len());
    let up: BTreeSet<String> = imports
        .iter()
        .filter(|import| import.from[0] != import.to[0] && floor(&import.to[0]) >= floor(&import.from[0]))
        .map(|import| format!("src/{} imports {}", import.from.join("/"), import.written))
        .collect();
    assert!(up.is_empty(), "imports that go upwards:\n{}", up.into_iter().collect::<Vec<_>>().join("\n"));
}

/// A module and its submodules may import each other: the parent's types, the child's functions.
#[test]
fn files_have_no_circular_imports() {
    let mut next: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
    for Import { from, to, .. } in Tree::read().imports() {
        if !from.starts_with(&to) && !to.starts_with(&from) {
            next.entry(from).or_default().insert(to);
        }
    }
    // A file that imports no remaining file, or that no remaining file imports, is in no circle.
    loop {
        let imported: BTreeSet<_> = next.values().flatten().cloned().collect();
        let before = next.len();
        let modules: BTreeSet<_> = next.keys().cloned().collect();
        next.retain(|from, to| imported.contains(from) && to.iter().any(|to| modules.contains(to)));
        if next.len() == before {
            break;
        }
    }
    let left: Vec<String> = next
        .iter()
        .map(|(from, to)| {
            let to: Vec<String> =
                to.iter().filter(|to| next.contains_key(*to)).map(|to| to.join("/")).collect();
            format!("src/{} → {}", from.join("/"), to.join(", "))
        })
        .collect();
    assert!(left.is_empty(), "circles:\n{}", left.join("\n"));
}
