//! Stores to ask.

use std::ffi::OsString;
use std::path::PathBuf;

use elephant_base::limits::Limits;
use elephant_base::severity::Severity;
use elephant_base::units::{Bytes, MbMillis, Millis, Timestamp};
use elephant_engine::engine::{self, Options, Progress};
use elephant_engine::results::ApplicationReport;
use elephant_heuristics::BUILT_IN;
use elephant_input::named::Named;
use elephant_model::model::{Engine, Status};
use elephant_ruleset::{JobIdentity, RuleSet};
use elephant_store::{Place, Store};
use elephant_verdict::troubles::Basis;
use tempfile::TempDir;

/// Text that must be escaped everywhere.
pub(crate) const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(2)>",
    "..",
    "a/b?c=d&e#f%2F+ ä",
    "/x*y?/",
    "right\u{202e}to left",
];

pub(crate) fn place(folder: &TempDir) -> Place {
    Place::from(OsString::from(folder.path().join("fleet.db")))
}

/// A store with what is found in histories of this repository.
pub(crate) fn of_histories() -> (Place, TempDir) {
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
pub(crate) fn hostile() -> (Place, TempDir) {
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

/// An application of a flow's run and task, without findings.
pub(crate) fn app(id: &str, engine: Engine, place: Option<[&str; 3]>) -> ApplicationReport {
    let mut app = ApplicationReport::blank(id);
    app.engine = engine;
    app.sources = vec![format!("{id}.log")];
    app.identity = place.map(|[flow, run, task]| JobIdentity {
        scheduler: "azkaban".to_owned(),
        job: None,
        flow: Some(flow.to_owned()),
        run: Some(run.to_owned()),
        task: Some(task.to_owned()),
        owner: None,
        link: Some(format!("https://azkaban/{run}/{task}")),
    });
    app
}

/// The same with its times: submission, end, and the wait in milliseconds.
pub(crate) fn timed(mut app: ApplicationReport, [from, to, wait]: [u64; 3]) -> ApplicationReport {
    let time = |ms: u64| i64::try_from(ms).ok().map(Timestamp::from_millis);
    (app.submitted_at, app.finished_at) = (time(from), time(to));
    app.metrics.run_time = Some(Millis::new(to - from));
    app.metrics.wait_time = Some(Millis::new(wait));
    app
}

/// The applications of two executions of a flow, of two engines; one that failed and one that was killed; and one of which
/// hardly anything is known, with an odd name.
pub(crate) fn executions() -> Vec<ApplicationReport> {
    let held = |gib: u64| Some(MbMillis::of(Bytes::from_mib(1024 * gib), Millis::from_secs(3600)));
    let load = |id, run| app(id, Engine::MapReduce, Some(["nightly", run, "load"]));
    let join = |id, run| app(id, Engine::Spark, Some(["nightly", run, "join"]));
    let mut a = timed(load("job_1_0001", "7"), [1_000_000, 1_060_000, 5_000]);
    (a.severity, a.score, a.job_type) = (Severity::Moderate, 20, Some("Hive".into()));
    (a.name, a.user, a.queue) = (Some("load q1".to_owned()), Some("ann".to_owned()), Some("etl".to_owned()));
    (a.metrics.used, a.metrics.wasted) = (held(2), held(1));
    let mut b = timed(join("application_1_0002", "7"), [1_070_000, 1_100_000, 1_000]);
    (b.name, b.user, b.queue) = (Some("join".to_owned()), Some("ann".to_owned()), Some("etl".to_owned()));
    (b.metrics.used, b.metrics.wasted) = (held(4), held(0));
    let mut c = timed(load("job_1_0003", "8"), [2_000_000, 2_050_000, 2_000]);
    (c.severity, c.score, c.status) = (Severity::Severe, 30, Status::Failed);
    (c.name, c.user) = (Some("load q1".to_owned()), Some("ann".to_owned()));
    c.metrics.used = held(2);
    let mut d = timed(join("application_1_0004", "8"), [2_060_000, 2_060_500, 0]);
    (d.severity, d.score, d.status) = (Severity::Low, 3, Status::Killed);
    d.user = Some("bob".to_owned());
    let mut odd = app("application_1_0005", Engine::Spark, None);
    odd.name = Some("<odd> / \"name\" ä".to_owned());
    vec![a, b, c, d, odd]
}

/// A store with these applications and the reports on them.
pub(crate) fn of(apps: Vec<ApplicationReport>) -> (Place, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let place = place(&folder);
    let mut store = Store::create(&place).unwrap();
    store.set_reports(elephant_report::json_of);
    store.fill(apps.into_iter(), 100).unwrap();
    (place, folder)
}
