//! Stores to ask.

use std::ffi::OsString;
use std::path::PathBuf;

use elephant_base::limits::Limits;
use elephant_base::units::Timestamp;
use elephant_engine::engine::{self, Options, Progress};
use elephant_engine::results::ApplicationReport;
use elephant_heuristics::BUILT_IN;
use elephant_input::named::Named;
use elephant_ruleset::RuleSet;
use elephant_store::{Place, Store};
use elephant_verdict::troubles::Basis;
use tempfile::TempDir;

/// Text that must be escaped everywhere.
pub const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(2)>",
    "..",
    "a/b?c=d&e#f%2F+ ä",
    "/x*y?/",
    "right\u{202e}to left",
];

pub fn place(folder: &TempDir) -> Place {
    Place::from(OsString::from(folder.path().join("fleet.db")))
}

/// A store with what is found in histories of this repository.
pub fn of_histories() -> (Place, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder);
    let rules = RuleSet::new(BUILT_IN).unwrap();
    let options = Options { top: Some(0), ..Options::default() };
    let basis = Basis { rules: &rules, prices: None };
    let paths: Vec<PathBuf> =
        ["done", "hadoop1", "spark/3.5.9", "broken", "heuristics/spark-configuration-parameters"]
            .map(|path| elephant_testing::root().join("testdata").join(path))
            .into();
    let mut store = Store::create(&place).unwrap();
    store.set_reports(elephant_report::json_of);
    let progress = Progress::default();
    let named = Named { paths: &paths, ..Named::default() };
    let known = (rules.hash(), Timestamp::from_millis(1_700_000_000_000));
    let kept = store.keep_changed(named, &Limits::default(), known, |named, keeper| {
        engine::analyze_keeping(named, basis, &options, &progress, (keeper, None)).0
    });
    kept.unwrap().1.unwrap();
    (place, folder)
}

/// A store with applications whose names are hostile.
pub fn hostile() -> (Place, TempDir) {
    let apps = HOSTILE.iter().enumerate().map(|(number, text)| {
        let mut app = ApplicationReport::blank(&format!("app {number} {text}"));
        app.name = Some((*text).to_owned());
        app.user = Some((*text).to_owned());
        app.queue = Some((*text).to_owned());
        app.sources = vec![format!("{text}.log")];
        app.submitted_at = i64::try_from(number).ok().map(Timestamp::from_millis);
        app
    });
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder);
    Store::create(&place).unwrap().fill(apps, 10).unwrap();
    (place, folder)
}
