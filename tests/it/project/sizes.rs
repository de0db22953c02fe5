//! Files and functions stay short enough to read at once.
//!
//! Tests may be longer: test files and test modules at the end of a file are not counted.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of lines of a file, without its tests.
const FILE: usize = 400;

/// Maximum number of lines of a function, from `fn` to its closing brace.
const FUNCTION: usize = 60;

/// Functions that may be longer, by file and name, with the reason. Only code that cannot be read in parts belongs
/// here: a flat `match` or a table.
const LONG_FUNCTIONS: &[(&str, &str, &str)] = &[
    ("crates/elephant-ruleset/src/custom/eval.rs", "eval", "a flat match over the kinds of nodes"),
    (
        "crates/elephant-analysis/src/stragglers/cause/evidence.rs",
        "fmt",
        "a flat match over the facts, one sentence each",
    ),
];

/// A file without its tests.
pub(super) struct Source {
    /// The path relative to the project root.
    pub(super) path: String,
    pub(super) lines: Vec<String>,
}

/// A function and its number of lines.
struct Function {
    name: String,
    lines: usize,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file that is not a test.
pub(super) fn sources() -> Vec<Source> {
    let mut paths = Vec::new();
    for folder in ["src", "crates", "benches", "fuzz", "examples"] {
        collect(&root().join(folder), &mut paths);
    }
    let texts: Vec<(PathBuf, String)> = paths
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            (path, text)
        })
        .collect();
    let tests: Vec<PathBuf> = texts.iter().flat_map(|(path, text)| test_modules(path, text)).collect();
    texts
        .iter()
        .filter(|(path, _)| {
            !tests.iter().any(|test| path.starts_with(test) || *path == test.with_extension("rs"))
        })
        .map(|(path, text)| Source {
            path: path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned(),
            lines: without_tests(text),
        })
        .collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() && !entry.ends_with("target") && !is_tests_of_a_crate(&entry) {
            collect(&entry, paths);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            paths.push(entry);
        }
    }
}

/// Whether the folder holds the integration tests of a crate.
fn is_tests_of_a_crate(folder: &Path) -> bool {
    folder.ends_with("tests") && folder.with_file_name("Cargo.toml").exists()
}

/// The test modules that a file declares: each is a folder, a file, or both.
fn test_modules(path: &Path, text: &str) -> Vec<PathBuf> {
    let stem = path.file_stem().unwrap();
    let is_root = ["mod", "lib", "main"].iter().any(|root| stem == *root);
    let folder = if is_root { path.parent().unwrap().to_owned() } else { path.with_extension("") };
    let mut lines = text.lines().map(str::trim);
    let mut modules = Vec::new();
    while let Some(line) = lines.next() {
        if line != "#[cfg(test)]" {
            continue;
        }
        let item = lines.by_ref().find(|line| !line.starts_with("#["));
        let name = item.and_then(|item| item.split_once("mod ")?.1.strip_suffix(';'));
        modules.extend(name.map(|name| folder.join(name)));
    }
    modules
}

/// The lines before the test module at the end of a file.
fn without_tests(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let is_module = |place: usize| {
        let mut item = lines[place + 1..].iter().skip_while(|line| line.starts_with("#["));
        lines[place] == "#[cfg(test)]"
            && item.next().is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
    };
    let tests = (0..lines.len()).position(is_module);
    lines[..tests.unwrap_or(lines.len())].iter().map(|line| (*line).to_owned()).collect()
}

/// The functions of a file. Because the code is formatted, a function ends at a closing brace with the indentation of
/// its first line.
fn functions(lines: &[String]) -> Vec<Function> {
    let mut functions = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = name_of_function(line) else { continue };
        let indent = line.len() - line.trim_start().len();
        let end = lines[start..].iter().position(|line| {
            let own = line.len() - line.trim_start().len() == indent;
            own && (line.trim() == "}" || line.ends_with(" }") || line.ends_with("{}") || line.ends_with(';'))
        });
        let lines = end.map_or(1, |end| end + 1);
        functions.push(Function { name: name.to_owned(), lines });
    }
    functions
}

/// The name of the function that starts on this line.
fn name_of_function(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let words = before.split_whitespace().all(|word| {
        matches!(word, "const" | "async" | "unsafe" | "pub" | "in")
            || word.starts_with("pub(")
            || word.ends_with(')')
    });
    let name = after.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
    (words && !name.is_empty()).then_some(name)
}

#[test]
fn files_stay_below_the_size_limit() {
    let sources = sources();
    assert!(sources.len() > 300, "only {} files were found", sources.len());
    let long: Vec<String> = sources
        .iter()
        .filter(|source| source.lines.len() > FILE)
        .map(|source| format!("{} has {} lines", source.path, source.lines.len()))
        .collect();
    assert!(long.is_empty(), "files of more than {FILE} lines:\n{}", long.join("\n"));
}

#[test]
fn functions_stay_below_the_size_limit() {
    let mut count = 0;
    let mut long = Vec::new();
    let mut excepted = BTreeSet::new();
    for source in sources() {
        for function in functions(&source.lines) {
            count += 1;
            if function.lines <= FUNCTION {
                continue;
            }
            let known =
                LONG_FUNCTIONS.iter().find(|(path, name, _)| *path == source.path && *name == function.name);
            match known {
                Some(known) => drop(excepted.insert(known)),
                None => long.push(format!("{}: {} has {} lines", source.path, function.name, function.lines)),
            }
        }
    }
    assert!(count > 2000, "only {count} functions were found");
    assert!(long.is_empty(), "functions of more than {FUNCTION} lines:\n{}", long.join("\n"));
    let unused: Vec<_> = LONG_FUNCTIONS.iter().filter(|known| !excepted.contains(known)).collect();
    assert!(unused.is_empty(), "exceptions that are no longer needed: {unused:?}");
}

#[test]
fn functions_are_measured_to_their_last_line() {
    let text = "impl A {\n    pub(super) fn short(self) -> u8 { 1 }\n\n    const fn long(\n        self,\n    ) -> u8 {\n        \
                let _ = \"fn no\";\n        2\n    }\n}\n\ntrait B {\n    fn declared(&self);\n}\n";
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let found: Vec<_> = functions(&lines).into_iter().map(|f| (f.name, f.lines)).collect();
    let expected = [("short", 1), ("long", 6), ("declared", 1)];
    assert_eq!(found, expected.map(|(name, lines)| (name.to_owned(), lines)));
}

#[test]
fn tests_are_not_measured() {
    for attribute in ["", "#[allow(unused)]\n"] {
        let text = format!("fn a() {{}}\n\n#[cfg(test)]\n{attribute}mod tests {{\n    fn b() {{}}\n}}\n");
        assert_eq!(without_tests(&text), ["fn a() {}", ""]);
    }
    let declared = test_modules(Path::new("src/a/mod.rs"), "#[cfg(test)]\nmod tests;\nmod b;\n");
    assert_eq!(declared, [Path::new("src/a/tests")]);
}
