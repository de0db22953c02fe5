//! `elephant-rs serve --store FILE`

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use clap::{Args, ValueHint};

use super::super::counts::duration;
use super::super::finding_args::RuleArgs;
use super::super::{Exit, interrupt, output};
use super::alerts::{AlertArgs, Alerts, warn};
use super::posted::Receiver;
use super::prune::{before, kept};
use super::{ClusterArg, StoreArgs, keep_new, now, to_write};
use elephant_base::limits::Limits;
use elephant_base::units::{Millis, Timestamp};
use elephant_engine::results::ApplicationReport;
use elephant_ruleset::RuleSet;
use elephant_serve::{Access, Done, Ingest, Posting, Proxies, Server, Turn, Viewers};
use elephant_store::Place;

pub(crate) const EXAMPLES: &str = "\
Shows what ingest stored: where the waste is and what is new, each application, job, user, queue, node and rule, and a
search. /api/v1 has the same for programs, /metrics the figures for Prometheus. Nothing can be changed through it, but
histories may be sent to it (--token-file).

Examples:
  elephant-rs serve --store fleet.db
      then open http://127.0.0.1:8750 on this machine
  elephant-rs serve --store fleet.db --ingest /spark-events /mr-history/done --every 10m
      reads new and changed histories every ten minutes, too; --keep 400d removes what is older
  elephant-rs serve --store fleet.db --listen 0.0.0.0:8750 --trust-proxy 10.0.0.7
      only the proxy at 10.0.0.7 is answered, which has the login

Exit status: 0 it was stopped (Ctrl-C or SIGTERM), 2 it could not start.";

#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    store: StoreArgs,
    /// Where to listen; port 0 takes a free one, which the first line of the output names
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8750", value_hint = ValueHint::Other)]
    listen: SocketAddr,
    /// Answer only this machine and the proxy at this address, or proxies in this network, which have a login; repeatable
    #[arg(long = "trust-proxy", value_name = "ADDRESS", value_hint = ValueHint::Other)]
    proxies: Vec<Proxies>,
    /// Header by which the proxy tells who asks, such as X-Forwarded-User; the same header from others is ignored
    #[arg(long, value_name = "HEADER", requires = "proxies", value_hint = ValueHint::Other)]
    user_header: Option<String>,
    /// What each of these viewers may see, by user and queue, as YAML
    #[arg(long, value_name = "FILE", requires = "user_header", value_hint = ValueHint::FilePath)]
    rows: Option<PathBuf>,
    /// Accept histories that are sent with the token in this file (POST /api/v1/histories)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    token_file: Option<PathBuf>,
    /// Answer everyone who reaches the server, without a login
    #[arg(long, conflicts_with = "proxies")]
    allow_anyone: bool,
    /// Also read the new and changed histories below these paths, again and again
    #[arg(long, value_name = "PATH", num_args = 1.., value_hint = ValueHint::AnyPath)]
    ingest: Vec<PathBuf>,
    /// How long after the end of such a turn the next one begins
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration, requires = "ingest", value_hint = ValueHint::Other)]
    every: Millis,
    #[command(flatten)]
    cluster: ClusterArg,
    /// After each turn, remove applications that were submitted longer ago than this, such as 400d; whole days count
    #[arg(long, value_name = "DURATION", value_parser = kept, requires = "ingest", value_hint = ValueHint::Other)]
    keep: Option<Millis>,
    #[command(flatten)]
    rules: RuleArgs,
    #[command(flatten)]
    alerts: AlertArgs,
}

impl Serve {
    pub(crate) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let place = self.store.store.clone();
        if !self.ingest.is_empty() || self.token_file.is_some() {
            // The first turn may take long, and the pages work meanwhile.
            drop(self.store.create()?);
        }
        let server = Server::bind(elephant_serve::Options {
            listen: self.listen,
            access: Access {
                proxies: self.proxies.clone(),
                anyone: self.allow_anyone,
                viewers: self.viewers()?,
            },
            store: place,
            rules: self.rules.load()?,
            limits: elephant_serve::Limits::default(),
            ingest: self.ingest_loop()?,
            posting: self.posting()?,
            public_url: self.alerts.public_url.clone(),
            tell: |problem| output::print_message("warning", problem),
        })?;
        let stopper = server.stopper();
        interrupt::stop_on_interrupt(move || stopper.stop())?;
        let address = server.address()?;
        output::Output::open(None)?
            .write(|out| writeln!(out, "elephant-rs: {} is at http://{address}/", self.store.store))?;
        server.run()?;
        Ok(Exit::Clean)
    }

    /// Who asks and what they may see, if the proxy tells.
    fn viewers(&self) -> Result<Option<Viewers>, Box<dyn Error>> {
        let Some(header) = &self.user_header else { return Ok(None) };
        let viewers = Viewers::told_by(header)?;
        Ok(Some(match &self.rows {
            Some(path) => viewers.with_rows(path)?,
            None => viewers,
        }))
    }

    /// What stores histories that are sent, if there is a token for it.
    fn posting(&self) -> Result<Option<Posting>, Box<dyn Error>> {
        let Some(path) = &self.token_file else { return Ok(None) };
        let shown = path.display();
        let token = std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read the token for histories in {shown}: {error}"))?;
        let receiver = Receiver {
            place: self.store.store.clone(),
            cluster: self.cluster.cluster.clone(),
            rules: self.rules.load()?,
            alerts: self.alerts.load(false)?,
        };
        let posting = Posting::new(token.trim().to_owned(), move |posted| receiver.keep(posted));
        Ok(Some(posting.map_err(|error| format!("the token in {shown} cannot be used: {error}"))?))
    }

    /// What reads the histories, if any are named.
    fn ingest_loop(&self) -> Result<Option<Ingest>, Box<dyn Error>> {
        if self.ingest.is_empty() {
            if self.alerts.are_given() && self.token_file.is_none() {
                return Err(
                    "--alerts tells what --ingest finds, and what is in histories that are sent".into()
                );
            }
            return match &self.cluster.cluster {
                Some(_) if self.token_file.is_none() => {
                    Err("--cluster names the cluster of the histories that --ingest reads or that are sent"
                        .into())
                }
                _ => Ok(None),
            };
        }
        let reading = Reading {
            place: self.store.store.clone(),
            cluster: self.cluster.cluster.clone(),
            paths: self.ingest.clone(),
            rules: self.rules.load()?,
            keep: self.keep,
            alerts: self.alerts.load(false)?,
        };
        let turn = move || reading.turn();
        Ok(Some(Ingest { every: Duration::from_millis(self.every.get()), turn: Box::new(turn) }))
    }
}

