//! Commands on a database of applications.

pub(super) mod alerts;
pub(super) mod export;
pub(super) mod history;
pub(super) mod ingest;
#[cfg(feature = "serve")]
mod posted;
pub(super) mod prune;
#[cfg(feature = "serve")]
pub(super) mod serve;

use std::error::Error;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};

use super::analysis::Analysis;
use super::input_args::InputArgs;
use super::path_args::Inputs;
use elephant_base::severity::Severity;
use elephant_base::units::Timestamp;
use elephant_engine::engine::{self, Keeper, Options, Render};
use elephant_engine::results::ApplicationReport;
#[cfg(any(feature = "serve", feature = "mcp"))]
use elephant_engine::results::Summary;
use elephant_store::{Place, Store, StoreError, Stored};
use elephant_verdict::troubles::Basis;

/// The message for users.
pub(super) fn failed(place: &Place, what: &str, error: &StoreError) -> Box<dyn Error> {
    match error {
        StoreError::Missing(_) => error.to_string().into(),
        _ => format!("cannot {what} the store {place}: {error}").into(),
    }
}

/// Rejects filters: a store has either all applications of a file or none.
fn without_filters(options: &Options, command: &str) -> Result<(), Box<dyn Error>> {
    if options.filter.is_everything() {
        return Ok(());
    }
    Err(format!("a store keeps all applications, so {command} takes no filters; history has them").into())
}

/// Reads and judges all applications, as `analyze` does, and stores them. If storing fails, the reason is returned with
/// the report.
pub(super) fn keep_all(
    (place, cluster): (&Place, &ClusterArg),
    inputs: &Inputs<'_>,
    basis: Basis<'_>,
    (input, options): (&InputArgs, &Options),
    render: Option<Render<'_>>,
) -> Result<Analysis, Box<dyn Error>> {
    without_filters(options, "analyze --store")?;
    if options.min_severity != Severity::Low {
        return Err(
            "a store keeps all findings from low on, so analyze --store takes no other --min-severity".into(),
        );
    }
    let mut store = to_write(place).map_err(|error| failed(place, "open", &error))?;
    store.set_cluster(cluster.cluster.clone());
    let options = &Options { phase_work: true, ..options.clone() };
    let kept = input.run(|progress| {
        let of_rules = (basis.rules.hash(), now());
        store.keep_of_all(inputs.named(), &options.limits, of_rules, |named, keeper| {
            engine::analyze_keeping(named, basis, options, progress, (keeper, render))
        })
    })?;
    let (report, pieces, stored) = kept.map_err(|error| failed(place, "write", &error))?;
    let unkept = match stored {
        Ok(stored) => {
            input.note(&stored_in(place, &stored));
            let cut = "not all files of a history could be read, so it was not stored; run the command again";
            (stored.cut > 0).then(|| cut.into())
        }
        Err(error) => Some(failed(place, "write", &error)),
    };
    Ok(Analysis { report, pieces, unkept })
}

/// Opens a store to which applications are written, with their whole reports.
pub(super) fn to_write(place: &Place) -> Result<Store, StoreError> {
    let mut store = Store::create(place)?;
    store.set_reports(elephant_report::json_of);
    Ok(store)
}

/// Reads what is new or changed below the paths into a store, and shows each application to `see` before it is stored; an
/// error says why a path cannot be read.
#[cfg(any(feature = "serve", feature = "mcp"))]
pub(super) fn keep_new(
    (store, place): (&mut Store, &Place),
    paths: &[std::path::PathBuf],
    rules: &elephant_ruleset::RuleSet,
    limits: elephant_base::limits::Limits,
    see: &(dyn Fn(&ApplicationReport) + Sync),
) -> Result<(Stored, Summary), String> {
    let options = Options { limits, ..nothing_shown() };
    let (basis, progress) = (Basis { rules, prices: None }, engine::Progress::default());
    let failed = |error| failed(place, "write", &error).to_string();
    let named = elephant_input::named::Named::from(paths);
    let kept = store.keep_changed(named, &limits, (rules.hash(), now()), |named, keeper| {
        seeing(keeper, see, |keeper| {
            engine::analyze_keeping(named, basis, &options, &progress, (keeper, None)).0
        })
    });
    let (read, stored) = kept.map_err(failed)?;
    let stored = stored.map_err(failed)?;
    super::warnings::print(&read.problems, None);
    if read.named_input_failed {
        let first = read.problems.first().map(|entry| entry.problem.message.clone());
        return Err(first.unwrap_or_else(|| "a path cannot be read".to_owned()));
    }
    Ok((stored, read.summary))
}

