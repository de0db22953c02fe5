//! The logs that are followed.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::application::Judges;
use super::log::{self, WatchedLog, last_name};
use super::teller::{Introduced, Teller};
use super::{Settings, Status, TOO_MUCH, Tell, Told};
use elephant_base::units::Timestamp;
use elephant_input::codec;
use elephant_input::follow::{self, Found, Reached};
use elephant_input::kind::{self, SourceKind};
use elephant_model::model::Engine;
use elephant_parse::identify;

/// The message for a log whose driver seems to be gone.
const STALE: &str = "it is marked as in progress, but nothing was written to it for a long time, so its driver is \
                     probably gone; it is not watched (raise --stale, or name the file)";
/// The message for a job history.
const JOB_HISTORY: &str = "it is a job history of MapReduce, which does not contain the progress of running tasks; watch the \
                           application master of the job, http://HOST:PORT, or the resource manager";
/// The message for a log with lines that are not events.
const UNREADABLE: &str = "lines that are not Spark events were skipped; tasks in them are not judged";

/// The logs that are followed.
pub(super) struct FollowedLogs {
    settings: Settings,
    judges: Judges,
    logs: Vec<Followed>,
    /// The keys of logs that were found.
    known: BTreeSet<PathBuf>,
    /// Logs that cannot be read under this name.
    failed: BTreeSet<PathBuf>,
    /// Finished logs in folders that were last written earlier are not read.
    since: SystemTime,
    /// Finished logs that were found and are not read.
    old: BTreeSet<PathBuf>,
}

/// The next step for a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Read,
    Ended,
    /// Stop: it cannot be read on.
    Failed,
    /// Its writer started it again.
    Anew,
}

struct Followed {
    log: WatchedLog,
    /// The key of the log.
    key: PathBuf,
    introduced: Introduced,
    unreadable: u64,
}

impl FollowedLogs {
    /// Follows the logs that are in progress, and those that were finished since a time.
    pub(super) fn new(settings: Settings, judges: Judges, since: SystemTime) -> Self {
        let (known, failed, old) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Self { settings, judges, logs: Vec::new(), known, failed, since, old }
    }

    /// Looks for logs that are not followed yet.
    pub(super) fn find(&mut self, teller: &mut Teller, tell: &mut Tell<'_>) -> io::Result<()> {
        for path in self.settings.paths.clone() {
            match follow::logs(&path) {
                Ok(found) => {
                    for found in found {
                        let named = found.path == path;
                        self.offer(&found, named, teller, tell)?;
                    }
                }
                Err(error) => {
                    // A log may get its last name before it is found.
                    let found = Found { path: last_name(&path), in_progress: false };
                    if found.path.exists() {
                        self.offer(&found, true, teller, tell)?;
                    } else if self.known.insert(log::key(&path)) {
                        let (source, message) = (shown(&path), format!("cannot watch it: {error}"));
                        tell(&Told::Problem { source, message })?;
                    }
                }
            }
        }
        Ok(())
    }

    fn offer(
        &mut self,
        found: &Found,
        named: bool,
        teller: &mut Teller,
        tell: &mut Tell<'_>,
    ) -> io::Result<()> {
        let key = log::key(&found.path);
        let state = &mut teller.state;
        let known = self.known.contains(&key) || self.failed.contains(&found.path);
        if known || state.has_ended(&key) && !named {
            return Ok(());
        }
        let wanted = named || found.in_progress || state.was_following(&key) || self.is_new(&found.path);
        if !wanted || !self.known.insert(key.clone()) {
            return Ok(());
        }
        let source = shown(&found.path);
        if named && is_job_history(&found.path) {
            return tell(&Told::Problem { source, message: JOB_HISTORY.to_owned() });
        }
        let log = match WatchedLog::open(&found.path, &self.settings.limits) {
            Ok(log) => log,
            Err(error) => return tell(&Told::Problem { source, message: error.to_string() }),
        };
        if found.in_progress && !named && self.is_stale(&log) {
            return tell(&Told::Problem { source, message: STALE.to_owned() });
        }
        state.follow(&key)?;
        self.logs.push(Followed { log, key, introduced: Introduced::default(), unreadable: 0 });
        Ok(())
    }

    /// Whether a finished log began and ended between two runs of `watch`, or between two searches.
    fn is_new(&mut self, path: &Path) -> bool {
        if self.old.contains(path) {
            return false;
        }
        let written = path.metadata().and_then(|metadata| metadata.modified());
        let is_new = written.is_ok_and(|written| written >= self.since)
            && (path.is_dir() || kind_of(path) == Some(SourceKind::SparkEventLog));
        if !is_new {
            self.old.insert(path.to_owned());
        }
        is_new
    }

