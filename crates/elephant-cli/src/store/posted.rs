//! Histories that are sent to `serve`, read from memory.

use std::fmt;
use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use super::alerts::{Alerts, warn};
use super::{nothing_shown, now, seeing, to_write};
use elephant_base::limits::Limits;
use elephant_base::units::{Bytes, Millis};
use elephant_engine::engine::{self, Options};
use elephant_engine::results::ApplicationReport;
use elephant_input::named::Named;
use elephant_input::storage::{Listing, Stat, Storage, Storages};
use elephant_ruleset::RuleSet;
use elephant_serve::{Kept, Posted, Unkept};
use elephant_store::Place;
use elephant_verdict::troubles::Basis;

/// What their addresses begin with.
const SCHEME: &str = "posted";
/// The most memory for one, and the longest time: a client waits.
const MEMORY: Bytes = Bytes::from_mib(512);
const TIME: Millis = Millis::from_secs(60);

/// Where histories that were sent go.
pub(super) struct Receiver {
    pub(super) place: Place,
    pub(super) cluster: Option<String>,
    pub(super) rules: RuleSet,
    /// Who is told what is new or worse.
    pub(super) alerts: Option<Alerts>,
}

/// What was found in a history.
#[derive(Serialize)]
struct Found {
    schema_version: u64,
    /// Applications that are new in the store; none if the same history was sent before.
    stored_count: u64,
    /// As the JSON report has them.
    applications: Vec<Box<RawValue>>,
}

impl Receiver {
    /// Judges a history and stores what is in it.
    pub(super) fn keep(&self, posted: Posted) -> Kept {
        let tag = format!("{:032x}", twox_hash::XxHash3_128::oneshot(&posted.bytes));
        let path = PathBuf::from(format!("{SCHEME}://histories/{}", posted.name.as_deref().unwrap_or(&tag)));
        let object = Object { path: path.clone(), bytes: posted.bytes, tag };
        let storages = Storages::only(Arc::new(object));
        let limits = Limits { memory: Some(MEMORY), time: Some(TIME), ..Limits::default() };
        let options = Options { limits, top: None, ..nothing_shown() };
        let (basis, progress) = (Basis { rules: &self.rules, prices: None }, engine::Progress::default());
        let unstored = |error| Unkept::Store(super::failed(&self.place, "write", &error).to_string());
        let mut store = to_write(&self.place).map_err(unstored)?;
        store.set_cluster(self.cluster.clone());
        let paths = [path];
        let named = Named { storages: Some(&storages), ..Named::from(&paths[..]) };
        let cluster = self.cluster.as_deref();
        let begin = |alerts: &Alerts| alerts.begin(&self.place, cluster);
        let recent = self.alerts.as_ref().map(begin).transpose().map_err(unstored)?;
        let see = |app: &ApplicationReport| recent.iter().for_each(|recent| recent.see(app));
        let reports = std::sync::Mutex::new(Vec::new());
        let read = store.keep_changed(named, &limits, (self.rules.hash(), now()), |named, keeper| {
            let report = seeing(keeper, &see, |keeper| {
                engine::analyze_keeping(named, basis, &options, &progress, (keeper, None)).0
            });
            let json = report.applications.iter().map(elephant_report::json_of);
            let mut reports = reports.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            reports.extend(json);
            report
        });
        let (read, stored) = read.map_err(unstored)?;
        let stored = stored.map_err(unstored)?;
        if let Some((alerts, recent)) = self.alerts.as_ref().zip(recent) {
            warn(&alerts.tell((&self.place, cluster), recent, &self.rules));
        }
        let reports = reports.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let applications: Option<Vec<Box<RawValue>>> = reports.into_iter().map(as_json).collect();
        let applications = applications.ok_or_else(|| Unkept::Store("a report is no JSON".to_owned()))?;
        if applications.is_empty() && stored.unchanged == 0 {
            let problem = read.problems.first().map(|entry| entry.problem.message.clone());
            return Err(Unkept::Unread(
                problem.unwrap_or_else(|| "there is no application in it".to_owned()),
            ));
        }
        let found = Found { schema_version: 1, stored_count: stored.added, applications };
        serde_json::to_vec_pretty(&found).map_err(|error| Unkept::Store(error.to_string()))
    }
}

fn as_json(report: io::Result<Vec<u8>>) -> Option<Box<RawValue>> {
    RawValue::from_string(String::from_utf8(report.ok()?).ok()?.trim_end().to_owned()).ok()
}

/// One object in memory.
struct Object {
    path: PathBuf,
    bytes: Vec<u8>,
    tag: String,
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({}, {} bytes)", self.path.display(), self.bytes.len())
    }
}

impl Object {
    fn of_object(&self) -> Stat {
        Stat { size: Some(self.bytes.len() as u64), modified: None, etag: Some(self.tag.clone()) }
    }
}

impl Storage for Object {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn list(
        &self,
        _: Listing<'_>,
        found: &mut dyn FnMut(PathBuf, Stat) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let _ = found(self.path.clone(), self.of_object());
        Ok(())
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        if path == self.path { Ok(self.of_object()) } else { Err(ErrorKind::NotFound.into()) }
    }

    fn read_at(&self, path: &Path, _: &Stat, at: u64, out: &mut [u8]) -> io::Result<usize> {
        if path != self.path {
            return Err(ErrorKind::NotFound.into());
        }
        let rest = usize::try_from(at).ok().and_then(|at| self.bytes.get(at..)).unwrap_or_default();
        let count = rest.len().min(out.len());
        let pairs = out.iter_mut().zip(rest);
        pairs.for_each(|(to, from)| *to = *from);
        Ok(count)
    }
}
