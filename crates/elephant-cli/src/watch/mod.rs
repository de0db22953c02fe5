//! `elephant-rs watch PATH…`

mod detectors;
mod lines;

use std::error::Error;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum, ValueHint};

use super::counts::{count, duration, positive, quantile};
use super::filter_args::FilterArgs;
use super::limits::{Limit, size};
use super::output::{self, OutputError};
use super::{Color, Exit};
use detectors::Detectors;
use elephant_analysis::stragglers::detect::Needs;
use elephant_analysis::stragglers::labels::MIN_TASKS;
use elephant_base::limits::Limits;
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_engine::survey::Learnt;
#[cfg(feature = "http")]
use elephant_engine::watch::{Client, Questions, Servers, TIMEOUT};
use elephant_engine::watch::{Settings, State, Told, Watch};
use elephant_model::model::Engine;
use lines::Lines;

pub(super) const EXAMPLES: &str = "\
An attempt is reported once for each detector that flags it, as soon as enough is known; so a task that runs again on \
another node may be reported again. Event logs do not contain the \
progress of running tasks, so only detectors that compare times can flag them; servers report more. Spark writes its log in \
blocks, so a task may end before the log shows it; its flag is then withdrawn.

Examples:
  elephant-rs watch /spark-events
      all applications that run now or begin later
  elephant-rs watch --format ndjson --state watch.state /spark-events
      for another program; after a restart it continues where it stopped
  elephant-rs watch http://resource-manager:8088
      MapReduce jobs and Spark applications that YARN runs, with the progress of
      their tasks
  elephant-rs watch --quantile 0.5 --multiplier 2 app.inprogress
      with other settings of spark.speculation
  elephant-rs watch app.log
      what it would have reported while a finished application ran

Exit status: 0 every application has ended, 2 the run failed.";

/// Time between two searches for new logs.
const FIND_EVERY: Duration = Duration::from_secs(2);
/// The message if models are given without a server.
const NO_PROGRESS: &str = "the models are not used: event logs do not contain the progress of running tasks; watch the \
                           application masters of MapReduce, or a resource manager";
/// Pause between two searches, as a multiple of the time of the last one, so that searches take a small share of the
/// time.
const FIND_SHARE: u32 = 20;

#[derive(Debug, Args)]
pub(super) struct WatchArgs {
    /// Event logs, folders in which they are written, and addresses of resource managers, MapReduce application masters and
    /// Spark drivers, such as `http://resource-manager:8088`
    #[arg(required = true, value_name = "PATH|URL")]
    paths: Vec<PathBuf>,
    /// Format of the lines
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Append the lines to a file
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Keep a record of what was reported in a file: after a restart, nothing is reported twice, and what was missed
    /// is reported
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    state: Option<PathBuf>,
    /// Send each flag to this address, too, as a JSON object (POST); repeated until it is accepted
    #[cfg(feature = "http")]
    #[arg(long, value_name = "URL", value_parser = http_address, value_hint = ValueHint::Url)]
    webhook: Option<String>,
    /// Ask servers this often
    #[cfg(feature = "http")]
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "5s")]
    ask_every: Millis,
    /// Look for new lines in the logs this often
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "1s")]
    interval: Millis,
    /// Judge tasks this long after the newest event, because events are not written exactly in the order of their times
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "1s")]
    settle: Millis,
    /// Do not watch logs in folders that are marked as in progress but were last written longer ago
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "24h")]
    stale: Millis,
    /// Advance the time only with events: no flag is ever withdrawn, but a straggler that is the last task of an
    /// application is reported late
    #[arg(long)]
    log_time: bool,
    /// Read what is there, and do not wait for more
    #[arg(long)]
    once: bool,
    /// Skip stages with fewer tasks
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count::<usize>, default_value_t = MIN_TASKS)]
    min_tasks: usize,
    /// Stop watching the application with the most running tasks when the running tasks of all applications take more
    /// memory than this
    #[arg(id = "max-memory", long, allow_hyphen_values = true, value_name = "SIZE", value_parser = size, default_value = "2GiB")]
    memory: Limit<Bytes>,
    /// Use only this detector; repeatable
    #[arg(long = "detector", value_name = "NAME")]
    only: Vec<String>,
    /// Compare the progress of tasks with earlier runs of their jobs, from a file that stragglers --learn wrote; for
    /// `offline` and `combined`, which need an application master of MapReduce
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    models: Option<PathBuf>,
    /// spark.speculation.quantile of Spark's speculation [default: that of each version]
    #[arg(long, value_name = "SHARE", value_parser = quantile)]
    quantile: Option<f64>,
    /// spark.speculation.multiplier of Spark's speculation [default: that of each version]
    #[arg(long, value_name = "FACTOR", value_parser = positive)]
    multiplier: Option<f64>,
    /// When to use colour; auto also honours `NO_COLOR`
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    color: Color,
    /// Do not show the line with counts at the bottom of the terminal
    #[arg(long)]
    no_progress: bool,
    #[command(flatten)]
    filters: FilterArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people at a terminal
    Text,
    /// For other programs: one JSON object per line
    Ndjson,
}

/// The schemes of servers that this build supports.
const SCHEMES: &[&str] = if cfg!(all(feature = "http", feature = "remote")) {
    &["http", "https"]
} else if cfg!(feature = "http") {
    &["http"]
} else {
    &[]
};

