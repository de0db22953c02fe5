//! The manual in `docs`: its links lead somewhere, its index is complete, and its examples use commands and options
//! that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize as _;
use serde_yaml::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The README and all pages in `docs`.
fn manual() -> Vec<PathBuf> {
    let pages = elephant_testing::files_below(&root().join("docs"));
    let pages = pages.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    std::iter::once(root().join("README.md")).chain(pages).collect()
}

/// A page in parts: text, and fenced blocks with their language.
#[derive(Default)]
struct Page {
    text: String,
    blocks: Vec<(String, String)>,
}

fn parts(page: &str) -> Page {
    let mut parts = Page::default();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some((language.to_owned(), String::new())),
            (Some(_), Some(_)) => parts.blocks.extend(open.take()),
            (None, Some((_, block))) => block.extend([line, "\n"]),
            (None, None) => parts.text.extend([line, "\n"]),
        }
    }
    assert!(open.is_none(), "a block has no end");
    parts
}

/// The text without code spans, and the code spans.
fn spans(text: &str) -> (String, Vec<&str>) {
    let pieces: Vec<&str> = text.split('`').collect();
    let plain: String = pieces.iter().step_by(2).copied().collect();
    (plain, pieces.into_iter().skip(1).step_by(2).collect())
}

/// The targets of links and pictures.
fn links(page: &str) -> Vec<String> {
    let text = parts(page).text;
    let (plain, _) = spans(&text);
    let targets = plain.split("](").skip(1).map(|rest| rest.split(')').next().unwrap().to_owned());
    targets.collect()
}