    fn is_stale(&self, log: &WatchedLog) -> bool {
        let age = log.written_at().and_then(|written| SystemTime::now().duration_since(written).ok());
        age.is_some_and(|age| age > self.settings.stale)
    }

    /// Reads the next piece of each log.
    pub(super) fn poll(
        &mut self,
        now: Timestamp,
        teller: &mut Teller,
        status: &mut Status,
        tell: &mut Tell<'_>,
    ) -> io::Result<()> {
        let now = Some(now).filter(|_| self.settings.by_our_clock);
        let mut place = 0;
        while let Some(followed) = self.logs.get_mut(place) {
            let next = followed.poll(now, (&self.settings, &self.judges), teller, status, tell)?;
            if next == Next::Read {
                status.applications += usize::from(followed.introduced.is_done());
                status.tasks += followed.log.application().running();
                place += 1;
                continue;
            }
            let removed = self.logs.remove(place);
            if next != Next::Ended {
                // It may be found again: from its start, or with its final name.
                self.known.remove(&removed.key);
            }
            if next == Next::Failed {
                self.failed.insert(removed.log.path().to_owned());
            }
        }
        self.keep_within_memory(tell)?;
        status.over &=
            self.logs.is_empty() && !self.settings.paths.iter().any(|path| follow::is_open_ended(path));
        Ok(())
    }
}

impl FollowedLogs {
    /// Stops watching the application that takes most memory, if all together take too much.
    fn keep_within_memory(&mut self, tell: &mut Tell<'_>) -> io::Result<()> {
        let Some(most) = self.settings.limits.memory else { return Ok(()) };
        while self.logs.iter().map(|followed| followed.log.held()).sum::<u64>() > most.get() {
            let sizes = self.logs.iter().enumerate().map(|(place, followed)| (followed.log.held(), place));
            let Some((_, place)) = sizes.max() else { return Ok(()) };
            let source = shown(self.logs.remove(place).log.path());
            tell(&Told::Problem { source, message: TOO_MUCH.to_owned() })?;
        }
        Ok(())
    }
}

impl Followed {
    /// Reads the next piece, and reports what is new.
    fn poll(
        &mut self,
        now: Option<Timestamp>,
        (settings, judges): (&Settings, &Judges),
        teller: &mut Teller,
        status: &mut Status,
        tell: &mut Tell<'_>,
    ) -> io::Result<Next> {
        let mut flags = Vec::new();
        let polled = self.log.poll(now, judges, |flag| flags.push(flag));
        let source = shown(self.log.path());
        let (identity, newest) = {
            let application = self.log.application();
            (Arc::clone(application.identity()), application.newest())
        };
        let is_selected = newest.is_none() || settings.filter.admits(identity.filtered(Engine::Spark));
        if is_selected && newest.is_some() {
            self.introduced.introduce(&identity, &source, tell)?;
            let key = shown(&self.key);
            flags.into_iter().try_for_each(|flag| teller.flag(flag, &key, tell))?;
        }
        let unreadable = self.log.unreadable();
        if unreadable > 0 && std::mem::replace(&mut self.unreadable, unreadable) == 0 {
            tell(&Told::Problem { source: source.clone(), message: UNREADABLE.to_owned() })?;
        }
        let reached = self.log.reached();
        if let Err(error) = polled {
            tell(&Told::Problem { source, message: error.to_string() })?;
            return Ok(if error.is_shorter() { Next::Anew } else { Next::Failed });
        }
        status.behind |= reached == Reached::Behind;
        let has_told_all = reached == Reached::Now && self.log.application().has_ended();
        if is_selected && reached != Reached::End && !has_told_all {
            return Ok(Next::Read);
        }
        if is_selected {
            teller.state.end(&self.key)?;
        }
        self.introduced.end(identity, source, newest, tell)?;
        teller.state.flush()?;
        Ok(Next::Ended)
    }
}

/// What a file holds, as far as its first bytes tell; `None` if they cannot be read.
fn kind_of(path: &Path) -> Option<SourceKind> {
    Some(kind::of(&mut codec::open(path).ok()?, identify))
}

fn is_job_history(path: &Path) -> bool {
    let is_one = |kind: SourceKind| kind.is_history() && kind != SourceKind::SparkEventLog;
    path.is_file() && kind_of(path).is_some_and(is_one)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
