//! The sources of dependencies, duplicate versions, and the purpose of each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn text(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// A package of `Cargo.lock`: name, version, source.
struct Package {
    name: String,
    version: String,
    source: Option<String>,
}

fn packages() -> Vec<Package> {
    let lock = text("Cargo.lock");
    let value = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        line.map(|value| value.trim_matches('"').to_owned())
    };
    let blocks = lock.split("[[package]]").skip(1);
    let packages: Vec<Package> = blocks
        .map(|block| Package {
            name: value(block, "name").unwrap(),
            version: value(block, "version").unwrap(),
            source: value(block, "source"),
        })
        .collect();
    assert!(packages.len() > 100, "Cargo.lock is not read correctly");
    packages
}

#[test]
fn every_crate_comes_from_crates_io() {
    let others = packages().into_iter().filter(|package| package.source.as_deref() != Some(REGISTRY));
    for Package { name, source, .. } in others {
        let manifest = format!("crates/{name}/Cargo.toml");
        assert_eq!(source, None, "{name}");
        let is_own = name == env!("CARGO_PKG_NAME") || elephant_testing::root().join(&manifest).exists();
        assert!(is_own, "there is no {manifest}");
    }
}

#[test]
fn duplicate_versions_are_allowed_in_deny_toml() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        versions.entry(package.name).or_default().insert(package.version);
    }
    let twice = versions.into_iter().filter(|(_, versions)| versions.len() > 1);
    let twice: Vec<(String, BTreeSet<String>)> = twice.collect();

    let deny = text("deny.toml");
    let allowed = deny.lines().filter_map(|line| line.trim().strip_prefix("{ crate = \"")?.split_once('"'));
    let mut skipped: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, version) in allowed.filter_map(|(name, _)| name.split_once('@')) {
        skipped.entry(name).or_default().insert(version);
    }
    let names: Vec<&str> = twice.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, skipped.keys().copied().collect::<Vec<_>>(), "deny.toml skips other crates");
    for (name, versions) in &twice {
        let skipped = &skipped[name.as_str()];
        let gone: Vec<_> = skipped.iter().filter(|version| !versions.contains(**version)).collect();
        assert!(gone.is_empty(), "{name}: {gone:?} is not in Cargo.lock");
        let others: Vec<_> = versions.iter().filter(|version| !skipped.contains(version.as_str())).collect();
        assert_eq!(others.len(), 1, "{name}: {versions:?}");
    }
}

/// The crates that the published packages are built from, and those that only tests and benchmarks use.
fn dependencies() -> (BTreeSet<String>, BTreeSet<String>) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let name = |of: &Value| of["name"].as_str().unwrap().to_owned();
    // As the manifests call it: `serde_yaml` is another package by now.
    let named = |of: &Value| of["rename"].as_str().map_or_else(|| name(of), str::to_owned);
    let own: BTreeSet<String> = packages.iter().map(name).collect();
    let (mut built, mut tests) = (BTreeSet::new(), BTreeSet::new());
    for package in packages {
        // An empty list: the package cannot be published.
        let is_published = package["publish"].is_null();
        for dependency in package["dependencies"].as_array().unwrap() {
            let is_built = is_published && dependency["kind"].is_null();
            if is_built { &mut built } else { &mut tests }.insert(named(dependency));
        }
    }
    (&built - &own, &(&tests - &built) - &own)
}

/// The rows of the table below a heading: crate and purpose.
fn table(heading: &str) -> Vec<(String, String)> {
    let page = text("docs/dependencies.md");
    let (_, rest) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let rows = rest.lines().take_while(|line| !line.starts_with('#')).filter(|line| line.starts_with("| "));
    let rows = rows.filter_map(|line| line.trim_matches(['|', ' ']).split_once(" | "));
    rows.skip(2).map(|(name, purpose)| (name.trim().to_owned(), purpose.trim().to_owned())).collect()
}

#[test]
fn every_dependency_has_a_reason_in_the_docs() {
    let (built, tests) = dependencies();
    for (expected, heading) in [(built, "Binary"), (tests, "Tests and benchmarks")] {
        let rows = table(heading);
        let names: Vec<&String> = rows.iter().map(|(name, _)| name).collect();
        assert_eq!(names, expected.iter().collect::<Vec<_>>(), "docs/dependencies.md, {heading}");
        for (name, purpose) in &rows {
            assert!(purpose.split(' ').count() >= 2, "{name}: what for?");
        }
    }
}

/// What a build for users compiles, without the crates that only run in build scripts. SQLite brings six of them, and the
/// server 28.
#[test]
fn default_build_has_at_most_141_crates() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "tree",
        "--package",
        "elephant-rs",
        "--locked",
        "--offline",
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ]);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    // Macros and crates that are listed twice have a mark after name and version.
    let name = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let crates: BTreeSet<String> = text.lines().filter(|line| !line.is_empty()).map(name).collect();
    let others = crates.iter().filter(|name| !name.starts_with("elephant-")).count();
    assert!((50..=141).contains(&others), "{others} crates: {crates:?}");
}