fn counted(applications: u64) -> String {
    if applications == 1 { "1 application".to_owned() } else { format!("{applications} applications") }
}

/// The histories that are read, and what becomes of them.
struct Reading {
    place: Place,
    cluster: Option<String>,
    paths: Vec<PathBuf>,
    rules: RuleSet,
    /// How long applications are kept.
    keep: Option<Millis>,
    /// Who is told what is new or worse.
    alerts: Option<Alerts>,
}

impl Reading {
    /// Reads what is new or changed, stores it, and removes what is old.
    fn turn(&self) -> Turn {
        let Self { place, paths, rules, .. } = self;
        let failed = |error| super::failed(place, "write", &error).to_string();
        let mut store = to_write(place).map_err(failed)?;
        store.set_cluster(self.cluster.clone());
        let cluster = self.cluster.as_deref();
        let begin = |alerts: &Alerts| alerts.begin(place, cluster);
        let recent = self.alerts.as_ref().map(begin).transpose().map_err(failed)?;
        let lags = Lags::default();
        let see = |app: &ApplicationReport| {
            if let Some(recent) = &recent {
                recent.see(app);
            }
            lags.see(app, now());
        };
        let (stored, read) = keep_new((&mut store, place), paths, rules, Limits::default(), &see)?;
        if let Some((alerts, recent)) = self.alerts.as_ref().zip(recent) {
            warn(&alerts.tell((place, cluster), recent, rules));
        }
        let removed = match self.keep {
            // By whole days, because removing locks the store: once a day, not in each turn.
            Some(keep) => store.prune(midnight(before(keep))).map_err(failed)?,
            None => 0,
        };
        let cut = if stored.cut > 0 { ", and some not whole" } else { "" };
        let old = if removed > 0 { format!(", {} removed as old", counted(removed)) } else { String::new() };
        let sentence = format!(
            "{} stored{cut}{old}, {} in all",
            counted(stored.added),
            stored.applications.saturating_sub(removed)
        );
        Ok(Done { sentence, unreadable: read.files_failed, lag: lags.median() })
    }
}

/// How long after their end applications are stored.
#[derive(Debug, Default)]
struct Lags(Mutex<Vec<u64>>);

impl Lags {
    /// Adds an application that is stored now, if its end is known and not in the future of this machine.
    fn see(&self, app: &ApplicationReport, now: Timestamp) {
        let lag = app.finished_at.and_then(|end| now.as_millis().checked_sub(end.as_millis()));
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(lag.and_then(|lag| u64::try_from(lag).ok()));
    }

    fn median(self) -> Option<Duration> {
        let mut all = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let middle = all.len() / 2;
        (middle < all.len()).then(|| Duration::from_millis(*all.select_nth_unstable(middle).1))
    }
}

/// The beginning of a day in UTC.
fn midnight(moment: Timestamp) -> Timestamp {
    const DAY_MS: i64 = 86_400_000;
    Timestamp::from_millis(moment.as_millis().div_euclid(DAY_MS) * DAY_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lag_of_a_turn_is_its_median() {
        let of = |all: &[u64]| Lags(Mutex::new(all.to_vec())).median();
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[7]), Some(Duration::from_millis(7)));
        // A log of last year that is found today does not hide that the others are up to date.
        assert_eq!(of(&[20, 31_536_000_000, 10]), Some(Duration::from_millis(20)));
    }

    #[test]
    fn days_begin_at_midnight() {
        for (ms, day) in [(0, 0), (1, 0), (86_399_999, 0), (86_400_000, 86_400_000), (-1, -86_400_000)] {
            assert_eq!(midnight(Timestamp::from_millis(ms)), Timestamp::from_millis(day));
        }
    }
}