/// The anchors of the headings, as GitHub and GitLab make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let text = parts(page).text;
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_resolves() {
    let mut pages = manual();
    pages.extend(["CONTRIBUTING.md", "CHANGELOG.md", "fuzz/README.md"].map(|page| root().join(page)));
    let rules = elephant_testing::files_below(&root().join("rules"));
    pages
        .extend(rules.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    let mut broken = Vec::new();
    let mut found = 0;
    for page in pages {
        for link in links(&read(&page)) {
            if link.starts_with("https://") || link.starts_with("http://") {
                continue;
            }
            found += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let is_there = target.exists() && !file.starts_with('/');
            if !is_there || !(anchor.is_empty() || anchors(&read(&target)).contains(anchor)) {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(found > 100, "only {found} links were found");
    assert!(broken.is_empty(), "links to nowhere:\n{}", broken.join("\n"));
}

/// Long lines are hard to read and to review side by side. Tables and code need them.
#[test]
fn lines_have_at_most_120_characters() {
    for page in
        ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "crates/README.md"].map(|page| root().join(page))
    {
        let text = parts(&read(&page)).text;
        let long = |line: &&str| line.chars().count() > 120 && !line.starts_with('|');
        assert_eq!(text.lines().filter(long).collect::<Vec<_>>(), Vec::<&str>::new(), "{}", page.display());
    }
}

/// A line that looks like a row but is shown as text, because an empty line ends a table.
#[test]
fn every_row_is_in_a_table() {
    let mut pages = manual();
    pages.extend(["CONTRIBUTING.md", "CHANGELOG.md"].map(|page| root().join(page)));
    pages.extend(
        elephant_testing::files_below(&root().join("rules"))
            .into_iter()
            .filter(|path| path.extension().is_some_and(|ext| ext == "md")),
    );
    let is_row = |line: &str| line.starts_with('|');
    for page in pages {
        let text = parts(&read(&page)).text;
        let lines: Vec<&str> = text.lines().collect();
        for table in lines.chunk_by(|a, b| is_row(a) == is_row(b)).filter(|lines| is_row(lines[0])) {
            let rule = table.get(1).copied().unwrap_or_default();
            let is_table = rule.starts_with("| --") && rule.chars().all(|c| " |-:".contains(c));
            assert!(is_table, "{}: a row outside of a table: {}", page.display(), table[0]);
        }
    }
}

#[test]
fn index_lists_every_page() {
    let docs = root().join("docs");
    let index = links(&read(&docs.join("README.md")));
    for page in manual() {
        let name = page.strip_prefix(&docs).ok().filter(|name| *name != Path::new("README.md"));
        let Some(name) = name else { continue };
        let listed = index.iter().filter(|link| Path::new(link) == name).count();
        assert_eq!(listed, 1, "docs/README.md lists {} {listed} times", name.display());
    }
}

/// A page is found by its title, and read on if its first paragraph says what it answers.
#[test]
fn pages_start_with_a_title_and_a_paragraph() {
    for page in manual() {
        let text = read(&page);
        let mut lines = text.lines().filter(|line| !line.is_empty());
        let title = lines.next().unwrap();
        assert!(title.starts_with("# "), "{}: {title}", page.display());
        let first = lines.next().unwrap();
        assert!(
            first.starts_with(|c: char| c.is_ascii_uppercase() || c == '`'),
            "{}: {first}",
            page.display()
        );
    }
}

/// The documents in all YAML blocks of a page.
fn yaml(page: &Path) -> Vec<Value> {
    let blocks = parts(&read(page)).blocks.into_iter().filter(|(language, _)| language == "yaml");
    let parse = |(_, block): (String, String)| {
        let documents: Vec<Value> = serde_yaml::Deserializer::from_str(&block)
            .map(|document| Value::deserialize(document).unwrap_or_else(|error| panic!("{error}:\n{block}")))
            .collect();
        documents
    };
    blocks.flat_map(parse).collect()
}

#[test]
fn yaml_parses() {
    let found: usize = manual().iter().map(|page| yaml(page).len()).sum();
    assert!(found > 10, "only {found} documents were found");
}

/// Each step does one thing, and each line of a script is text: YAML reads a line with `: ` as a mapping.
#[test]
fn ci_examples_have_steps() {
    let documents = yaml(&root().join("docs/ci.md"));
    let is_step = |step: &Value| {
        let (uses, run) = (step.get("uses"), step.get("run"));
        [uses, run].into_iter().flatten().filter(|value| value.is_string()).count() == 1
    };
    let workflow = documents.iter().find_map(|document| document.get("jobs")?.get("gate")).unwrap();
    let steps = workflow.get("steps").and_then(Value::as_sequence).unwrap();
    assert!(steps.len() > 5 && steps.iter().all(is_step), "{steps:?}");
    let cached = documents.iter().find_map(Value::as_sequence).unwrap();
    assert!(cached.iter().all(is_step), "{cached:?}");
    let gate = documents.iter().find_map(|document| document.get("gate")).unwrap();
    for key in ["before_script", "script"] {
        let lines = gate.get(key).and_then(Value::as_sequence).unwrap();
        assert!(!lines.is_empty() && lines.iter().all(Value::is_string), "{key}: {lines:?}");
    }
}

/// The command lines of elephant-rs in a page, in blocks and in code spans, each as words.
fn commands(page: &str) -> Vec<Vec<String>> {
    let Page { text, blocks } = parts(page);
    let (_, spans) = spans(&text);
    let shown = blocks.iter().filter(|(language, _)| ["sh", "console", "yaml"].contains(&&**language));
    let lines = shown.flat_map(|(_, block)| block.lines()).filter(|line| !line.trim_start().starts_with('#'));
    let mut found = Vec::new();
    for line in lines.chain(spans) {
        let line = line.split(" #").next().unwrap();
        for part in line.split(['|', ';', '&', '<', '>']) {
            let words: Vec<&str> = part.split_whitespace().collect();
            let name = words.iter().position(|word| *word == "elephant-rs");
            let after = name.map_or(&[] as &[&str], |at| &words[at + 1..]);
            if !after.is_empty() {
                found.push(after.iter().map(|word| (*word).to_owned()).collect());
            }
        }
    }
    found
}

/// The options and subcommands that the help of a command names.
fn help(command: &[String]) -> Option<BTreeSet<String>> {
    let mut run = Command::new(env!("CARGO_BIN_EXE_elephant-rs"));
    let output = run.args(command).arg("--help").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let words = text.split(|c: char| !is_name(c)).filter(|word| !word.is_empty()).map(str::to_owned);
    output.status.success().then(|| words.collect())
}

#[test]
fn commands_and_options_exist() {
    let with_parts = ["rules", "simulate"];
    let known = [
        "analyze",
        "anonymise",
        "check",
        "completions",
        "diff",
        "export",
        "history",
        "ingest",
        "man",
        "mcp",
        "nodes",
        "prune",
        "serve",
        "stragglers",
        "watch",
        "whatif",
    ];
    let mut helps: BTreeMap<Vec<String>, BTreeSet<String>> = BTreeMap::new();
    let mut found = 0;
    for page in manual() {
        for words in commands(&read(&page)) {
            // `docker build -t elephant-rs .` is another program, and `elephant-rs COMMAND` any command.
            if words[0] == "mcp" && !cfg!(feature = "mcp") {
                continue;
            }
            if !known.iter().chain(&with_parts).any(|known| *known == words[0]) {
                assert!([".", "COMMAND"].contains(&&*words[0]), "{}: {words:?}", page.display());
                continue;
            }
            found += 1;
            let command =
                words[..if with_parts.contains(&&*words[0]) { 2.min(words.len()) } else { 1 }].to_vec();
            let names = helps.entry(command.clone()).or_insert_with(|| {
                help(&command).unwrap_or_else(|| panic!("{}: {command:?} is no command", page.display()))
            });
            for word in words.iter().filter(|word| word.starts_with("--")) {
                let option = word.split('=').next().unwrap();
                assert!(names.contains(option), "{}: {command:?} has no {option}", page.display());
            }
        }
    }
    assert!(found > 30, "only {found} commands were found");
}