/// Calls `read` with a keeper that shows each application to `see` before it is kept.
fn seeing<T>(
    keeper: Keeper<'_>,
    see: &(dyn Fn(&ApplicationReport) + Sync),
    read: impl FnOnce(Keeper<'_>) -> T,
) -> T {
    let keep = |app: &ApplicationReport| {
        see(app);
        (keeper.keep)(app);
    };
    read(Keeper { keep: &keep, ..keeper })
}

/// Options for what goes to a store and is not shown, so that no application is kept in memory.
fn nothing_shown() -> Options {
    Options { top: Some(0), phase_work: true, ..Options::default() }
}

/// What was stored, and what the store has now.
fn stored_in(place: &Place, stored: &Stored) -> String {
    let count = stored.added;
    let plural = if count == 1 { "" } else { "s" };
    let cut = match stored.cut {
        0 => String::new(),
        cut => format!(", {cut} not read whole, which the next run reads again"),
    };
    let kept = match stored.kept {
        0 => String::new(),
        kept => format!(", {kept} kept as before, because a limit cut what was read now"),
    };
    format!("{count} application{plural} stored{cut}{kept}; {place} has {}", stored.applications)
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Parses the place of a store. Every non-empty text is accepted, so no message of the parser repeats a password.
pub(super) fn place_parser() -> impl TypedValueParser<Value = Place> {
    OsStringValueParser::new().try_map(|written| {
        if written.is_empty() { Err("a store has a name") } else { Ok(Place::from(written)) }
    })
}

/// Which cluster the histories are from.
#[derive(Debug, Args)]
pub(super) struct ClusterArg {
    /// Cluster that the histories are from; a store keeps those of two clusters apart, even if their paths are the same
    /// [default: what the configuration of each application tells]
    #[arg(long, value_name = "NAME", value_parser = cluster_name, value_hint = clap::ValueHint::Other)]
    cluster: Option<String>,
}

/// Names with spaces or slashes cannot be told from paths.
pub(super) fn cluster_name(written: &str) -> Result<String, String> {
    let fits = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    if written.is_empty() || written.len() > MOST_OF_NAME || !written.chars().all(fits) {
        return Err(format!("a name has letters, digits, `-`, `_` and `.`, at most {MOST_OF_NAME} bytes"));
    }
    Ok(written.to_owned())
}

/// The most bytes of a cluster's name: it is part of each path in the store.
const MOST_OF_NAME: usize = 100;

/// Where the database is.
#[derive(Debug, Args)]
pub(super) struct StoreArgs {
    /// The database file; ingest creates it
    #[cfg_attr(
        feature = "postgres",
        arg(help = "The database: a file, which ingest creates, or postgres://USER@HOST/NAME")
    )]
    #[arg(long, value_name = "STORE", value_parser = place_parser(), value_hint = clap::ValueHint::FilePath)]
    store: Place,
}

impl StoreArgs {
    fn create(&self) -> Result<Store, Box<dyn Error>> {
        to_write(&self.store).map_err(|error| self.failed("open", &error))
    }

    fn open(&self) -> Result<Store, Box<dyn Error>> {
        Store::open(&self.store).map_err(|error| self.failed("open", &error))
    }

    fn failed(&self, what: &str, error: &StoreError) -> Box<dyn Error> {
        failed(&self.store, what, error)
    }
}