/// An address that this build cannot read.
#[derive(Debug, thiserror::Error)]
#[error("{address} cannot be asked: {}", if cfg!(feature = "http") {
    "this build has no TLS; install it with --features http,remote"
} else {
    "this build has no HTTP support; build it with --features http"
})]
struct AddressError {
    address: String,
}

impl WatchArgs {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let models = self.models.as_deref().map(Learnt::load).transpose()?.map(Arc::new);
        let (addresses, paths) = self.sources()?;
        if self.models.is_some() && addresses.is_empty() {
            output::print_message("warning", NO_PROGRESS);
        }
        let detectors = Detectors::of(self, !addresses.is_empty(), models)?;
        let state = self.state.as_deref().map(State::open).transpose()?.unwrap_or_default();
        let mut lines = Lines::open(self)?;
        let settings = Settings {
            paths,
            filter: self.filters.filter(),
            limits: self.limits(),
            stale: Duration::from_millis(self.stale.get()),
            by_our_clock: !self.log_time && !self.once,
        };
        let mut watch = Watch::new(settings, detectors.judges(Engine::Spark, &[Needs::Times]), state);
        #[cfg(feature = "http")]
        {
            watch = self.with_servers(watch, &addresses, &detectors);
        }
        match lines
            .begin(&detectors.active(), &detectors.silent())
            .and_then(|()| self.watch(&mut watch, &mut lines))
        {
            // The reader of the lines closed the pipe, so it needs no more.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::Clean),
            Err(error) => Err(OutputError::Write(error).into()),
            Ok(seen) => {
                if !seen {
                    output::print_message("error", "no application was found");
                }
                Ok(if seen { Exit::Clean } else { Exit::Failure })
            }
        }
    }

    /// Watches until nothing is left to watch. Returns whether this or an earlier run saw an application.
    fn watch(&self, watch: &mut Watch, lines: &mut Lines) -> io::Result<bool> {
        #[cfg(feature = "http")]
        lines.send(watch.state())?;
        let known_before = watch.state().knows_logs();
        let mut found_at: Option<Instant> = None;
        let (mut wait, mut seen) = (FIND_EVERY, false);
        loop {
            let mut tell = |told: &Told| {
                seen |= matches!(told, Told::Application { .. });
                lines.write(told)
            };
            if found_at.is_none_or(|at| at.elapsed() >= wait) {
                let begun = Instant::now();
                watch.find(&mut tell)?;
                wait = FIND_EVERY.max(FIND_SHARE * begun.elapsed());
                found_at = Some(Instant::now());
            }
            let status = watch.poll(now(), &mut tell)?;
            #[cfg(feature = "http")]
            lines.send(watch.state())?;
            watch.state().flush()?;
            lines.status(status);
            if status.over || self.once && !status.behind {
                #[cfg(feature = "http")]
                lines.end(watch.state())?;
                watch.state().flush()?;
                // If an earlier run reported everything, there may be nothing new.
                return Ok(seen || known_before);
            }
            if !status.behind {
                std::thread::sleep(Duration::from_millis(self.interval.get()));
            }
        }
    }

    fn limits(&self) -> Limits {
        Limits { memory: self.memory.limit(), ..Limits::default() }
    }

    /// The addresses of servers, and the paths.
    fn sources(&self) -> Result<(Vec<String>, Vec<PathBuf>), AddressError> {
        let (mut addresses, mut paths) = (Vec::new(), Vec::new());
        for path in &self.paths {
            match path.to_str().and_then(|text| Some((text, text.split_once("://")?.0))) {
                Some((address, scheme)) if SCHEMES.contains(&scheme) => addresses.push(address.to_owned()),
                Some((address, "http" | "https")) => {
                    return Err(AddressError { address: address.to_owned() });
                }
                _ => paths.push(path.clone()),
            }
        }
        Ok((addresses, paths))
    }

    #[cfg(feature = "http")]
    fn with_servers(&self, watch: Watch, addresses: &[String], detectors: &Detectors<'_>) -> Watch {
        let watch = if self.webhook.is_some() { watch.with_messages(lines::message) } else { watch };
        if addresses.is_empty() {
            return watch;
        }
        let judges = [
            detectors.judges(Engine::MapReduce, &[Needs::Times, Needs::Progress, Needs::Models]),
            detectors.judges(Engine::Spark, &[Needs::Times, Needs::Records]),
        ];
        watch.and(Servers::new(Questions {
            addresses: addresses.to_vec(),
            client: Client::new(TIMEOUT),
            interval: Duration::from_millis(self.ask_every.get()),
            filter: self.filters.filter(),
            judges,
            memory: self.limits().memory,
            once: self.once,
        }))
    }
}

#[cfg(feature = "http")]
fn http_address(text: &str) -> Result<String, String> {
    match text.split_once("://") {
        Some((scheme, rest)) if SCHEMES.contains(&scheme) && !rest.is_empty() => Ok(text.to_owned()),
        Some(("https", _)) => Err(AddressError { address: text.to_owned() }.to_string()),
        _ => Err(format!("expected an address that begins with {}://", SCHEMES.join(":// or "))),
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
