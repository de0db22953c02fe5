//! The crates and their levels: `crates/README.md` lists every crate from bottom to top, each depends only on crates above
//! its row, and the picture there shows the dependencies. The compiler holds the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;

use elephant_testing::{is_blessing, root};
use serde_json::Value;

const PICTURE: &str = "docs/images/crates.svg";

/// The crates of the workspace with the crates of the workspace that they are built from, tests aside.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]).current_dir(root());
    let metadata: Value = serde_json::from_slice(&cargo.output().unwrap().stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let names: BTreeSet<String> = packages.iter().map(|package| text(&package["name"])).collect();
    let of = |package: &Value| {
        let all = package["dependencies"].as_array().unwrap().iter();
        let built = all.filter(|dependency| dependency["kind"].is_null());
        built.map(|dependency| text(&dependency["name"])).filter(|name| names.contains(name)).collect()
    };
    packages.iter().map(|package| (text(&package["name"]), of(package))).collect()
}

/// The crates in the table of `crates/README.md`.
fn rows() -> Vec<String> {
    let page = std::fs::read_to_string(root().join("crates/README.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| [`")?.split_once('`'));
    rows.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn crates_depend_only_on_crates_listed_above_them() {
    let (rows, dependencies) = (rows(), dependencies());
    let listed: BTreeSet<&String> = rows.iter().collect();
    assert_eq!(listed, dependencies.keys().collect(), "crates/README.md lists other crates");
    for (at, name) in rows.iter().enumerate() {
        let below: BTreeSet<String> = rows[..at].iter().cloned().collect();
        let up: Vec<_> = dependencies[name].difference(&below).collect();
        assert!(up.is_empty(), "{name} depends on {up:?}, which crates/README.md lists below it");
    }
}

/// Crates of equal level side by side, the lowest level at the bottom, and an arrow for each dependency that does not
/// follow from others.
fn picture(dependencies: &BTreeMap<String, BTreeSet<String>>) -> String {
    const WIDTH: usize = 150;
    const HEIGHT: usize = 34;
    const STEP: (usize, usize) = (190, 74);
    let shown = |name: &&String| name.starts_with("elephant-") && !is_tool(name);
    let mut reach: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut levels: Vec<Vec<&str>> = Vec::new();
    for name in rows().iter().filter(shown).map(|name| dependencies.get_key_value(name).unwrap().0) {
        let direct = dependencies[name].iter().map(String::as_str);
        let level = direct.clone().filter_map(|below| levels.iter().position(|level| level.contains(&below)));
        let level = level.max().map_or(0, |below| below + 1);
        levels.resize_with(levels.len().max(level + 1), Vec::new);
        levels[level].push(name);
        let all = direct.flat_map(|below| reach[below].iter().copied().chain([below])).collect();
        reach.insert(name, all);
    }
    let columns = levels.iter().map(Vec::len).max().unwrap_or(0);
    let place = |name: &str| {
        let level = levels.iter().position(|level| level.contains(&name)).unwrap();
        let (column, row) =
            (levels[level].iter().position(|known| *known == name).unwrap(), levels.len() - 1 - level);
        (20 + column * STEP.0 + (columns - levels[level].len()) * STEP.0 / 2, 20 + row * STEP.1)
    };
    let (width, height) = (columns * STEP.0 + 20, levels.len() * STEP.1 + 10);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"14\" text-anchor=\"middle\">\n\
         <title>The crates: an arrow points from a crate to one that it uses</title>\n\
         <defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path d=\"M0 0 8 4 0 8z\" fill=\"#777\"/></marker></defs>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for name in reach.keys() {
        let follows = |below: &str| {
            dependencies[*name]
                .iter()
                .any(|other| reach.get(other.as_str()).is_some_and(|all| all.contains(below)))
        };
        for below in dependencies[*name].iter().filter(|below| !follows(below)) {
            let ((x, y), (to_x, to_y)) = (place(name), place(below));
            let (x, to_x) = (x + WIDTH / 2, to_x + WIDTH / 2);
            let _ = writeln!(
                svg,
                "<path d=\"M{x} {}L{to_x} {to_y}\" stroke=\"#777\" fill=\"none\" marker-end=\"url(#a)\"/>",
                y + HEIGHT
            );
        }
    }
    for name in reach.keys() {
        let (x, y) = place(name);
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\" fill=\"#eef4fb\" stroke=\"#4a76a8\"/>\
             <text x=\"{}\" y=\"{}\" fill=\"#123\">{}</text>",
            x + WIDTH / 2,
            y + 22,
            name.trim_start_matches("elephant-")
        );
    }
    svg + "</svg>\n"
}

/// Crates that only tests, benchmarks and contributors use, the façade, and the derive macro that many types use.
fn is_tool(name: &str) -> bool {
    ["elephant-rs", "elephant-fuzzing", "elephant-generate", "elephant-sample", "elephant-testing"]
        .contains(&name)
}

#[test]
fn the_picture_of_the_crates_is_up_to_date() {
    let (path, drawn) = (root().join(PICTURE), picture(&dependencies()));
    if std::fs::read_to_string(&path).is_ok_and(|there| there == drawn) {
        return;
    }
    assert!(
        is_blessing(),
        "{PICTURE} is out of date; run BLESS=1 cargo test --test it picture_of_the_crates"
    );
    std::fs::write(path, drawn).unwrap();
}
