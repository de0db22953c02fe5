//! The logs that are followed.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::application::Judges;
use super::log::{WatchedLog, last_name};
use super::teller::{Introduced, Teller};
use super::{Settings, Status, Tell, Told};
use crate::input::follow::{self, Found, Reached};
use crate::model::Engine;
use crate::units::Timestamp;

/// What is said of a log whose driver seems to be gone.
const STALE: &str = "it is marked as in progress but was not written for long, so its driver seems to be gone; it is not \
                     watched (--stale, or name the file)";
/// What is said of a log with lines that are no events.
const UNREADABLE: &str =
    "lines of it are no events of Spark's and were skipped; tasks in them are not judged";

/// The logs that are followed.
pub(super) struct FollowedLogs {
    settings: Settings,
    judges: Judges,
    logs: Vec<Followed>,
    /// The last names of the logs that were found.
    known: BTreeSet<PathBuf>,
    /// Logs that cannot be read under this name.
    failed: BTreeSet<PathBuf>,
}

/// What is to be done with a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Read,
    Ended,
    /// It cannot be read on.
    Failed,
    /// It was begun anew.
    Anew,
}

struct Followed {
    log: WatchedLog,
    introduced: Introduced,
    unreadable: u64,
}

impl FollowedLogs {
    pub(super) const fn new(settings: Settings, judges: Judges) -> Self {
        Self { settings, judges, logs: Vec::new(), known: BTreeSet::new(), failed: BTreeSet::new() }
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
                    } else if self.known.insert(found.path) {
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
        let last_name = last_name(&found.path);
        let state = &mut teller.state;
        let wanted = named || found.in_progress || state.was_following(&last_name);
        let has_ended = state.has_ended(&last_name) && !named;
        if !wanted || has_ended || self.failed.contains(&found.path) || !self.known.insert(last_name.clone())
        {
            return Ok(());
        }
        let source = shown(&found.path);
        let log = match WatchedLog::open(&found.path, &self.settings.limits) {
            Ok(log) => log,
            Err(error) => return tell(&Told::Problem { source, message: error.to_string() }),
        };
        if found.in_progress && !named && self.is_stale(&log) {
            return tell(&Told::Problem { source, message: STALE.to_owned() });
        }
        state.follow(&last_name)?;
        self.logs.push(Followed { log, introduced: Introduced::default(), unreadable: 0 });
        Ok(())
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
            let path = self.logs.remove(place).log.path().to_owned();
            if next != Next::Ended {
                // It may be found again: anew, or with the name that it gets in the end.
                self.known.remove(&last_name(&path));
            }
            if next == Next::Failed {
                self.failed.insert(path);
            }
        }
        status.over &=
            self.logs.is_empty() && !self.settings.paths.iter().any(|path| follow::is_open_ended(path));
        Ok(())
    }
}

impl Followed {
    /// Reads the next piece, and tells what is new.
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
            flags.into_iter().try_for_each(|flag| teller.flag(flag, &source, tell))?;
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
            teller.state.end(&last_name(self.log.path()))?;
        }
        self.introduced.end(identity, source, newest, tell)?;
        Ok(Next::Ended)
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
