//! What is asked about.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use elephant_base::limits::Limits;
use elephant_base::units::Timestamp;
use elephant_engine::engine::{self, Progress};
use elephant_heuristics::BUILT_IN;
use elephant_input::named::Named;
use elephant_mcp::{Histories, Options};
use elephant_ruleset::RuleSet;
use elephant_store::{Place, Store};
use elephant_verdict::troubles::Basis;
use tempfile::TempDir;

/// Histories of this repository: of both engines, damaged, failed, with queries, many with one id.
pub(crate) const PATHS: [&str; 6] =
    ["done", "hadoop1", "spark", "broken", "heuristics/spark-cache", "heuristics/mapper-skew"];

pub(crate) fn testdata(path: &str) -> PathBuf {
    elephant_testing::root().join("testdata").join(path)
}

pub(crate) fn rules() -> RuleSet {
    RuleSet::new(BUILT_IN).unwrap()
}

/// Neither a store nor histories.
pub(crate) fn empty() -> Options {
    Options {
        store: None,
        histories: None,
        rules: rules().into(),
        prices: None,
        limits: Limits::default(),
        fresh: Duration::from_secs(3600),
        link: None,
    }
}

/// Stores what is new or changed below the paths.
pub(crate) fn ingest(place: &Place, paths: &[PathBuf]) -> Result<(), String> {
    let rules = rules();
    let options = engine::Options { top: Some(0), ..engine::Options::default() };
    let basis = Basis { rules: &rules, prices: None };
    let mut store = Store::create(place).map_err(|error| format!("{error}"))?;
    store.set_reports(elephant_report::json_of);
    let named = Named { paths, ..Named::default() };
    let known = (rules.hash(), Timestamp::from_millis(1_700_000_000_000));
    let kept = store.keep_changed(named, &Limits::default(), known, |named, keeper| {
        engine::analyze_keeping(named, basis, &options, &Progress::default(), (keeper, None)).0
    });
    let (read, stored) = kept.map_err(|error| format!("{error}"))?;
    stored.map_err(|error| format!("{error}"))?;
    if read.named_input_failed { Err("a path cannot be read".to_owned()) } else { Ok(()) }
}

pub(crate) fn place(folder: &TempDir) -> Place {
    Place::from(OsString::from(folder.path().join("fleet.db")))
}

/// The histories below these paths, which are read into a store in this folder.
pub(crate) fn of_paths(paths: Vec<PathBuf>, folder: &TempDir) -> Options {
    let to = place(folder);
    let histories = Histories { place: to.clone(), turn: Box::new(move || ingest(&to, &paths)) };
    Options { histories: Some(histories), ..empty() }
}

/// The histories of this repository.
pub(crate) fn of_histories() -> (Options, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (of_paths(PATHS.map(testdata).into(), &folder), folder)
}

/// A store of histories of which a copy is in its folder, below `histories`.
pub(crate) fn of_store(paths: &[&str]) -> (Options, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let copies = folder.path().join("histories");
    for path in paths {
        copy(&testdata(path), &copies.join(path));
    }
    let place = place(&folder);
    ingest(&place, &[copies]).unwrap();
    (Options { store: Some(place), ..empty() }, folder)
}

pub(crate) fn copy(from: &Path, to: &Path) {
    for file in elephant_testing::files_below(from) {
        let to = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(&file, to).unwrap();
    }
}
