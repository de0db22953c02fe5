//! Fills a store with as many applications as wanted: those of given histories, again and again under other names, as
//! they would come in over a year. `benches/store.rs` asks it questions.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use elephant_base::units::{Millis, Timestamp};
use elephant_engine::engine::{self, Keeper, Options, Progress};
use elephant_engine::nodes::work_by_node;
use elephant_engine::results::ApplicationReport;
use elephant_ruleset::RuleSet;
use elephant_store::Store;
use elephant_verdict::troubles::Basis;

/// Of jobs, each runs this many times on average.
const RUNS_OF_A_JOB: u64 = 100;
const JOBS_OF_A_USER: u64 = 10;
const QUEUES: u64 = 20;
const NODES: u64 = 1000;
/// Nodes of an application, besides those with several applications of the sample.
const NODES_OF_AN_APPLICATION: u64 = 20;
const YEAR_MS: u64 = 365 * 86_400_000;
/// 2026-01-01.
const BEGIN_MS: u64 = 1_767_225_600_000;

/// The applications in the histories below `paths`, in the order of their names.
pub(crate) fn sample(paths: &[PathBuf]) -> Vec<ApplicationReport> {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).expect("built-in rules");
    let taken = Mutex::new(Vec::new());
    let keep =
        |app: &ApplicationReport| taken.lock().unwrap_or_else(PoisonError::into_inner).push(app.clone());
    let basis = Basis { rules: &rules, prices: None };
    let options = Options { top: Some(0), ..Options::default() };
    let keeper = Keeper { by_node: work_by_node, keep: &keep, keep_copy: &keep };
    engine::analyze_keeping(paths.into(), basis, &options, &Progress::default(), (keeper, None));
    let mut taken = taken.into_inner().unwrap_or_else(PoisonError::into_inner);
    taken.sort_by(|a, b| (&a.id, &a.sources).cmp(&(&b.id, &b.sources)));
    taken
}

/// Writes `count` applications like those of `sample` to a new store, `a_commit` of them in one transaction. One job of
/// `jobs_of_a_change` changes its settings in the middle of the year.
pub(crate) fn fill(
    place: &str,
    sample: &[ApplicationReport],
    (count, jobs_of_a_change): (u64, u64),
    a_commit: usize,
) {
    let store = Store::create(&OsString::from(place).into()).expect("the store can be made");
    let all = (0..count).filter_map(|n| application(sample, (n, count), jobs_of_a_change));
    store.fill(all, a_commit).expect("the store can be written");
}

/// The `n`th of all applications.
fn application(
    sample: &[ApplicationReport],
    (n, of): (u64, u64),
    jobs_of_a_change: u64,
) -> Option<ApplicationReport> {
    let jobs = (of / RUNS_OF_A_JOB).max(1);
    // A product of a large odd number visits the jobs in no order.
    let job = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) % jobs;
    let of_job = |job: u64| sample.get(usize::try_from(job % sample.len() as u64).ok()?);
    let mut app = of_job(job)?.clone();
    if job.is_multiple_of(jobs_of_a_change) && n > of / 2 {
        app.configuration.clone_from(&of_job(job + 1)?.configuration);
        // A clear change, for which the overview shows the settings.
        app.metrics.used = app.metrics.used.map(|used| used.times(0.5));
    }
    let at = BEGIN_MS + u64::try_from(u128::from(n) * u128::from(YEAR_MS) / u128::from(of)).ok()?;
    let moment = |ms: u64| i64::try_from(ms).ok().map(Timestamp::from_millis);
    app.submitted_at = moment(at);
    app.started_at = moment(at);
    app.finished_at = moment(at + app.metrics.run_time.map_or(60_000, Millis::get));
    app.id = format!("application_{BEGIN_MS}_{n:07}");
    app.attempt = None;
    app.name = Some(format!("{} job", letters(job)));
    app.user = Some(letters(job / JOBS_OF_A_USER));
    app.queue = Some(letters(job % QUEUES));
    app.sources = vec![format!("/spark-events/{}.zstd", app.id)];
    let work = app.nodes.first().cloned().unwrap_or_default();
    let node = |place: u64| format!("node{:04}.example.com", (job * 7 + n + place * 41) % NODES);
    app.nodes = (0..NODES_OF_AN_APPLICATION)
        .map(|place| elephant_engine::results::NodeWork { node: node(place), ..work.clone() })
        .collect();
    Some(app)
}

/// A number in letters, because digits of names change from run to run.
fn letters(mut number: u64) -> String {
    let mut text = String::from("q");
    loop {
        text.push(char::from(b'a' + u8::try_from(number % 26).unwrap_or_default()));
        number /= 26;
        if number == 0 {
            return text;
        }
    }
}
