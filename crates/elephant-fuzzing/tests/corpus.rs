//! Replays the fuzzing seeds and all regressions through the fuzz targets.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use elephant_fuzzing::TARGETS;

fn fuzz(sub: &str) -> PathBuf {
    elephant_testing::root().join("fuzz").join(sub)
}

/// The names in a folder without their extensions; empty if the folder is missing.
fn names(folder: &Path) -> BTreeSet<String> {
    let stem = |path: &PathBuf| Some(path.file_stem()?.to_string_lossy().into_owned());
    files(folder).iter().filter_map(stem).collect()
}

/// The files in a folder, sorted by name; empty if the folder is missing.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

#[test]
fn exactly_the_targets_have_programs_and_seeds() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names(&fuzz("fuzz_targets")), targets, "programs");
    assert_eq!(names(&fuzz("seeds")), targets, "seeds");
    let manifest = fs::read_to_string(fuzz("Cargo.toml")).unwrap();
    let listed = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("path = \"fuzz_targets/")?.strip_suffix(".rs\""));
    assert_eq!(listed.map(str::to_owned).collect::<BTreeSet<_>>(), targets, "fuzz/Cargo.toml");
    for name in &targets {
        assert!(!files(&fuzz("seeds").join(name)).is_empty(), "{name} has no seeds");
        let program = fs::read_to_string(fuzz("fuzz_targets").join(format!("{name}.rs"))).unwrap();
        assert!(program.contains(&format!("::{name});")), "the program {name} runs another target");
    }
    for folder in ["regressions", "dictionaries"] {
        let strangers: Vec<_> = names(&fuzz(folder)).difference(&targets).cloned().collect();
        assert!(strangers.is_empty(), "{folder} without a target: {strangers:?}");
    }
}

/// Replays every input in the folder, and lists the inputs that panic.
fn replay(folder: &str, wanted: impl Fn(&str) -> bool) {
    let mut failed = Vec::new();
    for (name, target) in TARGETS.iter().filter(|(name, _)| wanted(name)) {
        for path in files(&fuzz(folder).join(name)) {
            // A file that cannot be read fails, too.
            let Ok(bytes) = fs::read(&path) else {
                failed.push(path.display().to_string());
                continue;
            };
            if catch_unwind(AssertUnwindSafe(|| target(&bytes))).is_err() {
                failed.push(path.display().to_string());
            }
        }
    }
    assert!(failed.is_empty(), "these inputs fail, see the panics above:\n{}", failed.join("\n"));
}

/// The targets that render complete reports; they take most of the time.
fn is_complete_run(name: &str) -> bool {
    ["judge", "surveys", "whole"].contains(&name)
}

#[test]
fn seeds_of_parsers_and_codecs_pass() {
    replay("seeds", |name| !is_complete_run(name));
}

#[test]
fn seeds_of_complete_runs_pass() {
    replay("seeds", is_complete_run);
}

#[test]
fn regressions_pass() {
    replay("regressions", |_| true);
}
